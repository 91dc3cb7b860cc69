"""Ready-made configs, and functions that change their settings.

>>> from fgpvae import presets
>>> presets.preset("gpvae", ["model.latents=4"]).model.latents
4
"""

import json
import math
from collections.abc import Iterable
from dataclasses import fields, replace
from typing import Any

from fgpvae import models
from fgpvae.data.objects import Objects, trained_objects
from fgpvae.errors import UserError
from fgpvae.gp.kernels import PERIODIC
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
from fgpvae.networks.standard import NetworkConfig
from fgpvae.training.configs import (
    CUBES,
    FILMS,
    IMAGES,
    MNIST,
    MOST_IMAGES,
    MOST_NUMBERS,
    OBJECTS,
    DataConfig,
    RunConfig,
    TrainingConfig,
    from_dict,
    to_dict,
)
from fgpvae.training.objectives import ObjectiveConfig


def _told(
    latents: int,
    local: int,
    widths: tuple[int, ...],
    length_scale: float = 1.0,
    gated: bool = True,
    harmonics: int = 16,
    **network: Any,
) -> FGPVAEConfig:
    """The FGP-VAE with dense networks, a prior mean, and an encoder that gets the angle."""
    return FGPVAEConfig(
        latents=latents,
        local=local,
        amplitude=0.1,
        length_scale=length_scale,
        mean_function=True,
        network=NetworkConfig("dense", widths=widths, gated=gated, harmonics=harmonics, **network),
    )


_CUBES = _told(96, 16, (1024, 384), 0.5, shape=(1, 32, 32))
_SHUFFLED, _MORE_FIGURES = DataConfig("shuffled"), DataConfig(CUBES, "drawn", views=6, figures=4000)
_GECO = ObjectiveConfig("geco", kappa_squared=0.020)
_ELBO = ObjectiveConfig("elbo", pixel_variance=0.01)
_FALLING = TrainingConfig(200, learning_rate=3e-3, schedule="cosine")
_ONE_VIEW = replace(
    _FALLING,
    batch=48,
    warmup=100,
    clip=1e4,
    average=0.999,
    context_dropout=1.0,
    precision="bfloat16",
)
_SAMPLES = ObjectiveConfig("elbo", pixel_variance=0.02, conditional=True)
_MORE_EPOCHS = replace(_ONE_VIEW, learning_rate=2e-3, warmup=50, average=0.995, context_dropout=0.0)

OBJECT_STEPS = 5000  # steps of a run on own objects
OBJECT_IMAGES = 288  # images in a step of such a run


def _films(latents: int, widths: tuple[int, ...], source: str, epochs: int) -> RunConfig:
    """The FGP-VAE for films: two local channels for the path, whose kernel is learned."""
    return RunConfig(
        model=FGPVAEConfig(
            latents=latents,
            local=2,
            kernel="squared-exponential",
            length_scale=0.7,
            learn_kernel=True,
            style_dropout=True,
            network=NetworkConfig("dense", widths=widths, moving=True, shape=(1, 32, 32)),
        ),
        data=DataConfig(FILMS, source, classes=tuple(range(10)), views=6),
        objective=ObjectiveConfig("elbo", pixel_variance=0.002),
        training=replace(_ONE_VIEW, epochs=epochs, learning_rate=2e-3, precision="float32"),
    )


