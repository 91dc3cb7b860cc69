"""A figure of cubes that one can turn and build."""

from ui.components.builder.builder import builder

__all__ = ["builder"]
