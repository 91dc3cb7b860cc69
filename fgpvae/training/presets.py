"""Ready-made configs, and functions that change their settings.

>>> from fgpvae import presets
>>> presets.preset("gpvae", ["model.latents=4"]).model.latents
4
"""

import json
import math
from collections.abc import Iterable
from dataclasses import asdict, fields, replace
from typing import Any

from fgpvae import models
from fgpvae.data.objects import Objects, trained_objects
from fgpvae.errors import UserError, require
from fgpvae.gp.kernels import PERIODIC
from fgpvae.models import FGPVAEConfig
from fgpvae.training.configs import (
    IMAGES,
    MNIST,
    MOST_IMAGES,
    MOST_NUMBERS,
    OBJECTS,
    RunConfig,
    from_dict,
)

OBJECT_STEPS = 5000  # steps of a run on own objects
OBJECT_IMAGES = 288  # images in a step of such a run

# what a preset changes of the defaults, in the language of --set
_FALLING = "training.epochs=200 training.learning_rate=3e-3 training.schedule=cosine"
_ELBO = "objective.name=elbo objective.pixel_variance=0.01"
_SHUFFLED = "data.split=shuffled"
_EVERY = "data.classes=[0,1,2,3,4,5,6,7,8,9] data.views=6"
# dense networks, a prior mean, and an encoder that gets the angle
_TOLD = """model.amplitude=0.1 model.mean_function=true
    model.network.kind=dense model.network.gated=true model.network.harmonics=16"""
_ONE_VIEW = f"""{_FALLING} {_ELBO} training.batch=48 training.warmup=100 training.clip=1e4
    training.average=0.999 training.context_dropout=1 training.precision=bfloat16"""
_QUICK = f"""{_TOLD} {_FALLING} {_ELBO} data.warp=1 model.latents=40
    model.network.widths=[512,256] objective.pixel_variance=0.015 training.epochs=110
    training.learning_rate=2e-3 training.average=0.99 training.context_dropout=0.5"""
_CUBES = f"""{_TOLD} {_ONE_VIEW} data.split=cubes data.views=6 data.figures=4000
    model.latents=96 model.local=16 model.length_scale=0.5 model.network.widths=[1024,384]
    objective.pixel_variance=0.005 training.epochs=110"""
_CUBES_SAMPLES = f"""{_CUBES} objective.pixel_variance=0.02 objective.conditional=true
    training.start=runs/cubes training.epochs=150 training.learning_rate=2e-3 training.warmup=50
    training.average=0.995 training.context_dropout=0"""
# two local channels for the path, whose kernel is learned; the look is global
_FILMS = f"""{_ONE_VIEW} {_EVERY} data.split=films data.source=openml
    model.latents=66 model.local=2 model.kernel=squared-exponential model.length_scale=0.7
    model.learn_kernel=true model.style_dropout=true model.network.kind=dense
    model.network.widths=[768,384] model.network.moving=true objective.pixel_variance=0.002
    training.epochs=10 training.learning_rate=2e-3 training.precision=float32"""
_SPARSE = f"{_SHUFFLED} training.epochs=1000"

