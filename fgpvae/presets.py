"""Ready-made configs, and how to change one from the command line or a page.

>>> from fgpvae import presets
>>> presets.preset("gpvae", ["model.latents=4"]).model.latents
4
"""

import dataclasses
import json
from collections.abc import Iterable
from dataclasses import fields
from typing import Any

from fgpvae import models
from fgpvae.configs import (
    CUBES,
    MOST_IMAGES,
    MOST_NUMBERS,
    OBJECTS,
    DataConfig,
    RunConfig,
    TrainingConfig,
    from_dict,
    to_dict,
)
from fgpvae.data.objects import Objects
from fgpvae.errors import UserError
from fgpvae.kernels import PERIODIC
from fgpvae.models import (
    AmortisedGPVAEConfig,
    AmortisedSVGPVAEConfig,
    CVAEConfig,
    DeepSVGPConfig,
    FGPVAEConfig,
    GPVAEConfig,
    SVGPVAEConfig,
    VAEConfig,
)
from fgpvae.networks import NetworkConfig
from fgpvae.objectives import ObjectiveConfig

_CUBES = FGPVAEConfig(
    latents=96,
    local=16,
    amplitude=0.1,
    length_scale=0.5,
    mean_function=True,
    network=NetworkConfig("dense", widths=(1024, 384), gated=True, harmonics=16, shape=(1, 32, 32)),
)