_PRESETS = {
    # Appendix A of the paper, except for the learning rate, which is 0.001 there: results/rates.md.
    # The weights are averaged because the last epoch is what is reported
    "paper": RunConfig(
        objective=_GECO,
        training=replace(_FALLING, epochs=1000, learning_rate=6e-3, average=0.995),
    ),
    "quick": RunConfig(
        model=_told(40, 8, (512, 256)),
        data=DataConfig(views=11, warp=1.0),
        objective=ObjectiveConfig("elbo", pixel_variance=0.015),
        training=replace(
            _FALLING, epochs=110, learning_rate=2e-3, average=0.99, context_dropout=0.5
        ),
    ),
    # the benchmark's threes, from many views or from one; see docs/tried.md
    "wide": RunConfig(
        model=_told(48, 8, (768, 256)),
        data=DataConfig(warp=1.0),
        objective=ObjectiveConfig("elbo", pixel_variance=0.012),
        training=replace(
            _FALLING,
            epochs=1500,
            learning_rate=2e-3,
            warmup=50,
            clip=1e4,
            average=0.998,
            context_dropout=0.5,
            precision="bfloat16",
        ),
    ),
    # all digits at all angles from one view: the model that the app starts with
    "best": RunConfig(
        model=_told(96, 16, (768, 384), 0.5, gated=False, product=True, recogniser=16),
        data=DataConfig("continuous", "openml", classes=tuple(range(10)), views=6),
        objective=ObjectiveConfig("elbo", pixel_variance=0.005),
        training=replace(_ONE_VIEW, epochs=66, recognition=16),
    ),
    # figures of cubes, from any side; see docs/cubes.md
    "cubes": RunConfig(
        model=_CUBES,
        data=_MORE_FIGURES,
        objective=ObjectiveConfig("elbo", pixel_variance=0.005),
        training=replace(_ONE_VIEW, epochs=110),
    ),
    # continues a run of `cubes`: teaches samples from few views to cover what is possible
    "cubes-samples": RunConfig(
        model=_CUBES,
        data=_MORE_FIGURES,
        objective=_SAMPLES,
        training=replace(_MORE_EPOCHS, start="runs/cubes", epochs=150),
    ),
    # continues a run of `cubes-samples` with one more block in the style encoder
    "cubes-deeper": RunConfig(
        model=replace(_CUBES, network=replace(_CUBES.network, residual=512)),
        data=_MORE_FIGURES,
        objective=_SAMPLES,
        training=replace(
            _MORE_EPOCHS, start="runs/cubes-samples", epochs=120, learning_rate=1.5e-3
        ),
    ),
    "cubes-quick": RunConfig(
        model=_told(64, 8, (768, 256), 0.5, shape=(1, 32, 32)),
        data=replace(_MORE_FIGURES, figures=0),
        objective=_ELBO,
        training=replace(_ONE_VIEW, epochs=12, average=0.99, precision="float32"),
    ),
    # films of things that move: the look is global, the path local; see docs/films.md
    "films": _films(66, (768, 384), "openml", epochs=10),
    "films-quick": _films(34, (512, 256), "embedded", epochs=50),
    # one's own objects; what depends on them is set by `for_objects`. A prior mean for what objects
    # share, and a wide Gaussian process for the rest
    "objects": RunConfig(
        model=replace(
            _told(20, 12, (384, 192), 0.3, harmonics=8),
            kernel="squared-exponential",
            amplitude=1.0,
        ),
        data=DataConfig(OBJECTS, "own"),
        objective=replace(_ELBO, learn_pixel_variance=True),
        training=replace(
            _FALLING,
            epochs=100,
            learning_rate=2e-3,
            warmup=20,
            average=0.99,
            context_dropout=0.7,
            weight_decay=0.01,
        ),
    ),
    # the baselines of the paper, on the data of the publication
    "vae": RunConfig(
        model=VAEConfig(),
        data=_SHUFFLED,
        objective=_ELBO,
        training=replace(_FALLING, epochs=120),
    ),
    "cvae": RunConfig(
        model=CVAEConfig(),
        data=replace(_SHUFFLED, validation=40),
        objective=_ELBO,
        training=TrainingConfig(200, validate_every=5, keep="best"),
    ),
    # as published: σ_y = 0.01 and the last epoch, though the error rises after epoch 20
    "cvae-published": RunConfig(
        model=CVAEConfig(),
        data=_SHUFFLED,
        objective=ObjectiveConfig("elbo", pixel_variance=1e-4),
        training=TrainingConfig(200),
    ),
    "gpvae": RunConfig(model=GPVAEConfig(), data=_SHUFFLED, objective=_ELBO, training=_FALLING),
    "gpvae-amortised": RunConfig(
        model=AmortisedGPVAEConfig(), data=_SHUFFLED, objective=_ELBO, training=_FALLING
    ),
    # the SVGP-VAE with the settings of its program and a bounded λ; batches of whole digits, about
    # 225 images instead of 256
    **{
        name: RunConfig(model=model, data=_SHUFFLED, objective=_GECO, training=TrainingConfig(1000))
        for name, model in {
            "svgpvae": SVGPVAEConfig(),
            "svgpvae-amortised": AmortisedSVGPVAEConfig(),
            "deep-svgp": DeepSVGPConfig(),
        }.items()
    },
}
PRESETS = {name: replace(config, preset=name) for name, config in _PRESETS.items()}
FIRST = ("quick", "paper", OBJECTS)  # shown first


