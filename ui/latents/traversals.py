"""What each channel does to the picture of one digit or object."""

from collections.abc import Sequence

import numpy as np
import streamlit as st

from fgpvae import latents
from fgpvae.models import Model
from ui.catalog import Choice
from ui.components import pictures
from ui.shell import frame
from ui.shell.kept import content, sent


def traversals(
    choice: Choice,
    codes: np.ndarray,
    place: int,
    channels: list[int],
    labels: Sequence[str],
    hues: Sequence[str],
    along: str = "view",
) -> None:
    """Local channels as they follow the views, and some global ones over the range of their prior.

    `codes` [Q, L] are those of the views, which `labels` and `hues` tell apart; `place` is the view
    at which what is not moved stays.
    """
    model, named = choice.load(), content(choice, codes, place, channels, labels, hues, along)
    with st.container(key="latents.traversals"):
        left, right = st.columns(2, gap="medium")
    with (
        left,
        frame.card(
            "What each local channel does",
            f"In the first row all local channels follow the {along}. Below, only one of them "
            f"does; the others stay as they are at {labels[place]}.",
        ),
    ):
        sent(b"local" + named, lambda: _local(model, codes, place, labels, hues, along))
    with (
        right,
        frame.card(
            "What each global channel does",
            "One channel at a time goes from -3 to 3, the range of its prior; the others do "
            "not change.",
        ),
    ):
        sent(b"global" + named, lambda: _global(model, codes[place], channels))


def _local(
    model: Model,
    codes: np.ndarray,
    place: int,
    labels: Sequence[str],
    hues: Sequence[str],
    along: str,
) -> None:
    names = ["all local", *(f"local {j + 1}" for j in range(model.config.local))]
    rows = list(zip(names, latents.turn(model, codes, place)[:, ::2], strict=True))
    alt = f"local channels over the {along}"
    st.html(pictures.grid(rows, labels[::2], hues[::2], alt=alt))


def _global(model: Model, code: np.ndarray, channels: list[int]) -> None:
    images = latents.traverse(model, code, channels, np.array(latents.STEPS))
    rows = [
        (f"global {channel - model.config.local + 1}", row)
        for channel, row in zip(channels, images, strict=True)
    ]
    steps = [f"{step:+g}" if step else "0" for step in latents.STEPS]
    st.html(pictures.grid(rows, steps, alt="global channels from -3 to 3"))
