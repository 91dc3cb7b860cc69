"""Models with random weights, one for each operation of the decoder in the browser."""

from collections.abc import Sequence

import numpy as np
import torch

from fgpvae.browser import export
from fgpvae.data import ANGLES, embedded, rotate
from fgpvae.data.collections import Films
from fgpvae.models import FGPVAE, FGPVAEConfig
from fgpvae.networks.standard import NetworkConfig

FILM = (1, 32, 32)
CONFIGS = {
    "paper": FGPVAEConfig(latents=16, local=8),
    "wide": FGPVAEConfig(
        latents=20, local=4, mean_function=True, network=NetworkConfig("convolutional", (8, 16), 64)
    ),
    "gated": FGPVAEConfig(
        latents=12,
        local=4,
        amplitude=0.5,
        network=NetworkConfig("convolutional", (4, 8), 32, gated=True),
    ),
    "product": FGPVAEConfig(
        latents=12,
        local=4,
        mean_function=True,
        network=NetworkConfig("dense", widths=(48, 32), product=True, harmonics=6),
    ),
    "dense": FGPVAEConfig(
        latents=12, local=4, network=NetworkConfig("dense", widths=(48, 32), gated=True)
    ),
    "move": FGPVAEConfig(
        latents=12,
        local=2,
        kernel="squared-exponential",
        network=NetworkConfig("dense", widths=(48, 32), moving=True, shape=FILM),
    ),
}


def build(name: str) -> FGPVAE:
    """The same weights every time, large enough for something to be seen."""
    torch.manual_seed(0)
    model = FGPVAE(CONFIGS[name]).eval()
    with torch.no_grad():
        for parameter in model.decoder.parameters():
            parameter.mul_(1.6)
    return model


def views(name: str, number: int = 361) -> tuple[np.ndarray, np.ndarray]:
    """Pictures [Q, H, W] and places [Q] of a digit, or of a film for the decoder that moves."""
    if name == "move":
        film = Films().find("12")
        return film.images, film.w
    return rotate(embedded((3,)).images[number : number + 1], ANGLES)[0], ANGLES


def scene(name: str, model: FGPVAE, context: Sequence[int]) -> export.Scene:
    images, w = views(name)
    observed = np.isin(np.arange(len(w)), context)
    posterior = model.infer(images[None], w[None], observed[None])
    return export.scene(model, posterior, w, observed)
