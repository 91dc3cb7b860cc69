"""Find and remove lines of ruled and squared paper: straight thin marks from edge to edge."""

import numpy as np
from numpy.polynomial.legendre import legvander
from scipy import ndimage

_SIDE = 256  # maximum side of the picture in which lines are searched
_LEAST_SIDE = 100  # a smaller picture has no room for ruling
_WIDEST = 11  # pixels; a wider mark is no line
_REACH = 12  # pixels on each side within which a line is tracked
_STRIDE = 2  # pixels between the columns at which it is tracked
_MOST = 80  # lines
_VOTE = 120  # the maximum vote of a pixel; the sum of _SIDE of them fits into 16 bits
_FAINTEST = 0.02  # minimum contrast of a line that is removed


_OFFSETS = np.arange(-_REACH, _REACH + 1)
# a line: the row of its middle at each column [W], and its contrast at each offset from there
_Line = tuple[np.ndarray, np.ndarray]


def find_ruling(contrast: np.ndarray) -> np.ndarray | None:
    """[H, W] share of light absorbed -> [H, W] share that the ruling transmits, or None."""
    if min(contrast.shape) < _LEAST_SIDE:
        return None
    thin = contrast - ndimage.grey_opening(contrast, (_WIDEST, _WIDEST))
    noise = 1.4826 * float(np.median(np.abs(thin - np.median(thin))))
    whole = np.ones_like(contrast)
    # lines closer to horizontal, then those closer to vertical
    for passed, swallowed, marks in ((whole, contrast, thin), (whole.T, contrast.T, thin.T)):
        for course, profile in _lines(swallowed, marks, noise):
            rows = np.rint(course).astype(np.intp) + _OFFSETS[:, None]  # [2 _REACH + 1, W]
            light = 1 - np.interp(rows - course, _OFFSETS, profile)
            inside = (rows >= 0) & (rows < len(passed))
            at = rows[inside], np.broadcast_to(np.arange(len(course)), rows.shape)[inside]
            passed[at] = np.minimum(passed[at], light[inside])  # at crossings the darker one
    return whole if whole.min() < 1 else None


