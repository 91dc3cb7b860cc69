"""Model cards: what a model scores, on new subjects if it takes them, as a page in Markdown."""

import json
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from fgpvae import data
from fgpvae.data import Digits, Task, cubes
from fgpvae.data.films import LENGTH_SCALE
from fgpvae.data.objects import EXTRAPOLATION, ONE_VIEW, TEST
from fgpvae.errors import require
from fgpvae.evaluation import calibration, latents, metrics, protocol
from fgpvae.evaluation.baselines import class_means
from fgpvae.evaluation.comparison import VIEWS
from fgpvae.evaluation.disentanglement import model_scores
from fgpvae.evaluation.film_scores import film_scores
from fgpvae.evaluation.protocol import digit_references, one_view_task, task_mse, views_task
from fgpvae.models import Model
from fgpvae.orientation import one_view
from fgpvae.training.configs import CUBES, FILMS, OBJECTS, RunConfig

DISENTANGLED = 100  # digits on which disentanglement is measured
GRID = 720  # angles at which the orientation is scored
PICTURES = 125  # digits that are read as uploaded pictures, which is slow
Row = tuple[str, str, str]  # title, path to the score, format; * is a class or a number of views
BY_CLASS: tuple[Row, ...] = (
    ("one view, other 15 angles", "one_view_mse.*", "{:.4f}"),
    ("eleven views, 157.5°", "eleven_views_mse.*", "{:.4f}"),
    ("orientation: median error", "orientation.*.median_error_degrees", "{:.1f}°"),
    ("orientation: within 15°", "orientation.*.within_15_degrees", "{:.0%}"),
)
BY_VIEWS: tuple[Row, ...] = (
    ("MSE", "mse_by_views.*", "{:.4f}"),
    ("MSE of samples", "mse_by_views_sampled.*", "{:.4f}"),
    ("samples differ by", "spread_by_views.*", "{:.3f}"),
    ("MSE of the mean of sampled films", "mse.*.predictive_mean", "{:.4f}"),
    ("MSE of the film at the posterior mean", "mse.*.posterior_mean", "{:.4f}"),
    ("MSE of one sampled film", "mse.*.sample", "{:.4f}"),
    ("the mean frame of training films", "references.mean_image.*", "{:.4f}"),
    ("the nearest frame given", "references.nearest_frame.*", "{:.4f}"),
    ("the two nearest, blended", "references.blend.*", "{:.4f}"),
    ("the true look, along straight lines", "references.straight_line.*", "{:.4f}"),
    ("path: error of the posterior mean, in pixels", "path_error.*", "{:.2f}"),
    ("path: standard deviation of samples", "spread.*", "{:.2f}"),
    ("path: true places in the 90% region of samples", "coverage.*", "{:.2f}"),
    ("MSE on the path of another film, over that on its own", "swap.*.ratio", "{:.2f}"),
    ("true pixels with ink in the 50% band of samples", "bands.*.latent_coverage_50", "{:.0%}"),
    ("in the 90% band of samples", "bands.*.latent_coverage_90", "{:.0%}"),
    ("in the calibrated 50% band", "bands.*.calibrated_coverage_50", "{:.0%}"),
    ("in the calibrated 90% band", "bands.*.calibrated_coverage_90", "{:.0%}"),
    ("root mean squared error of a picture, as stated", "doubt.*.stated", "{:.3f}"),
    ("as it is", "doubt.*.actual", "{:.3f}"),
    (f"states over {calibration.RISE:.0%} more than from fewer views", "doubt.*.rises", "{:.0%}"),
)
SURE = f"the model is at least {calibration.SURE:.0%} sure of the angle in"
SENTENCES = {  # by the score that a sentence needs
    TEST: "Training digits at 157.5°, an angle never trained on: MSE {test_mse:.4f}.",
    "digits": "The tables are of {digits} digits of the MNIST test file, none of them ever trained "
    "on; that of context views at 157.5°.",
    "figures": "The table is of {figures} figures, all copies of 36 shapes of which none was "
    "trained on, turned or in a mirror, at all other angles of 24, from views at equal distances, "
    "the first at 0°.",
    "films": "The table is of {films} films of digits of the MNIST test file on paths of their "
    "own, at the frames that were not given (with all given, there); a mean is of {samples} films.",
    "others": "On {others[digits]:,} other digits of that file, which had no part in any choice: "
    "one view {others[one]:.4f}, eleven views {others[eleven]:.4f} (`--data DIR`, with MNIST's "
    "files in it).",
    "mean_image_mse": "The mean image of the right class and angle, which cheats, scores "
    "{mean_image_mse:.4f} over the other 15 angles.",
    "oblique_view_mse": "One view at 30°, from where more is seen: {oblique_view_mse:.4f}. Without "
    "a model, from the view at 0°: the mean image of the angle {references[mean_image]:.4f}, the "
    "one view itself, not turned, {references[same_view]:.4f}, the training figure most like it "
    "from there {references[nearest_figure]:.4f}; the true view 15° before "
    "{references[neighbouring_view]:.4f}.",
    "orientation.all.sure_share": f"For a rotated MNIST digit {SURE} "
    "{orientation[all][sure_share]:.0%} of cases.",
    "orientation.all.sure_right": "Of these, {orientation[all][sure_right]:.0%} are right within "
    "15°.",
    "orientation_pictures": "The position of an MNIST digit on its canvas reveals its angle. That "
    "of an uploaded picture does not: the pages place and scale it for each angle. Read in this "
    "way, {orientation_pictures[pictures]} of these digits, drawn on paper and rotated, have a "
    "median error of the angle of {orientation_pictures[median_error_degrees]:.1f}°, and "
    "{orientation_pictures[within_15_degrees]:.0%} are right within 15°.",
    "orientation_pictures.sure_share": f"For such a picture {SURE} "
    "{orientation_pictures[sure_share]:.0%} of cases.",
    "orientation_pictures.sure_right": "Of these, {orientation_pictures[sure_right]:.0%} are right "
    "within 15°.",
    "disentanglement": "Read from the encodings of single views of {disentanglement[digits]} of "
    "these digits: the angle from the local channels to "
    "{disentanglement[angle_error_local_degrees]:.0f}°, from the global ones to "
    "{disentanglement[angle_error_global_degrees]:.0f}° (chance 90°); variance of the global "
    "channels within a digit over that in all {disentanglement[invariance_ratio_global]:.3f}; DCI "
    "{disentanglement[dci_disentanglement]:.2f}.",
    "length_scale": f"Length scale of the kernel: {{length_scale:.3f}} learned, {LENGTH_SCALE:.3f} "
    "true.",
    "gp_share": "{gp_percent:.3g}% of the local channels' variance differs between subjects at the "
    "same view: that is what the Gaussian process adds to one curve for all, the prior mean.",
    "doubt": "Calibrated bands and stated errors were fitted to other subjects that are new to it.",
    "verdict": "{verdict}",
}
DATA = {
    CUBES: "figures of cubes: all copies of 160 shapes of ten cubes in four arms, and {figures:,} "
    "other figures of 2 to 10 cubes",
    FILMS: "{digits}, one film in ten of a shape instead, on paths and at times drawn anew",
    "continuous": "{digits}, angles drawn anew all around the circle",
}
BENCHMARK = "{digits}, the *{split}* split of the benchmark, without 157.5°"  # any other split
WEAK = {
    CUBES: "what no view shows, which it blurs; more than ten cubes, other elevations and other "
    "light, which it has never seen; the angle of a view, which has to be given",
    FILMS: "two things at once, a ground that is not black, things that turn or grow, none of "
    "which it has seen; paths that are not smooth",
}


