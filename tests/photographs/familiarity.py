"""Does a score tell digits from other things? Calibrate it on one set, measure it on another.

A score is any function of views [P, 28, 28] -> [P], larger for what looks less like a digit: the
error of a model's reconstruction, for example. Two limits make three answers of it: fine, unlike
the digits that are known, and no digit.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from tests.photographs import strangers
from tests.photographs.sets import REPORT, TUNING

Score = Callable[[np.ndarray], np.ndarray]
DIGITS_KEPT, STRANGERS_SEEN = 0.95, 0.9  # what is to be reached
_SPARE = 0.02  # limits are a little stricter than that, as the next set will differ


@dataclass(frozen=True)
class Limits:
    fine: float  # scores up to this one are fine
    unlike: float  # and up to this one unlike; beyond is no digit


@dataclass(frozen=True)
class Figures:
    digits: dict[str, float]  # share of each answer
    others: dict[str, float]
    kinds: dict[str, float]  # share of each kind of non-digit that is not called fine
    refused: int  # non-digits that never became a view

    @property
    def digits_kept(self) -> float:
        return self.digits["fine"] + self.digits["unlike"]

    @property
    def others_seen(self) -> float:
        return 1 - self.others["fine"]


def calibrate(score: Score, count: int = 150) -> Limits:
    """Limits from the tuning set: few non-digits are fine, few digits are called none."""
    of_digits = score(_views(strangers.digits(TUNING, count)))
    of_others = score(_views(view for _, view in strangers.strangers(TUNING, count)))
    return limits(of_digits, of_others)


def limits(of_digits: np.ndarray, of_others: np.ndarray) -> Limits:
    """Limits from the scores of digits and of other things."""
    fine = float(np.quantile(of_others, 1 - STRANGERS_SEEN - _SPARE))
    return Limits(fine, max(fine, float(np.quantile(of_digits, DIGITS_KEPT + _SPARE))))


def measure(score: Score, known: Limits, which: str = REPORT, count: int = 150) -> Figures:
    """Shares of the three answers among digits and among other things."""
    drawn = list(strangers.strangers(which, count))
    return figures(
        score(_views(strangers.digits(which, count))),
        score(_views(view for _, view in drawn)),
        np.array([kind for kind, view in drawn if view is not None]),
        sum(view is None for _, view in drawn),
        known,
    )


def figures(
    of_digits: np.ndarray, of_others: np.ndarray, kinds: np.ndarray, refused: int, known: Limits
) -> Figures:
    """Shares of the three answers from scores, those of other things by their kind."""
    digits, others = _answers(of_digits, known), _answers(of_others, known)
    return Figures(
        digits=_shares(digits),
        others=_shares(others),
        kinds={
            kind: float((others[kinds == kind] != "fine").mean())
            for kind in strangers.KINDS
            if (kinds == kind).any()
        },
        refused=refused,
    )


def _views(views: Iterable[np.ndarray | None]) -> np.ndarray:
    return np.stack([view for view in views if view is not None])


def _answers(scores: np.ndarray, limits: Limits) -> np.ndarray:
    return np.select([scores <= limits.fine, scores <= limits.unlike], ["fine", "unlike"], "none")


def _shares(answers: np.ndarray) -> dict[str, float]:
    return {name: float((answers == name).mean()) for name in ("fine", "unlike", "none")}
