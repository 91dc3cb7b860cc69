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
) -> tuple[dict[str, np.ndarray], dict[str, float]]:
    """Answers about three sets, and the share of each kind of stranger that is not called fine."""

    def answers(views: Iterable[np.ndarray | None]) -> np.ndarray:
        scores = _features(features, views) @ weights
        return np.select([scores <= known.fine, scores <= known.unlike], ["fine", "unlike"], "none")

    drawn = [(kind, view) for kind, view in strangers.strangers(which, count) if view is not None]
    kinds, others = np.array([kind for kind, _ in drawn]), answers([view for _, view in drawn])
    found = {
        "drawings of digits": answers(strangers.digits(which, count)),
        "photographs of digits": answers(photographs),
        "drawings of other things": others,
    }
    return found, {k: float((others[kinds == k] != "fine").mean()) for k in strangers.KINDS}


def _features(features: Features, views: Iterable[np.ndarray | None]) -> np.ndarray:
    return np.stack([features(view) for view in views if view is not None])
