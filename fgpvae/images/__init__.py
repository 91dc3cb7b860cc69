"""A photo, scan, drawing or upload -> a 28 x 28 digit, MNIST style; and digits -> files."""

from fgpvae.images.export import strip, to_gif, to_png
from fgpvae.images.normalising import Normalised, Options, Step, normalise
from fgpvae.images.reading import ACCEPTED, read_picture

__all__ = [
    "ACCEPTED",
    "Normalised",
    "Options",
    "Step",
    "normalise",
    "read_picture",
    "strip",
    "to_gif",
    "to_png",
]
