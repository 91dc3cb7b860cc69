"""One's own objects, as the run that was trained on them keeps them, and a gallery of them.

Figures of cubes can be looked at in the same way.
"""

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import streamlit as st
import torch

from fgpvae import checkpoints
from fgpvae.checkpoints import OBJECTS_FILE
from fgpvae.data.objects import Objects, Split, Track, pixels, split
from fgpvae.errors import UserError
from fgpvae.references import mean_view
from ui.catalog import figures
from ui.catalog.models import Choice
from ui.components.pictures import address
from ui.components.tiles import Tile, tiles
from ui.shell import palette

SHOWN = 40  # in a gallery, until more are asked for
MORE = 200
STRIP = 48  # recorded views side by side
NEW, TRAINING = "New objects", "Training objects"
EXPLAIN = "The model learned from the training objects and has never seen the new ones."


@dataclass(frozen=True)
class ObjectSet:
    """The objects of a run."""

    objects: Objects
    track: Track
    split: Split

    def __len__(self) -> int:
        return len(self.objects.names)

    def new(self, number: int) -> bool:
        return number in self.split.unseen

    def pixels(self, number: int) -> np.ndarray:
        """All recorded views of an object in their order, [Q, H, W] or [Q, 3, H, W]."""
        return pixels(self.objects, self.objects.by_object[number])

    def views(self, number: int) -> np.ndarray:
        """[Q] in the unit of the data."""
        return self.objects.view[self.objects.by_object[number]]

    def w(self, number: int) -> np.ndarray:
        return np.asarray(self.track.to_w(self.views(number)), dtype=np.float64)

    def held(self, number: int) -> list[int]:
        """Which of its views were kept back, though it is a training object."""
        mine = self.objects.by_object[number]
        return [index for index, image in enumerate(mine) if image in self.split.held]

    def given(self, number: int) -> list[int]:
        """The views to start with: those that were trained on, or every other one."""
        held = set(self.held(number))
        every = range(len(self.objects.by_object[number]))
        return list(every)[::2] if self.new(number) else [i for i in every if i not in held]

    def text(self, view: float) -> str:
        """A view with as many digits as the track deserves."""
        low, high = self.track.ends
        places = min(max(2 - math.floor(math.log10(high - low)), 0), 6)
        return f"{view:.{places}f}"

    def colour(self, w: float) -> str:
        return palette.angle_colour(w) if self.track.period else palette.track_colour((w + 1) / 2)

    def strip(self, number: int, most: int = STRIP) -> list[int]:
        """The views to show side by side: all of them, or some spread evenly."""
        count = len(self.objects.by_object[number])
        return sorted({round(k) for k in np.linspace(0, count - 1, min(count, most)).tolist()})

    def middle(self, number: int) -> int:
        """The view nearest to the middle of the track, to show in a gallery."""
        return int(self.track.apart(self.w(number), 0.0).argmin())

    def mean_image(self, w: float) -> np.ndarray:
        """The mean over training objects of their training view nearest to a place."""
        at = torch.tensor([w], dtype=torch.float64)
        return mean_view(self.split.train, at, self.track)[0].numpy()


def load_objects(choice: Choice) -> ObjectSet:
    """The objects of a run, from its own directory, or figures; a UserError if they are gone."""
    if choice.figures:
        return _figures()
    path = choice.path.parent
    try:
        version = (path / OBJECTS_FILE).stat().st_mtime
    except OSError:
        version = 0.0
    return _load_objects(choice, path, version)


@st.cache_resource(max_entries=2, show_spinner="Reading the objects of this run")
def _load_objects(choice: Choice, path: Path, version: float) -> ObjectSet:
    config, found = choice.config, checkpoints.load_objects(path)
    if found.shape != config.model.network.shape:
        raise UserError(f"The objects of '{path.name}' are not those that its model was made for.")
    return ObjectSet(found, config.data.track, split(found, config.data.track, config.seed))


@st.cache_resource(show_spinner=False)
def _figures() -> ObjectSet:
    """Figures of cubes that no model has seen, and the views of others to compare them with."""
    views, track = figures.unseen_views(), Track(360.0)
    P, Q = views.angles.shape
    images = (255 * views.images).round().to(torch.uint8).flatten(0, 1).numpy()
    names = tuple(figures.unseen(number) for number in range(P))
    sides = np.tile(np.asarray(track.to_view(views.angles[0].numpy())).round(4), P)
    every = Objects(images, np.repeat(np.arange(P), Q), sides, names)
    known = Split(figures.training_views(), {}, tuple(range(P)), frozenset())
    return ObjectSet(every, track, known)


def chosen(key: str, found: ObjectSet, linked: str | None = None) -> int:
    """The number of the object that was picked under `key`, that of the link, or a new one."""
    name = f"{key}.object"
    number = st.session_state.get(name)
    if number is None and linked is not None and linked.isdecimal() and len(linked) < 8:
        number = int(linked)
    if number is None or number >= len(found):
        number = found.split.unseen[0]
    st.session_state[name] = number
    return number


def gallery(key: str, choice: Choice, found: ObjectSet, current: int) -> None:
    """Thumbnails of the run's objects; a click picks one under `key`."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        kind = st.segmented_control(
            "Kind of object",
            [NEW, TRAINING],
            default=NEW if found.new(current) else TRAINING,
            required=True,
            key=f"{key}.kind",
            help=EXPLAIN,
            label_visibility="collapsed",
        )
        more = st.toggle("More", key=f"{key}.more")
    unseen = set(found.split.unseen)
    every = [n for n in range(len(found)) if (n in unseen) == (kind == NEW)]
    shown = every[: MORE if more else SHOWN]
    if current in every and current not in shown:
        shown.insert(0, current)
    tiles(
        [
            Tile(
                str(number),
                _thumbnail(choice, found, number),
                f"{found.objects.names[number]}, {'new' if kind == NEW else 'training'} object",
                selected=number == current,
            )
            for number in shown
        ],
        key=f"{key}.tiles",
        label="Objects to pick from",
        on_pick=lambda name: st.session_state.update({f"{key}.object": int(name)}),
    )


@st.cache_data(max_entries=2000, show_spinner=False)
def _thumbnail(choice: Choice, _found: ObjectSet, number: int) -> str:
    image = _found.objects.by_object[number][_found.middle(number)]
    return address(pixels(_found.objects, [image])[0], 2)
