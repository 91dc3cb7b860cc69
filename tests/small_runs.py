"""Runs with fresh weights, one for each kind of model, for pages to choose from."""

from pathlib import Path

import numpy as np
import torch

from fgpvae import models
from fgpvae.data import TRAIN_DIGITS, object_files
from fgpvae.data.objects import Objects
from fgpvae.models import FGPVAEConfig
from fgpvae.networks.standard import NetworkConfig
from fgpvae.runs.checkpoints import OBJECTS_FILE, WEIGHTS, save_config, save_model
from fgpvae.training import presets
from fgpvae.training.batches import training_views
from fgpvae.training.configs import DataConfig, RunConfig
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


def bars() -> Objects:
    """Ten objects with eight views each: a bar whose place is the view and whose height differs."""
    images = np.zeros((80, 12, 12), np.uint8)
    for n in range(80):
        images[n, : 3 + n // 10, n % 8 + 2] = 255
    views, index = np.tile(np.arange(8.0), 10), np.repeat(np.arange(10), 8)
    return Objects(images, index, views, tuple(f"bar {p}" for p in range(10)))


def own_objects(path: Path) -> None:
    """Put a run with fresh weights on bars into a directory."""
    objects = bars()
    config = presets.for_objects(objects, "bars", 0.0, None)
    path.mkdir(parents=True)
    (path / OBJECTS_FILE).write_bytes(object_files.pack(objects))
    torch.manual_seed(0)
    save_config(config, path)
    save_model(models.build(config.model).eval(), path / WEIGHTS)
