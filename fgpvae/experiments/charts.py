"""Charts of experiments for the documentation."""

from typing import Any

import plotly.graph_objects as go
from plotly.subplots import make_subplots

INK, WARM, COOL = "#6b7280", "#d9772b", "#2c7a9e"


def svg(result: dict[str, Any]) -> bytes:
    """Draw the chart of a result, with an installed Chromium or Chrome."""
    draw = {"extrapolation": _extrapolation, "scaling": _scaling}[result["experiment"]]
    figure = draw(result)
    figure.update_layout(template="simple_white", font_family="sans-serif", width=900, height=480)
    image: bytes = figure.to_image("svg")
    return image


def _extrapolation(result: dict[str, Any]) -> go.Figure:
    figure = go.Figure()
    for curve in result["curves"]:
        figure.add_scatter(
            name=curve["preset"],
            x=[int(n) for n in curve["mse"]],
            y=[point["mean"] for point in curve["mse"].values()],
            error_y={"array": [point["sd"] or 0 for point in curve["mse"].values()]},
        )
    figure.update_xaxes(title="context views")
    return figure.update_yaxes(title="MSE of unseen digits at 157.5 degrees")


def _scaling(result: dict[str, Any]) -> go.Figure:
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
