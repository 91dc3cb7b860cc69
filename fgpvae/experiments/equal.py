"""Equal terms: the same images, epochs and averaging, with rate and schedule chosen in one way."""

from typing import Any

from fgpvae.experiments.common import MODELS, Entry, Experiment
from fgpvae.experiments.rates import choose, rate_changes
from fgpvae.runs import Run

EPOCHS = 100
ALONE = "-equal"  # after the name of a model that is asked for in this block only
CHOICE_SEEDS = (0,)  # of the runs that rate and schedule are chosen by
SAME = (
    "data.split=shuffled",
    "data.validation=0",
    "data.warp=0",
    "training.average=0.995",
    "training.keep=last",
)

ENTRIES = {
    entry.name: entry
    for entry in (
        Entry("vae", "vae"),
        Entry("cvae", "cvae"),
        Entry("gpvae", "gpvae"),
        Entry("gpvae-amortised", "gpvae-amortised"),
        Entry("svgpvae", "svgpvae"),
        Entry("svgpvae-amortised", "svgpvae-amortised"),
        Entry("deep-svgp", "deep-svgp"),
        Entry("paper", "paper"),
        Entry("dense", "quick", ("model.network.harmonics=0",)),
        Entry("told", "quick"),
    )
}


def asked(experiment: Experiment) -> list[str]:
    """The names of the entries that are asked for: all, by their preset, or alone as NAME-equal."""
    if experiment.models == MODELS:
        return list(ENTRIES)
    by_preset = {e.name for e in ENTRIES.values() if e.preset in experiment.models}
    return [
        name
        for name, entry in ENTRIES.items()
        if f"{name}{ALONE}" in experiment.models or (name in by_preset and not entry.changes)
    ]


def asked_as_published(experiment: Experiment) -> list[str]:
    """The presets that are asked for with their own settings."""
    alone = {f"{name}{ALONE}" for name in ENTRIES}
    return [name for name in experiment.models if name not in alone]


def choice(experiment: Experiment, entry: Entry) -> dict[str, Any]:
    """The rate and schedule of a model, and what else was tried."""
    whole = (f"training.epochs={EPOCHS}", f"training.validate_every={EPOCHS}")
    changes = (*SAME, *entry.changes, *whole)
    return choose(experiment, f"{entry.name}-equal", entry.preset, changes, CHOICE_SEEDS)


def run(experiment: Experiment, entry: Entry, chosen: dict[str, Any], seed: int) -> Run:
    """The finished run with the rate and schedule that were chosen."""
    rate = rate_changes(chosen["schedule"], chosen["rate"])
    changes = (*SAME, *entry.changes, f"training.epochs={EPOCHS}", *rate)
    return experiment.run(entry.preset, seed, changes, f"-{entry.name}-equal")
