"""The one charting layer."""

from ui.charts import figures, loops, plot
from ui.charts.plot import Axis, Plot

__all__ = ["Axis", "Plot", "figures", "loops", "plot"]