PRESETS: dict[str, RunConfig] = {
    # appendix A of the paper but for the rate, which is constant at 0.001 there: docs/tried.md.
    # The weights are averaged because the last epoch is what is reported
    "paper": RunConfig(
        preset="paper",
        objective=ObjectiveConfig("geco", kappa_squared=0.020),
        training=TrainingConfig(epochs=1000, learning_rate=3e-3, schedule="cosine", average=0.995),
    ),
    "quick": RunConfig(
        preset="quick",
        model=FGPVAEConfig(
            latents=40,
            local=8,
            amplitude=0.1,
            mean_function=True,
            network=NetworkConfig("dense", widths=(512, 256), gated=True, harmonics=16),
        ),
        data=DataConfig(views=11, warp=1.0),
        objective=ObjectiveConfig("elbo", pixel_variance=0.015),
        training=TrainingConfig(
            epochs=110,
            learning_rate=2e-3,
            schedule="cosine",
            average=0.99,
            context_dropout=0.5,
        ),
    ),
    # the benchmark's threes, from many views or from one; see docs/tried.md
    "wide": RunConfig(
        preset="wide",
        model=FGPVAEConfig(
            latents=48,
            local=8,
            amplitude=0.1,
            mean_function=True,
            network=NetworkConfig("dense", widths=(768, 256), gated=True, harmonics=16),
        ),
        data=DataConfig(warp=1.0),
        objective=ObjectiveConfig("elbo", pixel_variance=0.012),
        training=TrainingConfig(
            epochs=1500,
            learning_rate=2e-3,
            schedule="cosine",
            warmup=50,
            clip=1e4,
            average=0.998,
            context_dropout=0.5,
            precision="bfloat16",
        ),
    ),
    # every digit, every angle, one view: the model that the app starts with
    "best": RunConfig(
        preset="best",
        model=FGPVAEConfig(
            latents=96,
            local=16,
            amplitude=0.1,
            length_scale=0.5,
            mean_function=True,
            network=NetworkConfig(
                "dense", widths=(768, 384), product=True, harmonics=16, recogniser=16
            ),
        ),
        data=DataConfig("continuous", "openml", classes=tuple(range(10)), views=6),
        objective=ObjectiveConfig("elbo", pixel_variance=0.005),
        training=TrainingConfig(
            epochs=66,
            batch=48,
            learning_rate=3e-3,
            schedule="cosine",
            warmup=100,
            clip=1e4,
            average=0.999,
            context_dropout=1.0,
            recognition=16,
            precision="bfloat16",
        ),
    ),
    # figures of cubes, from any side; see docs/cubes.md
    "cubes": RunConfig(
        preset="cubes",
        model=_CUBES,
        data=DataConfig(CUBES, "drawn", views=6, figures=4000),
        objective=ObjectiveConfig("elbo", pixel_variance=0.005),
        training=TrainingConfig(
            epochs=110,
            batch=48,
            learning_rate=3e-3,
            schedule="cosine",
            warmup=100,
            clip=1e4,
            average=0.999,
            context_dropout=1.0,
            precision="bfloat16",
        ),
    ),
    # goes on from a run of `cubes`: samples from few views learn to be what is possible
    "cubes-samples": RunConfig(
        preset="cubes-samples",
        model=_CUBES,
        data=DataConfig(CUBES, "drawn", views=6, figures=4000),
        objective=ObjectiveConfig("elbo", pixel_variance=0.02, conditional=True),
        training=TrainingConfig(
            start="runs/cubes",
            epochs=40,
            batch=48,
            learning_rate=1e-3,
            schedule="cosine",
            warmup=50,
            clip=1e4,
            average=0.995,
            precision="bfloat16",
        ),
    ),
    "cubes-quick": RunConfig(
        preset="cubes-quick",
        model=FGPVAEConfig(
            latents=64,
            local=8,
            amplitude=0.1,
            length_scale=0.5,
            mean_function=True,
            network=NetworkConfig(
                "dense", widths=(768, 256), gated=True, harmonics=16, shape=(1, 32, 32)
            ),
        ),
        data=DataConfig(CUBES, "drawn", views=6),
        objective=ObjectiveConfig("elbo", pixel_variance=0.01),
        training=TrainingConfig(
            epochs=12,
            batch=48,
            learning_rate=3e-3,
            schedule="cosine",
            warmup=100,
            clip=1e4,
            average=0.99,
            context_dropout=1.0,
        ),
    ),
    # one's own objects; what depends on them is set by `for_objects`
    "objects": RunConfig(
        preset="objects",
        model=FGPVAEConfig(
            latents=20,
            local=4,
            amplitude=0.1,
            length_scale=0.5,
            mean_function=True,
            kernel="squared-exponential",
            network=NetworkConfig("dense", widths=(384, 192), gated=True, harmonics=8),
        ),
        data=DataConfig(OBJECTS, "own"),
        objective=ObjectiveConfig("elbo", pixel_variance=0.01, learn_pixel_variance=True),
        training=TrainingConfig(
            epochs=100,
            learning_rate=2e-3,
            schedule="cosine",
            warmup=20,
            average=0.99,
            context_dropout=0.7,
            weight_decay=0.01,
        ),
    ),
    # the baselines of the paper, on the data that they were published with
    "vae": RunConfig(
        preset="vae",
        model=VAEConfig(),
        data=DataConfig("shuffled"),
        objective=ObjectiveConfig("elbo", pixel_variance=0.01),
        training=TrainingConfig(epochs=120, learning_rate=3e-3, schedule="cosine"),
    ),
    "cvae": RunConfig(
        preset="cvae",
        model=CVAEConfig(),
        data=DataConfig("shuffled", validation=40),
        objective=ObjectiveConfig("elbo", pixel_variance=0.01),
        training=TrainingConfig(epochs=200, validate_every=5, keep="best"),
    ),
    # as published: σ_y = 0.01 and the last epoch, though it gets worse after the twentieth
    "cvae-published": RunConfig(
        preset="cvae-published",
        model=CVAEConfig(),
        data=DataConfig("shuffled"),
        objective=ObjectiveConfig("elbo", pixel_variance=1e-4),
        training=TrainingConfig(epochs=200),
    ),
    "gpvae": RunConfig(
        preset="gpvae",
        model=GPVAEConfig(),
        data=DataConfig("shuffled"),
        objective=ObjectiveConfig("elbo", pixel_variance=0.01),
        training=TrainingConfig(epochs=200, learning_rate=3e-3, schedule="cosine"),
    ),
    "gpvae-amortised": RunConfig(
        preset="gpvae-amortised",
        model=AmortisedGPVAEConfig(),
        data=DataConfig("shuffled"),
        objective=ObjectiveConfig("elbo", pixel_variance=0.01),
        training=TrainingConfig(epochs=200, learning_rate=3e-3, schedule="cosine"),
    ),
    # the strongest follower with the settings of its program, λ bounded; batches are of whole
    # digits, about 225 images in place of 256
    "svgpvae": RunConfig(
        preset="svgpvae",
        model=SVGPVAEConfig(),
        data=DataConfig("shuffled"),
        objective=ObjectiveConfig("geco", kappa_squared=0.020),
        training=TrainingConfig(epochs=1000),
    ),
    "svgpvae-amortised": RunConfig(
        preset="svgpvae-amortised",
        model=AmortisedSVGPVAEConfig(),
        data=DataConfig("shuffled"),
        objective=ObjectiveConfig("geco", kappa_squared=0.020),
        training=TrainingConfig(epochs=1000),
    ),
    "deep-svgp": RunConfig(
        preset="deep-svgp",
        model=DeepSVGPConfig(),
        data=DataConfig("shuffled"),
        objective=ObjectiveConfig("geco", kappa_squared=0.020),
        training=TrainingConfig(epochs=1000),
    ),
}


