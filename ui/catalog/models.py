"""The models that a page can show: those that ship with the package, and one's own runs."""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Literal

import streamlit as st

import fgpvae
from fgpvae import background, checkpoints, runs
from fgpvae.configs import CUBES, OBJECTS, RunConfig
from fgpvae.models import MODELS
from ui.shell import frame

BEST = "best"  # what pages start with, if it is there
BASELINES = 3  # shipped models on Compare to begin with
OWN = "runs/"  # the names of own runs begin with this
MOST = 12  # models kept in memory


@dataclass(frozen=True)
class Choice:
    """A model by name; hashable, so that cached functions can take it as an argument."""

    name: str  # as in the picker and in links: "best", "runs/my-run"
    path: Path  # the weights
    version: float  # changes when the weights do

    @property
    def own(self) -> bool:
        return self.name.startswith(OWN)

    @property
    def config(self) -> RunConfig:
        return _config(self)

    @property
    def title(self) -> str:
        """What kind of model it is, as tables and pages call it."""
        return MODELS[self.config.model.name].title

    @property
    def objects(self) -> bool:
        """Trained on one's own objects, not on digits."""
        return self.config.data.split == OBJECTS

    @property
    def classes(self) -> tuple[int, ...]:
        """The classes of digits that it was trained on."""
        return tuple(self.config.data.classes)

    def load(self) -> fgpvae.Model:
        """The model, ready for inference; loaded once for all sessions."""
        return _loaded().load(self)


def available(objects: bool = False) -> list[Choice]:
    """Shipped models first, the best one in front, then own runs, newest first.

    Runs on other `objects` than digits are for the pages that ask for them. Models of figures of
    cubes are for none yet.
    """
    digits = [
        name
        for name in fgpvae.pretrained_names()
        if checkpoints.shipped_config(name).data.split != CUBES
    ]
    names = sorted(digits, key=lambda name: (name != BEST, name))
    shipped = [_choice(name, checkpoints.PRETRAINED / f"{name}.safetensors") for name in names]
    found, _ = runs.list_runs(background.root())
    own = [
        _choice(OWN + run.name, run.path / checkpoints.WEIGHTS)
        for run in found
        if run.config.data.split not in ((CUBES,) if objects else (CUBES, OBJECTS))
    ]
    return [choice for choice in (*shipped, *own) if choice is not None]


def baselines() -> list[str]:
    """The shipped models that others are compared with."""
    return [choice.name for choice in available() if not choice.own][:BASELINES]


def find(name: str) -> Choice | None:
    return next((choice for choice in available(objects=True) if choice.name == name), None)


def pick(
    label: str = "Model",
    only: Callable[[Choice], bool] | None = None,
    key: str = "model",
    default: str | None = None,
    width: int | Literal["stretch"] = "stretch",
    label_visibility: Literal["visible", "hidden", "collapsed"] = "visible",
    objects: bool = False,
) -> Choice:
    """A box to choose a model, in the link as ?model=name and the same on every page.

    Without any model the page ends here, with a card that says how to get one.
    """
    choices = {choice.name: choice for choice in available(objects) if only is None or only(choice)}
    if not choices:
        with frame.empty(
            "No model yet",
            "This page shows a trained model. Train a quick one: it takes a minute or two, and you "
            "can watch it learn.",
        ):
            st.page_link(frame.page("train"), label="Train a model")
        st.stop()
    names = list(choices)
    # a widget forgets its value on another page unless it is said again
    if st.session_state.get(key) in choices and key not in st.query_params:
        st.session_state[key] = st.session_state[key]
    name = st.selectbox(
        label,
        names,
        index=names.index(default) if default in choices else 0,
        key=key,
        bind="query-params",
        persist_state="session",
        width=width,
        label_visibility=label_visibility,
        help="Models that come with the app, then your own runs, newest first.",
    )
    return choices[name]


def _choice(name: str, path: Path) -> Choice | None:
    try:
        return Choice(name, path, path.stat().st_mtime)
    except OSError:
        return None  # a run before its first checkpoint, or one that was just deleted


class ModelCache:
    """Loaded models, of each only the newest version; those not used for longest go first."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._kept: OrderedDict[Path, tuple[float, fgpvae.Model]] = OrderedDict()
        self._lock = Lock()

    def load(self, choice: Choice) -> fgpvae.Model:
        with self._lock:
            version, model = self._kept.get(choice.path, (None, None))
            if model is None or version is None or version < choice.version:
                model, version = checkpoints.load_model(choice.path), choice.version
            self._kept[choice.path] = version, model
            self._kept.move_to_end(choice.path)
            while len(self._kept) > self.most:
                self._kept.popitem(last=False)
            return model


@st.cache_resource(show_spinner=False)
def _loaded() -> ModelCache:
    return ModelCache(MOST)


@st.cache_data(max_entries=64, show_spinner=False)
def _config(choice: Choice) -> RunConfig:
    if choice.own:
        return checkpoints.load_config(choice.path.parent)
    return checkpoints.shipped_config(choice.name)
