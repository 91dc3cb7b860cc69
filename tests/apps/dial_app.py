"""The live component alone, with networks of random weights: what the browser tests look at."""

import numpy as np
import streamlit as st
import torch

from fgpvae.data import ANGLES, HELD_OUT, embedded, rotate
from fgpvae.models import FGPVAE, ModelConfig
from fgpvae.networks import NetworkConfig
from ui import dial, export

NETWORKS = {
    "paper": ModelConfig(latents=16, local=8),
    "wide": ModelConfig(
        latents=20, local=4, mean_function=True, network=NetworkConfig("wide", (8, 16), 64)
    ),
    "gated": ModelConfig(
        latents=12, local=4, amplitude=0.5, network=NetworkConfig("wide", (8, 16), 64, gated=True)
    ),
}


@st.cache_resource
def build(name: str) -> FGPVAE:
    torch.manual_seed(0)
    return FGPVAE(NETWORKS[name]).eval()


def views(digit: int) -> np.ndarray:
    return rotate(embedded((3,)).images[digit : digit + 1], ANGLES)[0]


if __name__ == "__main__":
    st.set_page_config(layout="wide")
    name = st.query_params.get("network", "paper")
    digit = st.number_input("digit", 0, 399, 361)
    model = build(name)
    chosen = dial.context("dial", [0, 4, 8, 12])
    observed = np.isin(np.arange(len(ANGLES)), chosen)
    scene = export.scene(model, views(digit), ANGLES, observed)
    angle = float(st.query_params.get("angle", 0))
    state = dial.dial(scene, key="dial", angle=angle, held_out=HELD_OUT, subject=digit)
    st.button("to 90 degrees", on_click=dial.move, args=("dial", 90.0))
    state.aside.caption("Below the sliders")
    st.text(f"angle {state.angle} style {state.style} context {state.context}")
