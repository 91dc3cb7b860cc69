"""What a person can take along: the picture, the full turn, and the latent vector."""

import csv
import io
import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import streamlit as st

from fgpvae.digit_view import DigitView
from fgpvae.images import enlarged, to_gif, to_png
from ui.components.copy_link import copy_link
from ui.components.dial import DialState
from ui.components.film import film

SENTENCE = (
    "Save what you see: the picture, a full turn, or the dial itself as one file that works "
    "offline."
)
ALONE = "Drag the ring, or move the sliders. This file needs no server and no network."

SIDE = 1024  # pixels of a picture
FRAMES, FRAME_SIDE, MILLISECONDS = 60, 384, 60  # of a full turn


def save(turning: DigitView, state: DialState, name: str, title: str, key: str) -> None:
    """Buttons that make their file when they are pressed; `title` says what turns."""
    name = name.replace("/", "-")
    w, style, file = state.radians, state.style, f"{name}-{state.angle:g}"
    with st.container(horizontal=True, gap="small"):
        _button("Picture", lambda: picture(turning, w, style), f"{file}.png", "image/png", key)
        _button("Full turn", lambda: full_turn(turning, style), f"{name}.gif", "image/gif", key)
        if turning.scene is None:
            copy_link(key)
            return
        film(key, name)
        if state.page is not None:
            page = state.page
            _button(
                "Dial",
                lambda: page.html(title, ALONE).encode(),
                f"{name}.html",
                "text/html",
                key,
                (
                    "One HTML file with the decoder, the views and the styles. It works "
                    "offline, also on a phone."
                ),
            )
        _button(
            "Latents, JSON",
            lambda: as_json(latents(turning, w, style), name),
            f"{file}.json",
            "application/json",
            key,
        )
        _button(
            "Latents, CSV",
            lambda: as_csv(latents(turning, w, style)),
            f"{file}.csv",
            "text/csv",
            key,
        )
        copy_link(key)


def picture(turning: DigitView, w: float, style: Sequence[float] | None) -> bytes:
    return to_png(enlarged(turning.images(np.array([w]), style)[0], SIDE), scale=1)


def full_turn(turning: DigitView, style: Sequence[float] | None) -> bytes:
    around = np.linspace(0, 2 * np.pi, FRAMES, endpoint=False)
    large = enlarged(turning.images(around, style), FRAME_SIDE)
    return to_gif(large, scale=1, milliseconds=MILLISECONDS)


def latents(turning: DigitView, w: float, style: Sequence[float] | None) -> dict[str, Any]:
    """The code at an angle, with what the model was given."""
    assert turning.scene is not None
    rest = "angle" if turning.model.told_angle else "local"
    kinds = np.full(len(turning.scene.code), rest if len(turning.scene.styles) else "joint", object)
    kinds[turning.scene.styles] = "global"
    mean = turning.scene.at(w, None if style is None else np.asarray(style))
    sd: list[float | None] = [None] * len(mean)
    if turning.model.tells_certainty:
        sd = turning.channels(w, style)[1].round(6).tolist()
    return {
        "angle_degrees": round(float(np.rad2deg(w)), 4),
        "views_degrees": np.rad2deg(turning.angles[turning.observed]).round(4).tolist(),
        "own_style": style is None,
        "channels": [
            {"channel": index + 1, "kind": str(kind), "mean": round(float(value), 6), "sd": spread}
            for index, (kind, value, spread) in enumerate(zip(kinds, mean, sd, strict=True))
        ],
    }


def as_json(found: dict[str, Any], name: str) -> str:
    return json.dumps({"name": name, **found}, indent=1)


def as_csv(found: dict[str, Any]) -> str:
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, ["channel", "kind", "mean", "sd"], lineterminator="\n")
    writer.writeheader()
    writer.writerows(found["channels"])
    return buffer.getvalue()


def _button(
    label: str, data: Any, file_name: str, mime: str, key: str, help: str | None = None
) -> None:
    st.download_button(
        label,
        data,
        file_name=file_name,
        mime=mime,
        key=f"{key}.download.{label}",
        on_click="ignore",
        help=help,
    )
