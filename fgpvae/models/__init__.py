"""The models by name."""

from fgpvae.errors import UserError
from fgpvae.models.base import Model, ModelConfig, Terms
from fgpvae.models.fgpvae import FGPVAE, Posterior

MODELS: dict[str, type[Model]] = {"fgpvae": FGPVAE}


def build(config: ModelConfig) -> Model:
    """A model with fresh weights."""
    if config.name not in MODELS:
        raise UserError(f"There is no model '{config.name}'; choose one of {', '.join(MODELS)}.")
    return MODELS[config.name](config)


__all__ = ["FGPVAE", "MODELS", "Model", "ModelConfig", "Posterior", "Terms", "build"]
