"""Write an experiment's result: JSON, Markdown tables, and for some a chart as SVG."""

import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fgpvae import files
from fgpvae.evaluation.cards import table
from fgpvae.evaluation.comparison import TABLE

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
Rows = list[list[str]]
Tables = list[tuple[str, Rows]]  # each with a heading
CHARTS = ("extrapolation", "scaling")  # what the documents show


def prepare(directory: Path) -> None:
    """Create the directory of the results and check that it is writable, before training."""
    with files.explained(directory, "made"):
        directory.mkdir(parents=True, exist_ok=True)
    with files.explained(directory, "written"), tempfile.TemporaryFile(dir=directory):
        pass


def write(result: dict[str, Any], directory: Path) -> list[Path]:
    """Write a result to files and return them.

    An installed Chromium or Chrome draws the chart; without one there is none.
    """
    prepare(directory)
    name = result["experiment"]
    data, tables, chart = (directory / f"{name}.{suffix}" for suffix in ("json", "md", "svg"))
    files.write_json(data, result)
    files.write(tables, markdown(result).encode())
    browser = os.environ.get("BROWSER_PATH") or next(filter(None, map(shutil.which, BROWSERS)), "")
    if name not in CHARTS or not browser:
        return [data, tables]
    os.environ["BROWSER_PATH"] = browser
    files.write(chart, _chart(result))
    return [data, tables, chart]


def _chart(result: dict[str, Any]) -> bytes:
    """Draw the chart of a result as SVG, with a panel for each unit."""
    from plotly.subplots import make_subplots  # slow to load

    panels: dict[str, dict[str, dict[int, Any]]] = {}  # title: line: x: figure
    if result["experiment"] == "extrapolation":
        curves = {each["preset"]: each["mse"].items() for each in result["curves"]}
        lines = {name: {int(n): mse for n, mse in found} for name, found in curves.items()}
        panels = {"MSE of unseen digits at 157.5 degrees, by context views": lines}
    else:
        for title, name in (("time in P", "seconds_an_epoch"), ("error in P", "extrapolation_mse")):
            panels[title] = {name: {row["P"]: row[name] for row in result["by_digits"]}}
        panels["time in Q"] = {
            path: {row["Q"]: {"mean": row[path], "sd": None} for row in result["by_views"]}
            for path in ("dense", "fourier", "joint")
        }
    figure = make_subplots(1, len(panels), subplot_titles=list(panels))
    for column, lines in enumerate(panels.values(), 1):
        for name, points in lines.items():
            y, sd = ([each[key] for each in points.values()] for key in ("mean", "sd"))
            error = {"array": sd, "visible": any(sd)}
            figure.add_scatter(name=name, x=list(points), y=y, error_y=error, row=1, col=column)
    if len(panels) > 1:
        figure.update_xaxes(type="log").update_yaxes(type="log", col=1)
        figure.update_yaxes(type="log", col=3)
    figure.update_layout(template="simple_white", font_family="sans-serif", width=900, height=480)
    image: bytes = figure.to_image("svg")
    return image


def markdown(result: dict[str, Any]) -> str:
    """The tables for docs/results.md, with the command that made them."""
    blocks = TABLES[result["experiment"]](result)
    text = "\n\n".join(f"{heading}\n\n{table(*rows)}".strip() for heading, rows in blocks)
    seeds = _count(result["seeds"], "seed")
    return f"{text}\n\n`{result['command']}`, {seeds}, {result['date']}, {result['machine']}.\n"


def cell(figure: dict[str, Any] | None, digits: int = 4) -> str:
    """Mean ± standard deviation, or a dash; the mean of a published figure is its `mse`."""
    known = [(figure or {}).get(name) for name in ("mean", "mse", "sd")]
    return " ± ".join(f"{value:.{digits}f}" for value in known if value is not None) or "-"


def _name(row: dict[str, Any]) -> str:
    """Family and preset; docs/results.md has a legend of presets."""
    return f"{row['model'].partition(',')[0]} (`{row['preset']}`)"


