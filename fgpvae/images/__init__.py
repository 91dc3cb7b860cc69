"""Turn a photo, scan or drawing into a 28 x 28 digit as MNIST has it, and digits into files.

>>> from fgpvae import data, images
>>> seven = data.unseen((7,)).images[0]
>>> paper = images.to_png(1 - seven, scale=20)  # a scan: large, dark on light
>>> found = images.normalise(paper).digit
>>> found.shape, bool(abs(found - seven).mean() < 0.1)
((28, 28), True)
>>> images.to_gif(data.rotate(found[None], data.ANGLES)[0])[:6]
b'GIF89a'
"""

from fgpvae.images.boxes import Box, box_at, digit_boxes
from fgpvae.images.export import enlarged, picture, strip, to_gif, to_png
from fgpvae.images.photo_to_digit import Normalised, Options, Step, normalise
from fgpvae.images.picture_files import ACCEPTED, read_picture

__all__ = [
    "ACCEPTED",
    "Box",
    "Normalised",
    "Options",
    "Step",
    "box_at",
    "digit_boxes",
    "enlarged",
    "normalise",
    "picture",
    "read_picture",
    "strip",
    "to_gif",
    "to_png",
]
