"""Decoders that a browser loads from an address of their own."""

from ui.components.decoders.decoders import offer, packed, routes

__all__ = ["offer", "packed", "routes"]
