"""Configs of models by name, for tests that go through all of them; random numbers by seed."""

from dataclasses import fields
from typing import Any

import torch

from fgpvae import models
from fgpvae.models import ModelConfig


def model_config(name: str = "fgpvae", **settings: Any) -> ModelConfig:
    """The config of a model, with those of the settings that it has."""
    kind = models.find(name).Config
    own = {field.name for field in fields(kind)}
    return kind(name=name, **{key: value for key, value in settings.items() if key in own})


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)
