"""The moving ball, by the usual protocol: the error of the path in two channels.

Pearce (2019) and others after him: films of a white disc whose path is a draw from a Gaussian
process, 35 new ones every epoch, one hidden layer of 500 units, two channels, Bernoulli pixels.
With every channel local the FGP-VAE is Pearce's model.
"""

from typing import Any

import torch
from torch import Tensor

from fgpvae import models
from fgpvae.errors import UserError
from fgpvae.experiments.common import Experiment, spread
from fgpvae.gp import gaussian, randomness
from fgpvae.models import FGPVAE, FGPVAEConfig, Model, ModelConfig
from fgpvae.models.vae import kl_to_prior
from fgpvae.networks.standard import NetworkConfig

EPOCHS, TESTS = 2000, 10  # epochs of one step; batches of 35 test films
RATE = 1e-3
FILMS, FRAMES, SIZE = 35, 30, 32
RADIUS, LENGTH_SCALE, JITTER = 3.0, 2.0, 1e-5  # pixels, frames, variance
FARTHEST = 13.0  # pixels from the centre, reached at three standard deviations
TIMES = torch.linspace(-1, 1, FRAMES, dtype=torch.float64).expand(FILMS, -1)
NETWORK = NetworkConfig("dense", widths=(500,), shape=(1, SIZE, SIZE))
GP = FGPVAEConfig(
    latents=2,
    local=2,
    kernel="squared-exponential",
    length_scale=LENGTH_SCALE * 2 / (FRAMES - 1),
    network=NETWORK,
)
PLAIN = ModelConfig(latents=2, period=4.0, network=NETWORK)


def ball(experiment: Experiment) -> dict[str, Any]:
    """Squared error of the path, summed over a film, after one least-squares fit per batch."""
    epochs = EPOCHS
    for change in experiment.changes:
        name, _, value = change.partition("=")
        if name != "training.epochs" or not value.isdigit():
            raise UserError(f"The only setting of this experiment is training.epochs: '{change}'.")
        epochs = int(value)
    trained: dict[str, list[Model]] = {"fgpvae": [], "vae": []}
    for seed in range(experiment.seeds):
        for config in (GP, PLAIN):
            experiment.progress(f"training {config.name}, seed {seed}")
            trained[config.name].append(train(config, seed, epochs))
    rows = []
    for name, title, model_name, smooth in (
        ("fgpvae", "FGP-VAE, J = L = 2", "fgpvae", True),
        ("encoder", "its encoder alone, frame by frame", "fgpvae", False),
        ("vae", "VAE", "vae", False),
    ):
        errors = [path_error(model, smooth) for model in trained[model_name]]
        rows.append({"preset": name, "model": title, "path_error": spread(errors)})
    return experiment.provenance("ball") | {"rows": rows, "epochs": epochs, "tests": TESTS}


def random_paths(generator: torch.Generator) -> Tensor:
    """Paths [35, 30, 2] of unit variance."""
    frame = torch.arange(FRAMES, dtype=torch.float64)
    gram = torch.exp(-0.5 * ((frame[:, None] - frame) / LENGTH_SCALE).square())
    root = torch.linalg.cholesky(gram + JITTER * torch.eye(FRAMES, dtype=gram.dtype))
    return root @ randomness.normal((FILMS, FRAMES, 2), torch.float64, generator)


def films(paths: Tensor) -> Tensor:
    """Films [..., 32, 32] of paths [..., 2]: pixels are 0 or 1."""
    centre = SIZE / 2 + (paths / 3 * FARTHEST).clamp(-FARTHEST, FARTHEST)
    dx, dy = (torch.arange(SIZE, dtype=paths.dtype) - centre[..., None]).unbind(-2)
    return (dy[..., :, None].square() + dx[..., None, :].square() < RADIUS**2).float()


def train(config: ModelConfig, seed: int, epochs: int) -> Model:
    """Adam on minus the evidence lower bound with Bernoulli pixels; 35 new films a step."""
    torch.manual_seed(seed)
    model = models.build(config)
    optimizer = torch.optim.Adam(model.parameters(), RATE)
    generator = torch.Generator().manual_seed(seed)
    seen = torch.ones(TIMES.shape, dtype=torch.bool)
    for _ in range(epochs):
        images = films(random_paths(generator))
        mu, var = model.encode(images, TIMES, seen)
        if isinstance(model, FGPVAE):
            z, kl = model.posterior(mu, var, TIMES, seen).draw(generator)
        else:
            z, kl = gaussian.sample(mu, var, generator), kl_to_prior(mu, var)
        pixels = torch.nn.functional.binary_cross_entropy_with_logits(
            model.decode(z), images, reduction="sum"
        )
        loss = (pixels + kl.sum()) / FILMS
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model.eval()


@torch.no_grad()
def path_error(model: Model, smooth: bool) -> float:
    """Mean over test batches of Σ |path - codes W|² / 35; W is fitted to the whole batch.

    `smooth`: codes are posterior means of the GP; otherwise the encoder's means.
    """
    generator, errors = torch.Generator().manual_seed(2**31), []
    seen = torch.ones(TIMES.shape, dtype=torch.bool)
    for _ in range(TESTS):
        paths = random_paths(generator)
        images = films(paths)
        codes = model.encode(images, TIMES, seen)[0]
        if smooth:
            codes = model.infer(images, TIMES).mean(TIMES)
        codes, true = codes.double().flatten(0, 1), paths.flatten(0, 1)
        known = torch.cat([codes, torch.ones_like(codes[:, :1])], -1)
        left = true - known @ torch.linalg.lstsq(known, true).solution
        errors.append(float(left.square().sum()) / FILMS)
    return sum(errors) / TESTS
