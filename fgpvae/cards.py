"""Model cards: what a model does well and badly, measured on digits it never saw where it can."""

import math
from typing import Any

import numpy as np
import torch

from fgpvae import calibration, data, evaluation, metrics
from fgpvae.configs import CUBES, RunConfig
from fgpvae.data import ANGLES, Digits
from fgpvae.disentanglement import disentanglement_scores
from fgpvae.evaluation import one_view_task, score, views_task
from fgpvae.models import Model
from fgpvae.recogniser import centred
from fgpvae.references import mean_image

CONTEXTS = (1, 2, 4, 8, 11, 15)
DISENTANGLED = 100  # digits that angle and style are read from
BANDS = (1, 4, 11)  # numbers of views for which the bands are checked
GRID = 720  # angles at which an orientation is scored
STEEP = 1e-3  # a pixel of a band that has next to no width is background, and no test of it


def measure(model: Model, config: RunConfig, others: Digits | None = None) -> dict[str, Any]:
    """Every figure that the model can be asked for.

    At the benchmark's held-out angle where there is one; on `data.unseen()` errors by class and by
    number of views; orientation and calibration of a factorized model. `others` are further digits
    of the MNIST test file, which no page and no test has ever shown.
    """
    measured: dict[str, Any] = {}
    if config.data.split != "continuous":
        tasks = evaluation.protocol(config.data, config.seed, new_digits=False)
        measured["test_mse"] = score(model, tasks)["test_mse"].mse
    if not model.takes_new_digits:
        return measured
    digits = data.unseen(config.data.classes)
    one = score(model, {1: one_view_task(digits)})[1]
    by_views = score(model, {views: views_task(digits, views) for views in CONTEXTS})
    measured |= {
        "digits": len(digits),
        "one_view_mse": {"all": one.mse} | one.by_class,
        "eleven_views_mse": {"all": by_views[11].mse} | by_views[11].by_class,
        "mse_by_views": {views: each.mse for views, each in by_views.items()},
        "mean_image_mse": _mean_image_mse(digits),
    }
    if others is not None:
        tasks = {"one": one_view_task(others), "eleven": views_task(others)}
        found = {name: each.mse for name, each in score(model, tasks).items()}
        measured["others"] = {"digits": len(others), **found}
    if model.tells_angle:
        measured["orientation"] = orientation(model, digits)
        measured["orientation_centred"] = orientation(model, digits, centre=True)
    if model.divides_channels:
        measured["disentanglement"] = disentanglement(model, digits)
    if model.tells_certainty:
        measured["coverage"] = {
            n: coverage(model, calibration.residuals(model, views_task(digits, n)), n)
            for n in BANDS
        }
    return measured


def about(model: Model, config: RunConfig) -> dict[str, str]:
    """What the model is and how it was trained."""
    data_, training = config.data, config.training
    cubes = data_.split == CUBES
    source = "the MNIST training file" if data_.source != "embedded" else "the embedded digits"
    angles = (
        "angles drawn anew all around the circle"
        if data_.split == "continuous"
        else (f"the *{data_.split}* split of the benchmark, without 157.5°")
    )
    extra = ""
    if data_.source == "openml":
        extra = " --set data.source=openml"
    elif data_.source != "embedded" and not cubes:  # a directory, wherever the reader keeps it
        extra = f" --data DIR --set data.views={data_.views}"
    weights = sum(p.numel() for p in model.parameters())
    channels = f"L = {model.config.latents}"
    if "local" in model.blocks:
        channels += f", J = {model.config.local}"
    first = f" from the weights of `{training.start}`" if training.start else ""
    return {
        "model": f"{model.title}, {channels}, {model.config.network.kind} networks, "
        f"{weights:,} parameters",
        "data": "figures of cubes: all copies of 160 shapes of ten cubes in four arms, "
        f"and {data_.figures:,} other figures of 2 to 10 cubes"
        if cubes
        else f"{source}, classes {', '.join(map(str, data_.classes))}, {angles}",
        "training": f"{training.epochs} epochs{first}, seed {config.seed}: `python -m fgpvae train "
        f"--preset {config.preset} --seed {config.seed}{extra} --run-dir runs/{config.preset}`",
    }


