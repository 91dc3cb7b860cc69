"""Speed on this machine, in one run: what `python -m fgpvae bench` prints."""

import timeit
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from statistics import median
from typing import Any

import torch

from fgpvae import data
from fgpvae.data import Views, rotate_fast
from fgpvae.evaluation.metrics import fitted_exponent
from fgpvae.gp.kernels import Periodic
from fgpvae.gp.posterior import FourierPosterior
from fgpvae.runs.memory import peak_mb
from fgpvae.training.batches import FixedViews
from fgpvae.training.presets import PRESETS
from fgpvae.training.trainer import Trainer

VIEWS = (8, 16, 64, 128, 256, 512)  # Q


def seconds_an_epoch(views: Views, batch: int) -> float:
    """Median of three epochs, with the paper's networks, after one epoch to warm up."""
    paper = PRESETS["paper"]
    config = replace(paper, training=replace(paper.training, batch=batch))
    source = FixedViews(views, batch, config.seed)
    trainer = Trainer(config, source)
    return median(timeit.repeat(trainer.advance, number=source.steps, repeat=4)[1:])


def many_views(Q: int) -> Views:
    """Digits at Q angles, 4096 images in all; each digit has from half of its views to all."""
    digits = data.embedded()
    rows = torch.arange(4096 // Q) % len(digits.labels)
    angles = torch.rand(len(rows), Q, dtype=torch.float64) * 2 * torch.pi
    turned = rotate_fast(torch.as_tensor(digits.images)[rows], angles)
    observed = torch.arange(Q) < torch.randint((Q + 1) // 2, Q + 1, (len(rows), 1))
    turned *= observed[..., None, None]
    return Views(turned, angles, observed, rows, torch.full((len(rows),), 3))


def _peaks() -> list[float]:
    """Peak MB of this process after the posterior of 20 digits, with its gradient, at Q views."""
    peaks = []
    for Q in (VIEWS[0], *VIEWS):  # the first one twice, to exclude what is loaded; ascending
        mu = torch.zeros(20, Q, 8, requires_grad=True)
        var = torch.full((20, Q, 8), 0.1, requires_grad=True)
        w = torch.rand(20, Q, dtype=torch.float64)
        observed = torch.arange(Q) < torch.randint((Q + 1) // 2, Q + 1, (20, 1))
        mean, v, kl = FourierPosterior(Periodic(), w, mu, var, observed).at_views()
        (mean.sum() + v.sum() + kl.sum()).backward()
        peaks.append(peak_mb())
    return peaks


def bench(progress: Callable[[str], None] = lambda what: None) -> dict[str, Any]:
    """Time of an epoch, and time and memory by the number of views."""
    progress("an epoch with the paper's networks")
    epoch = seconds_an_epoch(data.factorized(), 20)
    by_q = {}
    for Q in VIEWS:
        progress(f"{Q} views a digit")
        many = many_views(Q)
        by_q[Q] = 1000 * seconds_an_epoch(many, max(512 // Q, 1)) / int(many.observed.sum())
    progress("memory of many views")
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        before, *peaks = pool.submit(_peaks).result()
    memory = {Q: peak - before for Q, peak in zip(VIEWS, peaks, strict=True)}
    large = VIEWS[-3:]  # smaller ones are dominated by the allocator
    return {
        "threads": torch.get_num_threads(),
        "seconds_an_epoch": epoch,
        "milliseconds_an_image_by_Q": by_q,
        "posterior_mb_by_Q": memory,
        # a digit's cost is that of Q images: linear in Q is an exponent of 1
        "exponent_of_seconds_in_Q": fitted_exponent(VIEWS, [Q * by_q[Q] for Q in VIEWS]),
        "exponent_of_memory_in_Q": fitted_exponent(large, [memory[Q] for Q in large]),
    }
