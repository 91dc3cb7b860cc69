"""Configs, objectives, batches and the training loop."""
