"""An experiment's result as files: JSON, a Markdown table, a Plotly figure as HTML and SVG."""

import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import plotly.graph_objects as go
from plotly.offline import get_plotlyjs
from plotly.subplots import make_subplots

from fgpvae import files

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
Rows = list[list[str]]
INK, WARM, COOL = "#6b7280", "#d9772b", "#2c7a9e"


def prepare(directory: Path) -> None:
    """Make the directory of the results and try to write there, before hours of training."""
    with files.explained(directory, "made"):
        directory.mkdir(parents=True, exist_ok=True)
    with files.explained(directory, "written"), tempfile.TemporaryFile(dir=directory):
        pass


def write(result: dict[str, Any], directory: Path) -> list[Path]:
    """Write everything about a result; returns the files."""
    prepare(directory)
    name = result["experiment"]
    paths = [directory / f"{name}.{suffix}" for suffix in ("json", "md", "html", "svg")]
    files.write_json(paths[0], result)
    files.write(paths[1], markdown(result).encode())
    figure = FIGURES[name](result)
    figure.update_layout(template="simple_white", font_family="sans-serif", width=900, height=480)
    files.write(paths[2], figure.to_html(include_plotlyjs="directory").encode())
    files.write(directory / "plotly.min.js", get_plotlyjs().encode())  # that the page asks for
    return paths if _write_svg(figure, paths[3]) else paths[:3]