def orientation(
    model: Model, digits: Digits, seed: int = 0, centre: bool = False
) -> dict[str, dict[str, float]]:
    """Error of the inferred angle of unseen digits, each turned by an angle of its own.

    `centre`: each picture is shifted until its centre of mass is in the middle.
    """
    images, true = calibration.turned(digits, seed)
    images = centred(images) if centre else images
    grid = torch.arange(GRID, dtype=torch.float64) * (2 * math.pi / GRID)
    belief = model.orientation(images, grid)  # [P, G]
    estimated, angles = grid[belief.argmax(-1)].numpy(), true.numpy()
    labels = np.asarray(digits.labels)
    scores = {"all": metrics.orientation_scores(estimated, angles)}
    if model.calibration is not None:
        stated, right = (x.numpy() for x in calibration.stated(belief, grid, true))
        sure = stated >= calibration.SURE
        scores["stated"] = {
            "sure_share": float(sure.mean()),
            "sure_right": float(right[sure].mean()) if sure.any() else math.nan,
        }
    for label in sorted(set(labels.tolist())):
        mine = labels == label
        scores[str(label)] = metrics.orientation_scores(estimated[mine], angles[mine])
    return scores


@torch.no_grad()
def disentanglement(model: Model, digits: Digits) -> dict[str, float | None]:
    """How well angle and style are kept apart, in the encodings of single views of some digits."""
    some = digits[np.arange(0, len(digits), max(len(digits) // DISENTANGLED, 1))]
    views = data.task(some, ANGLES, ANGLES[:1]).context
    mu, _ = model.encode(views.images, views.angles, views.observed)
    z, local = mu.double().numpy(), model.blocks["local"].stop
    scores = disentanglement_scores(z[..., :local], z[..., local:], views.angles.numpy())
    kept = ("angle_error_local_degrees", "angle_error_global_degrees", "invariance_ratio_global")
    return {"digits": len(some)} | {name: scores[name] for name in (*kept, "dci_disentanglement")}


def coverage(
    model: Model, residuals: tuple[np.ndarray, np.ndarray], views: int
) -> dict[str, float]:
    """Share of true pixels inside the central 50 % and 90 % bands, given so many views.

    Residuals are the errors of pixels and their variance over posterior samples. `latent` bands
    come from these samples alone, `calibrated` ones are those that the pages show, where the model
    was calibrated.
    """
    error, variance = residuals
    nowhere = np.zeros_like(error)
    latent = metrics.coverage(error, nowhere, np.maximum(np.sqrt(variance), STEEP))
    shares = {f"latent_{name}": share for name, share in latent.items()}
    if (known := model.calibration) is not None:
        sd = np.sqrt(variance + known.pixel_variance)
        for level in (50, 90):
            inside = np.abs(error) <= known.band(level, views) * sd
            shares[f"calibrated_coverage_{level}"] = float(inside.mean())
    return shares


def _mean_image_mse(digits: Digits) -> float:
    """The mean image of the right class and angle, over these very digits: it cheats."""
    turned, labels = data.rotate(digits.images, ANGLES[1:]), np.asarray(digits.labels)
    guess = np.empty_like(turned)
    for label in np.unique(labels):
        guess[labels == label] = mean_image(digits.images[labels == label], ANGLES[1:])
    return metrics.mse(guess, turned)


def weaknesses(measured: dict[str, Any]) -> list[str]:
    """What the figures say the model does worst."""
    if "one_view_mse" not in measured:
        return ["any digit that it was not trained on, which it cannot take"]
    lacks = []
    classes = _classes(measured)
    if len(classes) > 1:
        worst = sorted(classes, key=lambda c: -measured["one_view_mse"][c])[:3]
        lacks.append(f"one view of a {', '.join(worst)} (largest error)")
    else:
        lacks.append(f"every digit but a {classes[0]}, the only one that it has ever seen")
    if measured["one_view_mse"]["all"] > measured["mean_image_mse"]:
        lacks.append("one view, from which it is worse than the mean image")
    if measured["eleven_views_mse"]["all"] > measured["mean_image_mse"]:
        lacks.append("a new angle even with eleven views, where the mean image is better")
    if "orientation" not in measured:
        lacks.append("the angle of a picture, which has to be given")
    elif len(classes) > 1:
        turns = measured["orientation"]
        lost = sorted(classes, key=lambda c: turns[c]["within_15_degrees"])[:3]
        lacks.append(
            f"the angle of a {', '.join(lost)} (symmetric, or like another digit upside down)"
        )
    if "coverage" in measured and "calibrated_coverage_90" not in measured["coverage"][1]:
        band = measured["coverage"][1]["latent_coverage_90"]
        lacks.append(
            f"judging itself: its 90 % band from one view holds {100 * band:.0f} % of the truth"
        )
    return [
        *lacks,
        "thin strokes, which it blurs",
        "anything that is not a digit, which it turns into one",
    ]


def markdown(name: str, about: dict[str, Any], measured: dict[str, Any]) -> str:
    """The card as a page of documentation."""
    lines = [f"# Model card: {name}", ""]
    lines += [f"- **{key}**: {value}" for key, value in about.items()]
    lines += ["", f"All figures: `python -m fgpvae card {name}`."]
    if "test_mse" in measured:
        figure = f"MSE {measured['test_mse']:.4f}"
        lines += ["", f"Training digits at 157.5°, an angle never trained on: {figure}."]
    if "one_view_mse" in measured:
        lines += ["", *_unseen(measured)]
    lines += ["", "Bad at: " + "; ".join(weaknesses(measured)) + "."]
    lines += _angles(measured)
    if apart := measured.get("disentanglement"):
        lines += [
            "",
            f"Read from the encodings of single views of {apart['digits']} of these digits: the "
            f"angle from the local channels to {apart['angle_error_local_degrees']:.0f}°, from the "
            f"global ones to {apart['angle_error_global_degrees']:.0f}° (chance 90°); variance of "
            f"the global channels within a digit over that in all "
            f"{apart['invariance_ratio_global']:.3f}; DCI {apart['dci_disentanglement']:.2f}.",
        ]
    if "coverage" in measured:
        on = ", as the pages show them, on digits 360 to 399 of each class"
        lines += ["", *bands(measured["coverage"], "with ink", on)]
    return "\n".join(lines) + "\n"


def _classes(measured: dict[str, Any]) -> list[str]:
    return [c for c in measured["one_view_mse"] if c != "all"]


def _unseen(measured: dict[str, Any]) -> list[str]:
    """Errors, and errors of the angle, on digits that were never trained on."""
    classes, turns = _classes(measured), measured.get("orientation")
    heads = ["class", "one view, other 15 angles", "eleven views, 157.5°"]
    heads += ["orientation: median error", "within 15°"] if turns else []
    lines = [
        f"On {measured['digits']} digits of the MNIST test file, none of them ever trained on:",
        "",
        f"| {' | '.join(heads)} |",
        "|" + "---|" * len(heads),
    ]
    for c in ["all", *classes] if len(classes) > 1 else classes:
        cells = [c, f"{measured['one_view_mse'][c]:.4f}", f"{measured['eleven_views_mse'][c]:.4f}"]
        if turns:
            turn = turns[c]
            cells.append(f"{turn['median_error_degrees']:.1f}°")
            cells.append(f"{100 * turn['within_15_degrees']:.0f} %")
        lines.append(f"| {' | '.join(cells)} |")
    if others := measured.get("others"):
        lines += [
            "",
            f"On {others['digits']:,} other digits of that file, which had no part in any choice: "
            f"one view {others['one']:.4f}, eleven views {others['eleven']:.4f} "
            "(`--data DIR`, with MNIST's files in it).",
        ]
    lines += [
        "",
        f"The mean image of the right class and angle, which cheats, scores "
        f"{measured['mean_image_mse']:.4f} over the other 15 angles.",
        "",
        "| context views | MSE at 157.5° |",
        "|---|---|",
    ]
    return lines + [f"| {n} | {value:.4f} |" for n, value in measured["mse_by_views"].items()]


def _angles(measured: dict[str, Any]) -> list[str]:
    """How far its word about an angle is to be believed."""
    lines = []
    for name in ("orientation", "orientation_centred"):
        if name not in measured:
            continue
        text = ""
        if name == "orientation_centred":
            found = measured[name]["all"]
            text = (
                "Where a digit of MNIST lies on its canvas tells how it was turned. With the "
                "centre of mass of every picture in the middle, as a person's picture is read, "
                f"the median error of the angle is {found['median_error_degrees']:.1f}°, and "
                f"{100 * found['within_15_degrees']:.0f} % are right within 15°. "
            )
        if stated := measured[name].get("stated"):
            text += (
                f"It is at least {100 * calibration.SURE:.0f} % sure of the angle of "
                f"{100 * stated['sure_share']:.0f} % of the pictures, and right within 15° in "
                f"{100 * stated['sure_right']:.0f} % of these."
            )
        lines += ["", text.strip()] if text else []
    return lines


def bands(coverage: dict[int, dict[str, float]], whose: str, calibrated_on: str) -> list[str]:
    """The table of the bands, of pixels whose share was taken."""
    words = {"latent": " band", "calibrated": " calibrated"}
    kinds = [kind for kind in words if f"{kind}_coverage_50" in coverage[1]]
    columns = [(kind, level) for kind in kinds for level in (50, 90)]
    heads = ["context views", *(f"{level} %{words[kind]}" for kind, level in columns)]
    origin = "posterior samples alone"
    if "calibrated" in kinds:
        origin += f"; calibrated{calibrated_on}"
    lines = [
        f"Share of true pixels {whose} inside the model's bands ({origin}):",
        "",
        f"| {' | '.join(heads)} |",
        "|" + "---|" * len(heads),
    ]
    for n, share in coverage.items():
        cells = [f"{100 * share[f'{kind}_coverage_{level}']:.0f} %" for kind, level in columns]
        lines.append(f"| {n} | {' | '.join(cells)} |")
    return lines
