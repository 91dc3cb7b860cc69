"""Downloads: the picture, the full turn, and the latent vector."""

import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import streamlit as st

from fgpvae.browser.imagined import Imagined
from fgpvae.data.collections import Collection
from fgpvae.images import enlarged, to_gif, to_png
from ui.components.buttons import film
from ui.components.dial import DialState
from ui.inference.places import from_dial
from ui.shell import frame

SENTENCE = "Save what you see: the picture, {} as a GIF{}."
IN_BROWSER = " or a video, or the dial itself as one file that works offline"
DIAL = (
    "One HTML file with the decoder, the views and the styles; it works offline, also on a phone."
)
ALONE = "Drag the {}, or move the sliders. This file needs no server and no network."

SIDE = 1024  # pixels of a picture
FRAMES, FRAME_SIDE, MILLISECONDS = 60, 384, 60  # pictures in a full turn


def card(
    seen: Imagined, collection: Collection, state: DialState, name: str, title: str, key: str
) -> None:
    """Show buttons that make their file when they are pressed."""
    track, style, name = collection.track, state.style, name.replace("/", "-")
    w, here = from_dial(track, state.angle), f"{name}-{state.angle:g}"

    def button(
        label: str, data: Callable[[], str | bytes], file: str, help: str | None = None
    ) -> None:
        frame.download(label, data, file, f"{key}.download.{label}", help=help)

    def picture() -> bytes:
        return to_png(enlarged(seen.images([w], style)[0], SIDE), scale=1)

    def gif() -> bytes:
        large = enlarged(seen.images(track.grid(FRAMES), style), FRAME_SIDE)
        return to_gif(large, scale=1, milliseconds=MILLISECONDS)

    def as_json() -> str:
        return json.dumps({"name": name, **latents(seen, collection, w, style)}, indent=1)

    def as_csv() -> str:
        rows = latents(seen, collection, w, style)["channels"]
        lines = [",".join("" if v is None else str(v) for v in row.values()) for row in rows]
        return "\n".join(["channel,kind,mean,sd", *lines, ""])

    whole = "a full turn" if track.period else "the way from end to end"
    said = SENTENCE.format(whole, "" if seen.scene is None else IN_BROWSER)
    with frame.card("Take it with you", said), st.container(horizontal=True, gap="small"):
        button("Picture", picture, f"{here}.png")
        button("GIF", gif, f"{name}.gif")
        if seen.scene is None:
            return
        film(f"{key}.film", {"key": key, "name": name}, "content")
        if (page := state.page) is not None:
            alone = ALONE.format("ring" if track.period else "handle")
            button("Dial", lambda: page(title, alone).encode(), f"{name}.html", DIAL)
        button("Latents, JSON", as_json, f"{here}.json")
        button("Latents, CSV", as_csv, f"{here}.csv")


def latents(
    seen: Imagined, collection: Collection, w: float, style: Sequence[float] | None
) -> dict[str, Any]:
    """Return the code at a place, with the views that the model was given."""
    track = collection.track
    assert seen.scene is not None
    rest = "angle" if seen.model.decoder_takes_angle else "local"
    kinds = np.full(len(seen.scene.code), rest if len(seen.scene.styles) else "joint", object)
    kinds[seen.scene.styles] = "global"
    mean = seen.scene.at(w, None if style is None else np.asarray(style))
    known = seen.model.tells_certainty
    sd = seen.channels([w], style)[1][0].round(6).tolist() if known else [None] * len(mean)
    return {
        collection.words.place: round(float(track.to_view(w)), 4),
        "views": np.asarray(track.to_view(seen.subject.w[seen.observed])).round(4).tolist(),
        "own_style": style is None,
        "channels": [
            {"channel": index + 1, "kind": str(kind), "mean": round(float(value), 6), "sd": spread}
            for index, (kind, value, spread) in enumerate(zip(kinds, mean, sd, strict=True))
        ],
    }
