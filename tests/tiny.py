"""Runs that take a second, for the tests of the pages."""

from pathlib import Path

from fgpvae.runs import writer
from fgpvae.training.configs import RunConfig
from fgpvae.training.presets import preset

ROOT = Path(__file__).parent.parent


def config(*changes: str, epochs: int = 1) -> RunConfig:
    """The paper's networks with few channels."""
    small = ("model.latents=6", "model.local=3", f"training.epochs={epochs}", "training.batch=90")
    return preset("paper", (*small, *changes))


def train(root: Path, name: str, *changes: str, epochs: int = 1) -> Path:
    """A finished run, trained here and now."""
    for _ in writer.execute(root / name, config(*changes, epochs=epochs)):
        pass
    return root / name