def measure(model: Model, config: RunConfig, others: Digits | None = None) -> dict[str, Any]:
    """All scores that the model supports.

    `others` are further digits of the MNIST test file, which are used nowhere else.
    """
    split, tasks = config.data.split, dict[str, Task]()
    require(split != OBJECTS, "Cards are not written for models of own objects.")
    if split == FILMS:
        both = model.divides_channels
        require(both, "Cards of films are for models with local and global channels.")
        return film_scores(model)
    measured: dict[str, Any] = {}
    if split == CUBES:
        measured = protocol.evaluate_cubes(model)
        if model.tells_certainty:
            images = protocol.unseen_figures(model.config.network.shape[1])
            images = images[:: calibration.FIGURES_EACH]
            found = {n: calibration.cube_residuals(model, images, n) for n in cubes.GIVEN}
            measured |= _certainty(model, found, cubes.task(images, cubes.ANGLES).context)
        return measured
    if split != "continuous":
        tasks = protocol.benchmark_tasks(config.data, config.seed, new_digits=False)
        measured[TEST] = task_mse(model, tasks[TEST])
    compared = dict(measured)
    if model.takes_new_digits:
        digits = data.unseen(config.data.classes)
        measured |= _measure_unseen(model, digits, others)
        tasks |= {EXTRAPOLATION: views_task(digits), ONE_VIEW: one_view_task(digits)}
        compared[EXTRAPOLATION] = measured["eleven_views_mse"]["all"]
        compared |= {ONE_VIEW: measured["one_view_mse"]["all"], "gp_share": measured["gp_share"]}
    compared["references"] = digit_references(tasks, config.data.classes)
    return measured | {"verdict": protocol.verdict(compared)}


