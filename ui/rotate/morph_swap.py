"""Two digits: from the style of A to that of B, and the style of A where B is."""

import numpy as np
import streamlit as st

from fgpvae.digit_view import DigitView, morphed, swapped
from fgpvae.metrics import mse
from ui.catalog.digits import Digit
from ui.components import dial, pictures
from ui.components.pictures import address
from ui.components.tiles import Tile, tiles
from ui.inference import angle_strip
from ui.shell import frame

STEPS = 7  # from A to B


def morph_swap(key: str, a: DigitView, b: DigitView, digit: Digit, other: Digit, w: float) -> None:
    """A card for both, where the model has styles that can be exchanged."""
    if not (len(a.own) and a.model.divides_channels):
        return
    with frame.card("Two digits"):
        left, right = st.columns([1.25, 1], gap="large")
        with left:
            _morph(key, a, b, w)
        with right:
            _swap(key, a, b, digit, other)


def _morph(key: str, a: DigitView, b: DigitView, w: float) -> None:
    st.caption("Morph: styles between A and B, at the angle of the dial. Click one.")
    styles, images = morphed(a, b, w, STEPS)
    texts = ["A", *(f"{100 * step / (STEPS - 1):.0f}%" for step in range(1, STEPS - 1)), "B"]
    tiles(
        [
            Tile(str(index), address(image, 3), f"Style {text}", text=text)
            for index, (image, text) in enumerate(zip(images, texts, strict=True))
        ],
        key=f"{key}.morph",
        label="Styles between A and B",
        layout="strip",
        single=False,
        on_pick=lambda name: dial.move(
            key, style=None if name == "0" else styles[int(name)].tolist()
        ),
    )


def _swap(key: str, a: DigitView, b: DigitView, digit: Digit, other: Digit) -> None:
    degrees = st.select_slider(
        "Swap: the style of A at the angle of B",
        angle_strip.DEGREES.tolist(),
        112.5,
        format_func=lambda value: f"{value:g}°",
        key=f"{key}.angle_of_b",
        help="The local channels of B at its angle, with the global channels of A.",
    )
    at = float(np.deg2rad(degrees))
    made, true, turned = swapped(a, b, at), digit.at(at), a.geometric(np.array([at]))[0]
    st.html(
        pictures.row(
            pictures.framed(digit.image, "A"),
            pictures.framed(other.at(at), f"B at {degrees:g}°"),
            pictures.framed(made, "A like B"),
            pictures.framed(true, "truth"),
        )
    )
    st.caption(
        f"MSE {mse(made, true):.4f}. For comparison: the picture of A rotated "
        f"{mse(turned, true):.4f}, B unchanged {mse(other.at(at), true):.4f}."
    )
