"""Figures of disentanglement against naive references, and on codes whose answer is known."""

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import f_oneway
from sklearn.metrics import adjusted_mutual_info_score

from fgpvae.disentanglement import (
    SCORES,
    Retrieval,
    angle_probe,
    dci,
    digit_retrieval,
    disentanglement_scores,
    importance,
    information,
    invariance_ratio,
    mig,
)
from fgpvae.errors import UserError

P, Q = 40, 16
ANGLES = np.tile(2 * np.pi * np.arange(Q) / Q, (P, 1))


def circle(angles: np.ndarray) -> np.ndarray:
    return np.stack([np.cos(angles), np.sin(angles)], axis=-1)


@pytest.fixture(scope="module")
def codes() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Local and global blocks of four channels: what a code can be, from best to worst."""
    rng = np.random.default_rng(0)
    # an isometry from (cos w, sin w) into four channels, and a style that is the digit's own
    local = np.sqrt(2) * circle(ANGLES) @ np.linalg.qr(rng.normal(size=(4, 4)))[0][:2]
    style = np.repeat(rng.normal(size=(P, 1, 4)), Q, axis=1)
    local, style = (z + 0.05 * rng.normal(size=z.shape) for z in (local, style))
    mixed = np.concatenate([local + style, local - style], axis=-1) / np.sqrt(2)
    noise = rng.normal(size=(P, Q, 8))
    return {
        "perfect": (local, style),
        "swapped": (style, local),
        "mixed": (mixed[..., :4], mixed[..., 4:]),
        "random": (noise[..., :4], noise[..., 4:]),
    }


@pytest.fixture(scope="module")
def scores(codes) -> dict[str, dict[str, float | None]]:
    return {name: disentanglement_scores(*blocks, ANGLES) for name, blocks in codes.items()}


# --- the figures on codes whose answer is known -------------------------------------------------


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


def test_blocks_that_trade_places(scores):
    for name, score in scores["swapped"].items():
        other = {"local": "global", "global": "local"}
        mirror = "_".join(other.get(word, word) for word in name.split("_"))
        assert score == pytest.approx(scores["perfect"][mirror], abs=1e-9), name


def test_fully_mixed_code_knows_everything_everywhere(scores):
    s = scores["mixed"]
    for block in ("local", "global"):
        assert s[f"angle_error_{block}_degrees"] < 60
        assert s[f"digit_retrieval_{block}"] > 0.3
        assert s[f"invariance_ratio_{block}"] == pytest.approx(0.5, abs=0.15)
    assert s["dci_informativeness"] > 0.3
    assert s["dci_disentanglement"] < 0.15
    assert s["dci_completeness"] < 0.15
    assert s["mig"] < 0.15


def test_random_code_is_at_chance(scores):
    s = scores["random"]
    assert s["digit_retrieval_chance"] == pytest.approx(1 / P)
    for block in ("local", "global"):
        assert s[f"angle_error_{block}_degrees"] == pytest.approx(90, abs=6)
        assert s[f"digit_retrieval_{block}"] == pytest.approx(1 / P, abs=0.03)
        assert s[f"invariance_ratio_{block}"] > 0.97
    for name in ("dci_disentanglement", "dci_completeness", "dci_informativeness", "mig"):
        assert s[name] < 0.05


def test_one_block_has_its_own_figures_and_no_comparison(codes, scores):
    whole = np.concatenate(codes["perfect"], axis=-1)
    s = disentanglement_scores(whole[..., :0], whole, ANGLES)
    assert list(s) == list(scores["perfect"]) == list(SCORES)
    assert s["angle_error_global_degrees"] < 5
    assert s["digit_retrieval_global"] > 0.9
    assert s["dci_informativeness"] > 0.9
    compared = {"dci_disentanglement", "dci_completeness", "mig_angle", "mig_digit", "mig"}
    missing = {name for name, score in s.items() if score is None}
    assert missing == compared | {name for name in s if "_local" in name}
    assert "NaN" not in json.dumps(s)


def test_collapsed_block_tells_nothing(codes):
    s = disentanglement_scores(np.full((P, Q, 3), 0.1), codes["perfect"][1], ANGLES)
    assert s["angle_error_local_degrees"] == pytest.approx(90, abs=1e-6)
    assert s["digit_retrieval_local"] == pytest.approx(s["digit_retrieval_chance"])
    assert s["invariance_ratio_local"] is None
    assert s["importance_local_angle"] == s["importance_local_digit"] == 0
    assert s["information_local_angle"] == s["information_local_digit"] == 0


def test_views_that_are_not_observed_have_no_influence(codes):
    observed = np.random.default_rng(1).random((P, Q)) < 0.7
    results = []
    for junk in (np.nan, 1e6):
        blocks = [np.where(observed[..., None], z, junk) for z in codes["perfect"]]
        results.append(disentanglement_scores(*blocks, np.where(observed, ANGLES, junk), observed))
    assert results[0] == results[1]
    assert results[0]["dci_disentanglement"] > 0.9


def test_bad_latents_are_refused():
    z = np.zeros((P, Q, 2))
    with pytest.raises(UserError, match="angles"):
        angle_probe(z, ANGLES[:, :5])
    with pytest.raises(UserError, match="finite"):
        digit_retrieval(z + np.nan, ANGLES)
    with pytest.raises(UserError, match="folds"):
        angle_probe(z[:2], ANGLES[:2])
    with pytest.raises(UserError, match="different angles"):
        digit_retrieval(z, np.zeros((P, Q)))
    with pytest.raises(UserError, match="two views"):
        invariance_ratio(z[:, :1])
    with pytest.raises(UserError, match="neither block"):
        disentanglement_scores(z[..., :0], z[..., :0], ANGLES)
    with pytest.raises(UserError, match="No view"):
        invariance_ratio(z, np.zeros((P, Q), bool))


# --- each figure by itself ----------------------------------------------------------------------


def test_probe_reads_a_nonlinear_code():
    """A curve without a crossing tells all; the cosine alone only 0 from 180 degrees."""
    w = np.random.default_rng(0).uniform(0, 2 * np.pi, size=(P, Q))
    curve = np.stack([np.cos(w) ** 3, np.sin(2 * w) + np.cos(w), np.tanh(2 * np.sin(w))], axis=-1)
    assert angle_probe(curve, w) < 3
    assert angle_probe(np.cos(w)[..., None], w) == pytest.approx(45, abs=3)


def test_probe_needs_no_scaling_by_the_caller(codes):
    """Faint channels beside loud ones, and a code among dead channels, which is faint noise."""
    local, style = codes["perfect"]
    assert angle_probe(np.concatenate([0.001 * local, style], axis=-1), ANGLES) < 5
    w = np.random.default_rng(0).uniform(0, 2 * np.pi, size=(P, Q))
    dead = 1e-3 * np.random.default_rng(1).normal(size=(P, Q, 40))
    curve = np.concatenate([circle(2 * w), circle(3 * w), dead], axis=-1)
    assert angle_probe(curve, w) < 5


def test_probe_is_scored_on_other_digits():
    """A code that is random but the same for the views of a digit: memory would find the angle."""
    rng = np.random.default_rng(0)
    angles = np.tile(rng.uniform(0, 2 * np.pi, size=(P, 1)), (1, Q))
    memory = np.repeat(rng.normal(size=(P, 1, 6)), Q, axis=1)
    assert angle_probe(memory, angles) > 60


def test_retrieval_agrees_with_a_double_loop():
    rng = np.random.default_rng(0)
    z, angles = rng.normal(size=(7, 5, 3)), rng.integers(0, 6, size=(7, 5)) * np.pi / 3
    z += 1.5 * rng.normal(size=(7, 1, 3))
    observed = rng.random((7, 5)) < 0.8
    views = list(zip(*np.nonzero(observed), strict=True))
    right = guess = 0.0
    for a in views:
        others = [b for b in views if not np.isclose(angles[a], angles[b])]
        nearest = min(others, key=lambda b: np.linalg.norm(z[a] - z[b]))
        right += nearest[0] == a[0]
        guess += sum(b[0] == a[0] for b in others) / len(others)
    retrieval = digit_retrieval(z, angles, observed)
    assert 0.1 < right / len(views) < 0.9
    assert retrieval.share == pytest.approx(right / len(views))
    assert retrieval.chance == pytest.approx(guess / len(views))


def test_retrieval_does_not_look_at_the_same_angle():
    """Views at one angle are far closer to each other than a digit's views: still all right."""
    style = 0.01 * np.arange(P)[:, None, None] * np.ones((1, Q, 1))
    z = np.concatenate([style, circle(ANGLES)], axis=-1)
    assert digit_retrieval(z, ANGLES).share == 1


