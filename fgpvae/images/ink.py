"""Find the ink of a picture, by colour or darkness, under uneven light."""

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from PIL import Image
from scipy import ndimage

from fgpvae.errors import UserError
from fgpvae.images.pieces import bounds, gaps, rim, without_hair
from fgpvae.images.ruling import find_ruling

WORK_SIDE = 384  # maximum side of the arrays that are processed
_LUMINANCE = np.array([0.299, 0.587, 0.114])
_FLAT = 0.03  # evenly lit paper varies less than this
# maximum stroke widths that are tried, as shares of the picture's longer side
_WIDTHS = (1 / 24, 1 / 14, 1 / 9, 1 / 6, 1 / 4)
_MEETING = 1.7  # width of ink where strokes meet, relative to the widest stroke
_CLEAR = 0.35  # minimum strength of an edge, relative to a clear one
_AS_DARK = 0.25  # maximum |log contrast ratio| of ink that is equally dark
_CUT_OFF = 0.25  # share of the ink from which equally dark ink is part of the digit
_SOFT = 0.4  # minimum sharpness relative to the digit; anything softer is a shadow
_BRIGHT = 0.45  # minimum brightness of paper; a blackboard is darker
_RARE = 2  # minimum skewness of a picture with light strokes
_COLOURED = 0.15  # minimum colour contrast that separates ink from shadows
_FAINTEST = 0.07  # minimum contrast of ink; a page with less is blank


@dataclass(frozen=True)
class Ink:
    grey: np.ndarray  # [H, W] the channel in which the ink stands out most
    even: np.ndarray  # [H, W] the same without uneven light
    level: np.ndarray  # [H, W] 0 paper, 1 ink, soft in between
    mask: np.ndarray  # [H, W] bool, certain ink and what is connected to it
    dark: bool  # ink is darker than paper
    notes: tuple[str, ...]


def find_ink(picture: Image.Image, invert: bool | None = None, widest: float | None = None) -> Ink:
    """Separate ink from paper; `invert` is True for dark ink, False for light ink.

    `widest` is the maximum stroke width in pixels; anything wider is a shadow. None estimates it.
    """
    factor = min(1.0, WORK_SIDE / max(picture.size))
    size = [max(1, round(side * factor)) for side in picture.size]
    colours = np.asarray(picture.resize(size, Image.Resampling.BOX), np.float32) / 255
    grey, notes = _most_telling_channel(colours)  # [H, W]
    paper = _flat_paper(grey)
    dark = _ink_is_dark(grey, paper)
    if invert is not None:
        paper = paper if dark == invert else None
        dark = invert
        notes.append(f"Ink was taken to be {'darker' if dark else 'lighter'} than the paper.")
    elif dark:
        notes.append("Ink is darker than the paper, so it was inverted.")
    else:
        notes.append("Ink is lighter than the paper, as the model expects.")

    light = grey if dark else 1 - grey  # from here on ink is dark
    if paper is not None and not dark:
        paper = 1 - paper
    found = _separated(light, paper, None if widest is None else widest * factor)
    if dark and not found.flat and (coloured := _coloured_ink(colours, found)) is not None:
        found = coloured
        notes.append("The ink has a colour and shadows have none, so colour separated them.")
    if not found.flat:
        notes.append("The light was uneven and was evened out.")
    if found.ruled:
        notes.append("Lines of ruled or squared paper were taken out.")
    even = 1 - found.contrast if dark else found.contrast
    return Ink(grey, even, found.level, found.mask, dark, tuple(notes))


def _coloured_ink(colours: np.ndarray, found: "_Found") -> "_Found | None":
    """Find ink by its colour alone; None unless it differs from the ink found by darkness.

    Shadows and pencil have the colour of the paper. Another colour is ink if it is one connected
    shape, and not a line that runs through the picture.
    """
    sample = colours[::2, ::2]
    total = sample.sum(axis=2)
    bright = total > np.percentile(total, 30)
    if not bright.any():  # paper of one colour, which has no shadows
        return None
    tint = np.median(sample[bright] / total[bright, None], axis=0)  # [3] shares of light
    shares = colours / (3 * tint)
    pure = (shares.min(2) + 0.03) / (shares.max(2) + 0.03)  # [H, W] 1 for the paper, however dark
    pure = ndimage.gaussian_filter(pure, 1.0)
    if np.percentile(pure, 0.1) > 1 - _COLOURED or (paper := _flat_paper(pure)) is None:
        return None
    coloured = _one_shape(pure, np.full_like(pure, paper), ruled=False)
    if coloured is None:  # coloured ruling may interfere; looking for it takes long
        passed = find_ruling(_swallowed(pure, paper))
        coloured = None if passed is None else _one_shape(pure, passed * paper, ruled=True)
    if coloured is None:
        return None
    # more than a few pixels of one are far from the other
    far = (
        one & ~ndimage.binary_dilation(other, np.ones((3, 3)), 3)
        for one, other in ((coloured.mask, found.mask), (found.mask, coloured.mask))
    )
    if sum(int(each.sum()) for each in far) < 0.03 * coloured.mask.sum():
        return None
    return replace(coloured, ruled=found.ruled or coloured.ruled)


