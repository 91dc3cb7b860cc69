"""Model cards as pages of documentation: digits, figures of cubes, films."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from fgpvae.data.films import LENGTH_SCALE
from fgpvae.evaluation.calibration import RISE, SURE

MODEST = 0.7  # minimum spread of samples, as a share of the error, that shows the doubt
CUBE_REFERENCES = {
    "mean_image": "the mean image of the angle",
    "same_view": "the one view itself, not turned",
    "nearest_figure": "the training figure most like it from there",
    "neighbouring_view": "the true view 15° before",
}
FILM_REFERENCES = {
    "mean_image": "the mean frame of training films",
    "nearest_frame": "the nearest frame given",
    "blend": "the two nearest, blended",
    "straight_line": "the true look, pasted along straight lines between true places",
}
FILM_ERRORS = {
    "predictive_mean": "mean of {samples} sampled films",
    "posterior_mean": "the film at the posterior mean",
    "sample": "one sampled film",
}
FILM_PATHS = {
    "path_error": "error of the posterior mean",
    "spread": "standard deviation of samples",
    "coverage": "share inside the 90 % region",
}


def table(head: Sequence[str], *rows: Sequence[str]) -> str:
    """A Markdown table."""
    lines = [f"| {' | '.join(cells)} |" for cells in (head, *rows)]
    return "\n".join([lines[0], "|" + "---|" * len(head), *lines[1:]])


def _page(name: str, about: Mapping[str, str], *blocks: str | None) -> str:
    """A page: title, description, and the blocks that are not empty."""
    what = "\n".join(f"- **{key}**: {value}" for key, value in about.items())
    origin = f"All figures: `python -m fgpvae card {name}`."
    return "\n\n".join([f"# Model card: {name}", what, origin, *filter(None, blocks)]) + "\n"


def digits(name: str, about: Mapping[str, str], measured: dict[str, Any]) -> str:
    """The card of a model of digits."""
    trained, apart = measured.get("test_mse"), measured.get("disentanglement")
    return _page(
        name,
        about,
        trained and f"Training digits at 157.5°, an angle never trained on: MSE {trained:.4f}.",
        *(_unseen(measured) if "one_view_mse" in measured else []),
        "Bad at: " + "; ".join(_weak_on_digits(measured)) + ".",
        measured.get("verdict"),
        _share(measured.get("gp_share")),
        *_angles(measured),
        apart
        and f"Read from the encodings of single views of {apart['digits']} of these digits: the "
        f"angle from the local channels to {apart['angle_error_local_degrees']:.0f}°, from the "
        f"global ones to {apart['angle_error_global_degrees']:.0f}° (chance 90°); variance of "
        f"the global channels within a digit over that in all "
        f"{apart['invariance_ratio_global']:.3f}; DCI {apart['dci_disentanglement']:.2f}.",
        *_bands(measured, "with ink", "digits 360 to 399 of each class"),
        *_doubts(measured, "digits"),
    )


def cubes(name: str, about: Mapping[str, str], measured: dict[str, Any]) -> str:
    """The card of a model of figures of cubes."""
    kinds = ("mse_by_views", "mse_by_views_sampled", "spread_by_views")
    errors, sampled, spread = (measured[kind] for kind in kinds)
    by_views = ([n, f"{errors[n]:.4f}", f"{sampled[n]:.4f}", f"{spread[n]:.3f}"] for n in errors)
    known = measured["references"]
    references = ([said, f"{known[name]:.4f}"] for name, said in CUBE_REFERENCES.items())
    return _page(
        name,
        about,
        f"On {measured['figures']} figures, all copies of 36 shapes of which none was trained on, "
        "turned or in a mirror. Mean squared error of a pixel at all other angles of 24, from "
        "views at equal distances, the first at 0°; and the standard deviation of a pixel over "
        "samples:",
        table(
            ["context views", "posterior mean", "posterior samples", "samples differ by"],
            *by_views,
        ),
        f"One view at 30°, from where more is seen: {measured['oblique_view_mse']:.4f}.",
        table(["without a model, from the view at 0°", ""], *references),
        *_bands(measured, "of a figure", "figures of the 20 validation shapes"),
        *_doubts(measured, "figures"),
        _share(measured["gp_share"]),
        measured["verdict"],
        "Bad at: " + "; ".join(_weak_on_cubes(measured)) + ".",
    )


def films(name: str, about: Mapping[str, str], measured: dict[str, Any]) -> str:
    """The card of a model of films."""
    mse, swap, known = measured["mse"], measured["swap"], measured["references"]
    head = ["frames given", *list(mse)[:-1], "all"]
    rows = [
        [said.format(**measured), *(f"{errors[kind]:.4f}" for errors in mse.values())]
        for kind, said in FILM_ERRORS.items()
    ]
    rows += [
        [said, *(f"{error:.4f}" for error in known[kind].values()), "-"]
        for kind, said in FILM_REFERENCES.items()
    ]
    paths = (
        [said, *(f"{value:.2f}" for value in measured[kind].values())]
        for kind, said in FILM_PATHS.items()
    )
    return _page(
        name,
        about,
        f"On {measured['films']} films of digits of the MNIST test file on paths of their own. "
        "Mean squared error of a pixel at the frames that were not given (with all given, there):",
        table(head, *rows),
        "The path, read from the local channels, in pixels at the same frames; and how often the "
        "true place lies in the region that holds 90 % of the sampled ones:",
        table(head, *paths),
        "The look of one film on the path of another, error over that of its own film: "
        + " and ".join(f"{each['ratio']:.2f}" for each in swap.values())
        + f" from {' and '.join(swap)} frames. Length scale of the kernel: "
        f"{measured['length_scale']:.3f} learned, {LENGTH_SCALE:.3f} true.",
        _share(measured["gp_share"]),
        measured["verdict"],
        *_doubts(measured, "films"),
        "Bad at: two things at once, a ground that is not black, things that turn or grow, none of "
        "which it has seen; paths that are not smooth.",
    )


def _classes(measured: dict[str, Any]) -> list[str]:
    return [c for c in measured["one_view_mse"] if c != "all"]


def _weak_on_digits(measured: dict[str, Any]) -> list[str]:
    """What the model does worst, by its figures."""
    if "one_view_mse" not in measured:
        return ["any digit that it was not trained on, which it cannot take"]
    one, classes, mean = measured["one_view_mse"], _classes(measured), measured["mean_image_mse"]
    if len(classes) > 1:
        worst = sorted(classes, key=lambda c: -one[c])[:3]
        lacks = [f"one view of a {', '.join(worst)} (largest error)"]
    else:
        lacks = [f"every digit but a {classes[0]}, the only one that it has ever seen"]
    if one["all"] > mean:
        lacks.append("one view, from which it is worse than the mean image")
    if measured["eleven_views_mse"]["all"] > mean:
        lacks.append("a new angle even with eleven views, where the mean image is better")
    if "orientation" not in measured:
        lacks.append("the angle of a picture, which has to be given")
    elif len(classes) > 1:
        turns = measured["orientation"]
        lost = sorted(classes, key=lambda c: turns[c]["within_15_degrees"])[:3]
        lacks.append(
            f"the angle of a {', '.join(lost)} (symmetric, or like another digit upside down)"
        )
    bands = measured["coverage"][1] if "coverage" in measured else {}
    if bands and "calibrated_coverage_90" not in bands:
        held = f"{100 * bands['latent_coverage_90']:.0f} %"
        lacks.append(f"judging itself: its 90 % band from one view holds {held} of the truth")
    return [
        *lacks,
        "thin strokes, which it blurs",
        "anything that is not a digit, which it turns into one",
    ]


def _weak_on_cubes(measured: dict[str, Any]) -> list[str]:
    """What the model does worst, by its figures and its training data."""
    lacks, known = [], measured["references"]
    if measured["one_view_mse"] > known["nearest_figure"]:
        lacks.append("one view, from which the most similar training figure is nearer to the truth")
    for given, error in measured["mse_by_views"].items():
        if error > known["neighbouring_view"]:
            views = "one view" if given == "1" else f"{given} views"
            lacks.append(f"{views}, from which it is worse than the true view 15° before")
    spread, error = measured["spread_by_views"]["1"], math.sqrt(measured["one_view_mse"])
    if spread < MODEST * error:
        differ = f"its samples differ by {spread:.2f} a pixel, where it errs by {error:.2f}"
        lacks.append(f"doubt: from one view {differ}")
    return [
        *lacks,
        "what no view shows, which it blurs",
        "more than ten cubes, other elevations and other light, which it has never seen",
        "the angle of a view, which has to be given",
    ]


def _unseen(measured: dict[str, Any]) -> list[str | None]:
    """Errors, and errors of the angle, on digits that were never trained on."""
    classes, turns = _classes(measured), measured.get("orientation")
    others = measured.get("others")
    head = ["class", "one view, other 15 angles", "eleven views, 157.5°"]
    head += ["orientation: median error", "within 15°"] if turns else []
    one, eleven = measured["one_view_mse"], measured["eleven_views_mse"]
    rows = []
    for c in ["all", *classes] if len(classes) > 1 else classes:
        rows.append([c, f"{one[c]:.4f}", f"{eleven[c]:.4f}"])
        if turns:
            rows[-1].append(f"{turns[c]['median_error_degrees']:.1f}°")
            rows[-1].append(f"{100 * turns[c]['within_15_degrees']:.0f} %")
    by_views = ([str(n), f"{value:.4f}"] for n, value in measured["mse_by_views"].items())
    return [
        f"On {measured['digits']} digits of the MNIST test file, none of them ever trained on:",
        table(head, *rows),
        others
        and f"On {others['digits']:,} other digits of that file, which had no part in any choice: "
        f"one view {others['one']:.4f}, eleven views {others['eleven']:.4f} "
        "(`--data DIR`, with MNIST's files in it).",
        f"The mean image of the right class and angle, which cheats, scores "
        f"{measured['mean_image_mse']:.4f} over the other 15 angles.",
        table(["context views", "MSE at 157.5°"], *by_views),
    ]


def _angles(measured: dict[str, Any]) -> list[str]:
    """How reliable an inferred angle is."""
    if "orientation" not in measured:
        return []
    blocks = []
    if stated := measured["orientation"].get("stated"):
        blocks.append(f"For a rotated MNIST digit {_certain(stated)}")
    found = measured["orientation_pictures"]
    text = (
        "The position of an MNIST digit on its canvas reveals its angle. That of an uploaded "
        "picture does not: the pages place and scale it for each angle. Read in this way, "
        f"{found['pictures']} of these digits, drawn on paper and rotated, have a median error of "
        f"the angle of {found['median_error_degrees']:.1f}°, and "
        f"{100 * found['within_15_degrees']:.0f} % are right within 15°."
    )
    if "sure_share" in found:
        text += f" For such a picture {_certain(found)}"
    return [*blocks, text]


def _certain(found: dict[str, Any]) -> str:
    """How often an angle is stated as sure, and how often that is right."""
    least = f"{100 * SURE:.0f} % sure of the angle"
    if not found["sure_share"]:
        return f"the model is never {least}."
    return (
        f"the model is at least {least} in {100 * found['sure_share']:.0f} % of cases, and then "
        f"right within 15° in {100 * found['sure_right']:.0f} %."
    )


def _share(share: float | None) -> str | None:
    """One sentence about the Gaussian process's share of the variance."""
    if share is None:
        return None
    if share >= 0.01:
        return (
            f"{100 * share:.0f} % of the local channels' variance differs between subjects at the "
            "same view: that is what the Gaussian process adds."
        )
    said = f"{100 * share:.2g} %" if share >= 5e-5 else "next to nothing"
    return (
        f"The Gaussian process adds {said} of the local channels' variance: they follow one "
        "curve, the prior mean, whatever the subject."
    )


