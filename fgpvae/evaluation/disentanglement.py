"""Disentanglement of angle and style, measured on local and global channels.

Latents are the encoder's estimates, view by view and before any pooling over a digit's views:
`z` is [P, Q, D], a row is a digit. `angles` is [P, Q] (or [Q]) in radians.
"""

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.spatial.distance import cdist, pdist
from scipy.special import entr, logsumexp

from fgpvae.data import Views, circular_error
from fgpvae.evaluation.latents import encodings
from fgpvae.evaluation.metrics import mse
from fgpvae.models import Model

CHANCE_DEGREES = 90.0
ANGLE_BINS = 16
PROBE_ROWS = 1000
PROBE_WIDTHS = (0.3, 1.0, 3.0)
PROBE_RIDGES = (1e-4, 1e-2, 1.0)
FOLDS = 4
TEMPERATURES = tuple(np.geomspace(0.01, 10, 13))

FACTORS = ("angle", "digit")
BLOCKS = ("local", "global")
SCORES = (
    *(f"angle_error_{block}_degrees" for block in (*BLOCKS, "chance")),
    *(f"digit_retrieval_{block}" for block in (*BLOCKS, "chance")),
    *(f"invariance_ratio_{block}" for block in BLOCKS),
    *(f"importance_{block}_{factor}" for block in BLOCKS for factor in FACTORS),
    *(f"information_{block}_{factor}" for block in BLOCKS for factor in FACTORS),
    *(f"dci_{name}" for name in ("disentanglement", "completeness", "informativeness")),
    *("mig_angle", "mig_digit", "mig"),
)

Array = NDArray[np.float64]


@torch.no_grad()
def model_scores(model: Model, views: Views, seed: int = 0) -> dict[str, float | None]:
    """All scores of a model on the encodings of single views, and its swap error."""
    z = encodings(model, views)[0]  # [P, Q, L]
    J = model.blocks.get("local", slice(0, 0)).stop  # without local channels all are global
    scores = disentanglement_scores(z[..., :J], z[..., J:], views.angles.numpy(), seed)
    return scores | {"swap_error": swap_error(model, views) if "local" in model.blocks else None}


@torch.no_grad()
def swap_error(model: Model, views: Views) -> float:
    """MSE of the style of one digit at the angles of another, against the truth.

    The local channels are digit B's, the global ones digit A's; the truth is A at those angles.
    With perfect disentanglement it is the error of plain reconstruction.
    """
    z = model.infer(views.images, views.angles, views.observed, views.ids).mean(views.angles)
    styles = list(model.styles)
    z[..., styles] = z[..., styles].roll(1, 0)
    return mse(model.decode(z).numpy(), views.images.roll(1, 0).numpy())


def angle_probe(z: ArrayLike, angles: ArrayLike, seed: int = 0) -> float:
    """How well the angle can be read from z: mean absolute circular error in degrees (chance 90).

    Kernel ridge regression with a Gaussian kernel predicts (cos w, sin w) of each fold of digits
    from at most PROBE_ROWS views of the other digits. Kernel width (in units of the median
    distance), ridge, and whether channels are brought to unit variance are chosen on another fold.
    """
    rows, digit, w, P = _views(z, angles)
    rng = np.random.default_rng(seed)
    fold = (rng.permutation(P) % FOLDS)[digit]  # [N]
    known = [rng.permutation(np.flatnonzero(fold != k))[:PROBE_ROWS] for k in range(FOLDS)]
    target = np.stack([np.cos(w), np.sin(w)], axis=1)  # [N, 2]
    cos, sin = _probe(rows, target, fold, known, lambda read, y: ((read - y) ** 2).sum(axis=1)).T
    return float(np.degrees(circular_error(np.arctan2(sin, cos), w).mean()))


