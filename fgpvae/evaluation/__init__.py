"""Score models: the protocol of the benchmark, metrics, baselines, calibration, cards."""

from fgpvae.evaluation.latents import gp_share
from fgpvae.evaluation.protocol import (
    SPREAD_EACH,
    benchmark_tasks,
    cube_references,
    digit_references,
    evaluate,
    evaluate_cubes,
    evaluate_objects,
    sample_spread,
    score,
    task_mse,
    unseen_figures,
)
from fgpvae.evaluation.verdicts import verdict

__all__ = [
    "SPREAD_EACH",
    "baselines",
    "benchmark_tasks",
    "calibration",
    "card_pages",
    "cards",
    "comparison",
    "cube_references",
    "digit_references",
    "disentanglement",
    "evaluate",
    "evaluate_cubes",
    "evaluate_objects",
    "gp_share",
    "latents",
    "metrics",
    "protocol",
    "sample_spread",
    "score",
    "task_mse",
    "unseen_figures",
    "verdict",
]
