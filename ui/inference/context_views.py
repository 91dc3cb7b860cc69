"""Which of the sixteen views of a digit the model sees, on the ring and by number."""

from collections.abc import Iterable, Mapping

import numpy as np
import streamlit as st
from torch import Tensor

from fgpvae.data import ANGLES
from fgpvae.models import Model
from ui.components import dial
from ui.shell import query_params, widget_keys

# All but the held-out one, each in a gap of those before it: spread well at any number.
ORDER = (0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 15)
MOST = len(ORDER)


def chosen(key: str, link: Mapping[str, str], count: int = 8) -> list[int]:
    """Indices of the views that the model sees; those of the link, or spread ones, at first."""
    name = f"{key}.views"
    if name not in st.session_state:
        st.session_state[name] = from_link(link.get("views")) or sorted(ORDER[:count])
    return dial.context(key, st.session_state[name])


def slider(key: str, current: list[int], disabled: bool = False) -> None:
    """How many views the model sees; more are added to, or fewer left of, those on the ring."""

    def resize(count: int) -> None:
        dial.context(key, [])  # the clicks on the ring are part of `current` and forgotten
        st.session_state[f"{key}.views"] = resized(current, count)

    st.slider(
        "Views the model sees",
        1,
        MOST,
        disabled=disabled,
        help="Q in the paper. You can also click the dots on the ring. The ring is thin where "
        "the model has seen the digit and wide where it is unsure.",
        **widget_keys.showing(f"{key}.count", len(current), resize),
    )


def resized(current: Iterable[int], count: int) -> list[int]:
    """`count` views, as many as possible of them among the current ones."""
    kept = [index for index in ORDER if index in set(current)][:count]
    added = [index for index in ORDER if index not in kept][: count - len(kept)]
    return sorted(kept + added)


def mask(indices: Iterable[int]) -> np.ndarray:
    """[16] bool."""
    return np.isin(np.arange(len(ANGLES)), list(indices))


def remembered(model: Model, ids: Tensor | None) -> list[int] | None:
    """The views that a model has kept of a training digit; None if it takes those it is given."""
    found = None if ids is None else model.remembered(ids)
    if found is None:
        return None
    angles, observed = found
    kept = np.rad2deg(angles[0][observed[0]].numpy())
    return sorted({round(float(degrees) / 22.5) % len(ANGLES) for degrees in kept})


def from_link(text: str | None) -> list[int] | None:
    found = {int(value) for value in query_params.numbers(text) or [] if value in ORDER}
    return sorted(found) or None