def _count(number: int | str, thing: str) -> str:
    return f"{number} {thing}" if str(number) == "1" else f"{number} {thing}s"


def _references(head: list[str], errors: dict[str, float]) -> Rows:
    """Errors without a model."""
    return [head, *([name.replace("_", " "), f"{error:.4f}"] for name, error in errors.items())]


def _table1(result: dict[str, Any]) -> Tables:
    equal, tables = result["equal"], []
    for heading, origin, entries in (
        ("As published, each model with its own settings", "published", result["rows"]),
        (f"Equal budgets, {equal['epochs']} epochs", "rate, schedule", equal["rows"]),
    ):
        errors = [["model", "test MSE", "one sample", origin, "unseen digits", "one view"]]
        costs = [["model", "GP", "epochs", "CPU s", "parameters", "peak MB", "measured"]]
        for row in entries:
            test, sample, *new = (cell(row[figure]) for figure in TABLE)
            said = cell(row["published"])
            if choice := row.get("choice"):
                said = f"{choice['rate']:g}, {choice['schedule']}"
            errors.append([_name(row), test, sample, said, *new])
            seconds = f"about {row['epochs'] * row['seconds_an_epoch']['mean']:.0f}"
            if row.get("cpu_seconds"):
                seconds = cell(row["cpu_seconds"], 0)
            known = row["complexity"], str(row["epochs"]), seconds, f"{row['parameters']:,}"
            date, commit = (row.get(key, result[key]) for key in ("date", "commit"))
            measured = f"{date}, {commit}, seeds: {len(row['test_mse']['values'])}"
            costs.append([_name(row), *known, cell(row["peak_memory_mb"], 0), measured])
        if entries:
            tables += [(f"{heading}:", errors), (f"{heading}, cost:", costs)]
    trivial = dict(result["trivial"])
    trivial["nearest view, rotated"] = trivial.pop("rotated_neighbour")
    return [*tables, ("", _references(["no model", "test MSE"], trivial))]


def _one_view(result: dict[str, Any]) -> Tables:
    columns = {
        "seen": "training digits at 157.5°",
        "unseen_fifth": "unseen digits, fifth frame",
        "unseen_all": "unseen digits, 15 angles",
    }
    learned = [["one view, known angle", *columns.values()]]
    for row in result["rows"]:
        origin = "shipped weights" if row["shipped"] else _count(len(row["seen"]["values"]), "seed")
        learned.append([f"{_name(row)}, {origin}", *(cell(row[column]) for column in columns)])
    published = [["published", *columns.values()]]
    for known in result["published"]:
        cells = (cell(known) if column == known["task"] else "-" for column in columns)
        published.append([known["model"], *cells])
    turned = (f"{result['geometry'][column]:.4f}" for column in columns)
    published.append(["no model: the view, rotated", *turned])
    return [("", learned), (result["comparable"], published)]


def _rates(result: dict[str, Any]) -> Tables:
    rows = [["preset", "rate, schedule", "validation MSE", "seed by seed", "chosen"]]
    for row in result["rows"]:
        for each in row["tried"]:
            error = each["validation_mse"]
            values = ", ".join(f"{value:.4f}" for value in error["values"])
            candidate, chosen = (f"{found['rate']:g}, {found['schedule']}" for found in (each, row))
            yes = "yes" if candidate == chosen else ""
            rows.append([f"`{row['preset']}`", candidate, cell(error), values, yes])
    return [("", rows)]


def _extrapolation(result: dict[str, Any]) -> Tables:
    views = list(result["curves"][0]["mse"])
    rows = [["model", *(_count(n, "view") for n in views)]]
    rows += [[_name(each), *(cell(each["mse"][n]) for n in views)] for each in result["curves"]]
    return [("", rows)]


