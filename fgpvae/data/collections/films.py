"""Films of a digit or a shape that moves."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
import torch

from .. import films
from ..track import Track
from ..views import Views
from .base import Collection, Images, Places, Subject, Words, views_of
from .digits import NAMES

LISTED = 40  # films to choose from
TRAINING = 120  # films to which styles are fitted


class FilmSubject(Subject):
    """A film, given by its number or by a look and a path of the user's own."""

    w = films.times().numpy()

    def __init__(self, film: films.Film, id: str, new: bool | None = True) -> None:
        label = film.label if film.label >= 0 else None
        super().__init__(id, "shape" if label is None else NAMES[label], label, new)
        self.film = film

    @cached_property
    def images(self) -> Images:
        return self.film.images.numpy()

    @property
    def thumbnail(self) -> Images:
        return self.film.look.numpy()

    @property
    def first_views(self) -> list[int]:
        return films.given_frames(4).tolist()

    def truth_at(self, w: Places) -> Images:
        return self.film.at(torch.as_tensor(np.asarray(w))).numpy()

    def path(self, w: Places) -> Places:
        """Where the look is at times [S], in pixels: [S, 2]."""
        return self.film.path(torch.as_tensor(np.asarray(w))).numpy()

    def process(self, w: Places) -> Places:
        t = torch.as_tensor(np.asarray(w))
        return (films.features(t) @ self.film.path.weights.mT).numpy()


@dataclass(frozen=True)
class Films(Collection):
    """Films generated from their numbers."""

    classes: tuple[int, ...] = tuple(range(10))

    name = "films"
    group = "Films"
    track = Track(0.0, 1.0, films.FRAMES)  # a view is the number of a frame
    ambiguous = True
    words = Words("film", "films", "frame", "frames", "Play a film", "Make a film of your own")

    def subjects(self, new: bool, label: int | None = None) -> Sequence[FilmSubject]:
        numbers = range(LISTED) if label is None else range(label, 10 * LISTED, 10)
        return [_film(number, new) for number in list(numbers)[:LISTED]]

    def find(self, text: str) -> FilmSubject | None:
        number = text.removeprefix("training-")
        if not (number.isdecimal() and len(number) < 8):
            return None
        return _film(int(number), number == text)

    def training_views(self, label: int | None = None, count: int = TRAINING) -> Views:
        return views_of(self.subjects(False, label)[:count])

    def mean_at(self, w: Places, label: int | None = None) -> Images:
        return np.broadcast_to(_mean(label), (len(w), films.SIZE, films.SIZE))

    def swapped(self, a: Subject, b: Subject, w: Places) -> Images:
        """The look of A on the path of B."""
        assert isinstance(a, FilmSubject)
        assert isinstance(b, FilmSubject)
        return films.draw(a.film.look, b.film.path(torch.as_tensor(np.asarray(w)))).numpy()

    def make(
        self, look: Images, places: Places, id: str = "own", label: int | None = None
    ) -> FilmSubject:
        """A film of a look [28, 28] along places [24, 2] of one's own, in pixels."""
        path = films.fitted(torch.as_tensor(places))
        number = films.SHAPE if label is None else label
        return FilmSubject(films.Film(torch.as_tensor(look), path, number), id)


def _film(number: int, new: bool) -> FilmSubject:
    split = "unseen" if new else "training"
    return FilmSubject(films.film(number, split), f"{'' if new else 'training-'}{number}", new)


@cache
def _mean(label: int | None) -> Images:
    """The mean frame of training films."""
    images = Films().training_views(label).images
    return images.flatten(0, 1).mean(0).numpy()
