"""Find the digits in a picture: boxes to show, one of which a click chooses."""

from collections.abc import Sequence

import numpy as np
from PIL import Image

from fgpvae.images.ink import find_ink
from fgpvae.images.picture_files import as_picture
from fgpvae.images.pieces import Extent, find_groups

Box = tuple[float, float, float, float]  # left, top, right, bottom, as shares of the picture
_PAPER = 0.25  # margin around a digit, relative to its longer side
MOST_BOXES = 12


def digit_boxes(
    picture: bytes | Image.Image | np.ndarray, invert: bool | None = None
) -> tuple[Box, ...]:
    """Boxes of possible digits in reading order, each valid as `Options(crop=box)`."""
    ink = find_ink(as_picture(picture), invert)
    height, width = ink.mask.shape
    groups = find_groups(ink.mask)[:MOST_BOXES]
    boxes = [_with_paper(group, groups, ink.mask.shape) for group in _in_lines(groups)]
    return tuple((x0 / width, y0 / height, x1 / width, y1 / height) for x0, y0, x1, y1 in boxes)


def box_at(boxes: Sequence[Box], x: float, y: float) -> Box | None:
    """The smallest box around a point, None if there is none."""
    around = [box for box in boxes if box[0] <= x <= box[2] and box[1] <= y <= box[3]]
    return min(around, key=lambda box: (box[2] - box[0]) * (box[3] - box[1]), default=None)


def _in_lines(groups: list[Extent]) -> list[Extent]:
    """Reading order: a group is on the line of the first one that it overlaps by half."""
    lines: list[list[Extent]] = []
    for group in sorted(groups, key=lambda group: group.box[0].start):
        rows = group.box[0]
        for line in lines:
            first = line[0].box[0]
            shared = min(rows.stop, first.stop) - max(rows.start, first.start)
            if shared > 0.5 * min(rows.stop - rows.start, first.stop - first.start):
                line.append(group)
                break
        else:
            lines.append([group])
    return [group for line in lines for group in sorted(line, key=lambda one: one.box[1].start)]


def _with_paper(group: Extent, others: list[Extent], shape: tuple[int, ...]) -> Box:
    """Add a margin of paper, at most half of the distance to a neighbour; all in pixels."""
    margin = _PAPER * group.extent
    low = [max(0.0, side.start - margin) for side in group.box]
    high = [min(side.stop + margin, length) for side, length in zip(group.box, shape, strict=True)]
    for along, across in ((1, 0), (0, 1)):  # neighbours beside it, then those above and below
        own = group.box[along]
        for other in others:
            side, overlap = other.box[along], other.box[across]
            if overlap.stop <= low[across] or overlap.start >= high[across]:
                continue
            if side.stop <= own.start:
                low[along] = max(low[along], (side.stop + own.start) / 2)
            elif side.start >= own.stop:
                high[along] = min(high[along], (side.start + own.stop) / 2)
    return low[1], low[0], high[1], high[0]
