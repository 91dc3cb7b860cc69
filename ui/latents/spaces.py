"""The PCAs of a page side by side, and between them the view that was picked."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from html import escape

import numpy as np
import streamlit as st

from ui import charts
from ui.components import hover_picture
from ui.components.pictures import address
from ui.shell import frame

HEIGHT = 400  # pixels of a chart
Points = list[list[int]]  # thing and view of each point that was picked; -1 if it has no view


@dataclass(frozen=True)
class Space:
    """One PCA with its words."""

    title: str
    sentence: str
    foot: str
    cloud: charts.Cloud


def show(
    key: str,
    every: Sequence[Space],
    picked: Sequence[int],
    view: int,
    spatial: bool,
    picture: str,
    chosen: Callable[[Points], None],
    thumbnails: hover_picture.Thumbnails,
) -> None:
    """Show the spaces; `picture` is the view that stands out, as HTML.

    `chosen` is called with what was clicked or circled. In three dimensions one turns and looks.
    `thumbnails` are shown at the pointer.
    """
    keys = [f"{key}.{space.title.split()[0].lower()}" for space in every]
    with st.container(key="latents.spaces"):
        first, middle, *second = st.columns([5, 2, 5] if len(every) > 1 else [5, 2], gap="medium")
    for place, space, name in zip((first, *second), every, keys, strict=True):
        with place, frame.card(space.title, space.sentence, height="stretch"):
            charts.show(
                partial(charts.cloud, space.cloud, picked, view, spatial, HEIGHT),
                name,
                HEIGHT,
                said(space, picked, view),
                picked=None if spatial else chosen,
            )
            st.caption(space.foot)
    with middle, frame.card("Picked", key=f"{key}.picked", height="stretch"):
        st.html(picture)
        hover_picture.follow(keys, thumbnails, f"{key}.hover")


def said(space: Space, picked: Sequence[int], view: int) -> str:
    """A space in words: what stands out, and where it is."""
    cloud = space.cloud
    alt = f"{space.title}: {len(cloud.names)} things as points. {space.foot}"
    if picked:
        at = cloud.points[picked[0], 0 if cloud.still else view, :2]
        alt += f" {cloud.names[picked[0]]} is at {at[0]:.2f}, {at[1]:.2f}."
    return alt


def portrait(images: Sequence[tuple[str, np.ndarray]], name: str) -> str:
    """Pictures of one view with a word each, and its name, as HTML."""
    each = "".join(
        f'<figure style="margin:0;flex:1 1 90px;max-width:180px"><img src="{address(image)}" '
        f'alt="{escape(name)}, {word}" style="width:100%;image-rendering:pixelated;border-radius:'
        f'10px;display:block"><figcaption style="font-size:.8rem;opacity:.75">{word}</figcaption>'
        "</figure>"
        for word, image in images
    )
    return (
        f'<div style="display:flex;flex-wrap:wrap;gap:.7rem">{each}</div>'
        f'<div style="font-weight:600;margin-top:.4rem">{escape(name)}</div>'
    )


def together(first: int, state: str, model: str) -> list[int]:
    """The thing of the page, and before others those that were circled with it in this model."""
    if st.session_state.get(f"{state}.model") != model:
        st.session_state[f"{state}.model"] = model
        st.session_state.pop(state, None)
    kept: list[int] = st.session_state.get(state, [])
    if first not in kept:
        kept = st.session_state[state] = [first]
    return [first, *(p for p in kept if p != first)]
