"""Figures that are made once for all sessions.

To make a figure and to turn it into plain values takes Plotly tens of milliseconds; the values are
the same for everybody who looks at the same thing.
"""

import pickle
from collections.abc import Callable
from functools import cached_property
from typing import Any, TypeAlias

# Plotly takes pandas as it is among the loaded modules, also while another thread still loads it
import pandas  # noqa: F401
import plotly.graph_objects as go
from plotly.io import to_json

from ui.shell.kept import content, kept

MOST = 96  # figures that are kept
Figure: TypeAlias = "go.Figure | dict[str, Any]"


class Drawn(go.Figure):  # type: ignore[misc]
    """A figure that has become plain values, which `st.plotly_chart` takes as they are."""

    def __init__(self, values: dict[str, Any]) -> None:
        self._values = values

    def to_dict(self) -> dict[str, Any]:
        return self._values

    @cached_property
    def without_theme(self) -> str:
        """As JSON, for a chart that has the colours of the theme already."""
        values = self._values
        layout = {name: part for name, part in values["layout"].items() if name != "template"}
        text: str = to_json({**values, "layout": layout}, validate=False)
        return text


def drawn(make: Callable[[], Figure], layout: dict[str, Any]) -> Drawn:
    """What `make` returns, a figure or its values, with changes to its layout.

    It is kept if `make` is `tellable`; any other is called anew.
    """
    return _kept(make, layout) if tellable(make) else _draw(make, layout)


def tellable(make: Callable[[], Figure]) -> bool:
    """Can it be told from others: a function of a module, or a `functools.partial` of one?"""
    try:
        pickle.dumps(make)
    except (pickle.PicklingError, AttributeError, TypeError):
        return False
    return True


def _draw(make: Callable[[], Figure], layout: dict[str, Any]) -> Drawn:
    made = make()
    values = made if isinstance(made, dict) else made.to_dict()
    return Drawn({**values, "layout": {**values["layout"], **layout}})


_kept = kept(MOST, by=content)(_draw)
