"""How well angle and style are kept apart: what local and global channels tell of each.

Latents are the encoder's estimates, view by view and before any pooling over a digit's views:
`z` is [P, Q, D], a row is a digit. `angles` is [P, Q] (or [Q]) in radians. Where `observed`
[P, Q] is false a view does not exist and its numbers are never looked at.
"""

from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.spatial.distance import cdist, pdist

from fgpvae.errors import UserError
from fgpvae.metrics import circular_error, mse

CHANCE_DEGREES = 90.0
ANGLE_BINS = 16
PROBE_ROWS = 1000
PROBE_WIDTHS = (0.3, 1.0, 3.0)
PROBE_RIDGES = (1e-4, 1e-2, 1.0)

FACTORS = ("angle", "digit")
SCORES = (
    "angle_error_local_degrees",
    "angle_error_global_degrees",
    "angle_error_chance_degrees",
    "digit_retrieval_local",
    "digit_retrieval_global",
    "digit_retrieval_chance",
    "invariance_ratio_local",
    "invariance_ratio_global",
    "importance_local_angle",
    "importance_local_digit",
    "importance_global_angle",
    "importance_global_digit",
    "information_local_angle",
    "information_local_digit",
    "information_global_angle",
    "information_global_digit",
    "dci_disentanglement",
    "dci_completeness",
    "dci_informativeness",
    "mig_angle",
    "mig_digit",
    "mig",
)

Array = NDArray[np.float64]


class Retrieval(NamedTuple):
    """Share of right answers, and the share that a blind guess would get."""

    share: float
    chance: float


def angle_probe(
    z: ArrayLike,
    angles: ArrayLike,
    observed: ArrayLike | None = None,
    folds: int = 4,
    seed: int = 0,
) -> float:
    """How well the angle can be read from z: mean absolute circular error in degrees (chance 90).

    Kernel ridge regression with a Gaussian kernel predicts (cos w, sin w), and the angle of that
    vector is the estimate. The digits are split into folds: each is scored by a regressor that
    saw only the other digits, at most PROBE_ROWS of their views. Kernel width (in units of the
    median distance), ridge, and whether channels are brought to unit variance are chosen on one
    of the other folds, so that neither dead channels nor small ones need care by the caller.
    """
    rows, digit, w, P = _views(z, angles, observed)
    folds = min(folds, P)
    if folds < 3:
        raise UserError(f"The angle probe needs 3 folds of digits at least, not {folds}.")
    rng = np.random.default_rng(seed)
    fold = (rng.permutation(P) % folds)[digit]  # [N]
    target = np.stack([np.cos(w), np.sin(w)], axis=1)  # [N, 2]
    standardised = rows / np.where(rows.std(axis=0) > 0, rows.std(axis=0), 1)
    settings = list(product((rows, standardised), PROBE_WIDTHS, PROBE_RIDGES))

    errors = np.zeros(len(rows))
    for held_out in range(folds):
        test = np.flatnonzero(fold == held_out)
        known = rng.permutation(np.flatnonzero(fold != held_out))[:PROBE_ROWS]
        valid = fold[known] == (held_out + 1) % folds
        fit, check = known[~valid], known[valid]
        losses = [mse(_kernel_ridge(target, fit, check, *s), target[check]) for s in settings]
        best = settings[int(np.argmin(losses))]
        cos, sin = _kernel_ridge(target, known, test, *best).T
        errors[test] = circular_error(np.arctan2(sin, cos), w[test])
    return float(np.degrees(errors.mean()))


