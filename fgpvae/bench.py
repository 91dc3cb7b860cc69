"""Speed on this machine, in one run: what `python -m fgpvae bench` prints."""

import json
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import torch

from fgpvae import data, evaluation, sparse
from fgpvae.batches import FixedViews, random_generator
from fgpvae.checkpoints import PRETRAINED, load_model, pretrained_names
from fgpvae.data import Views, rotate_fast
from fgpvae.kernels import Periodic
from fgpvae.memory import peak_mb
from fgpvae.metrics import fitted_exponent
from fgpvae.models import FGPVAE, FGPVAEConfig, build
from fgpvae.posterior import FourierPosterior
from fgpvae.presets import PRESETS
from fgpvae.training import Trainer
from fgpvae.training_data import build_source

INDUCING = (32, 128, 256, 512)  # M, at 225 images
BATCHES = (225, 900, 3600)  # b, at 32 inducing points
VIEWS = (8, 16, 64, 128, 256, 512)  # Q
PUBLISHED_MSE = 0.0284  # on the test views, of the paper's FGP-VAE
PUBLISHED_SECONDS = 1.6  # an epoch of the published program, timed once on two cores elsewhere


def seconds_an_epoch(views: Views, batch: int, epochs: int = 3) -> float:
    """Median over epochs, with the paper's networks, after one epoch to warm up."""
    config = PRESETS["paper"]
    config = replace(config, training=replace(config.training, batch=batch))
    source = FixedViews(views, batch, config.seed)
    trainer = Trainer(config, source)
    times = []
    for _ in range(epochs + 1):
        started = time.perf_counter()
        for _ in range(source.steps):
            trainer.advance()
        times.append(time.perf_counter() - started)
    return sorted(times[1:])[epochs // 2]


def share_outside_networks(views: Views, steps: int = 40) -> float:
    """Share of a training step that is not spent in the encoder or the decoder.

    The networks' own time is that of the same forward and backward passes alone, in the same run.
    """
    config = PRESETS["paper"]
    trainer = Trainer(config, FixedViews(views, config.training.batch, 0))
    model = trainer.model
    encoder, decoder = model.get_submodule("encoder"), model.get_submodule("decoder")
    images = trainer.source.batch(0).images.reshape(-1, 1, 28, 28)
    z = torch.randn(len(images), config.model.latents, requires_grad=True)

    def networks() -> None:
        mean, var = encoder(images)
        (mean.sum() + var.sum()).backward()
        (decoder(z) - images).square().sum().backward()

    whole, alone = [], []
    for _ in range(steps):  # taken in turn, so that both see the same machine
        whole.append(_timed(trainer.advance))
        alone.append(_timed(networks))
    middle = steps // 2
    return 1 - sorted(alone)[middle] / sorted(whole)[middle]


def share_of_gp(views: Views, steps: int = 40) -> float:
    """Share of the processor time of a training step that is the Gaussian processes'.

    That is their posterior from encodings, a sample of it and the KL divergence, with the gradient.
    """
    config = PRESETS["paper"]
    trainer = Trainer(config, FixedViews(views, config.training.batch, 0))
    model, batch = trainer.model, trainer.source.batch(0)
    assert isinstance(model, FGPVAE)
    with torch.no_grad():
        encoded = model.encode(batch.images, batch.angles, batch.observed)
    mu, var = (each.requires_grad_() for each in encoded)
    by_z, by_kl = torch.ones_like(mu), torch.ones(len(batch), dtype=torch.float64)

    def processes() -> None:
        generator = random_generator(config.seed, 2, trainer.step)
        z, kl = model.draw(mu, var, batch.angles, batch.observed, generator)
        torch.autograd.grad([z, kl], [mu, var], [by_z, by_kl])

    whole, alone = [], []
    for _ in range(steps):  # taken in turn, so that both see the same machine
        whole.append(_timed(trainer.advance, time.process_time))
        alone.append(_timed(processes, time.process_time))
    middle = steps // 2
    return sorted(alone)[middle] / sorted(whole)[middle]


def seconds_until_published(preset: str, most: int | None = None, every: int = 5) -> float | None:
    """Processor seconds of training until the test error is below the paper's, if it ever is.

    It is looked at after every few epochs, up to the most; to look is not counted.
    """
    config = PRESETS[preset]
    trainer = Trainer(config, build_source(config)[0])
    task = evaluation.protocol(config.data, config.seed)["test_mse"]
    spent, epochs = 0.0, min(most or config.training.epochs, config.training.epochs)
    for done in range(0, epochs, every):
        for _ in range(min(every, epochs - done) * trainer.source.steps):
            spent += _timed(trainer.advance, time.process_time)
        scores = evaluation.score(trainer.result(), {"test_mse": task})
        if scores["test_mse"].mse < PUBLISHED_MSE:
            return spent
    return None


def many_views(Q: int, images: int = 4096) -> Views:
    """As many digits as give `images` images at Q angles; a digit has from half of them to all."""
    digits = data.embedded()
    rows = torch.arange(max(images // Q, 1)) % len(digits.labels)
    angles = torch.rand(len(rows), Q, dtype=torch.float64) * 2 * torch.pi
    turned = rotate_fast(torch.as_tensor(digits.images)[rows], angles)
    observed = torch.arange(Q) < torch.randint((Q + 1) // 2, Q + 1, (len(rows), 1))
    turned *= observed[..., None, None]
    return Views(turned, angles, observed, rows, torch.full((len(rows),), 3))


def peak_memory_by_views(views: tuple[int, ...] = VIEWS) -> dict[int, float]:
    """MB that the posterior of 20 digits, 8 channels, needs with its gradient at Q views.

    In a process of its own, whose peak is read after each Q, so they have to ascend.
    """
    command = [sys.executable, "-c", f"from fgpvae import bench; bench._print_peaks({views})"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    before, *peaks = json.loads(done.stdout)
    return {Q: peak - before for Q, peak in zip(views, peaks, strict=True)}


def _print_peaks(views: tuple[int, ...]) -> None:
    peaks = []
    for Q in (views[0], *views):  # once more at first, for all that is loaded on the way
        mu = torch.zeros(20, Q, 8, requires_grad=True)
        var = torch.full((20, Q, 8), 0.1, requires_grad=True)
        w = torch.rand(20, Q, dtype=torch.float64)
        observed = torch.arange(Q) < torch.randint((Q + 1) // 2, Q + 1, (20, 1))
        mean, v, kl = FourierPosterior(Periodic(), w, mu, var, observed).at_views()
        (mean.sum() + v.sum() + kl.sum()).backward()
        peaks.append(peak_mb())
    print(json.dumps(peaks))


def sparse_seconds(M: int, images: int, latents: int = 4, repeats: int = 2) -> float:
    """Processor seconds of a sparse GP on b images, forward and backward: O(M³ + bM²) a channel."""
    kernel, generator = Periodic(), torch.Generator().manual_seed(0)

    def drawn(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, dtype=torch.float64, generator=generator).requires_grad_()

    d, w, mu = drawn(images, 8), drawn(images), drawn(images, latents)
    inducing, angles = drawn(M, 8), drawn(M)

    def step() -> None:
        C = sparse.factor((inducing @ inducing.mT) * kernel.gram(angles, angles))
        phi = sparse.features((d @ inducing.mT) * kernel.gram(w, angles), C)
        told = sparse.information(phi, mu, torch.full_like(mu, 10.0))
        q = sparse.InducingPosterior.given(*told)
        mean, var = q.at(phi, d.square().sum(-1))
        (mean.sum() + var.sum() + q.kl()).backward()

    step()
    times = []
    for _ in range(repeats):
        started = time.process_time()
        step()
        times.append(time.process_time() - started)
    return min(times)


def images_a_second(repeats: int = 5) -> float:
    """Generation: 40 digits from 11 views at 64 angles each, encoder, GP and decoder included."""
    model = build(FGPVAEConfig()).eval()
    task = data.extrapolation()
    at = torch.linspace(0, 6.28, 64, dtype=torch.float64).expand(len(task), -1)
    context = task.context

    def generate() -> None:
        model.generate(context.images, context.angles, at, context.observed)

    generate()
    return at.numel() / min(_timed(generate) for _ in range(repeats))


def import_seconds() -> float:
    code = "import time; t = time.perf_counter(); import fgpvae; print(time.perf_counter() - t)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return float(done.stdout)


def load_seconds() -> dict[str, float]:
    files = {name: PRETRAINED / f"{name}.safetensors" for name in pretrained_names()}
    return {name: _timed(partial(load_model, path)) for name, path in files.items()}


def bench(
    progress: Callable[[str], None] = lambda what: None, learning: bool = True
) -> dict[str, Any]:
    """All figures of the bench, each measured anew; those of learning take minutes."""
    views = data.factorized()
    result: dict[str, Any] = {"threads": torch.get_num_threads()}
    progress("an epoch with the paper's networks")
    epoch = seconds_an_epoch(views, 20)
    result["seconds_an_epoch"] = epoch
    result["times_faster_than_published_timed_elsewhere"] = PUBLISHED_SECONDS / epoch
    progress("the share outside the networks")
    result["share_outside_networks"] = share_outside_networks(views)
    result["share_of_gp"] = share_of_gp(views)
    progress("generation")
    result["generated_images_a_second"] = images_a_second()
    result["import_seconds"] = import_seconds()
    result["load_seconds"] = load_seconds()
    result["seconds_an_epoch_by_P"] = {}
    for P in (90, 180, 360):
        progress(f"{P} digits")
        result["seconds_an_epoch_by_P"][P] = seconds_an_epoch(views[:P], 20)
    result["milliseconds_an_image_by_Q"] = {}
    for Q in VIEWS:
        progress(f"{Q} views a digit")
        many = many_views(Q)
        seconds = seconds_an_epoch(many, max(512 // Q, 1))
        result["milliseconds_an_image_by_Q"][Q] = 1000 * seconds / int(many.observed.sum())
    by_q = result["milliseconds_an_image_by_Q"]
    result["cost_of_an_image_at_256_over_16"] = by_q[256] / by_q[16]
    progress("sparse Gaussian processes")
    by_m = result["sparse_seconds_by_M"] = {M: sparse_seconds(M, BATCHES[0]) for M in INDUCING}
    by_b = result["sparse_seconds_by_b"] = {b: sparse_seconds(32, b) for b in BATCHES}
    large_m = INDUCING[-2:]
    result["exponent_of_sparse_seconds_in_M"] = fitted_exponent(large_m, [by_m[M] for M in large_m])
    result["exponent_of_sparse_seconds_in_b"] = fitted_exponent(BATCHES, list(by_b.values()))
    progress("memory of many views")
    memory = result["posterior_mb_by_Q"] = peak_memory_by_views()
    # a digit's cost is that of Q images: linear in Q is an exponent of 1
    result["exponent_of_seconds_in_Q"] = fitted_exponent(VIEWS, [Q * by_q[Q] for Q in VIEWS])
    large = VIEWS[-3:]  # of less the allocator says little
    result["exponent_of_memory_in_Q"] = fitted_exponent(large, [memory[Q] for Q in large])
    if learning:
        result["cpu_seconds_until_published_mse"] = {}
        for preset in ("quick", "paper"):
            progress(f"until {preset} is better than the paper")
            result["cpu_seconds_until_published_mse"][preset] = seconds_until_published(preset)
    return result


def _timed(action: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    started = clock()
    action()
    return clock() - started