def _measure_unseen(model: Model, digits: Digits, others: Digits | None) -> dict[str, Any]:
    task, labels = one_view_task(digits), torch.as_tensor(digits.labels)
    # the mean image of the right class and angle, from the test digits themselves
    mean = class_means(digits, task.context.labels, task.at)
    by_views = {views: views_task(digits, views) for views in VIEWS}
    measured: dict[str, Any] = {
        "digits": len(digits),
        "one_view_mse": _by_class(labels, lambda mine: task_mse(model, task[mine])),
        "eleven_views_mse": _by_class(labels, lambda mine: task_mse(model, by_views[11][mine])),
        "mse_by_views": {views: task_mse(model, each) for views, each in by_views.items()},
        "mean_image_mse": metrics.mse(mean.numpy(), task.targets.numpy()),
        "gp_share": latents.gp_share(model, by_views[11].context),
    }
    if others is not None:
        measured["others"] = {
            "digits": len(others),
            "one": task_mse(model, one_view_task(others)),
            "eleven": task_mse(model, views_task(others)),
        }
    if model.tells_angle:
        images, true = calibration.turned(digits, seed=0)
        grid = torch.arange(GRID, dtype=torch.float64) * (2 * math.pi / GRID)
        belief, states = model.orientation(images, grid), model.calibration is not None
        measured["orientation"] = _by_class(
            labels, lambda mine: _angles(belief[mine], grid, true[mine], states)
        )
        # of uploaded pictures of some digits, read as on the pages
        pictures, true = calibration.pictures(calibration.some(digits, PICTURES), seed=0)
        read = [one_view.belief(model, image) for image in pictures.numpy()]
        belief = torch.as_tensor(np.stack([each for each in read if each is not None]))
        states = bool(model.calibration is not None and model.calibration.picture)
        errors = _angles(belief, torch.as_tensor(one_view.grid()), true, states)
        measured["orientation_pictures"] = {"pictures": len(pictures)} | errors
    if model.divides_channels:
        views = calibration.some_views(digits, DISENTANGLED)
        measured["disentanglement"] = {"digits": len(views)} | model_scores(model, views)
    if model.tells_certainty:
        found = {n: calibration.residuals(model, views_task(digits, n)) for n in protocol.BY_VIEWS}
        views = calibration.some_views(digits, calibration.DOUBTED)
        measured |= _certainty(model, found, views)
    return measured


def _certainty(
    model: Model, found: dict[int, calibration.Errors], views: data.Views
) -> dict[str, Any]:
    """Whether bands and stated errors hold, from residuals by the number of given views."""
    bands = {given: calibration.coverage(model, each, given) for given, each in found.items()}
    return {"bands": bands, "doubt": calibration.doubt(model, views, tuple(found))}


def _by_class(labels: Tensor, score: Callable[[Tensor], Any]) -> dict[str, Any]:
    """The score of all digits, and of those of each class, which are given as masks."""
    classes = {str(label): score(labels == label) for label in labels.unique().tolist()}
    return {"all": score(torch.ones_like(labels, dtype=torch.bool))} | classes


def _angles(belief: Tensor, grid: Tensor, true: Tensor, states: bool) -> dict[str, Any]:
    """Errors of inferred angles; the share of those stated as sure, and of these the right ones."""
    scores: dict[str, Any] = metrics.orientation_scores(grid[belief.argmax(-1)], true)
    if states:
        stated, right = (x.numpy() for x in calibration.stated(belief, grid, true))
        sure = stated >= calibration.SURE
        scores["sure_share"] = float(sure.mean())
        scores["sure_right"] = float(right[sure].mean()) if sure.any() else None
    return scores


