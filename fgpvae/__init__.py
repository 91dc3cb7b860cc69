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

from fgpvae.errors import UserError as UserError

if TYPE_CHECKING:
    from fgpvae import data as data
    from fgpvae import images as images
    from fgpvae.browser.imagined import Imagined as Imagined
    from fgpvae.browser.imagined import imagine as imagine
    from fgpvae.evaluation.protocol import evaluate as evaluate
    from fgpvae.models import CVAE as CVAE
    from fgpvae.models import FGPVAE as FGPVAE
    from fgpvae.models import GPVAE as GPVAE
    from fgpvae.models import MODELS as MODELS
    from fgpvae.models import SVGPVAE as SVGPVAE
    from fgpvae.models import VAE as VAE
    from fgpvae.models import AmortisedGPVAE as AmortisedGPVAE
    from fgpvae.models import AmortisedSVGPVAE as AmortisedSVGPVAE
    from fgpvae.models import DeepSVGP as DeepSVGP
    from fgpvae.models import FGPVAEConfig as FGPVAEConfig
    from fgpvae.models import GPVAEConfig as GPVAEConfig
    from fgpvae.models import Model as Model
    from fgpvae.models import ModelConfig as ModelConfig
    from fgpvae.models import Posterior as Posterior
    from fgpvae.models import SVGPVAEConfig as SVGPVAEConfig
    from fgpvae.networks.standard import NetworkConfig as NetworkConfig
    from fgpvae.runs.checkpoints import load_pretrained as load_pretrained
    from fgpvae.runs.checkpoints import load_run as load_run
    from fgpvae.runs.checkpoints import pretrained_names as pretrained_names
    from fgpvae.training import presets as presets
    from fgpvae.training.configs import DataConfig as DataConfig
    from fgpvae.training.configs import RunConfig as RunConfig
    from fgpvae.training.configs import TrainingConfig as TrainingConfig
    from fgpvae.training.objectives import ObjectiveConfig as ObjectiveConfig
    from fgpvae.training.trainer import Trainer as Trainer

__version__ = "0.2.0"
_HOMES = {
    "browser.imagined": "Imagined imagine",
    "errors": "UserError",
    "evaluation.protocol": "evaluate",
    "models": "MODELS Model ModelConfig Posterior FGPVAE FGPVAEConfig VAE CVAE GPVAE GPVAEConfig "
    "AmortisedGPVAE SVGPVAE SVGPVAEConfig AmortisedSVGPVAE DeepSVGP",
    "networks.standard": "NetworkConfig",
    "runs.checkpoints": "load_pretrained load_run pretrained_names",
    "training.configs": "DataConfig RunConfig TrainingConfig",
    "training.objectives": "ObjectiveConfig",
    "training.trainer": "Trainer",
}
_HOME = {name: home for home, names in _HOMES.items() for name in names.split()}
_MODULES = {"data": "data", "images": "images", "presets": "training.presets"}
__all__ = sorted([*_HOME, *_MODULES])


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"fgpvae.{_MODULES[name]}")
    if name not in _HOME:
        raise AttributeError(f"module 'fgpvae' has no attribute '{name}'")
    return getattr(import_module(f"fgpvae.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return __all__
