"""The digits that the page shows and what a model's encoder makes of them, kept in memory."""

from typing import Any

import numpy as np
import streamlit as st

from fgpvae import latents
from fgpvae.data import ANGLES, Views
from ui.catalog import Choice
from ui.catalog.digits import trained
from ui.shell.kept import kept

DEGREES = np.rad2deg(ANGLES)
LABELS = [f"{degrees:g}°" for degrees in DEGREES]
CHANNELS = 8  # global ones that are shown, those that change the picture most
KEPT: dict[str, Any] = {"required": True, "bind": "query-params", "persist_state": "session"}


@st.cache_resource(max_entries=4, show_spinner=False)
def digits(classes: tuple[int, ...], new: bool, count: int) -> Views:
    return latents.digits(classes, new, count)


@st.cache_resource(max_entries=12, show_spinner="Looking at every digit from sixteen angles")
def encoded(choice: Choice) -> latents.Latents:
    return latents.latents(choice.load(), shown(choice))


@kept(32)
def projected(choice: Choice, block: str, pooled: bool) -> latents.Projection:
    return latents.project(encoded(choice).channels(block, pooled))


@kept(12)
def strongest(choice: Choice) -> list[int]:
    """The global channels, those that change the picture most first."""
    found, model = encoded(choice), choice.load()
    assert found.pooled is not None
    effect = latents.effects(model, found.pooled[:8, 0])
    part = found.blocks["global"]
    return [part.start + int(i) for i in np.argsort(-effect[part])]


def shown(choice: Choice) -> Views:
    known = trained(choice) * len(choice.classes)
    new = choice.load().takes_new_digits
    return digits(choice.classes, new, latents.DIGITS if new else min(latents.DIGITS, known))