def _scaling(result: dict[str, Any]) -> Tables:
    rows = [["digits P", "classes", "epochs", "s/epoch", "MSE of unseen digits"]]
    for row in result["by_digits"]:
        first = (str(row[name]) for name in ("P", "classes", "epochs"))
        rows.append([*first, cell(row["seconds_an_epoch"], 2), cell(row["extrapolation_mse"])])
    names = {
        "seconds_an_epoch_in_P": "an epoch, in digits P",
        "dense_in_Q": "posterior, dense, in views Q",
        "fourier_in_Q": "posterior, Fourier features, in views Q",
        "joint_in_Q": "posterior of one GP over all images, in views Q",
    }
    growth = [["time grows with", "exponent"]]
    growth += [[names[name], f"{value:.2f}"] for name, value in result["exponents"].items()]
    return [("", rows), ("", growth)]


def _disentanglement(result: dict[str, Any]) -> Tables:
    """Three tables: main scores, indices from the literature, and the importances behind them."""
    blocks = ("angle", "digit", "swap"), ("invariance", "dci", "mig"), ("importance", "information")
    first = result["rows"][0]
    tables = []
    for block in blocks:
        keys = [key for key in first if key.startswith(block) and "chance" not in key]
        rows = [["model", *(key.removesuffix("_degrees").replace("_", " ") for key in keys)]]
        for row in result["rows"]:
            cells = (cell(row.get(key), 1 if "degrees" in key else 3) for key in keys)
            rows.append([_name(row), *cells])
        tables.append(("", rows))
    angle, digit = first["angle_error_chance_degrees"], first["digit_retrieval_chance"]
    chance = [f"{angle['mean']:.1f}"] * 2 + [f"{digit['mean']:.3f}"] * 2 + ["-"]
    tables[0][1].append(["chance", *chance])
    return tables


def _objects(result: dict[str, Any]) -> Tables:
    ((_, rows),) = _extrapolation(result)
    rows[0] += ["one view at 30°", "epochs"]
    for row, curve in zip(rows[1:], result["curves"], strict=True):
        row += [cell(curve["oblique_view_mse"]), str(curve["epochs"])]
    return [("", rows), ("", _references(["no model", "MSE"], result["references"]))]


def _films(result: dict[str, Any]) -> Tables:
    """Errors of the mean film, of the film at the posterior mean, and of paths."""
    views = list(result["rows"][0]["mse"])
    titles = ["1 frame given", *views[1:-1], "all, at the frames given"]
    sampled, mean = [["model", *titles]], [["model", *titles]]
    learned, paths = [["learns nothing", *titles]], [["the path, in pixels", *titles]]
    for row in result["rows"]:
        name, errors = f"{row['model']} (`{row['preset']}`)", row["mse"].values()
        sampled.append([name, *(cell(each["predictive_mean"]) for each in errors)])
        mean.append([name, *(cell(each["posterior_mean"]) for each in errors)])
        for key, digits in (("path_error", 2), ("spread", 2), ("coverage", 3), ("swap", 2)):
            if key in row:
                cells = (cell(row[key].get(n), digits) for n in views)
                paths.append([f"{name}: {key.replace('_', ' ')}", *cells])
    for key, known in result["references"].items():
        learned.append([key.replace("_", " "), *(f"{e:.4f}" for e in known.values()), "-"])
    return [
        ("Mean of 64 sampled films, MSE at the frames not given:", sampled),
        ("Film at the posterior mean, MSE at the frames not given:", mean),
        ("", learned),
        ("", paths),
    ]


def _ball(result: dict[str, Any]) -> Tables:
    rows = [["model", "error of the path (a constant: 60)", "each seed"]]
    for row in result["rows"]:
        seeds = ", ".join(f"{value:.2f}" for value in row["path_error"]["values"])
        rows.append([row["model"], cell(row["path_error"], 2), seeds])
    return [(f"{result['epochs']} epochs of 35 new films.", rows)]


TABLES: dict[str, Callable[[dict[str, Any]], Tables]] = {
    "table1": _table1,
    "one-view": _one_view,
    "rates": _rates,
    "extrapolation": _extrapolation,
    "scaling": _scaling,
    "disentanglement": _disentanglement,
    "objects": _objects,
    "films": _films,
    "ball": _ball,
}
