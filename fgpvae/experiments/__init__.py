"""Experiments: one function per table or figure of the paper's section 4, and of docs/results.md.

Each takes an `Experiment` (seeds, directories of runs and results) and returns a plain dict, which
`report.write` writes as JSON, a Markdown table and a chart.
"""

from collections.abc import Callable
from typing import Any

from fgpvae.experiments import report
from fgpvae.experiments.ball import ball
from fgpvae.experiments.common import MODELS, Experiment
from fgpvae.experiments.disentanglement import disentanglement
from fgpvae.experiments.extrapolation import extrapolation
from fgpvae.experiments.films import films
from fgpvae.experiments.objects import objects
from fgpvae.experiments.one_view import one_view
from fgpvae.experiments.rates import rates
from fgpvae.experiments.scaling import scaling
from fgpvae.experiments.table1 import table1

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
