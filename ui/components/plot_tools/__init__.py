"""Buttons that save a Plotly chart as PNG and SVG, and updates of a chart in place.

`st.plotly_chart` supports neither: its options are JSON without functions, and a changed figure is
a new element, which loses the zoom.
"""

from ui.components.shared import Component

_component = Component("plot_tools")


def show(key: str, file: str, alt: str = "", figure: str = "") -> None:
    """Serve the chart in the same container, whose key ends in `.place`.

    `file` is the name of saved files. `figure`, as JSON, replaces the chart's figure.
    """
    _component(key, {"file": file, "alt": alt, "figure": figure})


__all__ = ["show"]
