"""Single channels: along the track, in pictures, and their correlations."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from fgpvae.evaluation import latents
from ui import charts
from ui.catalog import Choice
from ui.components import pictures
from ui.inference.cached import imagined
from ui.inference.places import colours, labels
from ui.latents.codes import CHANNELS, Codes, codes, strongest
from ui.shell import frame, palette

FINE = 120  # places of a curve
FARTHEST = 6.0  # standard deviations on an axis
ROW, MATRIX = 160, 340  # pixels of a row of channels, and of a heat map
PLACES = 8  # pictures side by side
COLOUR = {"local": palette.LOCAL, "global": palette.GLOBAL, "joint": palette.TRUTH}
Estimates = tuple[np.ndarray, np.ndarray, np.ndarray]  # places, means and standard deviations


def along(choice: Choice, found: Codes, row: int, given: Sequence[int]) -> None:
    """Every local channel, and the strongest global ones, along the track."""
    track, subject, curves = choice.collection.track, found.subjects[row], None
    if found.curves is not None:
        fine = np.append(track.grid(FINE), 2 * np.pi) if track.period else track.grid(FINE)
        mean, sd = imagined(choice, subject, given).channels(fine)
        curves = np.linspace(*track.ends, len(fine)), mean, sd
    shown: dict[str, tuple[str, int]] = {}  # block and index of channels, by name
    for block, part in found.blocks.items():
        channels = list(range(part.start, part.stop))
        if block == "global" and curves is not None:
            channels = strongest(choice)
        if block != "local" and len(channels) > CHANNELS:
            st.caption(f"{CHANNELS} of the {len(channels)} {block} channels")
            channels = channels[:CHANNELS]
        shown |= {f"{block} {channel + 1 - part.start}": (block, channel) for channel in channels}
    dots = {
        "color": colours(track, subject.w),
        "size": 7,
        "symbol": ["circle" if q in given else "circle-open" for q in range(len(subject.w))],
    }
    views = np.asarray(track.to_view(subject.w)), found.mu[row], np.sqrt(found.var[row])
    columns, unit = 2 if charts.phone() else 4, "°" if track.degrees else ""
    axis = charts.TURN | {"dtick": 180} if track.degrees else {"range": list(track.ends)}
    charts.show(
        partial(chart, shown, curves, views, dots, columns, axis, unit),
        "latents.panels",
        -(-len(shown) // columns) * ROW + 50,
        f"Channels over the view, with estimates of {len(subject.w)} views: {', '.join(shown)}",
    )


def chart(
    shown: dict[str, tuple[str, int]],
    curves: Estimates | None,
    views: Estimates,
    dots: dict[str, Any],
    columns: int,
    axis: dict[str, Any],
    unit: str,
) -> go.Figure:
    """Posterior mean and encodings of single views (`dots`), each ± two standard deviations."""
    made = charts.panels(list(shown), columns, ROW, horizontal_spacing=0.16 / columns)
    reach: dict[str, float] = {}  # of each block
    for block, channel in shown.values():
        for _, mean, sd in filter(None, (curves, views)):
            end = (np.abs(mean[:, channel]) + 2 * sd[:, channel]).max(initial=0.5)
            reach[block] = max(reach.get(block, 0), np.ceil(2 * min(end, FARTHEST)) / 2)
    for index, (block, channel) in enumerate(shown.values()):
        where = {"row": index // columns + 1, "col": index % columns + 1}
        made.update_yaxes(range=[-reach[block], reach[block]], nticks=4, **where)
        if curves is not None:
            x, mean, sd = curves[0], curves[1][:, channel], curves[2][:, channel]
            made.add_trace(charts.band(x, mean - 2 * sd, mean + 2 * sd, COLOUR[block]), **where)
            hover = f"%{{x:.3g}}{unit}: %{{y:.2f}}"
            made.add_trace(charts.line(x, mean, "posterior", COLOUR[block], hover), **where)
        at, mu, bars = views[0], views[1][:, channel], 2 * views[2][:, channel]
        made.add_scatter(
            x=at,
            y=mu,
            mode="markers",
            name="views",
            error_y={"array": bars, "color": charts.GREY, "thickness": 1, "width": 0},
            marker=dots,
            customdata=bars,
            hovertemplate=f"view at %{{x:.4g}}{unit}<br>%{{y:.2f}} ± %{{customdata:.2f}}"
            "<extra></extra>",
            **where,
        )
    return made.update_xaxes(**axis)


def traversals(choice: Choice, found: Codes, row: int) -> None:
    """Local channels as they follow the track, and global ones over the range of their prior."""
    along = choice.collection.words.place
    first, turned, traversed = _traversed(choice, found.subjects[row].id, found, row)
    with st.container(key="latents.traversals"):
        left, right = st.columns(2, gap="medium")
    sentence = (
        f"In the first row all local channels follow the {along}. Below, only one of them does; "
        f"the others stay as they are at {along} {first}."
    )
    with left, frame.card("What each local channel does", sentence):
        st.html(turned)
    sentence = (
        "One channel at a time goes through the range of its prior; the others do not change."
    )
    with right, frame.card("What each global channel does", sentence):
        st.html(traversed)


@st.cache_resource(max_entries=24, show_spinner=False)
def _traversed(choice: Choice, id: str, _found: Codes, _row: int) -> tuple[str, str, str]:
    """The first place, and HTML of the pictures of local and of global channels of a subject."""
    assert _found.curves is not None
    model, track, along = choice.load(), choice.collection.track, choice.collection.words.place
    at = np.linspace(0, len(_found.grid), PLACES, endpoint=False).astype(int)
    code, w = _found.curves[_row][at], _found.grid[at]
    first, *_ = places = labels(track, w)
    names = ["all local", *(f"local {j + 1}" for j in range(model.config.local))]
    rows = list(zip(names, latents.turn(model, code, 0), strict=True))
    turned = pictures.grid(rows, places, colours(track, w), alt=f"local channels over the {along}")
    channels = strongest(choice)[:CHANNELS]
    images = latents.traverse(model, code[0], channels, np.array(latents.STEPS))
    names = [f"global {channel - model.config.local + 1}" for channel in channels]
    steps = [f"{step:+g}" if step else "0" for step in latents.STEPS]
    rows = list(zip(names, images, strict=True))
    return first, turned, pictures.grid(rows, steps, alt="global channels from -3 to 3")


@st.cache_resource(max_entries=12, show_spinner=False)
def _matrices(choice: Choice) -> tuple[np.ndarray, list[tuple[str, str, np.ndarray]], np.ndarray]:
    """Places, titled matrices of local channels at these places, and that of all channels."""
    model, found, words = choice.load(), codes(choice), choice.collection.words
    w = found.subjects[0].w
    alike = all(np.array_equal(each.w, w) for each in found.subjects)
    w = w if alike else choice.collection.track.grid(16)
    matrices = []
    if "local" in model.blocks:
        sentence = f"How alike are the local channels at two {words.place}s?"
        matrices.append(("What the prior expects", sentence, latents.prior_gram(model, w)))
        if alike:
            z = np.stack(found.mu)[..., found.blocks["local"]]
            measured = latents.angle_correlation(latents.about_prior_mean(model, z, w))
            matrices.append(("What the encoder says", "The same, measured.", measured))
    return w, matrices, np.abs(latents.channel_correlation(np.concatenate(found.mu)[None]))


def correlations(choice: Choice) -> None:
    """Correlations under the prior, of the encodings, and between channels."""
    words, track, blocks = choice.collection.words, choice.collection.track, choice.load().blocks
    w, matrices, strength = _matrices(choice)
    *columns, last = st.columns(len(matrices) + 1, gap="medium")
    names, half = labels(track, w), len(w) // 2
    for column, (title, sentence, values) in zip(columns, matrices, strict=True):
        make = partial(charts.heatmap, values, names, palette.LOCAL, words.place)
        alt = (
            f"Correlations of local channels at {names[0]} and {names[half]}: {values[0, half]:.2f}"
        )
        with column, frame.card(title, sentence):
            charts.show(make, f"latents.{frame.slug(title)}", MATRIX, alt)
    edge = blocks["global"].start if "global" in blocks else None
    largest = strength[~np.eye(len(strength), dtype=bool)].max(initial=0)
    alt = f"Correlations of {len(strength)} channels; two different ones reach {largest:.2f}"
    with last, frame.card("Which channels go together", "Correlations without their signs."):
        names = [str(k + 1) for k in range(len(strength))]
        make = partial(charts.heatmap, strength, names, charts.GREY, "channel", edge)
        charts.show(make, "latents.channels", MATRIX, alt)