def _write_svg(figure: go.Figure, path: Path) -> bool:
    """Drawn by an installed Chromium or Chrome; where there is none, the HTML has to do."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None and "BROWSER_PATH" not in os.environ:
        return False
    os.environ.setdefault("BROWSER_PATH", browser or "")
    files.write(path, figure.to_image("svg"))
    return True


def markdown(result: dict[str, Any]) -> str:
    """The table that the README includes, with the command that made it."""
    blocks = TABLES[result["experiment"]](result)
    text = "\n\n".join(f"{heading}\n\n{_table(rows)}".strip() for heading, rows in blocks)
    seeds = f"{result['seeds']} seed{'s' if result['seeds'] > 1 else ''}"
    origin = f"`{result['command']}`, {seeds}, {result['date']}, {result['machine']}."
    return f"{text}\n\n{origin}\n"


def _table(rows: Rows) -> str:
    lines = ["| " + " | ".join(rows[0]) + " |", "|" + "---|" * len(rows[0])]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows[1:]])


def cell(figure: dict[str, Any] | None, digits: int = 4) -> str:
    """Mean ± standard deviation, or a dash."""
    if not figure or figure["mean"] is None:
        return "-"
    text = f"{figure['mean']:.{digits}f}"
    return text if figure["sd"] is None else f"{text} ± {figure['sd']:.{digits}f}"


def _table1(result: dict[str, Any]) -> list[tuple[str, Rows]]:
    blocks = [("**As published**: each model with its own settings.", result["rows"])]
    if equal := result.get("equal"):
        blocks.append(
            (
                f"**Equal**: the same images, {equal['epochs']} epochs, averaged weights; rate and "
                "schedule chosen on views kept back of training digits.",
                equal["rows"],
            )
        )
    tables = [(heading, _table1_rows(rows)) for heading, rows in blocks if rows]
    learned = [["nothing learned", "test MSE"]]
    for name, value in result["trivial"].items():
        if name != "rotated_neighbour":
            learned.append([name.replace("_", " "), f"{value:.4f}"])
    turned = f"{result['trivial']['rotated_neighbour']:.4f}"
    geometry = [["knows geometry", "test MSE"], ["nearest view turned as a picture", turned]]
    return [*tables, ("", learned), ("", geometry)]


def _table1_rows(entries: list[dict[str, Any]]) -> Rows:
    head = ["model", "test MSE", "sampled", "published", "unseen digits", "one view"]
    chosen = any("choice" in row for row in entries)
    if chosen:
        head[3] = "rate, schedule"
    rows = [[*head, "GP complexity", "epochs", "CPU s", "parameters", "peak MB", "measured"]]
    for row in entries:
        known, choice = row["published"], row.get("choice")
        said = f"{known['mse']:.4f} ± {known['sd']:.4f}" if known else "-"
        rows.append(
            [
                f"{row['model']} (`{row['preset']}`)",
                cell(row["test_mse"]),
                cell(row["test_mse_sampled"]),
                f"{choice['rate']:g}, {choice['schedule']}" if choice else said,
                cell(row["extrapolation_mse"]),
                cell(row["one_view_mse"]),
                row["complexity"],
                str(row["epochs"]),
                _processor(row),
                f"{row['parameters']:,}",
                cell(row["peak_memory_mb"], 0),
                f"{row.get('date', '-')}, {row.get('commit', '-')}, seeds: "
                f"{len(row['test_mse']['values'])}",
            ]
        )
    return rows


def _processor(row: dict[str, Any]) -> str:
    """CPU seconds of the whole training; where none were recorded, its epochs times the fastest."""
    if (row.get("cpu_seconds") or {}).get("mean") is not None:
        return cell(row["cpu_seconds"], 0)
    return f"about {row['epochs'] * row['seconds_an_epoch']['mean']:.0f}"


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
        name = f"{row['model']} (`{row['preset']}`, {origin})"
        learned.append([name, *(cell(row[column]) for column in columns)])
    published = [["published", *columns.values()]]
    for known in result["published"]:
        figure = cell({"mean": known["mse"], "sd": known["sd"]})
        published.append(
            [known["model"], *(figure if c == known["task"] else "-" for c in columns)]
        )
    turned = [f"{result['geometry'][column]:.4f}" for column in columns]
    geometry = [["knows geometry", *columns.values()], ["the view turned as a picture", *turned]]
    return [("", learned), (result["comparable"], published), ("", geometry)]


def _rates(result: dict[str, Any]) -> list[tuple[str, Rows]]:
    rows = [["preset", "rate, schedule", "error of views kept back", "seed by seed", "chosen"]]
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
        name = f"{curve['model']} (`{curve['preset']}`)"
        rows.append([name, *(cell(curve["mse"][n]) for n in views)])
    return [("", rows)]


def _scaling(result: dict[str, Any]) -> list[tuple[str, Rows]]:
    rows = [["digits P", "classes", "epochs", "s/epoch", "MSE of unseen digits"]]
    for row in result["by_digits"]:
        first = [str(row["P"]), str(row["classes"]), str(row["epochs"])]
        figures = [cell(row["seconds_an_epoch"], 2), cell(row["extrapolation_mse"])]
        rows.append([*first, *figures])
    for name, value in result["exponents"].items():
        rows.append([f"exponent: {name.replace('_', ' ')}", "", "", f"{value:.2f}", ""])
    return [("", rows)]


def _disentanglement(result: dict[str, Any]) -> list[tuple[str, Rows]]:
    names = [name for name, figure in result["rows"][0].items() if isinstance(figure, dict)]
    rows = [["", *(f"{row['model']} (`{row['preset']}`)" for row in result["rows"])]]
    for name in names:
        rows.append([name.replace("_", " "), *(cell(row[name], 3) for row in result["rows"])])
    return [("", rows)]


def _objects(result: dict[str, Any]) -> list[tuple[str, Rows]]:
    ((_, rows),) = _extrapolation(result)
    rows[0] += ["one view at 30°", "epochs"]
    for row, curve in zip(rows[1:], result["curves"], strict=True):
        row += [cell(curve["oblique_view_mse"]), str(curve["epochs"])]
    for name, value in result["references"].items():
        rows.append([name.replace("_", " "), f"{value:.4f}", *["-"] * (len(rows[0]) - 2)])
    return [("", rows)]


def _table1_figure(result: dict[str, Any]) -> go.Figure:
    rows = result["rows"]
    figure = go.Figure()
    blocks = (
        ("as published", rows, COOL),
        ("equal", result.get("equal", {}).get("rows", []), WARM),
    )
    for name, block, colour in blocks:
        figure.add_bar(
            name=name,
            x=[row["preset"] for row in block],
            y=[row["test_mse"]["mean"] for row in block],
            error_y={"array": [row["test_mse"]["sd"] or 0 for row in block]},
            marker_color=colour,
        )
    published = [row for row in rows if row["published"]]
    figure.add_bar(
        name="published",
        x=[row["preset"] for row in published],
        y=[row["published"]["mse"] for row in published],
        error_y={"array": [row["published"]["sd"] for row in published]},
        marker_color=INK,
    )
    _add_references(figure, result["trivial"], ("mean_image", "rotated_neighbour"))
    return figure.update_yaxes(title="MSE at 157.5 degrees")


def _extrapolation_figure(result: dict[str, Any]) -> go.Figure:
    return _by_views(result).update_yaxes(title="MSE of unseen digits at 157.5 degrees")


def _objects_figure(result: dict[str, Any]) -> go.Figure:
    figure = _by_views(result)
    _add_references(figure, result["references"], ("mean_image", "nearest_figure"))
    return figure.update_yaxes(title="MSE of unseen figures at all other angles")


def _add_references(figure: go.Figure, errors: dict[str, float], names: Sequence[str]) -> None:
    """A dotted line for each answer that needs no model."""
    for name in names:
        text = name.replace("_", " ")
        figure.add_hline(errors[name], line_dash="dot", line_color=WARM, annotation_text=text)


def _by_views(result: dict[str, Any]) -> go.Figure:
    figure = go.Figure()
    for curve in result["curves"]:
        figure.add_scatter(
            name=curve["preset"],
            x=[int(n) for n in curve["mse"]],
            y=[point["mean"] for point in curve["mse"].values()],
            error_y={"array": [point["sd"] or 0 for point in curve["mse"].values()]},
        )
    return figure.update_xaxes(title="context views")


def _scaling_figure(result: dict[str, Any]) -> go.Figure:
    figure = make_subplots(1, 3, subplot_titles=("time in P", "error in P", "time in Q"))
    digits = [row["P"] for row in result["by_digits"]]
    for column, name in enumerate(("seconds_an_epoch", "extrapolation_mse"), 1):
        figure.add_scatter(
            name=name,
            x=digits,
            y=[row[name]["mean"] for row in result["by_digits"]],
            error_y={"array": [row[name]["sd"] or 0 for row in result["by_digits"]]},
            line_color=COOL,
            row=1,
            col=column,
        )
    views = [row["Q"] for row in result["by_views"]]
    for path, colour in (("dense", WARM), ("fourier", COOL), ("joint", INK)):
        values = [row[path] for row in result["by_views"]]
        figure.add_scatter(x=views, y=values, row=1, col=3, line_color=colour, name=path)
    figure.update_xaxes(type="log")
    figure.update_yaxes(type="log", col=1)
    return figure.update_yaxes(type="log", col=3)


def _disentanglement_figure(result: dict[str, Any]) -> go.Figure:
    figure = make_subplots(1, 2, subplot_titles=("angle error in degrees", "digit found again"))
    presets = [row["preset"] for row in result["rows"]]
    for block, colour in (("local", WARM), ("global", COOL)):
        for column, name in enumerate(("angle_error_{}_degrees", "digit_retrieval_{}"), 1):
            values = [row[name.format(block)]["mean"] for row in result["rows"]]
            figure.add_bar(x=presets, y=values, row=1, col=column, marker_color=colour, name=block)
    return figure


def _one_view_figure(result: dict[str, Any]) -> go.Figure:
    figure = go.Figure()
    for row in result["rows"]:
        names = ("seen", "unseen_fifth", "unseen_all")
        figure.add_bar(name=row["preset"], x=names, y=[row[name]["mean"] for name in names])
    for known in result["published"]:
        figure.add_scatter(name=known["model"], x=[known["task"]], y=[known["mse"]], mode="markers")
    return figure.update_yaxes(title="MSE from one view")


def _rates_figure(result: dict[str, Any]) -> go.Figure:
    figure = go.Figure()
    for row in result["rows"]:
        figure.add_scatter(
            name=row["preset"],
            x=[f"{each['rate']:g}, {each['schedule']}" for each in row["tried"]],
            y=[each["validation_mse"]["mean"] for each in row["tried"]],
            error_y={"array": [each["validation_mse"]["sd"] or 0 for each in row["tried"]]},
        )
    return figure.update_yaxes(title="MSE of views kept back")


TABLES: dict[str, Callable[[dict[str, Any]], list[tuple[str, Rows]]]] = {
    "table1": _table1,
    "one-view": _one_view,
    "rates": _rates,
    "extrapolation": _extrapolation,
    "scaling": _scaling,
    "disentanglement": _disentanglement,
    "objects": _objects,
}
FIGURES: dict[str, Callable[[dict[str, Any]], go.Figure]] = {
    "table1": _table1_figure,
    "one-view": _one_view_figure,
    "rates": _rates_figure,
    "extrapolation": _extrapolation_figure,
    "scaling": _scaling_figure,
    "disentanglement": _disentanglement_figure,
    "objects": _objects_figure,
}
