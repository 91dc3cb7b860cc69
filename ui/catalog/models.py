"""The models that a page can show: shipped models and the user's runs."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import streamlit as st

import fgpvae
from fgpvae import runs
from fgpvae.data.collections import COLLECTIONS, Collection
from fgpvae.errors import UserError
from fgpvae.models import MODELS
from fgpvae.runs import Run, checkpoints, queue
from fgpvae.training.batches import collection_of
from fgpvae.training.configs import OBJECTS, RunConfig
from ui.shell import frame, query_params

BEST = "best"  # the model that pages start with, if it exists
BASELINES = ("best", "cvae", "gpvae", "cubes", "films")  # shipped models that Compare starts with
GROUPS = {OBJECTS: "Objects"} | {split: each.group for split, each in COLLECTIONS.items()}
OWN = "runs/"  # prefix of the names of runs
MOST = 12  # models in memory

LINES = {  # one line on each shipped model and the preset of the same name
    "best": "FGP-VAE for all ten digits; one view is enough for it.",
    "paper": "The paper's small FGP-VAE, for threes.",
    "wide": "FGP-VAE with larger networks, for threes.",
    "cvae": "CVAE for threes: the angle is an input of its networks.",
    "vae": "Plain VAE for threes; it encodes every image on its own.",
    "gpvae": "GP-VAE of Casale et al.; it knows only its training threes.",
    "svgpvae": "SVGP-VAE of Jazbec et al.; it knows only its training threes.",
    "gpvae-amortised": "GP-VAE that takes new threes (appendix C of the paper), but wants many "
    "views of them.",
    "svgpvae-amortised": "SVGP-VAE that takes new threes, but wants many views of them.",
    "deep-svgp": "The process and decoder of the SVGP-VAE, without an encoder.",
    "films": "FGP-VAE for films: the look is global, the path a Gaussian process.",
    "cubes": "FGP-VAE for figures of cubes, which no rotation can turn.",
}


@dataclass(frozen=True)
class Choice:
    """A model by name; hashable, so that cached functions can take it as an argument."""

    name: str  # in the picker and in links: "best", "runs/my-run"
    path: Path  # the weights file
    version: float  # changes when the weights do

    @property
    def own(self) -> bool:
        return self.name.startswith(OWN)

    # st.cache_resource takes 0.3 ms for a key, and a page asks for these two hundreds of times
    @property
    @lru_cache(maxsize=64)  # noqa: B019 (few choices exist, and they are small)
    def config(self) -> RunConfig:
        if self.own:
            return checkpoints.load_config(self.path.parent)
        return checkpoints.shipped_config(self.name)

    @property
    def line(self) -> str:
        """Describe the model in one line."""
        if not self.own and self.name in LINES:
            return LINES[self.name]
        what = self.collection.words.many
        if 0 < len(self.classes) < 10:
            what += f" of class {', '.join(map(str, sorted(self.classes)))}"
        if not self.own:
            return f"{self.kind.title} for {what}."
        verdict = (runs.open_run(self.path.parent).findings or {}).get("verdict") or ""
        return f"Your {self.kind.title} for {what}. {verdict}".strip()

    @property
    def kind(self) -> type[fgpvae.Model]:
        return MODELS[self.config.model.name]

    @property
    @lru_cache(maxsize=16)  # noqa: B019
    def collection(self) -> Collection:
        """The collection that the model was trained on."""
        config, objects = self.config, None
        if config.data.split == OBJECTS:
            with st.spinner("Reading the objects of this run"):
                objects = checkpoints.load_objects(self.path.parent)
            if objects.shape != config.model.network.shape:
                raise UserError(f"The objects of '{self.name}' do not fit its model.")
        return collection_of(config.data, objects, config.seed)

    @property
    def group(self) -> str:
        """The group of the switch: "Digits", "Objects" or "Films"."""
        return GROUPS.get(self.config.data.split, "Digits")

    @property
    def classes(self) -> tuple[int, ...]:
        """The classes of digits that it was trained on; empty for other collections."""
        return tuple(self.config.data.classes) if self.group == "Digits" else ()

    def load(self) -> fgpvae.Model:
        """Load the model, once for all sessions."""
        return _loaded(self.path, self.version)


def available(group: str | None = None) -> list[Choice]:
    """List the models of a group, or all: shipped ones, the best first, then the newest runs."""
    found, _ = runs.list_runs(queue.root())
    own = [choice for run in found if (choice := of_run(run)) is not None]
    return [choice for choice in (*_shipped(), *own) if group in (None, choice.group)]


def _shipped() -> list[Choice]:
    files = checkpoints.PRETRAINED.glob("*.safetensors")
    found = [Choice(path.stem, path, path.stat().st_mtime) for path in files]
    return sorted(found, key=lambda each: (each.name != BEST, each.name))


def of_run(run: Run) -> Choice | None:
    """Return the model of a run; None before its first checkpoint."""
    path = run.path / checkpoints.WEIGHTS
    try:
        return Choice(OWN + run.name, path, path.stat().st_mtime)
    except OSError:
        return None  # or the run was just deleted


def baselines(group: str) -> list[str]:
    """Name the shipped models that others of a group are compared with."""
    return [each.name for each in _shipped() if each.name in BASELINES and each.group == group]


def beside(choice: Choice) -> list[str]:
    """Name a model and those that it is compared with; no other knows a run's own objects."""
    return [choice.name, *(() if choice.config.data.own else baselines(choice.group))]


def find(name: str) -> Choice | None:
    return next((choice for choice in available() if choice.name == name), None)


def pick(
    only: Callable[[Choice], bool] | None = None, group: str | None = None, **options: Any
) -> Choice:
    """Show a box to choose a model, in the link as ?model=name and the same on every page.

    Without any model, end the page with a card that says how to get one.
    """
    choices = {each.name: each for each in available(group) if only is None or only(each)}
    if not choices:
        sentence = "This page shows a trained model. Train a quick one and watch it learn."
        with frame.empty("No model yet", sentence):
            st.page_link(frame.page("train"), label="Train a model")
        st.stop()
    check_link()
    lines = [f"- **{each.name}**: {each.line}" for each in choices.values() if not each.own]
    name = st.selectbox(
        "Model",
        choices,
        help="\n".join([*lines, "- then your own runs, newest first."]),
        **query_params.follow("model", choices, next(iter(choices))),
        **options,
    )
    return choices[name]


def check_link() -> None:
    """End the page if its link names a model that is missing. Call this before any columns."""
    name, offered = st.query_params.get("model"), available()
    if not name or not offered or name in [each.name for each in offered]:
        return
    first = offered[0].name
    frame.heading("Not here any more", frame.plain(missing(name)))
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            f"Show {frame.plain(first)} instead",
            type="primary",
            on_click=query_params.write,
            kwargs={"model": first},
        )
        st.page_link(frame.page("train"), label="See all runs")
    st.stop()


def missing(name: str) -> str:
    """Say why a model that a link names cannot be shown."""
    kind, bare = "run" if name.startswith(OWN) else "model", name.removeprefix(OWN)[:60]
    return f"There is no {kind} '{bare}': it was deleted or renamed, or is on another computer."


@st.cache_resource(max_entries=MOST, show_spinner=False)
def _loaded(path: Path, version: float) -> fgpvae.Model:
    return checkpoints.load_model(path)
