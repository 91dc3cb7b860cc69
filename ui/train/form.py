"""The form of a run: the settings of its config as widgets, and the config that they make."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, fields
from decimal import Decimal
from typing import Any

import streamlit as st

from fgpvae import UserError
from fgpvae.models import MODELS
from fgpvae.networks.standard import NetworkConfig
from fgpvae.settings import Setting, SettingError, setting_of
from fgpvae.training.configs import DataConfig, RunConfig, TrainingConfig, from_dict
from fgpvae.training.objectives import ObjectiveConfig
from fgpvae.training.presets import put

COLUMNS = 3
BASE, FILLED = "train.base", "train.fillings"  # config of the form; number of fillings
NOT_DRAWN = object()
MODEL = Setting(
    "The factorized model, or one that it is compared with.",
    label="Model",
    choices={name: kind.title for name, kind in MODELS.items()},
)


def fill(config: RunConfig) -> None:
    """Fill the form with a config, replacing all input by new widgets."""
    st.session_state[BASE] = config
    st.session_state[FILLED] = st.session_state.get(FILLED, 0) + 1


def key(path: str) -> str:
    return f"train.setting.{st.session_state[FILLED]}.{path}"


def settings(model: str) -> dict[str, Setting]:
    """Return the settings of a run with this model by path; those that others depend on first."""
    parts: dict[str, type[Any]] = {"data": DataConfig, "model": MODELS[model].Config}
    parts |= {"model.network": NetworkConfig, "objective": ObjectiveConfig}
    parts |= {"training": TrainingConfig, "": RunConfig}
    found = {"model.name": MODEL}
    for part, kind in parts.items():
        for each in fields(kind):
            if (setting := setting_of(each)) is not None:
                found[f"{part}.{each.name}".lstrip(".")] = setting
    return found


def flat(table: Mapping[str, Any], parent: str = "") -> Iterator[tuple[str, Any]]:
    """Iterate over the values of nested tables with their paths."""
    for name, value in table.items():
        if isinstance(value, Mapping):
            yield from flat(value, f"{parent}{name}.")
        else:
            yield f"{parent}{name}", value


def _typed() -> tuple[dict[str, Any], dict[str, Setting], str]:
    """The table of a config, also while the form is folded; the settings in use; an error."""
    table, state, wrong = asdict(st.session_state[BASE]), st.session_state, ""
    put(table, "model.name", state.get(key("model.name"), table["model"]["name"]))
    offered = {}
    for path, setting in settings(table["model"]["name"]).items():
        if setting.is_used(dict(flat(table)), path.rpartition(".")[0]):
            offered[path] = setting
            value = state.get(key(path), NOT_DRAWN)
            if isinstance(value, str) and not setting.choices:
                parts = [part.strip() for part in value.split(",")]
                value = [int(p) for p in parts] if all(p.isdecimal() for p in parts) else None
            if value is None:
                wrong = f"{setting.label} must be whole numbers with commas between them."
            elif value is not NOT_DRAWN:
                put(table, path, value)
    return table, offered, wrong


def build() -> RunConfig:
    """Build the config of the form; a UserError names an invalid setting by its label."""
    table, _, wrong = _typed()
    if wrong:
        raise UserError(wrong)
    try:
        config = from_dict(RunConfig, table)
    except SettingError as error:
        raise UserError(error.labelled) from None
    if config.data.directory:  # no path is opened here
        raise UserError("IDX files are for the command line.")
    return config


def form() -> None:
    """Draw the form, with one tab per part of the config."""
    table, offered, _ = _typed()
    values, tabs = dict(flat(table)), dict[str, list[str]]()
    for path in offered:
        part = path.rpartition(".")[0].rpartition(".")[2]
        tabs.setdefault(part or "training", []).append(path)
    order = [name for name in ("model", "network", "data", "objective", "training") if name in tabs]
    for tab, name in zip(st.tabs([name.capitalize() for name in order]), order, strict=True):
        with tab:
            for start in range(0, len(tabs[name]), COLUMNS):
                row = tabs[name][start : start + COLUMNS]
                for column, path in zip(st.columns(COLUMNS), row, strict=False):
                    with column, st.container(gap=None):
                        _widget(path, offered[path], values[path])
                        st.caption(offered[path].help)


def _widget(path: str, setting: Setting, value: Any) -> None:
    common: dict[str, Any] = {"key": key(path), "persist_state": "session"}
    label, choices = setting.title, setting.choices
    if choices and isinstance(value, tuple | list):
        st.multiselect(label, list(choices), list(value), format_func=choices.__getitem__, **common)
    elif choices:
        names = {**choices, value: choices.get(value, value)}  # a cloned run may have another
        at = list(names).index(value)
        st.selectbox(label, list(names), at, format_func=names.__getitem__, **common)
    elif isinstance(value, bool):
        st.toggle(label, value, **common)
    elif isinstance(value, tuple | list) and isinstance(value[0], float):
        st.slider(label, *(setting.bounds or (0.0, 1.0)), value, **common)
    elif isinstance(value, tuple | list):
        st.text_input(label, ", ".join(map(str, value)), max_chars=100, live=True, **common)
    elif isinstance(value, float):
        decimals = len(f"{Decimal(f'{value:.6g}'):f}".partition(".")[2])
        step = 10.0 ** -max(decimals, 1)  # 0.001 for 0.002 and 0.995
        st.number_input(label, value=value, step=step, format="%.6g", **common)
    else:
        st.number_input(label, value=value, step=1, **common)