def _doubts(measured: dict[str, Any], whose: str) -> list[str]:
    """Stated and actual errors of pictures."""
    if not measured.get("doubt"):
        return []
    rows = []
    for n, each in measured["doubt"].items():
        rises = f"{100 * each['rises']:.0f} %" if "rises" in each else "-"
        rows.append([str(n), f"{each['stated']:.3f}", f"{each['actual']:.3f}", rises])
    return [
        "Root mean squared error of a picture at a view that was not given, as stated and as it "
        f"is, on some of these {whose}; and the share of pictures of which it states more than "
        f"from fewer views (by more than {100 * RISE:.0f} %):",
        table(["context views", "stated", "actual", "more doubt than before"], *rows),
    ]


def _bands(measured: dict[str, Any], whose: str, calibrated_on: str) -> list[str]:
    """The share of true pixels inside the bands."""
    if "coverage" not in measured:
        return []
    words = {"latent": " band", "calibrated": " calibrated"}
    kinds = [kind for kind in words if f"{kind}_coverage_50" in measured["coverage"][1]]
    columns = [(kind, level) for kind in kinds for level in (50, 90)]
    origin = "posterior samples alone"
    if "calibrated" in kinds:
        origin += f"; calibrated on {calibrated_on}"
    rows = (
        [str(n), *(f"{100 * share[f'{kind}_coverage_{level}']:.0f} %" for kind, level in columns)]
        for n, share in measured["coverage"].items()
    )
    return [
        f"Share of true pixels {whose} inside the model's bands ({origin}):",
        table(["context views", *(f"{level} %{words[kind]}" for kind, level in columns)], *rows),
    ]
