"""Experiments: one function per table or figure of the paper's section 4, and of docs/results.md.

Each takes an `Experiment` (seeds, directories of runs and results) and returns a plain dict, which
`report.write` writes as JSON, a Markdown table and a chart.
"""

from collections.abc import Callable
from typing import Any

from fgpvae.experiments import report
from fgpvae.experiments.ball import ball
from fgpvae.experiments.common import MODELS, Experiment
from fgpvae.experiments.digits import disentanglement, extrapolation, one_view
from fgpvae.experiments.scaling import scaling
from fgpvae.experiments.subjects import films, objects
from fgpvae.experiments.table1 import rates, table1

EXPERIMENTS: dict[str, Callable[[Experiment], dict[str, Any]]] = {
    "table1": table1,
    "extrapolation": extrapolation,
    "one-view": one_view,
    "rates": rates,
    "scaling": scaling,
    "disentanglement": disentanglement,
    "objects": objects,
    "films": films,
    "ball": ball,
}

__all__ = ["EXPERIMENTS", "MODELS", "Experiment", "report"]
