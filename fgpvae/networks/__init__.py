"""Encoders, decoders, and a classifier of the angle of a picture."""
