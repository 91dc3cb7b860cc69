"""The live component alone, with networks of random weights: what the browser tests look at."""

import numpy as np
import streamlit as st
import torch

from fgpvae import scenes
from fgpvae.data import ANGLES, HELD_OUT_INDEX, embedded, rotate
from fgpvae.latents import Styles
from fgpvae.models import FGPVAE, FGPVAEConfig
from fgpvae.networks import NetworkConfig
from fgpvae.style_directions import Style
from ui.components import decoders, dial

START = [0, 4, 8, 12]  # the views that are observed at first
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
}


def build(name: str) -> FGPVAE:
    torch.manual_seed(0)
    model = FGPVAE(CONFIGS[name]).eval()
    with torch.no_grad():  # so that something can be seen
        for parameter in model.decoder.parameters():
            parameter.mul_(1.6)
    return model


def views(digit: int) -> np.ndarray:
    return rotate(embedded((3,)).images[digit : digit + 1], ANGLES)[0]


def scene(model: FGPVAE, digit: int, context: list[int]) -> scenes.Scene:
    observed = np.isin(np.arange(len(ANGLES)), context)
    return scenes.scene(model, views(digit), ANGLES, observed)


def fitted(count: int) -> list[Style]:
    """A direction through the first two channels, then the first channel; both end."""
    along, reading = np.zeros(count), np.zeros(count)
    along[:2], reading[:2] = (0.5, -1.0), (0.4, -0.8)
    first = np.eye(count)[0]
    return [
        Style("slant", along, reading, 0.0, (-2.0, 2.0), digits=50),
        Style("style 1", first, first, 0.0, (-1.0, 1.0), channel=0, digits=50),
    ]


def main() -> None:
    st.set_page_config(layout="wide")
    digit = st.number_input("digit", 0, 399, 361)
    model = st.cache_resource(build)(st.query_params.get("network", "paper"))
    styles = model.config.latents - model.config.local
    state = dial.dial(
        scene(model, digit, dial.context("dial", START)),
        key="dial",
        angle=float(st.query_params.get("angle", 0)),
        held_out=HELD_OUT_INDEX,
        subject=digit,
        styles=fitted(styles) if "fitted" in st.query_params else None,
        likely=Styles(np.full(styles, 2.0), 0.01 * np.eye(styles), 3),
        morph=dial.Morph("towards zero", [0.0] * styles),
    )
    state.aside.caption("Below the sliders")
    st.button("to 90 degrees", on_click=dial.move, args=("dial", 90.0))
    st.text(f"angle {state.angle:g}")
    st.text(f"style {state.style}")
    st.text(f"context {state.context}")


if __name__ == "__main__":
    main()
else:
    app = st.App(__file__, routes=decoders.routes())
