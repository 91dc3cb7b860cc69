"""Uploaded pictures: views of a digit at one or a few angles."""

from functools import cached_property

import numpy as np

from ..rotation import ANGLES, rotate
from .base import Images, Places, Subject
from .digits import NAMES

COPIES = len(ANGLES) - 1
SPREAD = (8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15)  # each in a gap between earlier ones


class PictureSubject(Subject):
    """Views [Q, 28, 28] at angles [Q] radians, and rotated copies of the first one.

    View 0 is the first picture, views 1 to 15 are copies of it, each rotated by 22.5 degrees more,
    and views from 16 on are the other pictures. So the meaning of an index does not depend on their
    number.
    """

    def __init__(self, id: str, images: Images, angles: Places, label: int | None = None) -> None:
        super().__init__(id, "digit" if label is None else NAMES[label], label)
        self.own_images, self.own_angles = images, angles

    @cached_property
    def images(self) -> Images:
        copies = rotate(self.own_images[:1], ANGLES[1:])[0]
        parts = [self.own_images[:1], copies, self.own_images[1:]]
        return np.concatenate(parts).astype(np.float32)

    @cached_property
    def w(self) -> Places:
        first = self.own_angles[0]
        parts = [[first], first + ANGLES[1:], self.own_angles[1:]]
        return np.concatenate(parts) % (2 * np.pi)

    @property
    def first_views(self) -> list[int]:
        """The pictures themselves, without the copies."""
        return [0, *range(COPIES + 1, COPIES + len(self.own_angles))]

    @property
    def order(self) -> list[int]:
        return [*self.first_views, *SPREAD]
