"""A user's picture: the part in use, its digit, and the steps of reading it."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import streamlit as st
from PIL import Image
from streamlit.delta_generator import DeltaGenerator

from fgpvae import images
from fgpvae.errors import UserError
from fgpvae.images import Box, Options, Step
from ui.components import pictures
from ui.components.shared import Component
from ui.shell import notices, query_params
from ui.shell.public import allowed

_crop = Component("crop")
AUTOMATIC = "Find out"
INK = {AUTOMATIC: None, "Dark": True, "Light": False}
CHOOSE = "Click a digit to turn it, or drag the corners around one."
SIDE = 192  # pixels of the visible part of a digit close up
ROOM = 280  # pixels of the stored part: more than the diagonal, so that it can be rotated
STEP_SIDE = 140  # pixels of the steps, at most
HOUR = 3600  # seconds after which a picture is removed from the cache


@dataclass(frozen=True)
class Piece:
    """A digit read from a picture, or why there is none."""

    digit: np.ndarray | None = None  # [28, 28]
    own: Image.Image | None = None  # the digit close up in its own ink
    steps: tuple[Step, ...] = ()
    notes: str = ""
    error: str = ""  # why there is no digit
    boxes: tuple[Box, ...] = ()  # boxes of possible digits, if one has to be chosen
    readable: bool = True

    @property
    def several(self) -> bool:
        """Whether several digits were found and none is chosen yet."""
        return self.digit is None and len(self.boxes) > 1


def _picture(content: bytes) -> Image.Image:
    return images.read_picture(content, allowed().megapixels * 10**6)


@st.cache_resource(max_entries=48, ttl=HOUR, show_spinner=False)
def read(content: bytes, options: Options) -> Piece:
    """Read the digit in the bytes of a picture, with the user's corrections."""
    try:
        picture = _picture(content)
    except UserError as error:
        return Piece(error=str(error), readable=False)
    try:
        found = images.normalise(picture, options)
    except UserError as error:
        several = () if options.crop else _boxes(content, options.invert)
        return Piece(error=str(error), boxes=several)
    small = []
    for each in found.steps:
        every = max(1, -(-max(each.image.shape[:2]) // STEP_SIDE))
        small.append(replace(each, image=each.image[::every, ::every]))
    own = close_up(picture, found.window)
    return Piece(found.digit, own, tuple(small), " ".join(found.notes))


@st.cache_resource(max_entries=48, ttl=HOUR, show_spinner=False)
def _boxes(content: bytes, invert: bool | None) -> tuple[Box, ...]:
    try:
        return images.digit_boxes(content, invert)
    except UserError:  # nothing to choose from; the error of `normalise` says why
        return ()


@st.cache_resource(max_entries=48, ttl=HOUR, show_spinner=False)
def address(content: bytes, side: int) -> str:
    """Return the data address of a picture, black if it cannot be read."""
    try:
        return pictures.photo(_picture(content), side)
    except UserError:
        return pictures.address(np.zeros((28, 28), np.float32))


def close_up(picture: Image.Image, window: Box) -> Image.Image:
    """Cut out a digit with some room around it; the edge of the picture is continued."""
    sides = np.array(picture.size)
    low, high = np.reshape(window, (2, 2)) * sides  # [2] x and y in pixels
    scale = SIDE / (high - low).mean()
    corner = (low + high) / 2 - ROOM / 2 / scale
    first = np.clip(np.floor(corner), 0, sides - 1).astype(int)
    last = np.clip(np.ceil(corner + ROOM / scale), first + 1, sides).astype(int)
    size = np.maximum(1, np.rint(scale * (last - first))).astype(int)
    part = picture.convert("RGB").crop((*first, *last)).resize(size, Image.Resampling.BICUBIC)
    before = np.rint(scale * (first - corner)).clip(0).astype(int)
    after = (ROOM - before - size).clip(0)
    beyond = [(before[1], after[1]), (before[0], after[0]), (0, 0)]
    return Image.fromarray(np.pad(np.asarray(part), beyond, mode="edge")[:ROOM, :ROOM])


def upright_address(own: Image.Image, degrees: float = 0.0, side: int = SIDE) -> str:
    """Return the data address of the picture, rotated back by the angle of its digit."""
    room = round(side * ROOM / SIDE)
    small = own.resize((room, room), Image.Resampling.BOX) if room < ROOM else own
    upright = small.rotate(-degrees, Image.Resampling.BICUBIC) if degrees else small
    low = (small.width - side) / 2
    return pictures.photo(upright.crop((low, low, low + side, low + side)), side)


def corrected(id: str) -> Options:
    """Return the user's corrections of a picture."""
    state = st.session_state
    return Options(
        crop=state.get(f"extrapolate.part.{id}"),
        invert=INK[state.get(f"extrapolate.ink.{id}", AUTOMATIC)],
        thickness=round(state.get(f"extrapolate.thickness.{id}", 0.0), 1),
    )


def show(id: str, content: bytes, name: str, piece: Piece, row: DeltaGenerator) -> None:
    """Show a picture and its corrections, folded in `row` unless a digit must be chosen."""
    options = corrected(id)
    if piece.digit is None and not piece.several:
        notices.problem(piece.error)
    if not piece.readable:
        return

    def cropped(sent: Any) -> None:
        box = checked(sent)
        if box is not None or sent == {"edges": None}:  # the whole picture
            st.session_state[f"extrapolate.part.{id}"] = box

    chosen = piece.digit is None or options.crop is not None
    folded = st.container() if piece.digit is None else row.popover("Correct it")
    every = _boxes(content, options.invert) if chosen else ()
    boxes = every if len(every) > 1 else ()
    with st.container() if chosen else folded:
        data = {
            "image": address(content, 840),
            "boxes": [[round(edge, 4) for edge in box] for box in boxes],
            "crop": options.crop,
            "label": f"Your picture {name}",
            "hint": CHOOSE if boxes else "Drag the corners to use a part of it.",
        }
        _crop(f"extrapolate.crop.{id}", data, cropped=cropped)
    with folded:
        with st.container(horizontal=True, gap="medium"):
            key = f"extrapolate.ink.{id}"
            query_params.segments("Ink", list(INK), key, linked=False, persist_state="session")
            st.slider(
                "Thinner or thicker strokes",
                -1.0,
                1.0,
                0.0,
                0.1,
                key=f"extrapolate.thickness.{id}",
                persist_state="session",
            )
        if piece.steps:
            st.caption(f"From your picture to the digit. {piece.notes}")
            shown = [pictures.framed(s.image, s.name, scale=1, hint=s.caption) for s in piece.steps]
            st.html(pictures.row(*shown, size=64, fill=True))


def checked(sent: Any) -> Box | None:
    """The part of a picture sent by the browser, if it is valid."""
    try:
        left, top, right, bottom = (float(edge) for edge in sent["edges"])
    except (TypeError, ValueError, KeyError):
        return None
    inside = 0 <= left < right <= 1 and 0 <= top < bottom <= 1
    return (left, top, right, bottom) if inside else None
