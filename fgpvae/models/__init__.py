"""The models by name."""

from fgpvae.errors import UserError
from fgpvae.models.base import Model, ModelConfig, Terms
from fgpvae.models.cvae import CVAE
from fgpvae.models.fgpvae import FGPVAE, Posterior
from fgpvae.models.gpvae import GPVAE, AmortisedGPVAE
from fgpvae.models.vae import VAE

MODELS: dict[str, type[Model]] = {
    "fgpvae": FGPVAE,
    "vae": VAE,
    "cvae": CVAE,
    "gpvae": GPVAE,
    "gpvae-amortised": AmortisedGPVAE,
}


def build(config: ModelConfig) -> Model:
    """A model with fresh weights."""
    if config.name not in MODELS:
        known = ", ".join(MODELS)
        raise UserError(f"There is no model '{config.name:.60}'; choose one of {known}.")
    return MODELS[config.name](config)


__all__ = [
    "CVAE",
    "FGPVAE",
    "GPVAE",
    "MODELS",
    "VAE",
    "AmortisedGPVAE",
    "Model",
    "ModelConfig",
    "Posterior",
    "Terms",
    "build",
]
