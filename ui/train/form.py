"""The form of a run: its config as widgets, and the config that they make."""

import re
from typing import Any

import streamlit as st

from fgpvae import UserError
from fgpvae.configs import CUBES, OBJECTS, RunConfig, from_dict, to_dict
from fgpvae.data import cubes
from fgpvae.models import MODELS
from ui.train.labels import DRAWN, option_name
from ui.train.settings import GROUPS, SETTINGS, Setting, Values, own_settings

COLUMNS = 3
STORE = "train.settings"  # in the session state


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
        walk({"model": own_settings(name)}, "")
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


def build(held: Values, preset: str, suited: RunConfig | None = None) -> RunConfig:
    """The config, or a UserError that says what is wrong with a setting.

    `suited` is the config that suits own objects, from which comes what they decide.
    """
    table: dict[str, Any] = {"preset": preset}
    if held["data.split"] == CUBES:
        held = held | {"data.source": DRAWN}
        table["model"] = {"network": {"shape": (1, cubes.SIZE, cubes.SIZE)}}
    elif held["data.source"] == DRAWN:  # of a preset that was for figures
        held = held | {"data.source": "embedded"}
    elif suited is None and held["data.source"] not in SETTINGS["data.source"].options:
        raise UserError("IDX files are for the command line.")
    own = own_settings(held["model.name"])
    if suited is not None:
        decided = to_dict(suited)
        network = {"shape": decided["model"]["network"]["shape"]}
        kernel = {"kernel": decided["model"]["kernel"]} if "kernel" in own else {}
        table |= {"data": decided["data"], "model": {"network": network, **kernel}}
        held = {path: value for path, value in held.items() if not path.startswith("data.")}
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
    """Settings called by the label and symbol that they have here, not by their name in a file."""
    for path in sorted(SETTINGS, key=len, reverse=True):
        setting, leaf = SETTINGS[path], path.rpartition(".")[2]
        called = f"{setting.label} ({setting.symbol})" if setting.symbol else setting.label
        dotted = rf"\b(config\.)?{re.escape(path)}\b" if "." in path else rf"\bconfig\.{path}\b"
        sentence = re.sub(dotted, called, sentence)
        sentence = re.sub(rf"^{leaf}( \(\w+\))?(?= must)", called, sentence)
        sentence = re.sub(rf"(?<= to ){leaf}(?=,)", called, sentence)
        if "_" in leaf:
            sentence = re.sub(rf"\b{leaf}\b", called, sentence)
    return sentence


def put(config: RunConfig) -> None:
    """Fill the form; before it is drawn."""
    st.session_state[STORE] = flat(config)
    for path, value in flat(config).items():
        st.session_state[SETTINGS[path].key] = value


def values() -> Values:
    """What the form holds, also while it is folded away."""
    return st.session_state[STORE]


def typed() -> Values:
    """What the form holds, and what was typed since it was drawn: for a callback."""
    state = st.session_state
    return {path: state.get(SETTINGS[path].key, value) for path, value in values().items()}


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
    decided = held["data.split"] == OBJECTS and setting.path.startswith("data.")
    disabled = decided or not setting.used(held)
    common: dict[str, Any] = {"key": setting.key, "disabled": disabled}
    if setting.options:
        # a run of the command line can have been cloned that has another
        every = dict.fromkeys((*setting.options, st.session_state[setting.key]))
        return st.selectbox(setting.title, list(every), format_func=option_name, **common)
    if setting.path == "data.classes":
        return st.multiselect(setting.title, list(range(10)), **common)
    if isinstance(held[setting.path], bool):
        return st.toggle(setting.title, **common)
    return st.text_input(setting.title, live=True, max_chars=200, **common)