_CHANGES = {
    # Appendix A of the paper, except for the learning rate, which is 0.001 there: results/rates.md.
    # The weights are averaged because the last epoch is what is reported
    "paper": f"{_FALLING} training.epochs=1000 training.learning_rate=6e-3 training.average=0.995",
    "quick": _QUICK,
    # the benchmark's threes, from many views or from one; see docs/tried.md
    "wide": f"""{_QUICK} model.latents=48 model.network.widths=[768,256]
        objective.pixel_variance=0.012 training.epochs=1500 training.warmup=50 training.clip=1e4
        training.average=0.998 training.precision=bfloat16""",
    # all digits at all angles from one view: the model that the app starts with
    "best": f"""{_TOLD} {_ONE_VIEW} {_EVERY} data.split=continuous data.source=openml
        model.latents=96 model.local=16 model.length_scale=0.5 model.network.widths=[768,384]
        model.network.gated=false model.network.product=true model.network.recogniser=16
        objective.pixel_variance=0.005 training.epochs=66 training.recognition=16""",
    # figures of cubes, from any side; see docs/cubes.md
    "cubes": _CUBES,
    # continues a run of `cubes`: teaches samples from few views to cover what is possible
    "cubes-samples": _CUBES_SAMPLES,
    # continues a run of `cubes-samples` with one more block in the style encoder
    "cubes-deeper": f"""{_CUBES_SAMPLES} model.network.residual=512
        training.start=runs/cubes-samples training.epochs=120 training.learning_rate=1.5e-3""",
    "cubes-quick": f"""{_CUBES} data.figures=0 model.latents=64 model.local=8
        model.network.widths=[768,256] objective.pixel_variance=0.01
        training.epochs=12 training.average=0.99 training.precision=float32""",
    # films of things that move: the look is global, the path local; see docs/films.md
    "films": _FILMS,
    "films-quick": f"""{_FILMS} data.source=embedded model.latents=34
        model.network.widths=[512,256] training.epochs=50""",
    # one's own objects; what depends on them is set by `for_objects`. A prior mean for what objects
    # share, and a wide Gaussian process for the rest
    "objects": f"""{_TOLD} {_FALLING} {_ELBO} data.split=objects data.source=own
        model.latents=20 model.local=12 model.kernel=squared-exponential model.amplitude=1
        model.length_scale=0.3 model.network.widths=[384,192] model.network.harmonics=8
        objective.learn_pixel_variance=true training.epochs=100 training.learning_rate=2e-3
        training.warmup=20 training.average=0.99 training.context_dropout=0.7
        training.weight_decay=0.01""",
    # the baselines of the paper, on the data of the publication
    "vae": f"model.name=vae {_SHUFFLED} {_ELBO} {_FALLING} training.epochs=120",
    "cvae": f"""model.name=cvae {_SHUFFLED} {_ELBO} data.validation=40
        training.epochs=200 training.validate_every=5 training.keep=best""",
    # as published: σ_y = 0.01 and the last epoch, though the error rises after epoch 20
    "cvae-published": f"""model.name=cvae {_SHUFFLED} {_ELBO} objective.pixel_variance=1e-4
        training.epochs=200""",
    "gpvae": f"model.name=gpvae {_SHUFFLED} {_ELBO} {_FALLING}",
    "gpvae-amortised": f"model.name=gpvae-amortised {_SHUFFLED} {_ELBO} {_FALLING}",
    # the SVGP-VAE with the settings of its program and a bounded λ; batches of whole digits, about
    # 225 images instead of 256
    "svgpvae": f"model.name=svgpvae {_SPARSE}",
    "svgpvae-amortised": f"model.name=svgpvae-amortised {_SPARSE}",
    "deep-svgp": f"model.name=deep-svgp {_SPARSE}",
}
FIRST = ("quick", "paper", OBJECTS)  # shown first


def grouped() -> dict[str, list[str]]:
    """The other presets by collection, quick ones first, and baselines; none that need a run."""
    groups: dict[str, list[str]] = {}
    for name, config in PRESETS.items():
        if name not in FIRST and not config.training.start:
            own = isinstance(config.model, FGPVAEConfig)
            groups.setdefault(config.data.collection if own else "baselines", []).append(name)
    return {group: sorted(names, key=lambda n: "quick" not in n) for group, names in groups.items()}


def preset(name: str, changes: Iterable[str] = (), **top: Any) -> RunConfig:
    """A preset with changes such as "model.latents=24" or "data.classes=[3,8]"."""
    known = ", ".join(PRESETS)
    require(name in PRESETS, f"There is no preset '{name}'; choose one of {known}.")
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
    kernel = kernel or (PERIODIC if period else base.model.kernel)
    model = replace(base.model, network=network, kernel=kernel)
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
    """Change settings of a config, such as "model.latents=24", in order."""
    values = asdict(config)
    for change in changes:
        path, equals, text = change.partition("=")
        path, text = path.strip(), text.strip()
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            value = text  # a bare word such as cosine
        if equals and put(values, path, value):
            continue
        every = {each.name for kind in models.MODELS.values() for each in fields(kind.Config)}
        elsewhere = equals and path.removeprefix("model.") in every
        require(not elsewhere, f"The {config.kind.title} has no setting '{path}'.")
        raise UserError(f"'{change}' does not name a setting; write for instance model.latents=24.")
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
        fresh = asdict(models.find(str(value)).Config())
        table = values["model"] = fresh | {k: v for k, v in table.items() if k in fresh}
    elif path == "data.split" and value != table[leaf]:
        table["source"], values["model"]["network"]["shape"] = IMAGES.get(value, MNIST)
    table[leaf] = value
    return True


PRESETS = {name: changed(RunConfig(), text.split(), preset=name) for name, text in _CHANGES.items()}