def preset(name: str, changes: Iterable[str] = (), **top: Any) -> RunConfig:
    """A preset with changes such as "model.latents=24" or "data.classes=[3,8]"."""
    if name not in PRESETS:
        raise UserError(f"There is no preset '{name}'; choose one of {', '.join(PRESETS)}.")
    return changed(PRESETS[name], changes, **top)


def for_objects(
    objects: Objects, source: str = "own", period: float = 0.0, kernel: str | None = None
) -> RunConfig:
    """The preset for one's own objects: their shape, their track, and a kernel that suits it."""
    base, track = PRESETS[OBJECTS], objects.track(period)
    network = dataclasses.replace(base.model.network, shape=objects.shape)
    fitting: dict[str, Any] = {"kernel": PERIODIC, "length_scale": 1.0} if period else {}
    fitting |= {"kernel": kernel} if kernel else {}
    model = dataclasses.replace(base.model, network=network, **fitting)
    views = objects.most_views()
    most = min(MOST_IMAGES // views, MOST_NUMBERS // base.kind.numbers_in_a_step(model, 1, views))
    batch = max(1, min(base.training.batch, most))
    return dataclasses.replace(
        base,
        model=model,
        data=dataclasses.replace(base.data, source=source, views=views, track=track),
        training=dataclasses.replace(base.training, batch=batch),
    )


def changed(config: RunConfig, changes: Iterable[str], **top: Any) -> RunConfig:
    """A config with settings such as "model.latents=24" changed, in their order.

    Another model.name keeps the settings that both models have.
    """
    values = to_dict(config)
    for change in changes:
        path, equals, text = change.partition("=")
        *parents, leaf = path.strip().split(".")
        table: Any = values
        for parent in parents:
            table = table.get(parent) if isinstance(table, dict) else None
        if not equals or not isinstance(table, dict) or leaf not in table:
            raise UserError(_no_setting(change, path, config))
        value = _value(text.strip())
        if path.strip() == "model.name":
            fresh = to_dict(models.find(str(value)).Config())
            values["model"] = fresh | {k: v for k, v in table.items() if k in fresh} | {leaf: value}
        else:
            table[leaf] = value
    return dataclasses.replace(from_dict(RunConfig, values), **top)


def _no_setting(change: str, path: str, config: RunConfig) -> str:
    every = {each.name for kind in models.MODELS.values() for each in fields(kind.Config)}
    if path.strip().removeprefix("model.") in every and "=" in change:
        return f"The {config.kind.title} has no setting '{path.strip()}'."
    return f"'{change}' does not name a setting; write for instance model.latents=24."


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text  # a bare word such as cosine
