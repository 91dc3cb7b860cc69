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
LINES = (
    "Thin lines: single views, in the colour of their angle. Dashed: the prior. Bold: all of them "
    "together."
)
TOO_CERTAIN = (
    "more than a Gaussian should be. The product assumes that the errors of the views are "
    "independent; for this channel they are not, so it is too certain."
)


@st.cache_resource(max_entries=8, show_spinner="Looking at everything from all sides")
def encoded(choice: Choice) -> tuple[Views, np.ndarray, np.ndarray]:
    """Subjects that the model was not trained on; mean and variance [P, Q, L] of each view."""
    first = choice.collection.first()
    some = subjects.some(choice.collection, True, SUBJECTS)
    views = views_of(sorted(some, key=lambda each: each != first))  # the screen starts with it
    return views, *latents.encodings(choice.load(), views)


def divided(choice: Choice) -> bool:
    """Can the screen show this model? Its subjects must turn, and have equally many views."""
    turning = not choice.config.data.own and choice.collection.track.period > 0
    return choice.config.model.divides_channels and turning


def many_views_one_style() -> None:
    picker, which, one, many = st.columns([2, 2, 1.3, 3], gap="medium")
    with picker:
        choice = models.pick(only=divided)
    views, means, variances = notices.attempt(lambda: encoded(choice))
    angles = views.angles[0].numpy()
    Q, names = len(angles), [f"{degrees:g}°" for degrees in np.rad2deg(angles).round(1)]
    if st.session_state.get("how.style.digit", 0) >= len(views):
        st.session_state["how.style.digit"] = 0
    if st.session_state.get("how.style.views", 0) > Q:
        st.session_state["how.style.views"] = Q
    part = choice.load().blocks["global"]
    channels, noun = range(1, part.stop - part.start + 1), choice.collection.words.one
    digit = which.slider(noun.capitalize(), 0, len(views) - 1, key="how.style.digit", **KEEP)
    number = one.selectbox("Global channel", channels, key="how.style.channel", **KEEP)
    count = many.slider("Views given", 0, Q, 3, key="how.style.views", **KEEP)

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
    said = [f"{m:+.2f} ± {sd:.3f}" for m, sd in zip(mean, spread, strict=True)]
    left, right = st.columns([3, 2], gap="medium")
    with left, card("What each view says, and what they say together", LINES):
        single = [(names[k], angles[k], mu[n], np.sqrt(var[n])) for n, k in enumerate(order)]
        make = partial(bells, number, single[:count], mean[count], spread[count])
        alt = f"Global channel {number}: what {count} views say, and together {said[count]}"
        charts.show(make, "how.style.bells", HEIGHT, alt)
    with right, card("Surer with each view", "Mean and two standard deviations."):
        alt = f"The channel given one view, {said[1]}, and given all {Q}, {said[Q]}"
        charts.show(partial(surer, mean, spread, count), "how.style.surer", HEIGHT, alt)
    with frame.card("The product of Gaussians", "Precisions add up; the prior adds 1."):
        formula(
            r"\bar\sigma^2=\Big(1+\sum_{q=1}^{Q}\frac{1}{\sigma_q^2}\Big)^{-1},\qquad"
            r"\bar\mu=\bar\sigma^2\sum_{q=1}^{Q}\frac{\mu_q}{\sigma_q^2}",
            "fgpvae.gp.posterior.global_posterior",
        )
        some, every = (said[count], f"given {count} views"), (said[Q], f"given all {Q}")
        frame.numbers([some, (said[0], "the prior, without any"), every])
        apart = abs(mean[count] - mean[Q]) / spread[count]
        agree = "more certain, and in agreement." if apart <= 2 else TOO_CERTAIN
        st.markdown(f"All {Q} are **{apart:.1f}** standard deviations from those {count}: {agree}")
        st.markdown(
            "How well the views agree is the global part of the evidence, again in closed form:"
        )
        formula(
            r"\log Z=-\tfrac12\Big(\sum_{q=1}^{Q}\frac{(\mu_q-\bar\mu)^2}{\sigma_q^2}+\bar\mu^2"
            r"-\log\bar\sigma^2+\sum_{q=1}^{Q}\log 2\pi\sigma_q^2\Big)",
            "fgpvae.gp.posterior.global_posterior",
        )


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