def page(name: str, model: Model, config: RunConfig, measured: dict[str, Any]) -> str:
    """The card of a model in Markdown."""
    measured = json.loads(json.dumps(measured))  # numbers of views as text
    measured["gp_percent"] = 100 * (measured.get("gp_share") or 0)
    text = [f"# Model card: {name}", _about(model, config)]
    text.append(f"All figures: `python -m fgpvae card {name}`.")
    text += [
        sentence.format(**measured)
        for needed, sentence in SENTENCES.items()
        if _at(measured, needed) is not None
    ]
    for values, head, rows in (
        ("one_view_mse", "class", BY_CLASS),
        ("mse_by_views", "context views", BY_VIEWS),
        ("mse", "context views", BY_VIEWS),
    ):
        if isinstance(keys := _at(measured, values), dict):
            lines = []
            for title, path, form in rows:
                found = [_at(measured, path, key) for key in keys]
                if any(value is not None for value in found):
                    lines.append([title, *("-" if v is None else form.format(v) for v in found)])
            text.append(table([head, *keys], *lines))
    text.append(f"Bad at: {WEAK.get(config.data.split) or _weak_on_digits(measured)}.")
    return "\n\n".join(text).replace("%", " %") + "\n"


def table(head: Sequence[str], *rows: Sequence[str]) -> str:
    """A Markdown table."""
    lines = [f"| {' | '.join(cells)} |" for cells in (head, *rows)]
    return "\n".join([lines[0], "|" + "---|" * len(head), *lines[1:]])


def _at(measured: Any, path: str, key: str = "") -> Any:
    """What stands under the names of a path, of which * is the key; None if nothing does."""
    for name in path.split("."):
        known = measured if isinstance(measured, dict) else {}
        measured = known.get(key if name == "*" else name)
    return measured


def _about(model: Model, config: RunConfig) -> str:
    """Describe the model, its training data, and the command that trains it."""
    training, weights = config.training, sum(p.numel() for p in model.parameters())
    local = f", J = {model.config.local}" if "local" in model.blocks else ""
    first = f" from the weights of `{training.start}`" if training.start else ""
    known, digits, options = config.data, "the embedded digits", ""
    if known.source != "embedded" and known.split != CUBES:
        source = known.source if known.source == "openml" else "DIR"  # on the reader's machine
        changes = {"split": known.split, "source": source, "views": known.views}  # split first
        options = "".join(f" --set data.{name}={value}" for name, value in changes.items())
        digits = "the MNIST training file"
    digits += f", classes {', '.join(map(str, known.classes))}"
    described = DATA.get(known.split, BENCHMARK).format_map(vars(known) | {"digits": digits})
    return (
        f"- **model**: {model.title}, L = {model.config.latents}{local}, "
        f"{model.config.network.kind} networks, {weights:,} parameters\n"
        f"- **data**: {described}\n"
        f"- **training**: {training.epochs} epochs{first}, seed {config.seed}: `python -m fgpvae "
        f"train --preset {config.preset} --seed {config.seed}{options} "
        f"--run-dir runs/{config.preset}`"
    )


def _weak_on_digits(measured: dict[str, Any]) -> str:
    """What a model does worst, by its figures."""
    if "one_view_mse" not in measured:
        return "any digit that it was not trained on, which it cannot take"
    one, turns = measured["one_view_mse"], measured.get("orientation")
    _, *classes = one
    lacks = [f"every digit but a {classes[0]}, the only one that it has ever seen"]
    if len(classes) > 1:
        worst = ", ".join(sorted(classes, key=one.__getitem__, reverse=True)[:3])
        lacks = [f"one view of a {worst} (largest error)"]
    if one["all"] > measured["mean_image_mse"]:
        lacks.append("one view, from which it is worse than the mean image")
    if measured["eleven_views_mse"]["all"] > measured["mean_image_mse"]:
        lacks.append("a new angle even with eleven views, where the mean image is better")
    if not turns:
        lacks.append("the angle of a picture, which has to be given")
    elif len(classes) > 1:
        lost = ", ".join(sorted(classes, key=lambda c: turns[c]["within_15_degrees"])[:3])
        lacks.append(f"the angle of a {lost} (symmetric, or like another digit upside down)")
    lacks.append("thin strokes, which it blurs")
    return "; ".join([*lacks, "anything that is not a digit, which it turns into one"])
