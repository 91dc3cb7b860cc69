"""The models by name."""

from fgpvae.errors import UserError
from fgpvae.models.base import Model, ModelConfig, Terms
from fgpvae.models.cvae import CVAE, CVAEConfig
from fgpvae.models.fgpvae import FGPVAE, FGPVAEConfig
from fgpvae.models.gpvae import GPVAE, AmortisedGPVAE, AmortisedGPVAEConfig, GPVAEConfig
from fgpvae.models.inference import Calibration, Posterior
from fgpvae.models.svgpvae import (
    SVGPVAE,
    AmortisedSVGPVAE,
    AmortisedSVGPVAEConfig,
    DeepSVGP,
    DeepSVGPConfig,
    SVGPVAEConfig,
)
from fgpvae.models.vae import VAE, VAEConfig

MODELS: dict[str, type[Model]] = {
    "fgpvae": FGPVAE,
    "vae": VAE,
    "cvae": CVAE,
    "gpvae": GPVAE,
    "gpvae-amortised": AmortisedGPVAE,
    "svgpvae": SVGPVAE,
    "svgpvae-amortised": AmortisedSVGPVAE,
    "deep-svgp": DeepSVGP,
}


def find(name: str) -> type[Model]:
    """The class of a model by its name."""
    if name not in MODELS:
        known = ", ".join(MODELS)
        raise UserError(f"There is no model '{name:.60}'; choose one of {known}.")
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
    "AmortisedGPVAEConfig",
    "AmortisedSVGPVAE",
    "AmortisedSVGPVAEConfig",
    "CVAEConfig",
    "Calibration",
    "DeepSVGP",
    "DeepSVGPConfig",
    "FGPVAEConfig",
    "GPVAEConfig",
    "Model",
    "ModelConfig",
    "Posterior",
    "SVGPVAEConfig",
    "Terms",
    "VAEConfig",
    "build",
    "find",
]
