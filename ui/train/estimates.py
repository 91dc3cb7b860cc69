"""How long a run will take, found out beside the page and never in its way."""

import logging
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from dataclasses import replace

import streamlit as st

from fgpvae import UserError, timing
from fgpvae.configs import OBJECTS, RunConfig

MOST = 200  # configs whose estimate is kept
ASKED = "train.estimate"  # in the session state: what this session asked for last


@st.cache_resource(show_spinner=False)
def _pool() -> tuple[ThreadPoolExecutor, dict[RunConfig, "Future[float]"]]:
    return ThreadPoolExecutor(1, "estimate"), {}


def seconds(config: RunConfig) -> float | None:
    """On this machine; None as long as a few steps are being timed."""
    pool, known = _pool()
    one = replace(config, preset="", seed=0, training=replace(config.training, epochs=1))
    asked = known.get(one)
    if asked is None or asked.cancelled():
        if len(known) >= MOST:
            known.clear()
        asked = known[one] = pool.submit(_timed, one)
    before = st.session_state.get(ASKED)
    if before is not None and before is not asked:
        before.cancel()  # unless it has begun; a session that still wants it asks again
    st.session_state[ASKED] = asked
    if not asked.done():
        return None
    try:
        return config.training.epochs * asked.result()
    except CancelledError:
        return None


def _timed(config: RunConfig) -> float:
    try:
        return timing.estimate_seconds(config)
    except UserError:
        raise
    except Exception as error:
        logging.getLogger(__name__).exception("Timing a few steps failed")
        raise UserError("a few steps could not be taken") from error


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
    if config.data.split == OBJECTS:
        return "The time left is shown as soon as it trains"
    try:
        found = seconds(config)
    except UserError as error:
        return f"The time cannot be estimated: {str(error).rstrip('.')}"
    return None if found is None else f"About {in_words(found)} on this machine"
