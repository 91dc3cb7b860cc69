"""One sentence about a model that is worse than a prediction without a model."""

from collections.abc import Mapping
from typing import Any

ANSWERS = {"nearest_view": "copying the nearest given view", "mean_image": "the mean image"}
# what is predicted, and what to try if a prediction without a model is better
OTHER_MODEL = "take a model that keeps view and style apart, such as the FGP-VAE"
QUESTIONS = {
    "test_mse": (
        "held-out views of training subjects",
        "train it longer, or with a larger amplitude, more local channels and a shorter length "
        "scale",
    ),
    "extrapolation_mse": (
        "subjects that it was not trained on",
        "train on more subjects, which is what it needs to know new ones",
    ),
    "one_view_mse": (
        "a subject from a single view",
        "train on more subjects or with a mean function, or give it more views",
    ),
}


def verdict(figures: Mapping[str, Any]) -> str | None:
    """Say at what a model is worse than copying or the mean image, and what to try.

    `figures` are those of `evaluate`, `evaluate_objects` or `evaluate_cubes`, with their
    `references`. None if it is better at everything.

    >>> from fgpvae import evaluation
    >>> known = {"test_mse": {"nearest_view": 0.01, "mean_image": 0.03}}
    >>> evaluation.verdict({"test_mse": 0.005, "references": known}) is None
    True
    """
    for name, (what, remedy) in QUESTIONS.items():
        error, known = figures.get(name), figures.get("references", {}).get(name)
        if error is None or not isinstance(known, Mapping):
            continue
        better = {answer: known[answer] for answer in ANSWERS if known.get(answer, error) < error}
        if better:
            beaten = " and ".join(f"{ANSWERS[each]} ({better[each]:.4f})" for each in better)
            advice = remedy if figures.get("gp_share") is not None else OTHER_MODEL
            return f"For {what} this model is worse ({error:.4f}) than {beaten}: {advice}."
    return None
