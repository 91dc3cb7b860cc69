"""Predictions of a model for a subject, in a form for the browser or a file."""

__all__ = [
    "bundle",
    "colours",
    "export",
    "imagined",
    "site",
    "strip",
    "style_directions",
]
