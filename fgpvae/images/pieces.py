"""Find the connected pieces of ink that form the digit, among specks, edges and other digits."""

from dataclasses import dataclass

import numpy as np
from scipy import ndimage

from fgpvae.errors import UserError

_NOISY = "The picture is full of marks or noise; please crop it to one digit on plain paper."
_EIGHT = np.ones((3, 3), bool)
_TURNS = np.deg2rad(np.arange(0, 180, 15))
_DIRECTIONS = np.stack([np.sin(_TURNS), np.cos(_TURNS)])  # [2, n]
_HAIR, _PALE = 0.5, 0.9  # maximum width and darkness of residual ruling, relative to a stroke
_MOST_PIECES, _MOST_HOLES = 40, 10  # a picture with more is a texture


@dataclass(frozen=True)
class Extent:
    """A piece of ink, or several: label, area and box."""

    label: int
    area: int
    box: tuple[slice, slice]  # rows and columns
    at_edge: bool = False  # the edge of the picture may have cut it off

    @property
    def extent(self) -> int:
        return max(side.stop - side.start for side in self.box)


def bounds(mask: np.ndarray, margin: int = 0) -> tuple[slice, slice]:
    """The box around a mask [H, W] with a margin, within the picture."""
    rows, columns = (
        slice(max(0, side.start - margin), side.stop + margin)
        for side in ndimage.find_objects(mask.astype(np.uint8))[0]
    )
    return rows, columns


def rim(mask: np.ndarray) -> np.ndarray:
    """Pixels [H, W] of a mask with a neighbour outside of it."""
    return mask & ~ndimage.binary_erosion(mask)


def stroke_width(mask: np.ndarray) -> float:
    """Mean width of strokes in pixels: a bar of width b is on average b / 4 from its edge."""
    distance = ndimage.distance_transform_edt(np.pad(mask[bounds(mask)], 1))
    return max(1.0, 4 * (float(distance[distance > 0].mean()) - 0.5))


def gaps(ink: np.ndarray, more: np.ndarray) -> np.ndarray:
    """Parts of additional ink [H, W] that fill gaps: their rim touches ink more than paper."""
    labels, count = ndimage.label(more & ~ink)
    index = np.arange(1, count + 1)
    edge = (labels > 0) & ~ndimage.binary_erosion(labels > 0, border_value=1)
    at_ink = ndimage.sum_labels(edge & ndimage.binary_dilation(ink), labels, index)
    at_paper = ndimage.sum_labels(edge & ndimage.binary_dilation(~(more | ink)), labels, index)
    return np.concatenate([[False], at_ink > at_paper])[labels]


def without_hair(mask: np.ndarray, level: np.ndarray) -> np.ndarray:
    """[H, W] ink without remains of ruling: long lines, thin and pale relative to the ink."""
    window = bounds(mask, 1)
    ink, level = mask[window], level[window]
    depth = ndimage.distance_transform_edt(ink)
    fourth = depth[ink] ** 4
    # half the width of the widest strokes: of one of half width h the two means are as 5 h to 6
    half = 1.2 * float((fourth * depth[ink]).sum() / fourth.sum())
    strokes = depth > _HAIR * half
    near_strokes = ndimage.distance_transform_edt(~strokes) <= _HAIR * half + 1
    hairs, _ = ndimage.label(ink & ~near_strokes, _EIGHT)
    lines = np.array([piece.label for piece in _pieces(hairs) if piece.extent > 4 * half])
    if not len(lines) or _HAIR * half < 1:  # strokes are too thin to compare
        return mask
    pale = ndimage.mean(level, hairs, lines) < _PALE * level[strokes].mean()
    result = mask.copy()
    result[window] &= ~np.isin(hairs, lines[pale])
    return result


