"""Buttons that save a Plotly chart as PNG and as SVG, and new figures in place.

`st.plotly_chart` takes neither: its options are JSON without functions, and a changed figure is
another element, which is drawn anew and forgets how far one has zoomed.
"""

from ui.components.shared import Component

_component = Component("plot_tools")


def show(key: str, file: str, alt: str = "", figure: str = "") -> None:
    """Serve the chart in the same container, whose key ends in `.place`.

    `file` is the name of saved files. `figure`, as JSON, takes the place of what the chart shows.
    """
    _component(key, {"file": file, "alt": alt, "figure": figure})


__all__ = ["show"]