def _one_shape(pure: np.ndarray, paper: np.ndarray, ruled: bool) -> "_Found | None":
    """Ink that differs in tint from the paper [H, W], if it is one connected shape."""
    contrast = _swallowed(pure, paper)
    try:
        level, mask = _soft_threshold(contrast, np.abs(pure - paper.max()) < _FLAT)
    except UserError:
        return None
    mask = without_hair(mask, level) if ruled else mask
    if not mask.any():
        return None
    labels, _ = ndimage.label(mask, np.ones((3, 3)))
    main = labels == np.bincount(labels[mask]).argmax()
    if (
        np.median(contrast[mask]) < _COLOURED
        or main.sum() < 0.9 * mask.sum()
        or any(side.any() for side in (main[0], main[-1], main[:, 0], main[:, -1]))
    ):
        return None
    return _Found(contrast, level, mask, True, ruled)


def _ink_is_dark(grey: np.ndarray, paper: float | None) -> bool:
    """Strokes are the rare side of the distribution: a negative third moment means dark ink."""
    detail = (grey - (_surroundings(grey) if paper is None else paper)).astype(np.float64)
    squared = detail * detail
    third = (squared * detail).mean()
    ends = (grey[:4], grey[-4:], grey[:, :4], grey[:, -4:])
    border = np.concatenate([end.ravel() for end in ends])
    if np.percentile(border, 90) < _BRIGHT:
        return bool(third < 0)
    # bright paper with shadows: strokes count as light only if they are very rare
    return bool(third < _RARE * squared.mean() ** 1.5)


@dataclass(frozen=True)
class _Found:
    contrast: np.ndarray  # [H, W] share of the paper's light that the ink absorbs
    level: np.ndarray  # [H, W] 0 paper, 1 ink
    mask: np.ndarray  # [H, W] bool
    flat: bool  # whether the light is even
    ruled: bool = False


def _separated(light: np.ndarray, paper: float | None, widest: float | None) -> _Found:
    """Separate ink from light [H, W]; `paper` is the level of evenly lit paper, else None."""
    calm = ndimage.median_filter(light, 3, mode="nearest") if paper is None else light
    narrow = widest or _WIDTHS[0] * max(light.shape)
    passed = find_ruling(_swallowed(light, _uneven_paper(calm, narrow)))
    if passed is not None:
        # paper where it is no darker than the lines; a black line lets no light pass
        bare = np.divide(light, passed, out=np.ones_like(light), where=light < passed)
        try:
            found = _without_lines(bare, paper, widest)
            return replace(found, mask=without_hair(found.mask, found.level), ruled=True)
        except UserError:  # the lines were the only ink
            pass
    return _without_lines(light, paper, widest)


def _without_lines(light: np.ndarray, paper: float | None, widest: float | None) -> _Found:
    widths = [share * max(light.shape) for share in _WIDTHS] if widest is None else [widest]
    if len(widths) > 1 or paper is not None:
        widest = _widest_ink(light, paper, widths)
    if widest is None:
        assert paper is not None
        contrast = _swallowed(light, paper)
        level, mask = _soft_threshold(contrast, np.abs(light - paper) < _FLAT)
        return _Found(contrast, level, mask, flat=True)
    calm = ndimage.median_filter(light, 3, mode="nearest")
    contrast = _swallowed(light, _uneven_paper(calm, widest))
    level, mask = _soft_threshold(contrast, np.ones(light.shape, bool))
    mask, _, _ = _sharp_pieces(mask, level, _edges(calm))
    # where strokes meet, ink is wider than a single stroke
    reach, junctions = _MEETING * widest, np.zeros_like(mask)
    inner = bounds(mask)
    window = tuple(slice(max(0, int(side.start - reach)), int(side.stop + reach)) for side in inner)
    wider = _swallowed(light[window], _uneven_paper(calm[window], reach))
    usual = float(np.median(wider[mask[window]]))
    junctions[window] = gaps(mask[window], (wider > 0.7 * usual) & (wider < 1.3 * usual))
    return _Found(contrast, np.where(junctions, 1, level), mask | junctions, flat=False)


