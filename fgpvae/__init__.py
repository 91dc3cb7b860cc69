"""Factorized Gaussian process variational autoencoders.

>>> import fgpvae
>>> model = fgpvae.load_pretrained("paper")
>>> task = fgpvae.data.extrapolation()
>>> images = model.generate(task.context.images, task.context.angles, task.at)
>>> images.shape
torch.Size([40, 1, 28, 28])
"""

from fgpvae import data, images
from fgpvae.checkpoints import load_pretrained, pretrained_names
from fgpvae.errors import UserError
from fgpvae.models import FGPVAE, Model, ModelConfig

__version__ = "0.1.0"
__all__ = [
    "FGPVAE",
    "Model",
    "ModelConfig",
    "UserError",
    "data",
    "images",
    "load_pretrained",
    "pretrained_names",
]