def test_invariance_ratio_is_the_anova_share():
    """F of a one-way analysis of variance fixes the ratio: SSB = F SSW (P - 1) / (N - P)."""
    rng = np.random.default_rng(0)
    z = rng.normal(size=(9, 6, 1)) + rng.normal(size=(9, 1, 1))
    observed = rng.random((9, 6)) < 0.7
    observed[3] = False
    groups = [z[p, observed[p], 0] for p in range(9) if observed[p].any()]
    n, p = observed.sum(), len(groups)
    between_over_within = f_oneway(*groups).statistic * (p - 1) / (n - p)
    expected = (n - 1) / (n - p) / (1 + between_over_within)
    assert invariance_ratio(z, observed) == pytest.approx(expected)


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.floats(0.01, 100))
def test_invariance_ratio_does_not_depend_on_the_frame(seed, scale):
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(6, 4, 3)) + rng.normal(size=(6, 1, 3))
    turned = scale * z @ np.linalg.qr(rng.normal(size=(3, 3)))[0] + rng.normal(size=3)
    assert invariance_ratio(turned) == pytest.approx(invariance_ratio(z))


def test_importance_runs_from_chance_to_perfect():
    perfect = importance(0.0, Retrieval(1.0, 0.025))
    chance = importance(93.0, Retrieval(0.02, 0.025))
    half = importance(45.0, Retrieval(0.5, 0.0))
    np.testing.assert_allclose([perfect, chance, half], [[1, 1], [0, 0], [0.5, 0.5]])


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


