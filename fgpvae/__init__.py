"""Factorized Gaussian process variational autoencoders.

>>> import fgpvae
>>> model = fgpvae.load_pretrained("paper")
>>> task = fgpvae.data.extrapolation()
>>> images = model.generate(task.context.images, task.context.angles, task.at)
>>> images.shape
torch.Size([40, 1, 28, 28])

Each name is imported on first use, so that using a model does not import the trainer.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from fgpvae.errors import UserError

if TYPE_CHECKING:
    from fgpvae import data, images
    from fgpvae.browser.imagined import Imagined, imagine
    from fgpvae.evaluation.protocol import evaluate
    from fgpvae.models import (
        CVAE,
        FGPVAE,
        GPVAE,
        MODELS,
        SVGPVAE,
        VAE,
        AmortisedGPVAE,
        AmortisedGPVAEConfig,
        AmortisedSVGPVAE,
        AmortisedSVGPVAEConfig,
        CVAEConfig,
        DeepSVGP,
        DeepSVGPConfig,
        FGPVAEConfig,
        GPVAEConfig,
        Model,
        ModelConfig,
        Posterior,
        SVGPVAEConfig,
        VAEConfig,
    )
    from fgpvae.networks.standard import NetworkConfig
    from fgpvae.runs.checkpoints import load_pretrained, load_run, pretrained_names
    from fgpvae.training import presets
    from fgpvae.training.configs import DataConfig, RunConfig, TrainingConfig
    from fgpvae.training.objectives import ObjectiveConfig
    from fgpvae.training.trainer import Trainer

__version__ = "0.2.0"
__all__ = [
    "CVAE",
    "FGPVAE",
    "GPVAE",
    "MODELS",
    "SVGPVAE",
    "VAE",
    "AmortisedGPVAE",
    "AmortisedGPVAEConfig",
    "AmortisedSVGPVAE",
    "AmortisedSVGPVAEConfig",
    "CVAEConfig",
    "DataConfig",
    "DeepSVGP",
    "DeepSVGPConfig",
    "FGPVAEConfig",
    "GPVAEConfig",
    "Imagined",
    "Model",
    "ModelConfig",
    "NetworkConfig",
    "ObjectiveConfig",
    "Posterior",
    "RunConfig",
    "SVGPVAEConfig",
    "Trainer",
    "TrainingConfig",
    "UserError",
    "VAEConfig",
    "data",
    "evaluate",
    "images",
    "imagine",
    "load_pretrained",
    "load_run",
    "presets",
    "pretrained_names",
]

_HOMES = {
    "Imagined": "browser.imagined",
    "imagine": "browser.imagined",
    "load_pretrained": "runs.checkpoints",
    "load_run": "runs.checkpoints",
    "pretrained_names": "runs.checkpoints",
    "DataConfig": "training.configs",
    "RunConfig": "training.configs",
    "TrainingConfig": "training.configs",
    "evaluate": "evaluation",
    "NetworkConfig": "networks.standard",
    "ObjectiveConfig": "training.objectives",
    "Trainer": "training.trainer",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'fgpvae' has no attribute '{name}'")
    if name in ("data", "images"):
        return import_module(f"fgpvae.{name}")
    if name == "presets":
        return import_module("fgpvae.training.presets")
    return getattr(import_module(f"fgpvae.{_HOMES.get(name, 'models')}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
