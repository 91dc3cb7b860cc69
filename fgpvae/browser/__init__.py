"""What one model makes of one subject, in a form that a browser or a file can show."""

__all__ = [
    "bundle",
    "colours",
    "export",
    "imagined",
    "site",
    "sliders",
    "strip",
    "style_directions",
]