def test_dci_takes_no_noise_for_structure():
    """Ten digits are few, and chance is wide: the floor has to be wider."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        importances = []
        for channels in (2, 6):
            z = rng.normal(size=(10, Q, channels))
            error = angle_probe(z, ANGLES[:10], seed=seed)
            importances.append(importance(error, digit_retrieval(z, ANGLES[:10])))
        scores = dci(importances, views=10 * Q)
        assert scores["dci_disentanglement"] == scores["dci_completeness"] == 0
    with pytest.raises(UserError, match="too few"):
        dci(importances, views=5)


def test_information_agrees_with_the_adjusted_score_of_sklearn():
    """A code of 32 far points: k-means must find them, and the rest is adjusted information."""
    rng = np.random.default_rng(0)
    digits = 20
    label = (np.arange(digits)[:, None] + rng.integers(0, 13, size=(digits, Q))) % 32
    z = 100 * np.eye(32)[label] + 0.01 * rng.normal(size=(digits, Q, 32))
    _, digit = information(z, ANGLES[:digits])
    truth = np.repeat(np.arange(digits), Q)
    # AMI = (I - E) / (min(H) - E), and the digit has the lower entropy
    expected = adjusted_mutual_info_score(truth, label.ravel(), average_method="min")
    assert 0.05 < expected < 0.95
    assert digit == pytest.approx(expected, abs=1e-6)


def test_mig_of_known_matrices():
    assert mig([[1, 0], [0, 1]]) == {"mig_angle": 1, "mig_digit": 1, "mig": 1}
    assert mig([[0.7, 0.7], [0.7, 0.7]])["mig"] == 0
    assert mig([[0.2, 0.1], [0.8, 0.2]])["mig_angle"] == pytest.approx(0.6)
