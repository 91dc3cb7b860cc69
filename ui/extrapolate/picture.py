"""A picture that was brought: the part of it in use, its digit, and how this came about."""

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import streamlit as st
from PIL import Image

from fgpvae import images
from fgpvae.errors import UserError
from fgpvae.images import Box, Normalised, Options
from ui.components import pictures
from ui.components.crop import crop
from ui.extrapolate import own_picture
from ui.extrapolate.upload import Brought
from ui.shell import notices

INK = {"Find out": None, "Dark": True, "Light": False}
CHOOSE = "Click a digit to turn it, or drag the corners around one."
CROP = "Drag the corners to use a part of it."


@dataclass(frozen=True)
class Shown:
    """A picture as the page shows it."""

    address: str
    boxes: tuple[Box, ...]  # of what may be digits, where one has to be chosen


@dataclass(frozen=True)
class Piece:
    """One view of the digit: the picture, and what became of it."""

    brought: Brought
    number: int  # from 1
    same: int = 0  # pictures before it that are the same
    normalised: Normalised | None = None
    own: Image.Image | None = None  # the digit close up in its own ink, if there is one
    error: str = ""  # why it could not be
    shown: Shown | None = None  # None if it cannot be read

    @property
    def key(self) -> str:
        return f"{self.brought.id}-{self.same}"  # wherever it is among the others

    @property
    def several(self) -> bool:
        """Digits were found, and none of them is chosen yet."""
        found = self.shown is not None and len(self.shown.boxes) > 1
        return found and self.normalised is None and corrected(self.key).crop is None


def normalise(brought: list[Brought]) -> list[Piece]:
    """Each picture as a 28 x 28 digit, with the corrections made so far."""
    memory = st.session_state.setdefault("extrapolate.normalised", {})
    pieces, kept, met = [], {}, Counter[str]()
    for number, picture in enumerate(brought, start=1):
        piece = Piece(picture, number, met[picture.id])
        met[picture.id] += 1
        options = corrected(piece.key)
        name = (picture.id, options)
        kept[name] = memory.get(name) or attempt(
            picture.content, options, _seen_before(memory, picture.id, options)
        )
        pieces.append(replace(piece, **kept[name]))
    st.session_state["extrapolate.normalised"] = kept  # only what is in use
    return pieces


def _seen_before(
    memory: dict[tuple[str, Options], dict[str, Any]], identity: str, options: Options
) -> Shown | None:
    """The same picture with another crop or thickness shows the same boxes."""
    for (other, used), found in memory.items():
        if other == identity and used.invert == options.invert:
            return found.get("shown")
    return None


def attempt(content: bytes, options: Options, shown: Shown | None = None) -> dict[str, Any]:
    """The picture and its digit, or why there is none."""
    try:
        picture = images.read_picture(content)
    except UserError as error:
        return {"error": str(error)}
    found: dict[str, Any] = {}
    try:
        normalised = images.normalise(picture, options)
        found["normalised"] = normalised
        found["own"] = own_picture.of_picture(picture, normalised.window)
    except UserError as error:
        found["error"] = str(error)
    if shown is None:
        choice = "error" in found or options.crop is not None
        boxes = _boxes(picture, options.invert) if choice else ()
        shown = Shown(pictures.photo(picture), boxes)
    return found | {"shown": shown}


def _boxes(picture: Image.Image, invert: bool | None) -> tuple[Box, ...]:
    try:
        return images.digit_boxes(picture, invert)
    except UserError:  # nothing to choose from; normalise says why
        return ()


def corrected(key: str) -> Options:
    """The corrections that a person has made to a picture."""
    return st.session_state.get(f"extrapolate.options.{key}", Options())


def show(pieces: list[Piece], visible: bool = False) -> Piece:
    """The picture of one view, large, with all that can be corrected; gives that view.

    `visible`: the last one is on the page already, so it appears only if there is a choice.
    """
    names = [str(piece.number) for piece in pieces]
    number = names[0]
    if len(pieces) > 1:
        number = st.segmented_control(
            "View", names, default=names[-1], required=True, key=f"extrapolate.view.{len(pieces)}"
        )
    piece = pieces[names.index(number)]
    options = corrected(piece.key)
    choice = piece.several or options.crop is not None
    if piece.shown and (choice or not (visible and piece is pieces[-1])):
        boxes = piece.shown.boxes if len(piece.shown.boxes) > 1 else ()
        crop(
            piece.shown.address,
            boxes,
            options.crop,
            key=f"extrapolate.crop.{piece.key}",
            label=f"Your picture {piece.brought.name}",
            hint=CHOOSE if boxes else CROP,
            on_crop=lambda box: _correct(piece.key, crop=box),
        )
    if piece.normalised is None and not piece.several:
        notices.problem(piece.error, "The other views were kept." if len(pieces) > 1 else "")
    if piece.shown:
        _corrections(piece.key)
    for other in pieces:
        if other is not piece and other.normalised is None:
            notices.problem(f"View {other.number}, {other.brought.name}: {other.error}")
    return piece


def _corrections(key: str) -> None:
    """Widgets to correct how a picture becomes a digit."""
    now = corrected(key)
    st.session_state[f"extrapolate.ink.{key}"] = next(
        name for name in INK if INK[name] is now.invert
    )
    st.session_state[f"extrapolate.thickness.{key}"] = now.thickness

    def change() -> None:
        _correct(
            key,
            invert=INK[st.session_state[f"extrapolate.ink.{key}"]],
            thickness=round(st.session_state[f"extrapolate.thickness.{key}"], 1),
        )

    with st.popover("Correct it"):
        st.segmented_control(
            "Ink", list(INK), required=True, key=f"extrapolate.ink.{key}", on_change=change
        )
        st.slider(
            "Thinner or thicker strokes",
            -1.0,
            1.0,
            step=0.1,
            key=f"extrapolate.thickness.{key}",
            on_change=change,
        )


def _correct(key: str, **changes: Any) -> None:
    st.session_state[f"extrapolate.options.{key}"] = replace(corrected(key), **changes)


def steps(normalised: Normalised) -> None:
    """From picture to digit, step by step, folded away."""
    with st.expander("Seven steps from your picture to the digit"):
        st.html(
            pictures.row(
                *(
                    pictures.framed(_small(step.image), step.name, scale=1, hint=step.caption)
                    for step in normalised.steps
                ),
                size=64,
                fill=True,
            )
        )
        st.caption(" ".join(normalised.notes))


def _small(image: np.ndarray, side: int = 140) -> np.ndarray:
    """Small enough to send on every run."""
    step = max(1, -(-max(image.shape[:2]) // side))
    return image[::step, ::step]
