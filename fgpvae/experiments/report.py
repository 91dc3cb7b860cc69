"""Write an experiment's result: JSON, Markdown tables, and for some a chart as SVG."""

import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fgpvae import files
from fgpvae.evaluation.card_pages import table

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
Rows = list[list[str]]
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
    from fgpvae.experiments import charts  # imported here, because Plotly is slow to load

    os.environ["BROWSER_PATH"] = browser
    files.write(chart, charts.svg(result))
    return [data, tables, chart]


def markdown(result: dict[str, Any]) -> str:
    """The tables for docs/results.md, with the command that made them."""
    blocks = TABLES[result["experiment"]](result)
    text = "\n\n".join(f"{heading}\n\n{table(*rows)}".strip() for heading, rows in blocks)
    seeds = f"{result['seeds']} seed{'s' if result['seeds'] > 1 else ''}"
    origin = f"`{result['command']}`, {seeds}, {result['date']}, {result['machine']}."
    return f"{text}\n\n{origin}\n"


def cell(figure: dict[str, Any] | None, digits: int = 4) -> str:
    """Mean ± standard deviation, or a dash."""
    if not figure or figure["mean"] is None:
        return "-"
    text = f"{figure['mean']:.{digits}f}"
    return text if figure["sd"] is None else f"{text} ± {figure['sd']:.{digits}f}"


def _name(row: dict[str, Any]) -> str:
    """Family and preset; docs/results.md has a legend of presets."""
    return f"{row['model'].partition(',')[0]} (`{row['preset']}`)"


def _table1(result: dict[str, Any]) -> list[tuple[str, Rows]]:
    blocks = [("As published, each model with its own settings", result["rows"])]
    if equal := result.get("equal"):
        blocks.append((f"Equal budgets, {equal['epochs']} epochs", equal["rows"]))
    tables = []
    for heading, rows in blocks:
        if rows:
            tables += [(f"{heading}:", _errors(rows)), (f"{heading}, cost:", _costs(rows, result))]
    learned = [["no model", "test MSE"]]
    for name, value in result["trivial"].items():
        name = "nearest view, rotated" if name == "rotated_neighbour" else name.replace("_", " ")
        learned.append([name, f"{value:.4f}"])
    return [*tables, ("", learned)]


def _errors(entries: list[dict[str, Any]]) -> Rows:
    chosen = any("choice" in row for row in entries)
    origin = "rate, schedule" if chosen else "published"
    rows = [["model", "test MSE", "one sample", origin, "unseen digits", "one view"]]
    for row in entries:
        known, choice = row["published"], row.get("choice")
        said = f"{known['mse']:.4f} ± {known['sd']:.4f}" if known else "-"
        rows.append(
            [
                _name(row),
                cell(row["test_mse"]),
                cell(row["test_mse_sampled"]),
                f"{choice['rate']:g}, {choice['schedule']}" if choice else said,
                cell(row["extrapolation_mse"]),
                cell(row["one_view_mse"]),
            ]
        )
    return rows


def _costs(entries: list[dict[str, Any]], result: dict[str, Any]) -> Rows:
    rows = [["model", "GP", "epochs", "CPU s", "parameters", "peak MB", "measured"]]
    for row in entries:
        measured = {key: row.get(key, result[key]) for key in ("date", "commit")}
        seconds = row.get("cpu_seconds") or {}
        known = seconds.get("mean") is not None
        fastest = row["epochs"] * row["seconds_an_epoch"]["mean"]
        rows.append(
            [
                _name(row),
                row["complexity"],
                str(row["epochs"]),
                cell(seconds, 0) if known else f"about {fastest:.0f}",
                f"{row['parameters']:,}",
                cell(row["peak_memory_mb"], 0),
                f"{', '.join(measured.values())}, seeds: {len(row['test_mse']['values'])}",
            ]
        )
    return rows


def _one_view(result: dict[str, Any]) -> list[tuple[str, Rows]]:
    columns = {
        "seen": "training digits at 157.5°",
        "unseen_fifth": "unseen digits, fifth frame",
        "unseen_all": "unseen digits, 15 angles",
    }
    learned = [["one view, known angle", *columns.values()]]
    for row in result["rows"]:
        count = len(row["seen"]["values"])
        origin = "shipped weights" if row["shipped"] else f"{count} seed{'s' if count > 1 else ''}"
        learned.append([f"{_name(row)}, {origin}", *(cell(row[column]) for column in columns)])
    published = [["published", *columns.values()]]
    for known in result["published"]:
        figure = cell({"mean": known["mse"], "sd": known["sd"]})
        published.append(
            [known["model"], *(figure if c == known["task"] else "-" for c in columns)]
        )
    turned = [f"{result['geometry'][column]:.4f}" for column in columns]
    published.append(["no model: the view, rotated", *turned])
    return [("", learned), (result["comparable"], published)]


