"""Do features tell digits from other things? Weigh them on one set, measure them on another.

Features are any function of a view [28, 28] -> [F]. Their weighted sum is larger for what looks
less like a digit, and two limits make three answers of it: fine, unlike the digits that are known,
and no digit.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from tests.photographs import angles, strangers
from tests.photographs.sets import REPORT, TUNING

Features = Callable[[np.ndarray], np.ndarray]
DIGITS_KEPT, STRANGERS_SEEN = 0.95, 0.9  # what is to be reached
# limits are stricter than that, as the next set will differ: its letters are of other fonts
_SPARE_DIGITS, _SPARE_STRANGERS = 0.015, 0.05
_PHOTOGRAPHED = 4  # one photograph of a digit for so many drawings


@dataclass(frozen=True)
class Limits:
    fine: float  # scores up to this one are fine
    unlike: float  # and up to this one unlike; beyond is no digit


@dataclass(frozen=True)
class Figures:
    digits: dict[str, float]  # drawn ones: share of each answer
    photographed: dict[str, float]  # the same of photographs of digits
    others: dict[str, float]
    counts: tuple[int, int, int]  # of these three
    kinds: dict[str, float]  # share of each kind of non-digit that is not called fine
    refused: int  # non-digits that never became a view

    @property
    def digits_kept(self) -> float:
        return self.digits["fine"] + self.digits["unlike"]

    @property
    def others_seen(self) -> float:
        return 1 - self.others["fine"]


def calibrate(features: Features, count: int = 360) -> tuple[np.ndarray, Limits]:
    """Weights [F] and limits from the tuning set.

    By logistic regression; few non-digits are then fine, and few digits are called none.
    """
    photographs = (view.image for view in angles.photographs(TUNING, count // _PHOTOGRAPHED))
    of_digits = _features(features, [*strangers.digits(TUNING, count), *photographs])
    of_others = _features(features, [view for _, view in strangers.strangers(TUNING, count)])
    weights = weigh(of_digits, of_others)
    return weights, limits(of_digits @ weights, of_others @ weights)


def weigh(of_digits: np.ndarray, of_others: np.ndarray) -> np.ndarray:
    """Weights [F] whose sum is the log odds that something is no digit, up to a constant."""
    both = np.concatenate([of_digits, of_others])
    scaler = StandardScaler().fit(both)
    labels = np.arange(len(both)) >= len(of_digits)
    found = LogisticRegression(class_weight="balanced").fit(scaler.transform(both), labels)
    return found.coef_[0] / scaler.scale_


def limits(of_digits: np.ndarray, of_others: np.ndarray) -> Limits:
    """Limits from the scores of digits and of other things."""
    fine = float(np.quantile(of_others, 1 - STRANGERS_SEEN - _SPARE_STRANGERS))
    return Limits(fine, max(fine, float(np.quantile(of_digits, DIGITS_KEPT + _SPARE_DIGITS))))


def measure(
    features: Features,
    weights: np.ndarray,
    known: Limits,
    photographs: Iterable[np.ndarray],
    which: str = REPORT,
    count: int = 150,
) -> Figures:
    """Shares of the three answers among digits, photographs of digits, and other things."""
    drawn = list(strangers.strangers(which, count))
    return figures(
        _features(features, strangers.digits(which, count)) @ weights,
        _features(features, photographs) @ weights,
        _features(features, [view for _, view in drawn]) @ weights,
        np.array([kind for kind, view in drawn if view is not None]),
        sum(view is None for _, view in drawn),
        known,
    )


def figures(
    of_digits: np.ndarray,
    of_photographs: np.ndarray,
    of_others: np.ndarray,
    kinds: np.ndarray,
    refused: int,
    known: Limits,
) -> Figures:
    """Shares of the three answers from scores, those of other things by their kind."""
    others = _answers(of_others, known)
    return Figures(
        digits=_shares(_answers(of_digits, known)),
        photographed=_shares(_answers(of_photographs, known)),
        others=_shares(others),
        counts=(len(of_digits), len(of_photographs), len(of_others)),
        kinds={
            kind: float((others[kinds == kind] != "fine").mean())
            for kind in strangers.KINDS
            if (kinds == kind).any()
        },
        refused=refused,
    )


def _features(features: Features, views: Iterable[np.ndarray | None]) -> np.ndarray:
    return np.stack([features(view) for view in views if view is not None])


def _answers(scores: np.ndarray, limits: Limits) -> np.ndarray:
    return np.select([scores <= limits.fine, scores <= limits.unlike], ["fine", "unlike"], "none")


def _shares(answers: np.ndarray) -> dict[str, float]:
    return {name: float((answers == name).mean()) for name in ("fine", "unlike", "none")}