def _lines(contrast: np.ndarray, thin: np.ndarray, noise: float) -> list[_Line]:
    """Lines within 45 degrees of horizontal."""
    votes = np.clip((thin - 2 * noise) / max(0.04, 2 * noise), 0, 1)
    factor = -(-max(votes.shape) // _SIDE)
    small = ndimage.maximum_filter(votes, factor)[::factor, ::factor] if factor > 1 else votes
    width = contrast.shape[1]
    found: list[_Line] = []
    for left, right in _candidates(small):
        ends = factor * (left + 0.5) - 0.5, factor * (right + 0.5) - 0.5
        middle = sum(ends) / 2
        if any(abs(course[width // 2] - middle) < 2 * factor + 2 for course, _ in found):
            continue
        line = _followed(contrast, thin, np.linspace(*ends, width))
        if line is not None:
            found.append(line)
    return found


def _candidates(votes: np.ndarray) -> list[tuple[float, float]]:
    """Rows at the left and right edge of straight lines with many votes, best first."""
    height, width = votes.shape
    score, first, last = [], [], []
    # number of columns in which a line at row + shift * column / (_SIDE - 1) is inside the picture
    shift, row = np.indices((_SIDE, _SIDE))
    columns = np.ceil((height - 0.5 - row) * (_SIDE - 1) / np.maximum(shift, 1e-6))
    length = np.clip(columns, 0, width).astype(np.float32)  # [shift, row]
    for down in (True, False):
        sums = _sums_along_lines(votes if down else votes[::-1])  # [shift, row]
        shift, row = np.nonzero((sums > 0.4 * length) & (length > 0.5 * width))
        # a transform of side _SIDE reaches `shift` rows further at its last column
        end = row + shift * (width - 1) / (_SIDE - 1)
        score.append(sums[shift, row] / length[shift, row])
        first.append(row if down else height - 1 - row)
        last.append(end if down else height - 1 - end)
    scores, left, right = (np.concatenate(part) for part in (score, first, last))
    chosen: list[tuple[float, float]] = []
    while len(scores) and scores.max() > 0 and len(chosen) < _MOST:
        best = scores.argmax()
        chosen.append((float(left[best]), float(right[best])))
        far = (np.abs(left - left[best]) > 4) | (np.abs(right - right[best]) > 4)
        crossing = (left - left[best]) * (right - right[best]) < 0
        keep = far & ~(crossing & (np.abs((left + right) - (left + right)[best]) < 16))
        scores, left, right = scores[keep], left[keep], right[keep]
    return chosen


def _sums_along_lines(votes: np.ndarray) -> np.ndarray:
    """[H, W] -> [shift, row]: sums along lines that start in a row and go down by a shift.

    The fast Radon transform of Brady: sums over neighbouring strips of columns are joined, and
    their width doubles each time. Rows from -_SIDE on are stored modulo 2 _SIDE.
    """
    height, width = votes.shape
    strips = np.zeros((_SIDE, 1, 2 * _SIDE), np.int16)  # [strip, shift, row]
    strips[:width, 0, :height] = np.rint(_VOTE * votes.T)
    while len(strips) > 1:
        left, right = strips[0::2], strips[1::2]
        joined = np.empty((len(left), 2 * left.shape[1], 2 * _SIDE), np.int16)
        for shift in range(joined.shape[1]):
            half, step = shift // 2, (shift + 1) // 2
            joined[:, shift, : 2 * _SIDE - step] = right[:, half, step:]
            joined[:, shift, 2 * _SIDE - step :] = right[:, half, :step]
            joined[:, shift] += left[:, half]
        strips = joined
    return strips[0][:, :_SIDE] / np.float32(_VOTE)


def _followed(contrast: np.ndarray, thin: np.ndarray, course: np.ndarray) -> _Line | None:
    """Track a line: its exact course and profile, or None if it is not a line."""
    height, whole = contrast.shape
    columns = np.arange(0, whole, _STRIDE)
    course, width = course[columns], len(columns)
    for reach, degree in ((6, 2), (3, 3)):
        rows = course[:, None] + _OFFSETS[np.abs(_OFFSETS) <= reach]  # [W, 2 reach + 1]
        inside = (rows[:, 0] >= 0) & (rows[:, -1] <= height - 1)
        if inside.sum() < 0.4 * width:
            return None
        sampled = np.clip(_sampled(thin, rows, columns), 0, 0.1)
        sampled = ndimage.uniform_filter1d(sampled, 5, axis=0)
        weight = sampled.max(axis=1) * inside
        middle = course + sampled.argmax(axis=1) - reach
        trusted = weight > 0.3 * np.quantile(weight[inside], 0.6, method="nearest")
        powers = legvander(np.linspace(-1, 1, width), degree)  # nearly orthogonal
        for _ in range(3):
            if trusted.sum() < 0.3 * width:
                return None
            known = powers[trusted]
            fitted = powers @ np.linalg.solve(known.T @ known, known.T @ middle[trusted])
            trusted &= np.abs(middle - fitted) < 2.5
        course = np.clip(fitted, course - 8, course + 8)
    inside = (course >= 0) & (course <= height - 1)
    if inside.sum() < 0.4 * width:
        return None
    sampled = _sampled(contrast, course[:, None] + _OFFSETS, columns)  # [W, 2 _REACH + 1]
    profile = np.median(sampled[inside], axis=0)
    profile = np.maximum(profile - np.median(profile), 0)
    # thin, dark enough and present along most of its length, ends included
    depth = profile[_REACH - 1 : _REACH + 2].max()
    if depth < _FAINTEST or (profile > 0.5 * depth).sum() > _WIDEST:
        return None
    sides = np.minimum(sampled[:, : _REACH - 6], sampled[:, _REACH + 7 :]).mean(axis=1)
    middle = ndimage.uniform_filter1d(sampled[:, _REACH - 1 : _REACH + 2].max(axis=1), 3)
    there = (middle - sides > 0.4 * depth)[inside]
    end = max(1, len(there) // 10)
    if there.mean() <= 0.7 or min(there[:end].mean(), there[-end:].mean()) <= 0.5:
        return None
    return np.interp(np.arange(whole), columns, course), profile


def _sampled(image: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """[W, n] values at rows between pixels; values outside are those of the edge."""
    places = rows, np.broadcast_to(columns[:, None], rows.shape)
    return ndimage.map_coordinates(image, places, np.float64, order=1, mode="nearest")
