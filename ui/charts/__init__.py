"""The one charting layer: Plotly figures with one look, and how a page shows them."""

from ui.charts.colours import CLASSES, GREY, faded, several
from ui.charts.display import last, phone, show, table
from ui.charts.heatmaps import heatmap
from ui.charts.layout import TURN, band, figure, line, log_axis, panels, words
from ui.charts.scatter import Cloud, cloud
from ui.charts.small_multiples import Channel, channels, channels_height

__all__ = [
    "CLASSES",
    "GREY",
    "TURN",
    "Channel",
    "Cloud",
    "band",
    "channels",
    "channels_height",
    "cloud",
    "faded",
    "figure",
    "heatmap",
    "last",
    "line",
    "log_axis",
    "panels",
    "phone",
    "several",
    "show",
    "table",
    "words",
]
