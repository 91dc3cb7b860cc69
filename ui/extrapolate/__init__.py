"""The page Extrapolate: where a digit comes from, its angle, its views."""

from ui.extrapolate import angle_control, doubt, figure_page, picture, sources, upload, user_views

__all__ = ["angle_control", "doubt", "figure_page", "picture", "sources", "upload", "user_views"]
