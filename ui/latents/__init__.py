"""The page Latents: PCA, channels, correlations and figures of disentanglement."""

from ui.latents import digit_page, object_page
from ui.latents.codes import KEPT, encoded, shown

__all__ = ["KEPT", "digit_page", "encoded", "object_page", "shown"]
