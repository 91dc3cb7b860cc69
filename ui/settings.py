"""The settings of a run as widgets: every field of its config, what it means, its symbol."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import streamlit as st

from fgpvae import UserError
from fgpvae.configs import OBJECTS, RunConfig, from_dict, to_dict
from fgpvae.models import MODELS
from fgpvae.presets import PRESETS

Values = dict[str, Any]  # by path: "model.latents"
COLUMNS = 3
STORE = "settings"  # in the session state


@dataclass(frozen=True)
class Setting:
    """A field of the config."""

    path: str  # as on the command line
    label: str
    meaning: str  # one line
    symbol: str = ""  # in the paper
    options: tuple[str, ...] = ()  # where only these can be chosen
    used: Callable[[Values], bool] = lambda values: True  # do the other settings leave it a use?

    @property
    def key(self) -> str:
        return f"set-{self.path}"

    @property
    def title(self) -> str:
        return f"{self.label}, {self.symbol}" if self.symbol else self.label


def _is(path: str, *values: Any) -> Callable[[Values], bool]:
    return lambda chosen: chosen[path] in values


def _has(setting: str) -> Callable[[Values], bool]:
    """Has the chosen model such a setting?"""
    return lambda chosen: setting in _own(chosen["model.name"])


def _own(name: str) -> dict[str, Any]:
    return to_dict(MODELS[name].Config())


_ELBO, _GECO = _is("objective.name", "elbo"), _is("objective.name", "geco")
_WIDE, _DENSE = _is("model.network.kind", "wide"), _is("model.network.kind", "dense")

GROUPS: dict[str, tuple[Setting, ...]] = {
    "Model": (
        Setting(
            "model.name",
            "Model",
            "The factorized model, or one of those it is compared with.",
            options=tuple(MODELS),
        ),
        Setting("model.latents", "Channels", "How many numbers describe a digit at an angle.", "L"),
        Setting(
            "model.local",
            "Local channels",
            "How many of them change with the angle; the others are the style of the digit.",
            "J",
            used=_has("local"),
        ),
        Setting(
            "model.amplitude",
            "Amplitude",
            "How far local channels stray from their mean.",
            "σ",
            used=_has("amplitude"),
        ),
        Setting(
            "model.length_scale",
            "Length scale",
            "Over what part of the circle neighbouring angles are alike.",
            "r",
            used=_has("length_scale"),
        ),
        Setting(
            "model.period",
            "Period",
            "The angle after which everything repeats, in radians: a full turn is 2π.",
            used=lambda chosen: MODELS[chosen["model.name"]].knows_angles,
        ),
        Setting(
            "model.learn_kernel",
            "Learn the kernel",
            "Fit amplitude and length scale with the rest.",
            "σ, r",
            used=_has("learn_kernel"),
        ),
        Setting(
            "model.mean_function",
            "Mean function",
            "A smooth curve that the local channels of all digits share; makes one view enough.",
            "m(w)",
            used=_has("mean_function"),
        ),
        Setting(
            "model.digit_rank",
            "Digit vector",
            "How many numbers stand for a digit in the joint Gaussian process.",
            "m",
            used=_has("digit_rank"),
        ),
        Setting(
            "model.phases",
            "Phases",
            "The shares of the training after which the joint process, then both, are learned.",
            used=_has("phases"),
        ),
    ),
    "Networks": (
        Setting(
            "model.network.kind",
            "Networks",
            "Those of the paper, larger convolutions, or dense layers.",
            options=("paper", "wide", "dense"),
        ),
        Setting(
            "model.network.filters",
            "Filters",
            "Of the two convolutions of the wide networks.",
            used=_WIDE,
        ),
        Setting(
            "model.network.hidden",
            "Hidden units",
            "Of the dense layer in the wide networks.",
            used=_WIDE,
        ),
        Setting(
            "model.network.widths",
            "Widths",
            "Units of each dense layer, from the image to the code.",
            used=_DENSE,
        ),
        Setting(
            "model.network.dropout",
            "Dropout",
            "Share of the units that are silent in a step; against over-fitting.",
            used=_is("model.network.kind", "wide", "dense"),
        ),
        Setting(
            "model.network.gated",
            "Gated decoder",
            "The decoder also sees the products of local and global channels.",
            used=_has("local"),
        ),
    ),
    "Data": (
        Setting(
            "data.split",
            "Training set",
            "The paper's for the factorized model, that of its baselines, or new angles each time.",
            options=("factorized", "shuffled", "continuous"),
        ),
        Setting(
            "data.source",
            "Source",
            "The digits of the package, or all of MNIST from openml.org, for new angles only.",
            options=("embedded", "openml"),
            used=_is("data.split", "continuous"),
        ),
        Setting("data.classes", "Classes", "Which digits from 0 to 9; the paper has threes."),
        Setting(
            "data.digits",
            "Digits",
            "Training digits of each class, up to 360.",
            "P",
            used=_is("data.split", "factorized", "shuffled"),
        ),
        Setting(
            "data.views",
            "Views",
            "How many angles of a digit the model is shown at a time.",
            "Q",
            used=_is("data.split", "factorized", "continuous"),
        ),
        Setting(
            "data.validation",
            "Validation digits",
            "Training digits of each class kept back to see how the model does on new ones.",
            used=_is("data.split", "factorized", "shuffled"),
        ),
        Setting(
            "data.warp",
            "Deformation",
            "How strongly digits are bent, anew each time and the same at all angles; 0 is never.",
        ),
    ),
    "Objective": (
        Setting(
            "objective.name",
            "Objective",
            "The evidence lower bound, or GECO, which aims at a given error.",
            options=("elbo", "geco"),
        ),
        Setting(
            "objective.pixel_variance",
            "Pixel noise",
            "The variance of a pixel.",
            "σ_y²",
            used=_ELBO,
        ),
        Setting(
            "objective.learn_pixel_variance",
            "Learn the noise",
            "Fit the variance of a pixel with the rest.",
            "σ_y²",
            used=_ELBO,
        ),
        Setting(
            "objective.kappa_squared",
            "Target error",
            "The mean squared error of a pixel that GECO aims at.",
            "κ²",
            used=_GECO,
        ),
        Setting(
            "objective.multiplier",
            "Multiplier at the start",
            "How much the error weighs against the KL term.",
            "λ",
            used=_GECO,
        ),
        Setting("objective.multiplier_min", "Multiplier, least", "λ stays above.", "λ", used=_GECO),
        Setting(
            "objective.multiplier_max",
            "Multiplier, most",
            "λ stays below; without a bound it can grow for ever.",
            "λ",
            used=_GECO,
        ),
        Setting(
            "objective.decay",
            "Decay",
            "How slowly the average error that λ follows forgets.",
            "α",
            used=_GECO,
        ),
    ),
    "Training": (
        Setting("training.epochs", "Epochs", "How often every digit is seen."),
        Setting("training.batch", "Batch", "Digits in a step, each with all its views."),
        Setting("training.learning_rate", "Learning rate", "The step of Adam."),
        Setting(
            "training.schedule",
            "Schedule",
            "The learning rate stays, or falls along a cosine to a hundredth.",
            options=("constant", "cosine"),
        ),
        Setting("training.warmup", "Warm-up", "Steps over which the learning rate rises."),
        Setting("training.weight_decay", "Weight decay", "How fast unused weights shrink."),
        Setting("training.clip", "Clip", "Largest norm of the gradient; 0 is no limit."),
        Setting(
            "training.average",
            "Average",
            "Decay of a moving average of the weights, which is what is kept; 0 is none.",
        ),
        Setting(
            "training.context_dropout",
            "Context dropout",
            "Share of digits of which only some views are given; teaches to work from few.",
        ),
        Setting(
            "training.validate_every",
            "Validate every",
            "Epochs between two looks at the validation digits.",
            used=lambda chosen: chosen["data.validation"] not in (0, "0"),
        ),
        Setting(
            "training.keep",
            "Keep",
            "The last weights, or those that did best on the validation digits.",
            options=("last", "best"),
            used=lambda chosen: chosen["data.validation"] not in (0, "0"),
        ),
        Setting(
            "training.precision",
            "Precision",
            "Of the networks' products; bfloat16 is faster where the hardware has it.",
            options=("float32", "bfloat16"),
        ),
        Setting("seed", "Seed", "Where the random numbers start; the same gives the same weights."),
    ),
}
SETTINGS = {setting.path: setting for group in GROUPS.values() for setting in group}
DERIVED = (  # nothing to choose
    "preset",
    "model.network.shape",
    "model.kernel",
    "data.track.period",
    "data.track.low",
    "data.track.high",
)
# own objects and IDX files come through the command line: no path that is typed here is opened
OFFERED = tuple(name for name, config in PRESETS.items() if config.data.split != OBJECTS)

PRESET_LINES = {
    "quick": "A minute or two: dense networks and a mean function; turns new digits from one view.",
    "wide": "The best on the paper's threes: larger, deformed digits, an hour or so.",
    "paper": "The paper's model: its networks, its data, its objective, its thousand epochs.",
    "best": "The model the app starts with: all ten digits at all angles. Fetches MNIST from "
    "openml.org and takes hours.",
    "vae": "A plain VAE: every image for itself.",
    "cvae": "A VAE that is told the angle, with the pixel noise that suits it best.",
    "cvae-published": "The CVAE as the paper ran it.",
    "gpvae": "Casale's GP-VAE: one Gaussian process over all images.",
    "gpvae-amortised": "Appendix C: the digit vectors come from a network, so new digits fit in.",
}


def preset_line(name: str) -> str:
    return PRESET_LINES.get(name, MODELS[PRESETS[name].model.name].title)


# --- config to widgets and back -------------------------------------------------------------------


def flat(config: RunConfig) -> Values:
    """Every setting by its path, as the widgets hold it."""
    found: Values = {}

    def walk(table: dict[str, Any], path: str) -> None:
        for name, value in table.items():
            if isinstance(value, dict):
                walk(value, f"{path}{name}.")
            elif f"{path}{name}" in SETTINGS:
                found[f"{path}{name}"] = _shown(value)

    for name in MODELS:  # settings of the other models, should one of them be chosen
        walk({"model": _own(name)}, "")
    walk(to_dict(config), "")
    found["data.classes"] = list(config.data.classes)
    return found


def _shown(value: Any) -> Any:
    """Numbers and lists as text, so that what is typed can be wrong for a moment."""
    if isinstance(value, bool | str):
        return value
    if isinstance(value, tuple | list):
        return ", ".join(str(_shown(each)) for each in value)
    short = f"{value:g}"
    return short if float(short) == value else repr(value)


def build(held: Values, preset: str) -> RunConfig:
    """The config, or a UserError that says what is wrong with a setting."""
    if held["data.source"] not in SETTINGS["data.source"].options:
        raise UserError("IDX files are for the command line.")
    table: dict[str, Any] = {"preset": preset}
    own = _own(held["model.name"])
    for path, value in held.items():
        *parents, leaf = path.split(".")
        if parents == ["model"] and leaf not in own:
            continue
        inner = table
        for parent in parents:
            inner = inner.setdefault(parent, {})
        inner[leaf] = _read(SETTINGS[path], value)
    try:
        return from_dict(RunConfig, table)
    except UserError as error:
        raise UserError(_in_words(str(error))) from None


def _read(setting: Setting, value: Any) -> Any:
    if setting.options or not isinstance(value, str):
        return value
    text = value.strip()
    if setting.path in ("model.phases", "model.network.filters", "model.network.widths"):
        return [_number(part) for part in text.split(",") if part.strip()]
    return _number(text)


def _number(text: str) -> Any:
    """A number where it is one; otherwise the text, for the config to complain about."""
    text = text.strip()
    if re.fullmatch(r"[-+]?\d+", text):
        return int(text)
    if re.fullmatch(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", text):
        return float(text)
    return text


def _in_words(sentence: str) -> str:
    """Settings called by the label that they have here, not by their path."""
    for path in sorted(SETTINGS, key=len, reverse=True):
        sentence = sentence.replace(f"config.{path} ", f"{SETTINGS[path].label} ")
    return sentence


def put(config: RunConfig) -> None:
    """Fill the form; before it is drawn."""
    st.session_state[STORE] = flat(config)
    for path, value in flat(config).items():
        st.session_state[SETTINGS[path].key] = value


def values() -> Values:
    """What the form holds, also while it is folded away."""
    return st.session_state[STORE]


def form() -> None:
    """Draw all groups, and keep what is typed."""
    held = values()
    for tab, group in zip(st.tabs(list(GROUPS)), GROUPS.values(), strict=True):
        with tab:
            for start in range(0, len(group), COLUMNS):
                columns = st.columns(COLUMNS)
                for column, setting in zip(columns, group[start : start + COLUMNS], strict=False):
                    with column, st.container(gap=None):
                        held[setting.path] = _widget(setting, held)
                        st.caption(setting.meaning)


def _widget(setting: Setting, held: Values) -> Any:
    st.session_state.setdefault(setting.key, held[setting.path])  # it was not drawn for a while
    common: dict[str, Any] = {"key": setting.key, "disabled": not setting.used(held)}
    if setting.options:
        # a run of the command line can have been cloned that has another
        every = dict.fromkeys((*setting.options, st.session_state[setting.key]))
        return st.selectbox(setting.title, list(every), **common)
    if setting.path == "data.classes":
        return st.multiselect(setting.title, list(range(10)), **common)
    if isinstance(held[setting.path], bool):
        return st.toggle(setting.title, **common)
    return st.text_input(setting.title, live=True, max_chars=200, **common)
