"""The models that a page can show: those that ship with the package, and one's own runs."""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Literal, NoReturn

import streamlit as st

import fgpvae
from fgpvae import background, checkpoints, runs
from fgpvae.configs import CUBES, OBJECTS, RunConfig
from fgpvae.models import MODELS
from fgpvae.runs import Run
from ui.shell import frame, query_params
from ui.shell.kept import kept

BEST = "best"  # what pages start with, if it is there
BASELINES = ("best", "cvae", "gpvae", "cubes")  # shipped models on Compare to begin with
OWN = "runs/"  # the names of own runs begin with this
MOST = 12  # models kept in memory


LINES = {  # what each shipped model is
    "best": "FGP-VAE for all ten digits; one view is enough for it.",
    "paper": "The paper's small FGP-VAE, for threes.",
    "wide": "FGP-VAE with larger networks, for threes.",
    "cvae": "CVAE for threes: it is told the angle.",
    "vae": "Plain VAE for threes; it knows nothing of angles.",
    "gpvae": "GP-VAE of Casale et al.; it knows only its training threes.",
    "svgpvae": "SVGP-VAE of Jazbec et al.; it knows only its training threes.",
    "gpvae-amortised": "GP-VAE that takes new threes, but wants many views of them.",
    "svgpvae-amortised": "SVGP-VAE that takes new threes, but wants many views of them.",
    "deep-svgp": "The process and decoder of the SVGP-VAE, without an encoder.",
    "cubes": "FGP-VAE for figures of cubes, which no rotation can turn.",
}


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
    def line(self) -> str:
        """What it is, in one line."""
        if not self.own and self.name in LINES:
            return LINES[self.name]
        if self.objects:
            return f"{self.title} for objects of your own."
        if self.figures:
            return f"{'Your ' if self.own else ''}{self.title} for figures of cubes."
        classes = "every digit" if len(self.classes) == 10 else _listed(sorted(self.classes))
        return f"{'Your ' if self.own else ''}{self.title} for {classes}."

    @property
    def objects(self) -> bool:
        """Trained on one's own objects, not on digits."""
        return self.config.data.split == OBJECTS

    @property
    def figures(self) -> bool:
        """Trained on figures of cubes, not on digits."""
        return self.config.data.split == CUBES

    @property
    def classes(self) -> tuple[int, ...]:
        """The classes of digits that it was trained on."""
        return tuple(self.config.data.classes)

    def load(self) -> fgpvae.Model:
        """The model, ready for inference; loaded once for all sessions."""
        return _loaded().load(self)


def available(objects: bool = False, figures: bool = False) -> list[Choice]:
    """Shipped models first, the best one in front, then own runs, newest first.

    Runs on other `objects` than digits and models of `figures` of cubes are for the pages that ask
    for them.
    """
    unasked = {split for split, asked in ((OBJECTS, objects), (CUBES, figures)) if not asked}
    shipped = [
        each for each in _shipped(checkpoints.PRETRAINED) if each.config.data.split not in unasked
    ]
    found, _ = runs.list_runs(background.root())
    own = [of_run(run) for run in found if run.config.data.split not in unasked]
    return shipped + [choice for choice in own if choice is not None]


@kept(1)
def _shipped(folder: Path) -> list[Choice]:
    """The best one in front; these stay the same as long as the server runs."""
    found = [_choice(path.stem, path) for path in sorted(folder.glob("*.safetensors"))]
    return sorted((each for each in found if each is not None), key=lambda each: each.name != BEST)


def of_run(run: Run) -> Choice | None:
    """The model of a run; None before its first checkpoint."""
    return _choice(OWN + run.name, run.path / checkpoints.WEIGHTS)


def baselines(figures: bool = False) -> list[str]:
    """The shipped models that others of digits, or of figures, are compared with."""
    offered = (each for each in _shipped(checkpoints.PRETRAINED) if each.figures == figures)
    return [each.name for each in offered if each.name in BASELINES]