def _widest_ink(light: np.ndarray, paper: float | None, widths: list[float]) -> float | None:
    """Maximum stroke width; anything wider is a shadow. None if the paper is evenly lit.

    If the width is too small, parts of wide strokes count as paper; if it is too large, shadows
    count as ink. With the best width the outlines are edges of the picture, and no edge is missed.
    """
    fold = 2 if max(light.shape) > 250 and min(light.shape) > 1 else 1
    small = _halved(light) if fold == 2 else light
    edges = _edges(small)
    tried: list[_Trial] = []
    refusal = ""
    for width in (*widths, None) if paper is not None else widths:
        level = paper if width is None else _uneven_paper(small, width / fold)
        contrast = _swallowed(small, np.full_like(small, level))
        sure = np.abs(small - level) < _FLAT if width is None else np.ones(small.shape, bool)
        try:
            ink, mask = _soft_threshold(contrast, sure)
        except UserError as error:
            refusal = str(error)  # a reference to the error would be a cycle
            continue
        tried.append(_Trial(width, contrast, *_sharp_pieces(mask, ink, edges)))
    if not tried:
        raise UserError(refusal)
    clear = _CLEAR * max(float(np.percentile(trial.along, 70)) for trial in tried)
    strong = edges > max(clear, float(np.percentile(edges, 60)))
    grades = [_completeness(one, wider, strong, fold) for one, wider in pairwise(tried)] + [2]
    scores = [  # share of the outline that is an edge of the picture
        float((trial.along > clear).mean()) if grade else 0.0
        for trial, grade in zip(tried, grades, strict=True)
    ]
    if tried[-1].width is None and scores[-1] > max(scores) - 0.1:
        return None
    good = [index for index, score in enumerate(scores) if score > max(scores) - 0.03]
    return tried[max(good, key=lambda index: grades[index] == 2)].width


class _Trial(NamedTuple):
    """The ink for one maximum stroke width."""

    width: float | None  # None for evenly lit paper
    contrast: np.ndarray  # [H, W]
    mask: np.ndarray  # [H, W] bool
    outline: np.ndarray  # [H, W] bool, of the large pieces
    along: np.ndarray  # [n] edges of the picture along the outline


def _completeness(trial: _Trial, wider: _Trial, strong: np.ndarray, fold: int) -> int:
    """2 if the ink has full contrast and most nearby edges, 1 if it may have them, 0 if not."""
    before, after = trial.contrast[trial.mask], wider.contrast[trial.mask]
    full = float(np.median(before / np.maximum(after, 1e-3)))
    away = ndimage.distance_transform_edt(~trial.outline)
    nearby = strong & (away < 1.5 * ((trial.width or 0) / fold))
    around = ndimage.binary_dilation(trial.outline, np.ones((3, 3)), 2)
    missed = float((nearby & ~around).sum() / max(1, nearby.sum()))
    # much more ink that is equally dark: strokes are wider than this
    darkness = wider.contrast[wider.mask & ~trial.mask] / max(float(np.median(after)), 1e-3)
    alike = np.abs(np.log(np.maximum(darkness, 1e-3))) < _AS_DARK
    if full > 0.85 and missed < 0.52 and alike.sum() <= _CUT_OFF * trial.mask.sum():
        return 2
    # less contrast may be a shadow across the digit, if hardly an edge is missed
    return 1 if full > 0.7 and missed < 0.4 else 0


