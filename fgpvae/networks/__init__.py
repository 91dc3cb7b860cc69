"""Encoders, decoders, and a classifier of the angle of a picture."""

__all__ = ["angle_classifier", "moving", "paper", "standard"]
