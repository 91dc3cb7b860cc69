"""The one charting layer: Plotly figures with one look, and how a page shows them."""

from ui.charts.display import BEST, phone, show, table
from ui.charts.layout import (
    CLASSES,
    GREY,
    TURN,
    band,
    dot,
    faded,
    figure,
    heatmap,
    line,
    log_axis,
    panels,
    words,
)
from ui.charts.scatter import Cloud, cloud

__all__ = [
    "BEST",
    "CLASSES",
    "GREY",
    "TURN",
    "Cloud",
    "band",
    "cloud",
    "dot",
    "faded",
    "figure",
    "heatmap",
    "line",
    "log_axis",
    "panels",
    "phone",
    "show",
    "table",
    "words",
]
