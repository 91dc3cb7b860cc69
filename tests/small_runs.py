"""Runs with fresh weights, one for each kind of model, for pages to choose from."""

from pathlib import Path

import torch

from fgpvae import models
from fgpvae.checkpoints import WEIGHTS, save_config, save_model
from fgpvae.configs import DataConfig, RunConfig
from fgpvae.data import TRAIN_DIGITS
from fgpvae.evaluation import training_views
from fgpvae.models import FGPVAEConfig
from fgpvae.networks import NetworkConfig
from tests.configs import model_config

DENSE = NetworkConfig("dense", widths=(64,))
CONFIGS = {
    "turning": FGPVAEConfig(latents=12, local=4, amplitude=0.3, mean_function=True, network=DENSE),
    "vae": model_config("vae", latents=8, network=DENSE),
    "cvae": model_config("cvae", latents=8, network=DENSE),
    "gpvae": model_config("gpvae", latents=8, digit_rank=2, network=DENSE),
    "gpvae-amortised": model_config("gpvae-amortised", latents=8, digit_rank=2),
}


def make(
    root: Path, *names: str, classes: tuple[int, ...] = (3, 7), digits: int = TRAIN_DIGITS
) -> None:
    """Put runs of these names (all of them if there are none) below a directory."""
    for name in names or CONFIGS:
        torch.manual_seed(0)
        config = RunConfig(model=CONFIGS[name], data=DataConfig(classes=classes, digits=digits))
        model = models.build(config.model)
        views = training_views(config.data, config.seed)
        model.prepare(lambda v=views: v)
        model.eval().condition(lambda v=views: v)
        path = root / name
        path.mkdir(parents=True)
        save_config(config, path)
        save_model(model, path / WEIGHTS)