def digit_retrieval(
    z: ArrayLike, angles: ArrayLike, observed: ArrayLike | None = None
) -> Retrieval:
    """How well the digit can be read from z: nearest-neighbour retrieval across angles.

    For each view, the nearest (Euclidean) of all views of all digits at *other* angles: is it of
    the same digit? Returns the share of views for which it is, and the share expected from a
    random neighbour. Ties count by the share of the tied neighbours that are right.
    """
    rows, digit, w, _ = _views(z, angles, observed)
    right, chance = [], []
    for chunk in np.array_split(np.arange(len(rows)), max(1, len(rows) // 256)):
        other_angle = circular_error(w[chunk, None], w) > 1e-6  # [n, N]
        if not other_angle.any(axis=1).all():
            raise UserError("Retrieval across angles needs views at two different angles at least.")
        distance = np.where(other_angle, cdist(rows[chunk], rows), np.inf)
        nearest = distance <= distance.min(axis=1, keepdims=True) * (1 + 1e-9)
        same = digit[chunk, None] == digit
        right.append((nearest & same).sum(axis=1) / nearest.sum(axis=1))
        chance.append((other_angle & same).sum(axis=1) / other_angle.sum(axis=1))
    return Retrieval(float(np.concatenate(right).mean()), float(np.concatenate(chance).mean()))


def invariance_ratio(z: ArrayLike, observed: ArrayLike | None = None) -> float:
    """Within-digit variance over total variance, summed over the channels of z.

    0: the code is constant over a digit's views. 1: it says nothing of the digit (all digits have
    the same mean code, up to chance). Both variances are unbiased, and the ratio is cut at 1.
    NaN when the code is constant altogether.
    """
    z = np.asarray(z, dtype=np.float64)
    rows, digit, _, P = _views(z, np.zeros(z.shape[:2]), observed)
    if len(rows) == P:
        raise UserError("The invariance ratio needs a digit with two views at least.")
    means = np.zeros((P, rows.shape[1]))
    np.add.at(means, digit, rows)
    means /= np.bincount(digit)[:, None]  # [P, D]
    # sum_pq |z_pq - mean_p|^2 / (N - P)  over  sum_pq |z_pq - mean|^2 / (N - 1)
    within = ((rows - means[digit]) ** 2).sum() / (len(rows) - P)
    total = ((rows - rows.mean(axis=0)) ** 2).sum() / (len(rows) - 1)
    if total <= 1e-20 * max(1.0, (rows**2).mean()):
        return float("nan")
    return float(min(within / total, 1.0))


def importance(angle_error_degrees: float, retrieval: Retrieval) -> Array:
    """What one block alone tells of (angle, digit): [2], each from 0 (chance) to 1 (perfect).

    Angle: 1 - e / 90 with e the error of `angle_probe`. Digit: (s - c) / (1 - c) with share s
    and chance c of `digit_retrieval`. Below zero counts as zero.
    """
    angle = 1 - angle_error_degrees / CHANCE_DEGREES
    digit = (retrieval.share - retrieval.chance) / (1 - retrieval.chance)
    return np.clip([angle, digit], 0.0, 1.0)


def dci(importances: ArrayLike, views: int) -> dict[str, float]:
    """Block-wise disentanglement, completeness, informativeness (after Eastwood & Williams 2018).

    `importances` R is [block, factor] = [(local, global), (angle, digit)], see `importance`.
    Entropies of noise would look like structure, so R becomes S = max(0, R - c) / (1 - c) with
    c = 4 / sqrt(3 N) for N views: four standard errors of 1 - e / 90 when each angle is guessed
    (about three of the probe's own on a random code).
    Disentanglement: 1 - H_2(S[b, :] / sum) of a block, blocks weighted by their sums (1: each
    block knows one factor). Completeness: 1 - H_2(S[:, f] / sum) of a factor, averaged over
    the factors (1: each factor is known to one block). H_2 is the entropy in bits; a row or column
    of zeros scores 0. Informativeness: max_b R[b, f], averaged over the factors. As in the
    original, blocks that trade places score the same: the importances tell which is which.
    """
    R = np.asarray(importances, dtype=np.float64)
    # a guess errs uniformly between 0 and 180 degrees: sd(e / 90) = 2 / sqrt(12) = 1 / sqrt(3)
    c = 4 / np.sqrt(3 * views)
    if c >= 1:
        raise UserError(f"{views} views are too few to tell structure from chance.")
    S = np.maximum(0, R - c) / (1 - c)  # [block, factor]
    weights = S.sum(axis=1) / max(S.sum(), 1e-12)
    return {
        "dci_disentanglement": float(weights @ [_purity(block) for block in S]),
        "dci_completeness": float(np.mean([_purity(factor) for factor in S.T])),
        "dci_informativeness": float(R.max(axis=0).mean()),
    }


def information(
    z: ArrayLike, angles: ArrayLike, observed: ArrayLike | None = None, seed: int = 0
) -> Array:
    """Mutual information of a block with (angle, digit), as shares of the factor's entropy: [2].

    The block is made discrete by k-means with max(32, P) clusters, the angle by 16 equal bins
    centred on 0, 22.5, ... degrees; the digit is discrete. A plug-in estimate I is biased upwards,
    so the information E expected of a random pairing with the same counts is taken off:
    (I - E) / (H - E), from 0 (chance) to 1 (the clusters determine the factor).
    """
    rows, digit, w, P = _views(z, angles, observed)
    clusters = min(max(32, P), len(np.unique(rows, axis=0)))
    from sklearn.cluster import KMeans  # slow to load, and pages want an MSE at once

    code = KMeans(clusters, n_init=2, random_state=seed).fit_predict(rows)  # [N]
    angle = np.round(w * ANGLE_BINS / (2 * np.pi)).astype(int) % ANGLE_BINS  # [N]
    return np.array([_information_share(code, factor) for factor in (angle, digit)])


def mig(informations: ArrayLike) -> dict[str, float]:
    """Block-wise mutual information gap (after Chen et al. 2018), for angle, digit, and the mean.

    `informations` is [block, factor] = [(local, global), (angle, digit)], see `information`:
    already divided by the factor's entropy. The gap of a factor is the better informed block's
    share minus the other's: 1 when one block knows all and the other nothing.
    """
    # gap_f = max_b I[b, f] / H_f - min_b I[b, f] / H_f
    angle, digit = np.ptp(np.asarray(informations, dtype=np.float64), axis=0)
    return {"mig_angle": float(angle), "mig_digit": float(digit), "mig": float(angle + digit) / 2}


def disentanglement_scores(
    z_local: ArrayLike,
    z_global: ArrayLike,
    angles: ArrayLike,
    observed: ArrayLike | None = None,
    seed: int = 0,
) -> dict[str, float | None]:
    """Every figure in one flat dict, by block where a block has channels.

    z_local [P, Q, J], z_global [P, Q, L - J]. A block without channels (a VAE has J = 0) has None
    for its figures, and so do DCI's disentanglement and completeness and the MIG, which compare
    two blocks. A few seconds for 270 digits of 16 views.

    The keys are SCORES.
    """
    blocks = {"local": np.asarray(z_local), "global": np.asarray(z_global)}
    present = {block: z for block, z in blocks.items() if z.shape[-1] > 0}
    if not present:
        raise UserError("Disentanglement needs latents: neither block has a channel.")
    scores: dict[str, float] = {"angle_error_chance_degrees": CHANCE_DEGREES}
    for block, z in present.items():
        scores |= _block_scores(block, z, angles, observed, seed)
    importances, informations = (
        [[scores[f"{kind}_{block}_{factor}"] for factor in FACTORS] for block in present]
        for kind in ("importance", "information")
    )
    scores |= dci(importances, views=len(_views(z, angles, observed)[0]))
    if len(present) == 2:
        scores |= mig(informations)
    else:
        del scores["dci_disentanglement"], scores["dci_completeness"]
    return {
        name: scores[name] if np.isfinite(scores.get(name, np.nan)) else None for name in SCORES
    }


def _views(
    z: ArrayLike, angles: ArrayLike, observed: ArrayLike | None
) -> tuple[Array, NDArray[np.int64], Array, int]:
    """The observed views as rows: z [N, D], digit [N], angle [N]; and P, the digits among them."""
    z = np.asarray(z, dtype=np.float64)
    if z.ndim != 3 or z.shape[2] == 0:
        raise UserError(f"Latents must be [P, Q, D] with a channel at least, not {z.shape}.")
    P, Q, _ = z.shape
    mask = np.ones((P, Q), bool) if observed is None else np.asarray(observed, dtype=bool)
    angles = np.asarray(angles, dtype=np.float64)
    if mask.shape != (P, Q) or angles.shape not in ((P, Q), (Q,)):
        raise UserError(
            f"Latents {z.shape} need angles and observed of shape {(P, Q)}, "
            f"not {angles.shape} and {mask.shape}."
        )
    rows, w = z[mask], np.broadcast_to(angles, (P, Q))[mask]  # [N, D], [N]
    if len(rows) == 0:
        raise UserError("No view is observed.")
    if not (np.isfinite(rows).all() and np.isfinite(w).all()):
        raise UserError("An observed view has a latent or an angle that is not a finite number.")
    digits, digit = np.unique(np.nonzero(mask)[0], return_inverse=True)
    return rows, digit, w, len(digits)


def _block_scores(
    block: str, z: Array, angles: ArrayLike, observed: ArrayLike | None, seed: int
) -> dict[str, float]:
    """The figures of one block, and the chance of retrieval, which is the same for both."""
    error = angle_probe(z, angles, observed, seed=seed)
    retrieval = digit_retrieval(z, angles, observed)
    known = importance(error, retrieval)
    told = information(z, angles, observed, seed)
    scores = {
        f"angle_error_{block}_degrees": error,
        f"digit_retrieval_{block}": retrieval.share,
        "digit_retrieval_chance": retrieval.chance,
        f"invariance_ratio_{block}": invariance_ratio(z, observed),
    }
    for f, factor in enumerate(FACTORS):
        scores[f"importance_{block}_{factor}"] = float(known[f])
        scores[f"information_{block}_{factor}"] = float(told[f])
    return scores


def _kernel_ridge(
    target: Array, fit: NDArray[Any], check: NDArray[Any], z: Array, width: float, ridge: float
) -> Array:
    """Gaussian kernel ridge regression of the target, trained on `fit`, predicted on `check`."""
    scale = width * (np.median(pdist(z[fit[:200]])) or 1.0)
    mean = target[fit].mean(axis=0)
    # k(a, b) = exp(-|a - b|^2 / (2 s^2)), prediction = k_* (K + ridge I)^-1 (y - mean) + mean
    K = np.exp(-cdist(z[fit], z[fit], "sqeuclidean") / (2 * scale**2))
    k = np.exp(-cdist(z[check], z[fit], "sqeuclidean") / (2 * scale**2))
    factor = cho_factor(K + ridge * np.eye(len(fit)), lower=True)
    return k @ cho_solve(factor, target[fit] - mean) + mean


def _purity(weights: Array) -> float:
    """1 - entropy in bits of two weights, and 0 if there is no weight at all."""
    if weights.sum() == 0:
        return 0.0
    share = weights[weights > 0] / weights.sum()
    # 1 + sum p log2 p
    return float(1 + (share * np.log2(share)).sum())


def _information_share(code: NDArray[Any], factor: NDArray[Any]) -> float:
    """(I(code; factor) - E) / (H(factor) - E), not below 0; E is I for a random pairing."""
    from sklearn.metrics import mutual_info_score
    from sklearn.metrics.cluster import contingency_matrix, expected_mutual_information

    entropy = mutual_info_score(factor, factor)
    counts = contingency_matrix(factor, code, sparse=True)
    expected = expected_mutual_information(counts, len(code))
    if entropy - expected <= 1e-12:
        return 0.0
    share = (mutual_info_score(factor, code) - expected) / (entropy - expected)
    return float(np.clip(share, 0.0, 1.0))
