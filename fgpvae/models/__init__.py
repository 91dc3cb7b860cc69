"""The models by name."""

from fgpvae.errors import require
from fgpvae.models.base import Model, ModelConfig, Terms
from fgpvae.models.fgpvae import FGPVAE, FGPVAEConfig
from fgpvae.models.gpvae import GPVAE, AmortisedGPVAE, GPVAEConfig
from fgpvae.models.inference import Calibration, Posterior
from fgpvae.models.svgpvae import SVGPVAE, AmortisedSVGPVAE, DeepSVGP, SVGPVAEConfig
from fgpvae.models.vae import CVAE, VAE

MODELS: dict[str, type[Model]] = {
    kind.name: kind
    for kind in (FGPVAE, VAE, CVAE, GPVAE, AmortisedGPVAE, SVGPVAE, AmortisedSVGPVAE, DeepSVGP)
}


def find(name: str) -> type[Model]:
    """The class of a model by its name."""
    known = ", ".join(MODELS)
    require(name in MODELS, f"There is no model '{name:.60}'; choose one of {known}.")
    return MODELS[name]


def build(config: ModelConfig) -> Model:
    """A model with fresh weights."""
    return find(config.name)(config)


__all__ = [
    "CVAE",
    "FGPVAE",
    "GPVAE",
    "MODELS",
    "SVGPVAE",
    "VAE",
    "AmortisedGPVAE",
    "AmortisedSVGPVAE",
    "Calibration",
    "DeepSVGP",
    "FGPVAEConfig",
    "GPVAEConfig",
    "Model",
    "ModelConfig",
    "Posterior",
    "SVGPVAEConfig",
    "Terms",
    "build",
    "find",
]