def find_digit(mask: np.ndarray, level: np.ndarray) -> tuple[np.ndarray, tuple[str, ...]]:
    """[H, W] ink, sure and soft -> [H, W] the digit in it, and notes on what was left out."""
    labels, _ = ndimage.label(mask, _EIGHT)
    pieces, notes = _without_edges(_pieces(labels))
    main = pieces[0]
    if main.extent < max(4, 0.012 * max(mask.shape)):
        raise UserError("The picture shows only specks, no digit that is large enough to read.")
    ink = sum(piece.area for piece in pieces)
    pieces = [piece for piece in pieces if piece.area > 0.01 * main.area]
    digit = labels == main.label
    enclosed = np.bincount(ndimage.label(~np.pad(digit, 1))[0].ravel())[2:]  # areas of holes
    holes = (enclosed > 0.002 * main.area).sum()
    if len(pieces) > _MOST_PIECES or main.area < 0.1 * ink or holes > _MOST_HOLES:
        raise UserError(_NOISY)
    if main.area > 0.65 * mask.size:
        raise UserError("Ink fills nearly the whole picture; please leave some paper around it.")
    stroke = stroke_width(digit)
    # typical width in pixels of the rise from paper to ink along the rim
    sigma = min(max(0.5, 0.1 * stroke), 10)
    window = bounds(digit, round(4 * sigma) + 1)  # region that determines the slope there
    slope = ndimage.gaussian_gradient_magnitude(level[window], sigma)
    if 1 / max(float(np.median(slope[rim(digit)[window]])), 1e-3) > max(3.0, 0.2 * main.extent):
        raise UserError("The picture shows only soft shadows or glare, no digit with clear edges.")
    joined, others, left_out = _joined(labels, pieces, stroke)
    if others:
        raise UserError(
            "The picture shows several digits or marks; please crop it to a single digit."
        )
    digit = np.isin(labels, [piece.label for piece in joined])
    comparable = sum(piece.area > 0.3 * main.area for piece in joined)
    if comparable > 5 or (len(joined) > 12 and main.area < 0.5 * digit.sum()):
        raise UserError(_NOISY)
    if left_out:
        notes.append("Small marks apart from the digit were left out.")
    if len(joined) > 1:
        notes.append("Separate strokes close to each other were taken as one digit.")
    return digit, tuple(notes)


def find_groups(mask: np.ndarray) -> list[Extent]:
    """[H, W] ink -> boxes of possible digits, largest first."""
    labels, _ = ndimage.label(mask, _EIGHT)
    pieces, _ = _without_edges(_pieces(labels))
    pieces = [piece for piece in pieces if piece.area > 0.02 * pieces[0].area]
    if len(pieces) > _MOST_PIECES:
        raise UserError(_NOISY)
    groups: list[Extent] = []
    while pieces:
        joined, others, left_out = _joined(labels, pieces, stroke_width(labels == pieces[0].label))
        groups.append(_union(joined))
        pieces = sorted(others + left_out, key=lambda piece: piece.area, reverse=True)
    groups.sort(key=lambda group: group.area, reverse=True)
    return [group for group in groups if group.extent > 0.3 * groups[0].extent]


def _joined(
    labels: np.ndarray, pieces: list[Extent], stroke: float
) -> tuple[list[Extent], list[Extent], list[Extent]]:
    """The first piece with all that belong to it; other digits; other marks."""
    joined, rest = [pieces[0]], pieces[1:]
    others: list[Extent] = []
    left_out: list[Extent] = []
    if not rest:
        return joined, others, left_out
    digit = labels == pieces[0].label
    away = ndimage.distance_transform_edt(~digit)  # distance of each pixel from the digit
    while rest:
        gaps = [float(away[each.box][labels[each.box] == each.label].min()) for each in rest]
        nearest = int(np.argmin(gaps))
        piece, gap, whole = rest.pop(nearest), gaps[nearest], _union(joined)
        if _another_digit(digit, labels == piece.label, gap, stroke):
            others.append(piece)
        elif gap <= max(0.3 * whole.extent, 2 * stroke):
            joined.append(piece)
            digit |= labels == piece.label
            away = ndimage.distance_transform_edt(~digit)
        else:
            left_out.append(piece)
    return joined, others, left_out


