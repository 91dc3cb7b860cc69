"""Figures of disentanglement against naive references, and on codes whose answer is known."""

import math

import numpy as np
import pytest
from scipy.stats import f_oneway

from fgpvae.evaluation.disentanglement import (
    dci,
    digit_retrieval,
    disentanglement_scores,
    invariance_ratio,
    mig,
)

P, Q = 40, 16
ANGLES = np.tile(2 * np.pi * np.arange(Q) / Q, (P, 1))


def circle(angles: np.ndarray) -> np.ndarray:
    return np.stack([np.cos(angles), np.sin(angles)], axis=-1)


@pytest.fixture(scope="module")
def codes() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Local and global blocks of four channels."""
    rng = np.random.default_rng(0)
    # an isometry from (cos w, sin w) into four channels, and a style that is the digit's own
    local = np.sqrt(2) * circle(ANGLES) @ np.linalg.qr(rng.normal(size=(4, 4)))[0][:2]
    style = np.repeat(rng.normal(size=(P, 1, 4)), Q, axis=1)
    local, style = (z + 0.05 * rng.normal(size=z.shape) for z in (local, style))
    noise = rng.normal(size=(P, Q, 8))
    return {
        "perfect": (local, style),
        "swapped": (style, local),
        "together": (np.concatenate([local, style], axis=-1), noise[..., :4]),
        "random": (noise[..., :4], noise[..., 4:]),
    }


@pytest.fixture(scope="module")
def scores(codes) -> dict[str, dict[str, float | None]]:
    return {name: disentanglement_scores(*blocks, ANGLES) for name, blocks in codes.items()}


def test_perfectly_disentangled_code(scores):
    s = scores["perfect"]
    assert s["angle_error_local_degrees"] < 3
    assert s["angle_error_global_degrees"] == pytest.approx(90, abs=6)
    assert s["digit_retrieval_local"] == pytest.approx(1 / P, abs=0.03)
    assert s["digit_retrieval_global"] > 0.99
    assert s["invariance_ratio_local"] > 0.98
    assert s["invariance_ratio_global"] < 0.01
    for name in ("dci_disentanglement", "dci_completeness", "dci_informativeness"):
        assert s[name] > 0.9
    for name in ("mig_angle", "mig_digit", "mig"):
        assert s[name] > 0.9


def test_random_code_is_at_chance(scores):
    s = scores["random"]
    assert s["digit_retrieval_chance"] == pytest.approx(1 / P)
    for block in ("local", "global"):
        assert s[f"angle_error_{block}_degrees"] == pytest.approx(90, abs=6)
        assert s[f"digit_retrieval_{block}"] == pytest.approx(1 / P, abs=0.03)
        assert s[f"invariance_ratio_{block}"] > 0.97
    for name in ("dci_disentanglement", "dci_completeness", "dci_informativeness", "mig"):
        assert s[name] < 0.05


def test_a_code_whose_blocks_trade_places_is_as_disentangled(scores):
    for name in ("dci_disentanglement", "dci_completeness", "mig_angle", "mig_digit"):
        assert scores["swapped"][name] == pytest.approx(scores["perfect"][name], abs=0.02)
    assert scores["swapped"]["digit_retrieval_local"] > 0.99


def test_one_block_with_both_factors_has_both_gaps_and_is_not_disentangled(scores):
    """As the definition has it: the other block, which is noise, knows nothing of either."""
    s = scores["together"]
    assert s["mig_angle"] > 0.9
    assert s["mig_digit"] > 0.9
    assert s["dci_disentanglement"] < 0.05


def test_retrieval_agrees_with_a_double_loop():
    rng = np.random.default_rng(0)
    z, angles = rng.normal(size=(7, 5, 3)), rng.integers(0, 6, size=(7, 5)) * np.pi / 3
    z += 1.5 * rng.normal(size=(7, 1, 3))
    views = list(np.ndindex(7, 5))
    right = guess = 0.0
    for a in views:
        others = [b for b in views if not np.isclose(angles[a], angles[b])]
        nearest = min(others, key=lambda b: np.linalg.norm(z[a] - z[b]))
        right += nearest[0] == a[0]
        guess += sum(b[0] == a[0] for b in others) / len(others)
    share, chance = digit_retrieval(z, angles)
    assert 0.1 < right / len(views) < 0.9
    assert share == pytest.approx(right / len(views))
    assert chance == pytest.approx(guess / len(views))


def test_invariance_ratio_is_the_anova_share():
    """F of a one-way analysis of variance fixes the ratio: SSB = F SSW (P - 1) / (N - P)."""
    rng = np.random.default_rng(0)
    z = rng.normal(size=(9, 6, 1)) + rng.normal(size=(9, 1, 1))
    groups = list(z[..., 0])
    n, p = 54, 9
    between_over_within = f_oneway(*groups).statistic * (p - 1) / (n - p)
    expected = (n - 1) / (n - p) / (1 + between_over_within)
    assert invariance_ratio(z) == pytest.approx(expected)


def test_dci_of_known_matrices():
    def three(R):
        scores = dci(R, views=640)
        return [scores[f"dci_{n}"] for n in ("disentanglement", "completeness", "informativeness")]

    assert three([[1, 0], [0, 1]]) == pytest.approx([1, 1, 1])
    assert three([[1, 1], [1, 1]]) == pytest.approx([0, 0, 1])
    assert three([[0.04, 0], [0.02, 0.01]]) == pytest.approx([0, 0, 0.025])
    # a dead block beside one that knows both factors: complete, but not disentangled
    assert three([[0, 0], [1, 1]]) == pytest.approx([0, 1, 1])
    # local knows the angle, global knows both
    entropy = -(1 / 3) * math.log2(1 / 3) - (2 / 3) * math.log2(2 / 3)
    S = np.array([[1, 0], [0.5, 1]])
    chance = 4 / math.sqrt(3 * 640)
    assert three(chance + (1 - chance) * S) == pytest.approx(
        [1 / 2.5 + 1.5 / 2.5 * (1 - entropy), (1 - entropy + 1) / 2, 1]
    )


def test_mig_of_known_matrices():
    assert mig([[1, 0], [0, 1]]) == {"mig_angle": 1, "mig_digit": 1, "mig": 1}
    assert mig([[0.7, 0.7], [0.7, 0.7]])["mig"] == 0
    assert mig([[0.2, 0.1], [0.8, 0.2]])["mig_angle"] == pytest.approx(0.6)