def _halved(image: np.ndarray) -> np.ndarray:
    image = image[: image.shape[0] // 2 * 2, : image.shape[1] // 2 * 2]
    rows = image[0::2] + image[1::2]
    return (rows[:, 0::2] + rows[:, 1::2]) / 4


def _edges(light: np.ndarray) -> np.ndarray:
    """Relative change of light over a pixel, the largest nearby."""
    slope = ndimage.gaussian_gradient_magnitude(np.log(np.maximum(light, 0.1)), 1.0)
    return ndimage.maximum_filter(slope, 3)


def _sharp_pieces(
    mask: np.ndarray, level: np.ndarray, edges: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pieces with sharp edges, the outline of the large ones, and the edges along it."""
    labels, count = ndimage.label(mask, np.ones((3, 3)))
    at_rim = rim(mask)
    index = np.arange(1, count + 1)
    sharpness = ndimage.mean(edges[at_rim], labels[at_rim], index)
    mass = ndimage.sum_labels(level, labels, index)
    main = int((mass * sharpness**2).argmax())
    soft = (sharpness < _SOFT * sharpness[main]) & (index - 1 != main)
    sharp = np.concatenate([[False], ~soft])[labels]
    outline = at_rim & np.concatenate([[False], ~soft & (mass > 0.1 * mass[main])])[labels]
    return sharp, outline, edges[outline]


def _swallowed(light: np.ndarray, paper: np.ndarray | float) -> np.ndarray:
    """Share of the paper's light that is missing."""
    paper = np.full_like(light, paper)
    return np.clip((paper - light) / np.maximum(paper, 0.15), 0, 1)


def _most_telling_channel(colours: np.ndarray) -> tuple[np.ndarray, list[str]]:
    """Luminance, or the colour in which the ink stands out much more: [H, W, 3] -> [H, W]."""
    channels = {"luminance": colours @ _LUMINANCE.astype(np.float32)}
    if np.ptp(colours, axis=2).max() > 0.1:
        channels |= dict(zip(("red", "green", "blue"), np.moveaxis(colours, 2, 0), strict=True))
    contrast = {}
    for name, channel in channels.items():  # of strokes with their surroundings, less the noise
        small = _halved(channel) if min(channel.shape) > 200 else channel
        detail = np.abs(small - _surroundings(small))
        contrast[name] = max(1e-3, np.percentile(detail, 99) - 3 * _noise(small))
    best = max(contrast, key=contrast.__getitem__)
    if contrast[best] < 1.5 * contrast["luminance"]:
        return channels["luminance"], []
    return channels[best], [f"The ink stands out most in {best} light, so that was used."]


def _surroundings(grey: np.ndarray) -> np.ndarray:
    """Mean over about a third of the picture around each pixel."""
    reach = max(3, max(grey.shape) // 5)
    return ndimage.uniform_filter(ndimage.uniform_filter(grey, reach), reach)


def _noise(grey: np.ndarray) -> float:
    """Standard deviation of pixel noise, from a filter that ignores edges and slopes."""
    padded = np.pad(grey, 1, mode="symmetric")
    step = 2 if grey.size > 20_000 else 1
    across = (padded[:-2] - 2 * padded[1:-1] + padded[2:])[::step]
    response = across[:, :-2] - 2 * across[:, 1:-1] + across[:, 2:]
    return float(1.4826 / 6 * np.median(np.abs(response[:, ::step])))


def _flat_paper(grey: np.ndarray) -> float | None:
    """The level of evenly lit paper, measured at the rim of the picture, or None."""
    width = max(1, round(0.04 * min(grey.shape)))
    rim = np.ones(grey.shape, bool)
    rim[width:-width, width:-width] = False
    counts, edges = np.histogram(grey[rim], bins=64, range=(0, 1))
    middle = edges[counts.argmax()] + 1 / 128
    level = np.median(grey[rim & (np.abs(grey - middle) <= 1 / 128)])
    near = np.abs(grey - level) < _FLAT
    low, high = np.percentile(grey, [1, 99])
    ink = np.abs(grey - (low if level - low > high - level else high)) < 0.1
    two_tones = (near | ink).mean() > 0.92  # strokes may then run along the rim
    flat = near[rim].mean() > (0.5 if two_tones else 0.85) and near.mean() > 0.3
    return float(level) if flat else None


def _uneven_paper(light: np.ndarray, width: float) -> np.ndarray:
    """Paper under dark ink: a closing removes all dark marks narrower than the width."""
    side = max(3, round(width))
    wide = np.pad(light, side, mode="edge")
    return ndimage.grey_closing(wide, (side, side))[side:-side, side:-side]


def _soft_threshold(swallowed: np.ndarray, sure_paper: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """[H, W] contrast -> ink level in 0..1 and a mask with hysteresis; refuses a blank page."""
    noise = _noise(swallowed)
    blur = 0.0 if noise < 0.02 else 1.0 if noise < 0.08 else 2.0
    smooth = ndimage.gaussian_filter(swallowed, blur) if blur else swallowed
    fewest = max(4, smooth.size // 10_000)
    peak = np.partition(smooth.ravel(), -fewest)[-fewest]
    floor = float(np.median(smooth[sure_paper]))
    spread = 1.4826 * float(np.median(np.abs(smooth[sure_paper] - floor)))
    if peak - floor < _FAINTEST:
        raise UserError("The picture looks blank: there is no ink that stands out from the paper.")
    if peak - floor < 5.5 * spread and spread > 0.02:
        raise UserError("The picture is full of noise: no digit stands out from the paper.")
    # threshold t = (mean paper + mean ink) / 2, from above, so that rare ink is enough
    threshold, whole = (peak + floor) / 2, float(smooth.sum(dtype=np.float64))
    for _ in range(30):
        ink = smooth[smooth > threshold]
        inked = float(ink.sum(dtype=np.float64))
        following = (inked / ink.size + (whole - inked) / (smooth.size - ink.size)) / 2
        if abs(following - threshold) < 1e-4:
            break
        threshold = following
    low = min(threshold, max(0.55 * threshold, floor + 4 * spread))
    mask = ndimage.binary_propagation(smooth > threshold, np.ones((3, 3)), smooth > low)
    full = np.percentile(smooth[smooth > threshold], 70)
    black = floor + 3 * spread if spread > 0.004 else floor
    return np.clip((smooth - black) / max(full - black, 1e-3), 0, 1), mask
