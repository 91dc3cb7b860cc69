"""Encoders and decoders; a network that reads the angle of a picture."""

__all__ = ["angle_classifier", "moving", "paper", "standard"]
