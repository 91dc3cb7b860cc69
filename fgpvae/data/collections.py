"""Everything that has views along one coordinate: digits, cube figures, films, own objects.

>>> from fgpvae.data.collections import Digits
>>> digits = Digits((3, 8))
>>> subject = digits.first()
>>> subject.name, subject.images.shape, digits.track.text(90.0)
('three', (16, 28, 28), '90°')
"""

from .cubes import Cubes
from .digits import NAMES, Digit, Digits, PictureSubject
from .films import Films
from .objects import Own
from .subjects import Collection, Subject, views_of

# by the split of a config; digits and own objects need settings
COLLECTIONS: dict[str, type[Collection]] = {"cubes": Cubes, "films": Films}

__all__ = [
    "COLLECTIONS",
    "NAMES",
    "Collection",
    "Cubes",
    "Digit",
    "Digits",
    "Films",
    "Own",
    "PictureSubject",
    "Subject",
    "views_of",
]