def find_sheet(shape: np.ndarray) -> np.ndarray | None:
    """The inside [H, W] of a light shape that is a sheet of paper with writing, else None."""
    filled = ndimage.binary_fill_holes(shape)
    area, written = filled.sum(), filled.sum() - shape.sum()
    if area < max(0.15 * shape.size, 5000) or not 0.003 * area < written < 0.2 * area:
        return None
    outline = np.argwhere(rim(filled))  # [n, 2]
    turns = np.deg2rad(np.arange(0, 90, 5))
    rectangle = min(
        (np.ptp(outline @ (np.cos(turn), np.sin(turn))) + 1)
        * (np.ptp(outline @ (-np.sin(turn), np.cos(turn))) + 1)
        for turn in turns
    )
    if area < 0.85 * rectangle:
        return None
    return ndimage.binary_erosion(filled, iterations=2 + round(0.02 * np.sqrt(area)))


def _pieces(labels: np.ndarray) -> list[Extent]:
    """All pieces, the largest first."""
    areas, found = np.bincount(labels.ravel()).tolist(), []
    for label, box in enumerate(ndimage.find_objects(labels), start=1):
        sides = zip(box, labels.shape, strict=True)
        at_edge = any(side.start == 0 or side.stop == length for side, length in sides)
        found.append(Extent(label, areas[label], box, at_edge))
    return sorted(found, key=lambda piece: piece.area, reverse=True)


def _without_edges(pieces: list[Extent]) -> tuple[list[Extent], list[str]]:
    """Drop shadows, table edges and neighbours that the picture cuts off, if a digit remains."""
    inside = [piece for piece in pieces if not piece.at_edge]
    if len(inside) == len(pieces) or not inside:
        return pieces, []
    largest_cut = next(piece for piece in pieces if piece.at_edge)
    if inside[0].area < 0.1 * largest_cut.area and inside[0].extent < 0.4 * largest_cut.extent:
        return pieces, []
    return inside, ["Marks that touch the edge of the picture were left out."]


def _union(pieces: list[Extent]) -> Extent:
    rows, columns = (
        slice(min(side.start for side in sides), max(side.stop for side in sides))
        for sides in zip(*(piece.box for piece in pieces), strict=True)
    )
    return Extent(0, sum(piece.area for piece in pieces), (rows, columns))


def _another_digit(digit: np.ndarray, piece: np.ndarray, gap: float, stroke: float) -> bool:
    """Whether a piece has a comparable size and stands apart, unlike the detached bar of a five.

    Digits may have any angle, so parts may lie in any direction from each other.
    """
    here, there = np.argwhere(digit), np.argwhere(piece)  # [n, 2], [m, 2]
    # the longest spans in any direction, in pixels
    extent, other = (np.ptp(part @ _DIRECTIONS, axis=0).max() + 1 for part in (here, there))
    ink = len(there) / len(here)
    if gap > 0.3 * extent and gap > 2 * stroke:
        return ink > 0.3 and other > 0.4 * extent
    if ink < 0.2 or other < 0.7 * extent or (ink < 0.5 and other < 0.9 * extent):
        return False
    # spans of both along the line between their centres, and across it
    towards = there.mean(axis=0) - here.mean(axis=0)
    towards = towards / max(np.hypot(*towards), 1e-6)
    across = np.array([-towards[1], towards[0]])
    along_here, along_there = here @ towards, there @ towards
    overlap = along_here.max() - along_there.min()
    if overlap > 0.2 * min(np.ptp(along_here), np.ptp(along_there)):
        return False
    # digits of a number stand across the line that they are written on
    upright = [np.ptp(part @ across) / max(np.ptp(part @ towards), 1) for part in (here, there)]
    if gap > (1.5 if min(upright) > 1 else 2.5) * stroke:
        return True
    side_by_side = abs(towards[1]) > abs(towards[0])  # broken digits lie on top of each other
    both = np.concatenate([here, there])
    longer = np.ptp(both @ towards) > 1.1 * np.ptp(both @ across)
    return bool(side_by_side and min(upright) > 0.8 and longer)
