"""Configs, objectives, batches and the training loop."""

__all__ = ["batches", "configs", "distributed", "objectives", "presets", "trainer"]
