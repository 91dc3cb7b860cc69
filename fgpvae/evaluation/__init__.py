"""Score models: the protocol of the benchmark, metrics, baselines, calibration, cards."""

from fgpvae.evaluation.latents import gp_share
from fgpvae.evaluation.protocol import (
    benchmark_tasks,
    cube_references,
    evaluate,
    evaluate_cubes,
    evaluate_objects,
    task_mse,
    unseen_figures,
    verdict,
)

__all__ = [
    "benchmark_tasks",
    "cube_references",
    "evaluate",
    "evaluate_cubes",
    "evaluate_objects",
    "gp_share",
    "task_mse",
    "unseen_figures",
    "verdict",
]
