"""Figure 1b of the paper, cost and error against the number of digits; and cost against views."""

import timeit
from collections.abc import Callable
from typing import Any

import torch
from torch.distributions import MultivariateNormal

from fgpvae import data
from fgpvae.evaluation.metrics import fitted_exponent
from fgpvae.evaluation.protocol import task_mse
from fgpvae.experiments.common import Experiment, seconds_an_epoch, spread
from fgpvae.gp.kernels import Periodic
from fgpvae.gp.posterior import DensePosterior, FourierPosterior

DIGITS = ((45, 1), (90, 1), (180, 1), (360, 1), (720, 2), (1800, 5), (3600, 10))  # P, classes
CLASSES = (3, 8, 5, 2, 0, 1, 4, 6, 7, 9)
RATE = 0.003  # epochs of runs that are a tenth as long as the preset's
STEPS = 1800  # digits seen in every run, for any P: 100 epochs of 360 digits
VIEWS = (8, 16, 32, 64, 128, 256)
BLOCK = 20  # digits whose posterior is timed together


def scaling(experiment: Experiment) -> dict[str, Any]:
    """Times and errors by the number of digits, times by that of views, and their exponents."""
    by_digits: list[dict[str, Any]] = []
    for P, classes in DIGITS:
        chosen = CLASSES[:classes]
        changes = [
            f"data.classes={list(chosen)}",
            f"data.digits={P // classes}",
            f"training.epochs={max(STEPS * 20 // P, 1)}",
            f"training.learning_rate={RATE}",
        ]
        runs, models = experiment.trained("paper", changes, tag=f"-P{P}")
        task, epochs = data.extrapolation(chosen), runs[0].config.training.epochs
        times = spread([seconds_an_epoch(run) for run in runs])
        errors = spread([task_mse(model, task) for model in models])
        row = {"P": P, "classes": classes, "epochs": epochs, "seconds_an_epoch": times}
        by_digits.append(row | {"extrapolation_mse": errors})
    experiment.progress("timing posteriors")
    by_views = [_by_views(Q) for Q in VIEWS]
    seconds = [row["seconds_an_epoch"]["mean"] for row in by_digits]
    exponents = {"seconds_an_epoch_in_P": fitted_exponent([P for P, _ in DIGITS], seconds)}
    last = by_views[-4:]  # the largest sizes, close to the asymptote
    for path in ("dense", "fourier", "joint"):
        seconds = [row[path] for row in last]
        exponents[f"{path}_in_Q"] = fitted_exponent([row["Q"] for row in last], seconds)
    return experiment.provenance("scaling") | {
        "steps": STEPS,
        "by_digits": by_digits,
        "by_views": by_views,
        "exponents": exponents,
    }


def _by_views(Q: int) -> dict[str, float]:
    """Seconds for the posterior of 20 digits, one channel, forward and backward, at Q views each.

    dense and fourier: the factorised posterior; joint: one Gaussian over all 20 Q images, as the
    non-factorised model has, by Cholesky.
    """
    kernel, generator = Periodic(), torch.Generator().manual_seed(Q)
    w = 2 * torch.pi * torch.rand(BLOCK, Q, dtype=torch.float64, generator=generator)
    mu = torch.randn(BLOCK, Q, 1, dtype=torch.float64, generator=generator).requires_grad_()
    var = torch.full((BLOCK, Q, 1), 0.1, dtype=torch.float64).requires_grad_()
    observed = torch.ones(BLOCK, Q, dtype=torch.bool)
    style = torch.randn(BLOCK, 8, dtype=torch.float64, generator=generator)

    def factorised(path: type[DensePosterior | FourierPosterior]) -> None:
        posterior = path(kernel, w, mu, var, observed)
        mean, variance = posterior.at(w)
        (posterior.log_evidence.sum() + mean.sum() + variance.sum()).backward()

    def joint() -> None:
        alike = (style @ style.T).repeat_interleave(Q, 0).repeat_interleave(Q, 1)
        gram = kernel.gram(w.reshape(-1), w.reshape(-1))
        prior = MultivariateNormal(torch.zeros(BLOCK * Q), alike * gram + var.reshape(-1).diag())
        prior.log_prob(mu.reshape(-1)).backward()

    def seconds(action: Callable[[], None], repeats: int = 5) -> float:
        """The fastest of a few repeats, after one warm-up."""
        return min(timeit.repeat(action, number=1, repeat=repeats + 1)[1:])

    return {
        "Q": Q,
        "dense": seconds(lambda: factorised(DensePosterior)),
        "fourier": seconds(lambda: factorised(FourierPosterior)),
        "joint": seconds(joint, repeats=3 if Q < 128 else 1),
    }