def grouped() -> dict[str, list[str]]:
    """The other presets by collection, quick ones first, and baselines; none that need a run.

    >>> from fgpvae import presets
    >>> presets.grouped()["cubes"]
    ['cubes-quick', 'cubes']
    """
    groups: dict[str, list[str]] = {}
    for name, config in PRESETS.items():
        if name not in FIRST and not config.training.start:
            own = isinstance(config.model, FGPVAEConfig)
            groups.setdefault(config.data.collection if own else "baselines", []).append(name)
    return {group: sorted(names, key=lambda n: "quick" not in n) for group, names in groups.items()}


def preset(name: str, changes: Iterable[str] = (), **top: Any) -> RunConfig:
    """A preset with changes such as "model.latents=24" or "data.classes=[3,8]"."""
    if name not in PRESETS:
        raise UserError(f"There is no preset '{name}'; choose one of {', '.join(PRESETS)}.")
    return changed(PRESETS[name], changes, **top)


def for_objects(
    objects: Objects, source: str = "own", period: float = 0.0, kernel: str | None = None
) -> RunConfig:
    """The preset for one's own objects: their shape, their track, and a kernel that suits it.

    A step has about OBJECT_IMAGES images, whatever the number of views of an object, and a run has
    about OBJECT_STEPS steps; this determines the number of epochs.
    """
    base, track = PRESETS[OBJECTS], objects.track(period)
    assert isinstance(base.model, FGPVAEConfig)
    network = replace(base.model.network, shape=objects.shape)
    own = kernel or (PERIODIC if period else "")
    fitting: dict[str, Any] = {"kernel": own} if own else {}
    model = replace(base.model, network=network, **fitting)
    views = objects.most_views()
    most = min(MOST_IMAGES // views, MOST_NUMBERS // base.kind.numbers_in_a_step(model, 1, views))
    usual = round(OBJECT_IMAGES * len(objects.names) / len(objects.images))
    batch = max(1, min(base.training.batch, usual, most))
    batches = math.ceil(trained_objects(objects) / batch)  # steps of an epoch
    return replace(
        base,
        model=model,
        data=replace(base.data, source=source, views=views, track=track),
        training=replace(base.training, batch=batch, epochs=max(1, round(OBJECT_STEPS / batches))),
    )


def changed(config: RunConfig, changes: Iterable[str], **top: Any) -> RunConfig:
    """Change settings of a config, such as "model.latents=24", in order.

    Another model.name keeps the settings that both models have.
    """
    values = to_dict(config)
    for change in changes:
        path, equals, text = change.partition("=")
        if not equals or not put(values, path.strip(), _value(text.strip())):
            raise UserError(_no_setting(change, path, config))
    return replace(from_dict(RunConfig, values), **top)


def put(values: dict[str, Any], path: str, value: Any) -> bool:
    """Change a setting in the table of a config; False if there is none of that name.

    Another model.name keeps what both models have; another data.split brings its source and shape.
    """
    *parents, leaf = path.split(".")
    table: Any = values
    for parent in parents:
        table = table.get(parent) if isinstance(table, dict) else None
    if not isinstance(table, dict) or leaf not in table:
        return False
    if path == "model.name":
        fresh = to_dict(models.find(str(value)).Config())
        table = values["model"] = fresh | {k: v for k, v in table.items() if k in fresh}
    elif path == "data.split" and value != table[leaf]:
        table["source"], values["model"]["network"]["shape"] = IMAGES.get(value, MNIST)
    table[leaf] = value
    return True


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
