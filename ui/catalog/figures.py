"""Figures of cubes that no model was trained on, and what is known of others without a model."""

import numpy as np
import streamlit as st
import torch
from torch import Tensor

from fgpvae.data import Views, cubes
from fgpvae.errors import UserError
from fgpvae.figure_view import figure_of
from ui.components.pictures import address
from ui.components.tiles import Tile, tiles
from ui.shell.kept import kept

FRAMES = 48  # angles at which figures are drawn, all round
AROUND: np.ndarray = np.arange(FRAMES) * (2 * np.pi / FRAMES)
SOME = 4  # of so many training shapes one is drawn: 40, and each in four quarters
SHOWN = 36  # in a gallery
TO_US = 2  # the side of a thumbnail, 30 degrees
ANOTHER = 7  # shapes further: neighbours in the list look alike


@st.cache_resource(show_spinner="Building figures")
def _shapes() -> cubes.Splits:
    return cubes.splits()


@kept(400)
def unseen(number: int) -> str:
    """The moves of a figure that no model has seen; there is one for every number."""
    shapes = _shapes().unseen
    copies = shapes[number * ANOTHER % len(shapes)].copies()
    return copies[number % len(copies)].moves


def another_button(key: str) -> None:
    """A button that puts the next unseen figure under `key`."""
    name = f"{key}.number"

    def another() -> None:
        st.session_state[name] = st.session_state.get(name, 0) + 1
        st.session_state[f"{key}.moves"] = unseen(st.session_state[name])

    st.button("Another one", type="primary", on_click=another, key=f"{key}.another")


def chosen(key: str, linked: str | None = None) -> str:
    """The moves under `key`, at first those of the link, if they are a figure, or an unseen one."""
    name = f"{key}.moves"
    if name not in st.session_state:
        st.session_state[name] = linked if is_figure(linked) else unseen(0)
    return st.session_state[name]


def gallery(key: str, current: str) -> None:
    """Thumbnails of figures that no model has seen; a click puts one under `key`."""
    every = [unseen(number) for number in range(SHOWN)]
    shown = every if current in every else [current, *every]
    tiles(
        [
            Tile(moves, _thumbnail(moves), f"The figure {moves}", selected=moves == current)
            for moves in shown
        ],
        key=f"{key}.tiles",
        label="Figures to pick from",
        on_pick=lambda moves: st.session_state.update({f"{key}.moves": moves}),
    )


def views(moves: str) -> np.ndarray:
    """A figure from its 24 sides, [24, H, W]."""
    return cubes.views_of([figure_of(moves)])[0].numpy()


def is_figure(moves: str | None) -> bool:
    try:
        return bool(figure_of(moves or ""))
    except UserError:
        return False


@kept(400)
def kind(moves: str) -> str:
    """Is the shape of a figure among those for training or among those kept back?"""
    shape = figure_of(moves).shape
    if any(each.shape == shape for each in _shapes().training):
        return "training"
    back = (*_shapes().unseen, *_shapes().validation)
    return "unseen" if any(each.shape == shape for each in back) else "other"


@st.cache_resource(show_spinner="Drawing figures")
def training_images() -> Tensor:
    """Some training shapes, each in one attitude, [P, 48, H, W]."""
    stream, shown = np.random.default_rng(0), []
    for shape in _shapes().training[::SOME]:
        copies = shape.copies()
        shown.append(copies[stream.integers(len(copies))])
    drawn = cubes.draw(shown, np.broadcast_to(AROUND, (len(shown), FRAMES)))
    return torch.from_numpy(drawn).float() / 255


def training_views() -> Views:
    """The same figures from the 24 sides."""
    return _from_all_sides(training_images()[:, :: FRAMES // cubes.ANGLES])


@st.cache_resource(show_spinner="Drawing figures")
def unseen_views() -> Views:
    """The figures of the gallery, which no model has seen, from the 24 sides."""
    return _from_all_sides(cubes.views_of([figure_of(unseen(number)) for number in range(SHOWN)]))


def _from_all_sides(images: Tensor) -> Views:
    P, Q = images.shape[:2]
    ids, labels = torch.arange(P), torch.zeros(P, dtype=torch.int64)
    everything = torch.ones(P, Q, dtype=torch.bool)
    return Views(images, cubes.grid().expand(P, Q), everything, ids, labels)


@st.cache_resource(show_spinner=False)
def mean_images() -> np.ndarray:
    """The mean of training figures, each in all quarters, at the 48 angles, [48, H, W]."""
    images = training_images().mean(0)
    return torch.stack([images.roll(k * FRAMES // 4, 0) for k in range(4)]).mean(0).numpy()


@st.cache_data(max_entries=400, show_spinner=False)
def _thumbnail(moves: str) -> str:
    return address(views(moves)[TO_US], 2)
