"""The page Latents: PCA, channels, correlations and figures of disentanglement."""

from ui.latents import channels, disentanglement, spaces
from ui.latents.codes import codes

__all__ = ["channels", "codes", "disentanglement", "spaces"]
