"""How long a run will take, found out beside the page and never in its way."""

from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace

import streamlit as st

from fgpvae import UserError, background
from fgpvae.training import RunConfig
from ui import memory

MOST = 200  # configs whose estimate is kept


@st.cache_resource(show_spinner=False)
def _pool() -> tuple[ThreadPoolExecutor, dict[RunConfig, "Future[float]"]]:
    return ThreadPoolExecutor(1, "estimate"), {}


def seconds(config: RunConfig) -> float | None:
    """On this machine; None as long as a few steps are being timed."""
    pool, known = _pool()
    one = replace(config, preset="", seed=0, training=replace(config.training, epochs=1))
    if one not in known:
        if len(known) >= MOST:
            known.clear()
        known[one] = pool.submit(_timed, one)
    if not known[one].done():
        return None
    return config.training.epochs * known[one].result()


def _timed(config: RunConfig) -> float:
    found = background.estimate_seconds(config)
    memory.keep("training")
    return found


def in_words(duration: float) -> str:
    """3 s, 5 min, 2 h 10 min."""
    if duration < 60:
        return f"{max(round(duration), 1)} s"
    minutes = round(duration / 60)
    if minutes < 60:
        return f"{minutes} min"
    hours, rest = divmod(minutes, 60)
    return f"{hours} h {rest} min" if rest and hours < 10 else f"{hours} h"


def sentence(config: RunConfig) -> str | None:
    """What to say about the time; None while it is being found out."""
    try:
        found = seconds(config)
    except UserError as error:
        return f"The time cannot be told: {error}"
    return None if found is None else f"About {in_words(found)} on this machine"
