"""A digit of one's own: its views, and copies of the first one turned as a picture.

On the ring the views come first and last, so that what a click means does not change with their
number: 0 is the first view, 1 to 15 are copies of it turned by 22.5 degrees more each, and from 16
on come the other views.
"""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import streamlit as st

from fgpvae.data import ANGLES, rotate
from ui.components import dial

COPIES = len(ANGLES) - 1
SPREAD = (8, 4, 12, 2, 10, 6, 14)  # copies in the order in which they help most


@dataclass(frozen=True)
class View:
    image: np.ndarray  # [28, 28]
    angle: float  # radians
    key: str  # its own, for widgets


@dataclass(frozen=True)
class Ring:
    views: np.ndarray  # [Q, 28, 28]
    angles: np.ndarray  # [Q] radians
    own: list[int]  # indices of the views that are no copies


def ring(views: Sequence[View]) -> Ring:
    """All that the model can be shown of a digit."""
    first, *others = views
    copies = rotate(first.image[None], ANGLES[1:])[0]
    images = np.stack([first.image, *copies, *(view.image for view in others)])
    angles = [first.angle, *(first.angle + ANGLES[1:]), *(view.angle for view in others)]
    own = [0, *range(COPIES + 1, COPIES + 1 + len(others))]
    return Ring(images.astype(np.float32), np.array(angles) % (2 * np.pi), own)


def chosen(
    key: str, made: Ring, subject: Hashable, linked: Iterable[float] | None = None
) -> list[int]:
    """Indices of the views that the model sees: the own ones, until dots are clicked.

    The first digit of a session starts with those of its link.
    """
    name, there = f"{key}.own", range(len(made.angles))
    before = st.session_state.get(name)
    if before is None or before[0] != subject:
        dial.context(key, [])  # clicks were about another digit
        asked = sorted({int(index) for index in linked or [] if index in there})
        st.session_state[name] = (subject, made.own if before or not asked else asked)
    return [index for index in dial.context(key, st.session_state[name][1]) if index in there]


def mask(made: Ring, indices: Sequence[int]) -> np.ndarray:
    """[Q] bool."""
    return np.isin(np.arange(len(made.angles)), indices)


def arrival(seen: Sequence[int], most: int = 8) -> list[int]:
    """The views the model sees, then copies that it could see next: `most` of them at least."""
    following = [index for index in SPREAD if index not in seen]
    return [*seen, *following[: max(0, most - len(seen))]]


def near(angles: np.ndarray, at: np.ndarray, within: float = np.deg2rad(2)) -> list[int]:
    """Indices of the angles `at` that are among `angles`, nearly."""
    apart = np.abs((at[:, None] - angles + np.pi) % (2 * np.pi) - np.pi)
    return np.flatnonzero((apart < within).any(1)).tolist()
