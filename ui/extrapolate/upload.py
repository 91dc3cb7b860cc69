"""Pictures that a person brings: files, drawings, photos; kept in the memory of the session."""

from collections import Counter
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any

import numpy as np
import streamlit as st

from fgpvae import images
from fgpvae.errors import UserError
from fgpvae.images import Normalised, Options
from ui.components import pictures
from ui.shell import notices

MOST = 12  # pictures of one digit
CANVAS = 264  # pixels
INK = {"Find out": None, "Dark": True, "Light": False}


@dataclass(frozen=True)
class Brought:
    """A picture as it came."""

    name: str
    content: bytes = field(repr=False)

    @property
    def id(self) -> str:
        return sha256(self.content).hexdigest()[:12]


def uploaded() -> list[Brought]:
    files = st.file_uploader(
        f"{images.ACCEPTED}, photo or scan; several files are several views of one digit.",
        accept_multiple_files=True,
        key="extrapolate.upload",
        help="Pictures stay in memory while this page is open; nothing is written to disk.",
    )
    if len(files) > MOST:
        notices.note(f"Only the first {MOST} pictures are used.")
    return [Brought(file.name, file.getvalue()) for file in files[:MOST]]


def photographed() -> list[Brought]:
    shot = st.camera_input(
        "A digit on paper, well lit, filling most of the picture.",
        key=f"extrapolate.camera.{_round('camera')}",
    )
    now = [] if shot is None else [Brought("photo", shot.getvalue())]
    return _with_kept("camera", now, "photograph")


def drawn() -> list[Brought]:
    from streamlit_drawable_canvas import st_canvas  # needs a running server

    st.caption("Draw one digit.")
    result = st_canvas(
        stroke_width=22,
        stroke_color="#ffffff",
        background_color="#000000",
        width=CANVAS,
        height=CANVAS,
        return_image_data=True,
        key=f"extrapolate.canvas.{_round('draw')}",
    )
    strokes = (result.json_data or {}).get("objects") or []
    content = result.image_bytes if strokes else None
    now = [] if content is None else [Brought("drawing", content)]
    return _with_kept("draw", now, "draw")


def _with_kept(source: str, now: list[Brought], verb: str) -> list[Brought]:
    """What was kept before and what is there now, with the button that keeps it."""
    kept: list[Brought] = st.session_state.setdefault(f"extrapolate.kept.{source}", [])
    with st.container(horizontal=True, gap="small"):
        st.button(
            "Add another view",
            disabled=not now or len(kept) + 1 >= MOST,
            help=f"Keeps this one and lets you {verb} the same digit once more, turned.",
            on_click=_keep,
            args=(source, now),
            key=f"extrapolate.keep.{source}",
        )
        if kept:
            st.button(
                "Start again", on_click=_forget, args=(source,), key=f"extrapolate.forget.{source}"
            )
    return [*kept, *now]


def _keep(source: str, now: list[Brought]) -> None:
    st.session_state[f"extrapolate.kept.{source}"] = [
        *st.session_state[f"extrapolate.kept.{source}"],
        *now,
    ]
    st.session_state[f"extrapolate.round.{source}"] = _round(source) + 1


def _forget(source: str) -> None:
    st.session_state[f"extrapolate.kept.{source}"] = []
    st.session_state[f"extrapolate.round.{source}"] = _round(source) + 1


def _round(source: str) -> int:
    """Widgets are emptied by giving them another key."""
    return st.session_state.get(f"extrapolate.round.{source}", 0)


@dataclass(frozen=True)
class Piece:
    """One view of the digit: the picture, and what became of it."""

    brought: Brought
    number: int  # from 1
    same: int = 0  # pictures before it that are the same
    normalised: Normalised | None = None
    error: str = ""  # why it could not be
    readable: bool = True

    @property
    def key(self) -> str:
        return f"{self.brought.id}-{self.same}"  # wherever it is among the others


def normalise(brought: list[Brought]) -> list[Piece]:
    """Each picture as a 28 x 28 digit, with the corrections made so far."""
    memory = st.session_state.setdefault("extrapolate.normalised", {})
    pieces, kept, met = [], {}, Counter[str]()
    for number, picture in enumerate(brought, start=1):
        piece = Piece(picture, number, met[picture.id])
        met[picture.id] += 1
        name = (picture.id, corrected(piece.key))
        kept[name] = memory.get(name) or _try(picture.content, name[1])
        pieces.append(replace(piece, **kept[name]))
    st.session_state["extrapolate.normalised"] = kept  # only what is in use
    return pieces


def _try(content: bytes, options: Options) -> dict[str, Any]:
    """The digit, or why there is none."""
    try:
        picture = images.read_picture(content)
    except UserError as error:
        return {"error": str(error), "readable": False}
    try:
        return {"normalised": images.normalise(picture, options)}
    except UserError as error:
        return {"error": str(error)}


def corrected(key: str) -> Options:
    """The corrections that a person has made to a picture."""
    return st.session_state.get(f"extrapolate.options.{key}", Options())


def corrections(key: str) -> None:
    """Widgets to correct how a picture becomes a digit."""
    now = corrected(key)
    left, top, right, bottom = (round(100 * edge) for edge in now.crop or (0, 0, 1, 1))
    ink = next(name for name, value in INK.items() if value is now.invert)
    values = {
        "ink": ink,
        "thickness": now.thickness,
        "across": (left, right),
        "down": (top, bottom),
    }
    for name, value in values.items():
        st.session_state[f"extrapolate.{name}.{key}"] = value
    change: dict[str, Any] = {"on_change": _correct, "args": (key,)}
    with st.popover("Correct it"):
        st.segmented_control(
            "Ink", list(INK), required=True, key=f"extrapolate.ink.{key}", **change
        )
        st.slider(
            "Thinner or thicker strokes",
            -1.0,
            1.0,
            step=0.1,
            key=f"extrapolate.thickness.{key}",
            **change,
        )
        st.slider("Crop across", 0, 100, format="%d%%", key=f"extrapolate.across.{key}", **change)
        st.slider("Crop down", 0, 100, format="%d%%", key=f"extrapolate.down.{key}", **change)


def _correct(key: str) -> None:
    left, right = st.session_state[f"extrapolate.across.{key}"]
    top, bottom = st.session_state[f"extrapolate.down.{key}"]
    whole = (left, top, right, bottom) == (0, 0, 100, 100)
    st.session_state[f"extrapolate.options.{key}"] = Options(
        invert=INK[st.session_state[f"extrapolate.ink.{key}"]],
        crop=None if whole else (left / 100, top / 100, right / 100, bottom / 100),
        thickness=round(st.session_state[f"extrapolate.thickness.{key}"], 1),
    )


def steps(piece: Piece) -> str:
    """From picture to digit, step by step, as HTML."""
    assert piece.normalised is not None
    return pictures.row(
        *(
            pictures.framed(_small(step.image), step.name, scale=1, hint=step.caption)
            for step in piece.normalised.steps
        ),
        size=52,
        fill=True,
    )


def _small(image: np.ndarray, side: int = 140) -> np.ndarray:
    """Small enough to send on every run."""
    step = max(1, -(-max(image.shape[:2]) // side))
    return image[::step, ::step]
