"""One subject as one model sees it: the dial, its cards, the strip, downloads."""

__all__ = ["cached", "captions", "downloads", "places", "stage", "strip", "turntables"]
