"""Is a normalised digit right: its shape against the line that was drawn, and what it is read as.

The shape is judged without the package: the true centre line is laid over the digit, at the size
and place that fit best, and three things are asked. Is the line covered (else fragments)? Is
little else covered (else ruling, shadows or a blob)? Are its holes open?
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from PIL import Image
from scipy import ndimage
from scipy.signal import fftconvolve
from sklearn.svm import SVC

from fgpvae import data
from tests.photographs.sets import training_digits

_FOLD = 4  # the digit is compared at this enlargement
_SIDE = 28 * _FOLD
_SIZES = np.linspace(0.72, 1.3, 15)  # of the digit against a box of 20
COVERED, ELSE = 0.9, 0.12  # least share of the line, most ink apart from it
HOLE = 1.2  # radius in pixels from which on a hole has to be open


@dataclass(frozen=True)
class Verdict:
    covered: float  # share of the centre line that is ink
    elsewhere: float  # share of the ink that is away from the line
    closed: int  # holes that are no longer open
    size: float  # against a box of 20

    @property
    def wrong(self) -> bool:
        return self.covered < COVERED or self.elsewhere > ELSE or self.closed > 0


def judge(digit: np.ndarray, centre: np.ndarray) -> Verdict:
    """Compare a digit [28, 28] with the centre line [m, 2] that was drawn."""
    large = np.asarray(
        Image.fromarray(digit.astype(np.float32)).resize((_SIDE, _SIDE), Image.Resampling.BICUBIC)
    )
    ink = large > 0.4
    half = _half_width(ink)
    line, size = max(
        (_laid_over(large, centre, size, half) for size in _SIZES), key=lambda found: found[2]
    )[:2]
    away = ndimage.distance_transform_edt(~line)
    near = ndimage.binary_dilation(ink, iterations=2)
    return Verdict(
        covered=float(near[line].mean()) if line.any() else 0.0,
        elsewhere=float((ink & (away > half + 1.0 * _FOLD)).sum() / max(1, ink.sum())),
        closed=_closed_holes(large, away, half),
        size=size,
    )


def _half_width(ink: np.ndarray) -> float:
    depth = ndimage.distance_transform_edt(ink)
    return 2 * float(depth[ink].mean()) if ink.any() else 1.0


def _laid_over(
    large: np.ndarray, centre: np.ndarray, size: float, half: float
) -> tuple[np.ndarray, float, float]:
    """The line at one size where it fits best, the size, and how well it fits."""
    points = centre - (centre.min(axis=0) + centre.max(axis=0)) / 2
    extent = np.ptp(points, axis=0).max()
    points = points / extent * (20 * size * _FOLD - 2 * half) + _SIDE / 2
    line = np.zeros((_SIDE, _SIDE), bool)
    at = np.rint(points).astype(int).clip(0, _SIDE - 1)
    line[at[:, 1], at[:, 0]] = True
    line = ndimage.binary_closing(np.pad(line, 4), np.ones((3, 3)), 2)[4:-4, 4:-4]
    stroke = np.clip(half - ndimage.distance_transform_edt(~line) + 0.5, 0, 1)
    fit = fftconvolve(large, stroke[::-1, ::-1], mode="same")
    reach = 6 * _FOLD
    middle = _SIDE // 2
    window = fit[middle - reach : middle + reach, middle - reach : middle + reach]
    best = np.unravel_index(window.argmax(), window.shape)
    down, right = best[0] - reach + 1, best[1] - reach + 1
    score = float(window.max() / np.sqrt((stroke**2).sum() * max((large**2).sum(), 1e-6)))
    return ndimage.shift(line.astype(np.uint8), (down, right), order=0) > 0, float(size), score


def _closed_holes(large: np.ndarray, away: np.ndarray, half: float) -> int:
    """Holes of the drawn line, at an ordinary width of the stroke, that are full of ink."""
    width = min(half, 1.3 * _FOLD)
    labels, count = ndimage.label(away > width)
    outside = set(np.unique(np.concatenate([labels[0], labels[-1], labels[:, 0], labels[:, -1]])))
    closed = 0
    for label in set(range(1, count + 1)) - outside:
        depth = ndimage.distance_transform_edt(labels == label)
        if depth.max() >= HOLE * _FOLD:
            closed += int(large[depth > 0.6 * depth.max()].min() > 0.5)
    return closed


class Reader:
    """A support vector machine on the embedded training digits, also slightly turned and moved."""

    def __init__(self) -> None:
        digits = training_digits()
        turned = data.rotate(digits.images, np.deg2rad([-8.0, 0.0, 8.0]))  # [P, 3, 28, 28]
        moved = np.roll(turned[:, 1], 1, axis=2), np.roll(turned[:, 1], -1, axis=1)
        images = np.concatenate([*turned.transpose(1, 0, 2, 3), *moved])
        self._machine = SVC(C=5, gamma=0.12, cache_size=500)
        self._machine.fit(_features(images), np.tile(digits.labels, 5))

    def read(self, images: np.ndarray) -> np.ndarray:
        """[P, 28, 28] -> [P] labels."""
        return self._machine.predict(_features(images))


def _features(images: np.ndarray) -> np.ndarray:
    """Slightly smoothed and halved pixels [P, 196]: the thickness of a stroke says little."""
    soft = ndimage.gaussian_filter(np.clip(images, 0, 1), (0, 0.8, 0.8))
    return soft.reshape(-1, 14, 2, 14, 2).mean(axis=(2, 4)).reshape(len(soft), -1)


@lru_cache(maxsize=1)
def reader() -> Reader:
    return Reader()