def _rates(result: dict[str, Any]) -> list[tuple[str, Rows]]:
    rows = [["preset", "rate, schedule", "validation MSE", "seed by seed", "chosen"]]
    for row in result["rows"]:
        for each in row["tried"]:
            values = each["validation_mse"]["values"]
            chosen = (each["schedule"], each["rate"]) == (row["schedule"], row["rate"])
            rows.append(
                [
                    f"`{row['preset']}`",
                    f"{each['rate']:g}, {each['schedule']}",
                    cell(each["validation_mse"]),
                    ", ".join(f"{value:.4f}" for value in values),
                    "yes" if chosen else "",
                ]
            )
    return [("", rows)]


def _extrapolation(result: dict[str, Any]) -> list[tuple[str, Rows]]:
    views = list(result["curves"][0]["mse"])
    rows = [["model", *(f"{n} view{'s' if n != '1' else ''}" for n in views)]]
    for curve in result["curves"]:
        rows.append([_name(curve), *(cell(curve["mse"][n]) for n in views)])
    return [("", rows)]


def _scaling(result: dict[str, Any]) -> list[tuple[str, Rows]]:
    rows = [["digits P", "classes", "epochs", "s/epoch", "MSE of unseen digits"]]
    for row in result["by_digits"]:
        first = [str(row["P"]), str(row["classes"]), str(row["epochs"])]
        figures = [cell(row["seconds_an_epoch"], 2), cell(row["extrapolation_mse"])]
        rows.append([*first, *figures])
    names = {
        "seconds_an_epoch_in_P": "an epoch, in digits P",
        "dense_in_Q": "posterior, dense, in views Q",
        "fourier_in_Q": "posterior, Fourier features, in views Q",
        "joint_in_Q": "posterior of one GP over all images, in views Q",
    }
    growth = [["time grows with", "exponent"]]
    growth += [[names.get(name, name), f"{v:.2f}"] for name, v in result["exponents"].items()]
    return [("", rows), ("", growth)]


def _disentanglement(result: dict[str, Any]) -> list[tuple[str, Rows]]:
    """Three tables: main scores, indices from the literature, and the importances behind them."""
    blocks = (
        ("angle", "digit", "swap"),
        ("invariance", "dci", "mig"),
        ("importance", "information"),
    )
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


def _objects(result: dict[str, Any]) -> list[tuple[str, Rows]]:
    ((_, rows),) = _extrapolation(result)
    rows[0] += ["one view at 30°", "epochs"]
    for row, curve in zip(rows[1:], result["curves"], strict=True):
        row += [cell(curve["oblique_view_mse"]), str(curve["epochs"])]
    learned = [["no model", "MSE"]]
    for name, value in result["references"].items():
        learned.append([name.replace("_", " "), f"{value:.4f}"])
    return [("", rows), ("", learned)]


def _films(result: dict[str, Any]) -> list[tuple[str, Rows]]:
    """Errors of the mean film, of the film at the posterior mean, and of paths."""
    views = list(result["rows"][0]["mse"])
    titles = ["1 frame given", *(f"{n}" for n in views[1:-1]), "all, at the frames given"]
    tables = []
    for kind, heading in (
        ("predictive_mean", "Mean of 64 sampled films, MSE at the frames not given:"),
        ("posterior_mean", "Film at the posterior mean, MSE at the frames not given:"),
    ):
        rows = [["model", *titles]]
        for row in result["rows"]:
            name = f"{row['model']} (`{row['preset']}`)"
            rows.append([name, *(cell(row["mse"][n][kind]) for n in views)])
        tables.append((heading, rows))
    learned = [["learns nothing", *titles]]
    for name, errors in result["references"].items():
        learned.append([name.replace("_", " "), *(f"{e:.4f}" for e in errors.values()), "-"])
    paths = [["the path, in pixels", *titles]]
    for row in result["rows"]:
        for figure, digits in (("path_error", 2), ("spread", 2), ("coverage", 3), ("swap", 2)):
            if figure in row:
                name = f"{row['model']} (`{row['preset']}`): {figure.replace('_', ' ')}"
                paths.append([name, *(cell(row[figure].get(n), digits) for n in views)])
    return [*tables, ("", learned), ("", paths)]


def _ball(result: dict[str, Any]) -> list[tuple[str, Rows]]:
    rows = [["model", "error of the path (all: 60)"]]
    rows += [[row["model"], cell(row["path_error"], 2)] for row in result["rows"]]
    return [(f"{result['epochs']} epochs of 35 new films.", rows)]


TABLES: dict[str, Callable[[dict[str, Any]], list[tuple[str, Rows]]]] = {
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
