"""Screen 5: the style of a digit from single views and from all views together."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from fgpvae.data import Views
from fgpvae.data.collections import views_of
from fgpvae.evaluation import latents
from ui import charts
from ui.catalog import Choice, models, subjects
from ui.components import pictures
from ui.how.cards import card, formula
from ui.shell import frame, notices, palette
from ui.shell.query_params import KEEP

HEIGHT = 360  # pixels of a chart
SUBJECTS = 60


@st.cache_resource(max_entries=8, show_spinner="Looking at everything from all sides")
def encoded(choice: Choice) -> tuple[int, Views, np.ndarray, np.ndarray]:
    """Subjects that the model was not trained on; mean and variance [P, Q, L] of each view.

    The number is that of the subject with which the screen starts.
    """
    some = subjects.some(choice.collection, True, SUBJECTS)
    ids, plain, views = [each.id for each in some], choice.collection.first().id, views_of(some)
    start = ids.index(plain) if plain in ids else 0
    return start, views, *latents.encodings(choice.load(), views)


def divided(choice: Choice) -> bool:
    """Can the screen show this model? Its subjects must turn, and have equally many views."""
    turning = not choice.config.data.own and choice.collection.track.period > 0
    return choice.config.model.divides_channels and turning


def many_views_one_style() -> None:
    picker, which, one, some = st.columns([2, 2, 1.3, 3], gap="medium")
    with picker:
        choice = models.pick(only=divided)
    first, views, means, variances = notices.attempt(lambda: encoded(choice))
    angles = views.angles[0].numpy()
    Q, names = len(angles), [f"{degrees:g}°" for degrees in np.rad2deg(angles).round(1)]
    if st.session_state.get("how.style.digit", 0) >= len(views):
        st.session_state["how.style.digit"] = first
    if st.session_state.get("how.style.views", 0) > Q:
        st.session_state["how.style.views"] = Q
    part = choice.load().blocks["global"]
    channels = list(range(1, part.stop - part.start + 1))
    thing = choice.collection.words.one.capitalize()
    digit = which.slider(thing, 0, len(views) - 1, first, key="how.style.digit", **KEEP)
    number = one.selectbox("Global channel", channels, key="how.style.channel", **KEEP)
    count = some.slider("Views given", 0, Q, 3, key="how.style.views", **KEEP)

    order = np.argsort(np.arange(Q) * 7 % Q)  # views in an order that covers the circle evenly
    given = np.isin(np.arange(Q), order[:count])
    images = np.where(given[:, None, None], 1, 0.25) * views.images[digit].numpy()
    sentence = "The bright ones are given to the model; the dark ones are not."
    with frame.card("The views that the model has", sentence):
        hues = palette.angle_colours(angles)
        st.html(pictures.grid([("", images)], names, hues, alt="views given"))
    j = part.start + number - 1
    mu, var = means[digit][order, j], variances[digit][order, j]
    # [Q + 1], given the first 0 to Q views
    mean, spread = (each[:, 0] for each in latents.product(mu[:, None], var[:, None]))
    left, right = st.columns([3, 2], gap="medium")
    sentence = (
        "Thin lines: single views, in the colour of their angle. Dashed: the prior. Bold: all of "
        "them together."
    )
    with left, card("What each view says, and what they say together", sentence):
        single = [(names[k], angles[k], mu[n], np.sqrt(var[n])) for n, k in enumerate(order)]
        charts.show(
            partial(bells, number, single[:count], mean[count], spread[count]),
            "how.style.bells",
            HEIGHT,
            f"Global channel {number}: what {count} views say, and together "
            f"{mean[count]:+.2f} ± {spread[count]:.3f}",
        )
    with right, card("Surer with each view", "Mean and two standard deviations."):
        charts.show(
            partial(surer, mean, spread, count),
            "how.style.surer",
            HEIGHT,
            f"Standard deviation by views given: 1 without any, {spread[1]:.3f} with one, "
            f"{spread[Q]:.3f} with all {Q}",
        )
    product(count, mean, spread)


def bells(
    channel: int, views: Sequence[tuple[str, float, float, float]], mean: float, sd: float
) -> go.Figure:
    """Densities: each view (name, angle, mean, sd), the prior, and the posterior."""
    z = np.linspace(-3.2, 3.2, 801)
    fill = {"fill": "tozeroy", "fillcolor": charts.faded(palette.GLOBAL, 0.15)}
    lines: list[tuple[str, float, float, str, dict[str, Any]]] = [
        ("prior", 0, 1, charts.GREY, {"width": 1.5, "dash": "dash"}),
        *((name, mu, s, palette.angle_colour(w), {"width": 1.3}) for name, w, mu, s in views),
        ("together", mean, sd, palette.GLOBAL, {"width": 3, **fill}),
    ]
    traces = []
    for name, mu, s, colour, options in lines:
        density = np.exp(-0.5 * ((z - mu) / s) ** 2)
        traces.append(charts.line(z, density, name, colour, f"{mu:+.2f} ± {s:.3f}", **options))
    return charts.figure(
        f"global channel {channel}",
        "density, peaks at one height",
        traces,
        xaxis={"range": [-3.2, 3.2]},
        yaxis={"range": [0, 1.08], "showticklabels": False},
        legend=True,
    )


def surer(mean: np.ndarray, spread: np.ndarray, count: int) -> go.Figure:
    """Mean and two standard deviations by the number of views given."""
    steps, hover = np.arange(len(mean)), "%{x} views: %{y:.2f} ± %{customdata:.3f}"
    sd, colour = spread[[count]], palette.GLOBAL
    traces = [
        charts.band(steps, mean - 2 * spread, mean + 2 * spread, colour),
        charts.line(steps, mean, "", colour, hover, customdata=spread),
        charts.dot(count, mean[count], "", colour, hover, customdata=sd),
    ]
    ticks = {"tickvals": list(range(0, len(mean), 4))}
    return charts.figure("views given", "value of the channel", traces, xaxis=ticks)


def product(count: int, mean: np.ndarray, spread: np.ndarray) -> None:
    """The formula, its numbers, and whether the views agree."""
    Q = len(mean) - 1
    with frame.card("The product of Gaussians", "Precisions add up; the prior adds 1."):
        formula(
            r"\bar\sigma^2=\Big(1+\sum_{q=1}^{Q}\frac{1}{\sigma_q^2}\Big)^{-1},\qquad"
            r"\bar\mu=\bar\sigma^2\sum_{q=1}^{Q}\frac{\mu_q}{\sigma_q^2}",
            "fgpvae.gp.posterior.global_posterior",
        )
        items = [
            (f"{mean[count]:+.2f} ± {spread[count]:.3f}", f"given {count} views"),
            ("+0.00 ± 1.000", "the prior, without any"),
            (f"{mean[Q]:+.2f} ± {spread[Q]:.3f}", f"given all {Q}"),
        ]
        frame.numbers(items)
        st.markdown(verdict(count, mean, spread))
        st.markdown(
            "How well the views agree is the global part of the evidence, again in closed form:"
        )
        formula(
            r"\log Z=-\tfrac12\Big(\sum_{q=1}^{Q}\frac{(\mu_q-\bar\mu)^2}{\sigma_q^2}+\bar\mu^2"
            r"-\log\bar\sigma^2+\sum_{q=1}^{Q}\log 2\pi\sigma_q^2\Big)",
            "fgpvae.gp.posterior.global_posterior",
        )


def verdict(count: int, mean: np.ndarray, spread: np.ndarray) -> str:
    """Whether the posterior from some views agrees with that from all views."""
    Q = len(mean) - 1
    if count == Q:
        return "These are all the views there are."
    apart = abs(mean[count] - mean[Q]) / spread[count]
    said = f"All {Q} together are **{apart:.1f}** standard deviations from the result of {count}"
    if apart <= 2:
        return f"{said}: more certain, and in agreement."
    return (
        f"{said}, more than a Gaussian should be. The product assumes that the errors of the "
        "views are independent; for this channel they are not, so it is too certain."
    )