def digit_retrieval(z: ArrayLike, angles: ArrayLike) -> tuple[float, float]:
    """How well the digit can be read from z: nearest-neighbour retrieval across angles.

    The share of views whose nearest view at *another* angle is of the same digit, and the share
    expected from a random neighbour. Ties count by the share of the tied ones that are right.
    """
    rows, digit, w, _ = _views(z, angles)
    right, chance = [], []
    for chunk in np.array_split(np.arange(len(rows)), max(1, len(rows) // 256)):
        other_angle = circular_error(w[chunk, None], w) > 1e-6  # [n, N]
        distance = np.where(other_angle, cdist(rows[chunk], rows), np.inf)
        nearest = distance <= distance.min(axis=1, keepdims=True) * (1 + 1e-9)
        same = digit[chunk, None] == digit
        right.append((nearest & same).sum(axis=1) / nearest.sum(axis=1))
        chance.append((other_angle & same).sum(axis=1) / other_angle.sum(axis=1))
    return float(np.concatenate(right).mean()), float(np.concatenate(chance).mean())


def invariance_ratio(z: ArrayLike) -> float:
    """Within-digit variance over total variance, summed over the channels of z.

    0: the code is constant over a digit's views. 1: all digits have the same mean code, up to
    chance. Both variances are unbiased, and the ratio is at most 1. NaN for a constant code.
    """
    z = np.asarray(z, dtype=np.float64)
    P, Q, _ = z.shape
    # sum_pq |z_pq - mean_p|^2 / (N - P)  over  sum_pq |z_pq - mean|^2 / (N - 1)
    within = ((z - z.mean(axis=1, keepdims=True)) ** 2).sum() / (P * Q - P)
    total = ((z - z.mean(axis=(0, 1))) ** 2).sum() / (P * Q - 1)
    if total <= 1e-20 * max(1.0, (z**2).mean()):
        return float("nan")
    return float(min(within / total, 1.0))


def dci(importances: ArrayLike, views: int) -> dict[str, float]:
    """Block-wise disentanglement, completeness, informativeness (after Eastwood & Williams 2018).

    `importances` R is [block, factor] = [(local, global), (angle, digit)]: what one block alone
    knows of a factor, from 0 (chance) to 1.
    Entropies of noise would look like structure, so R becomes S = max(0, R - c) / (1 - c) with
    c = 4 / sqrt(3 N) for N views: four standard errors of 1 - e / 90 when each angle is guessed.
    Disentanglement: 1 - H_2(S[b, :] / sum) of a block, blocks weighted by their sums (1: each
    block knows one factor). Completeness: 1 - H_2(S[:, f] / sum) of a factor, averaged over
    the factors (1: each factor is known to one block). H_2 is the entropy in bits; a row or column
    of zeros scores 0. Informativeness: max_b R[b, f], averaged over the factors.
    """
    R = np.asarray(importances, dtype=np.float64)
    # a guess errs uniformly between 0 and 180 degrees: sd(e / 90) = 1 / sqrt(3)
    c = 4 / np.sqrt(3 * views)
    S = np.maximum(0, R - c) / (1 - c)  # [block, factor]
    weights = S.sum(axis=1) / max(S.sum(), 1e-12)
    return {
        "dci_disentanglement": float(weights @ [_purity(block) for block in S]),
        "dci_completeness": float(np.mean([_purity(factor) for factor in S.T])),
        "dci_informativeness": float(R.max(axis=0).mean()),
    }


def information(z: ArrayLike, angles: ArrayLike, seed: int = 0) -> list[float]:
    """Mutual information of a block with (angle, digit), as shares of the factor's entropy: [2].

    I(z; f) >= H(f) - CE for the cross-entropy CE of any classifier p(f | z) on views that it was
    not trained on; so (H - CE) / H, and 0 where that is negative. The classifier is the probe of
    `angle_probe` on indicators of the classes, its posterior the softmax of the scores over a
    temperature. The angle has 16 classes and is read from other digits than those trained on; the
    digit is read from other views of the same digits.
    """
    rows, digit, w, P = _views(z, angles)
    rng = np.random.default_rng(seed)
    some = np.isin(digit, rng.permutation(P)[: max(FOLDS, PROBE_ROWS * P // len(rows))])
    rows, (_, digit) = rows[some], np.unique(digit[some], return_inverse=True)
    angle = np.round(w[some] * ANGLE_BINS / (2 * np.pi)).astype(int) % ANGLE_BINS  # [N]
    by_digit = rng.permutation(digit.max() + 1)[digit] % FOLDS
    shuffled = rng.permutation(len(rows))  # views of a digit, one after the other into each fold
    by_view = np.empty_like(shuffled)
    by_view[shuffled[np.argsort(digit[shuffled], kind="stable")]] = np.arange(len(rows)) % FOLDS
    shares = []
    for factor, fold in ((angle, by_digit), (digit, by_view)):
        classes = np.eye(factor.max() + 1)[factor]  # [N, classes]
        known = [np.flatnonzero(fold != k) for k in range(FOLDS)]
        logits = _probe(rows, classes, fold, known, _log_losses, TEMPERATURES)
        entropy = max(entr(classes.mean(axis=0)).sum(), 1e-12)
        shares.append(max(0.0, 1 - _log_losses(logits, classes).mean() / entropy))
    return shares


def mig(informations: ArrayLike) -> dict[str, float]:
    """Block-wise mutual information gap (after Chen et al. 2018), for angle, digit, and the mean.

    `informations` is [block, factor] = [(local, global), (angle, digit)], see `information`.
    """
    # gap_f = max_b I[b, f] / H_f - min_b I[b, f] / H_f
    angle, digit = np.ptp(np.asarray(informations, dtype=np.float64), axis=0)
    return {"mig_angle": float(angle), "mig_digit": float(digit), "mig": float(angle + digit) / 2}


def disentanglement_scores(
    z_local: ArrayLike, z_global: ArrayLike, angles: ArrayLike, seed: int = 0
) -> dict[str, float | None]:
    """All SCORES of z_local [P, Q, J] and z_global [P, Q, L - J].

    A block without channels (a VAE has J = 0) has None for its figures, and so do DCI's
    disentanglement and completeness and the MIG, which compare two blocks.
    """
    scores: dict[str, float] = {"angle_error_chance_degrees": CHANCE_DEGREES}
    blocks = dict(zip(BLOCKS, map(np.asarray, (z_local, z_global)), strict=True))
    present = [block for block in BLOCKS if blocks[block].shape[-1]]
    for block in present:
        z = blocks[block]
        error, (share, chance) = angle_probe(z, angles, seed), digit_retrieval(z, angles)
        by_angle, by_digit = information(z, angles, seed)
        scores |= {
            f"angle_error_{block}_degrees": error,
            f"digit_retrieval_{block}": share,
            "digit_retrieval_chance": chance,  # the same for both blocks
            f"invariance_ratio_{block}": invariance_ratio(z),
            f"importance_{block}_angle": max(0.0, 1 - error / CHANCE_DEGREES),
            f"importance_{block}_digit": max(0.0, (share - chance) / (1 - chance)),
            f"information_{block}_angle": by_angle,
            f"information_{block}_digit": by_digit,
        }
    importances, informations = (
        [[scores[f"{kind}_{block}_{factor}"] for factor in FACTORS] for block in present]
        for kind in ("importance", "information")
    )
    indices = dci(importances, views=blocks["local"].shape[0] * blocks["local"].shape[1])
    if len(present) == 2:
        scores |= indices | mig(informations)
    scores["dci_informativeness"] = indices["dci_informativeness"]
    found = {name: scores.get(name, np.nan) for name in SCORES}
    return {name: score if np.isfinite(score) else None for name, score in found.items()}


def _views(z: ArrayLike, angles: ArrayLike) -> tuple[Array, NDArray[np.int64], Array, int]:
    """The views as rows: z [N, D], digit [N], angle [N]; and P, the number of digits."""
    z = np.asarray(z, dtype=np.float64)
    P, Q, D = z.shape
    w = np.broadcast_to(np.asarray(angles, dtype=np.float64), (P, Q)).reshape(P * Q)
    return z.reshape(P * Q, D), np.repeat(np.arange(P), Q), w, P


def _probe(
    rows: Array,
    target: Array,
    fold: NDArray[Any],
    known: Sequence[NDArray[Any]],
    losses: Callable[[Array, Array], Array],
    temperatures: Sequence[float] = (1.0,),
) -> Array:
    """The target [N, C] of each fold, read by a probe fitted to the views `known` of the others.

    Its settings and temperature have the lowest mean of `losses` [n] on one of the other folds.
    """
    standardised = rows / np.where(rows.std(axis=0) > 0, rows.std(axis=0), 1)
    settings = list(product((rows, standardised), PROBE_WIDTHS, PROBE_RIDGES))
    read = np.empty_like(target)
    for held_out, mine in enumerate(known):
        valid = fold[mine] == (held_out + 1) % len(known)
        fit, check, test = mine[~valid], mine[valid], np.flatnonzero(fold == held_out)
        tried = []
        for setting in settings:
            scores = _kernel_ridge(target, fit, check, *setting)
            for temperature in temperatures:
                loss = losses(scores / temperature, target[check]).mean()
                tried.append((loss, temperature, setting))
        _, temperature, setting = min(tried, key=lambda each: each[0])
        read[test] = _kernel_ridge(target, mine, test, *setting) / temperature
    return read


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
    return float(1 - entr(weights / weights.sum()).sum() / np.log(2))


def _log_losses(logits: Array, classes: Array) -> Array:
    return logsumexp(logits, axis=1) - (logits * classes).sum(axis=1)