def find(name: str) -> Choice | None:
    every = available(objects=True, figures=True)
    return next((choice for choice in every if choice.name == name), None)


def pick(
    label: str = "Model",
    only: Callable[[Choice], bool] | None = None,
    key: str = "model",
    default: str | None = None,
    width: int | Literal["stretch"] = "stretch",
    label_visibility: Literal["visible", "hidden", "collapsed"] = "visible",
    objects: bool = False,
    figures: bool = False,
) -> Choice:
    """A box to choose a model, in the link as ?model=name and the same on every page.

    Without any model the page ends here, with a card that says how to get one.
    """
    offered = available(objects, figures)
    choices = {choice.name: choice for choice in offered if only is None or only(choice)}
    if not choices:
        with frame.empty(
            "No model yet",
            "This page shows a trained model. Train a quick one and watch it learn.",
        ):
            st.page_link(frame.page("train"), label="Train a model")
        st.stop()
    names = list(choices)
    linked = st.query_params.get(key)
    if linked and find(linked) is None:
        _gone(key, linked, names[0])
    query_params.follow(key, choices, default if default in choices else names[0])
    name = st.selectbox(
        label,
        names,
        key=key,
        on_change=query_params.keep,
        args=(key,),
        persist_state="session",
        width=width,
        label_visibility=label_visibility,
        help=_help(choices.values()),
    )
    return choices[name]


def _gone(key: str, name: str, first: str) -> NoReturn:
    """Say that a link leads to a model that is not here, and end the page."""
    with st._main:  # the box may be in a narrow column
        frame.heading("Not here any more", frame.plain(missing(name)))
        with st.container(horizontal=True, vertical_alignment="center"):
            st.button(
                f"Show {frame.plain(first)} instead",
                type="primary",
                on_click=query_params.write,
                kwargs={key: first},
            )
            st.page_link(frame.page("train"), label="See all runs")
    st.stop()


def missing(name: str) -> str:
    """Why a model that a link names cannot be shown."""
    kind, bare = ("run", name.removeprefix(OWN)) if name.startswith(OWN) else ("model", name)
    return (
        f"There is no {kind} '{bare[:60]}': it was deleted or renamed, or is on another computer."
    )


def _listed(classes: Sequence[int]) -> str:
    """The digit 3; the digits 3, 7 and 8."""
    *most, last = map(str, classes)
    return f"the digits {', '.join(most)} and {last}" if most else f"the digit {last}"


def _choice(name: str, path: Path) -> Choice | None:
    try:
        return Choice(name, path, path.stat().st_mtime)
    except OSError:
        return None  # a run before its first checkpoint, or one that was just deleted


def _help(choices: Iterable[Choice]) -> str:
    """A line for each model that comes with the app."""
    shipped = [f"- **{each.name}**: {each.line}" for each in choices if not each.own]
    return "\n".join([*shipped, "- then your own runs, newest first."])


class ModelCache:
    """Loaded models, of each only the newest version; those not used for longest go first."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._kept: OrderedDict[Path, tuple[float, fgpvae.Model]] = OrderedDict()
        self._lock = Lock()

    def load(self, choice: Choice) -> fgpvae.Model:
        with self._lock:
            version, model = self._kept.get(choice.path, (None, None))
            if model is None or version != choice.version:
                # the run has gone on since it was chosen, or another has taken its name
                now = _choice(choice.name, choice.path) or choice
                if model is None or version != now.version:
                    model, version = checkpoints.load_model(choice.path), now.version
            self._kept[choice.path] = version, model
            self._kept.move_to_end(choice.path)
            while len(self._kept) > self.most:
                self._kept.popitem(last=False)
            return model


@kept(1)
def _loaded() -> ModelCache:
    return ModelCache(MOST)


@kept(64)
def _config(choice: Choice) -> RunConfig:
    if choice.own:
        return checkpoints.load_config(choice.path.parent)
    return checkpoints.shipped_config(choice.name)
