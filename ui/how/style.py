"""Screen 5: what each view says of a digit's style, and what they say together."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from fgpvae import data, latents
from ui import charts
from ui.catalog import Choice, figures, models
from ui.components import pictures
from ui.how.cards import KEPT, card, formula
from ui.shell import frame, notices, numbers, palette

if TYPE_CHECKING:
    import plotly.graph_objects as go


HEIGHT = 360  # pixels of a chart


@st.cache_resource(max_entries=8, show_spinner="Looking at everything from all sides")
def encoded(choice: Choice) -> latents.Latents:
    return latents.latents(choice.load(), shown(choice))


def shown(choice: Choice) -> data.Views:
    """Digits, or figures of cubes, that the model was not trained on."""
    return figures.unseen_views() if choice.figures else _digits(choice.classes)


@st.cache_resource(max_entries=4, show_spinner=False)
def _digits(classes: tuple[int, ...]) -> data.Views:
    return latents.digits(classes)


def divided(choice: Choice) -> bool:
    return choice.config.model.divides_channels


def bells(
    channel: int,
    views: Sequence[tuple[str, float, float, float]],
    together: tuple[float, float],
) -> go.Figure:
    """What each view says (name, angle, mean, sd), the prior, and what they say together."""
    z = np.linspace(-3.2, 3.2, 801)

    def bell(name: str, mean: float, sd: float, colour: str, **options: Any) -> go.Scatter:
        hover = f"{mean:+.2f} ± {sd:.3f}"
        density = np.exp(-0.5 * ((z - mean) / sd) ** 2)
        return charts.line(z, density, name, colour, hover, **options)

    made = charts.figure(HEIGHT, f"global channel {channel}", "density, peaks at one height")
    made.add_trace(bell("prior", 0, 1, charts.GREY, width=1.5, dash="dash"))
    for name, w, mean, sd in views:
        made.add_trace(bell(name, mean, sd, palette.angle_colour(w), width=1.3))
    fill: dict[str, Any] = {"fill": "tozeroy", "fillcolor": charts.faded(palette.GLOBAL, 0.15)}
    made.add_trace(bell("together", *together, palette.GLOBAL, width=3, **fill))
    made.update_xaxes(range=[-3.2, 3.2])
    made.update_yaxes(range=[0, 1.08], showticklabels=False)
    return made.update_layout(showlegend=True)


def surer(mean: np.ndarray, spread: np.ndarray, count: int) -> go.Figure:
    """Mean and two standard deviations by the number of views given."""
    steps = np.arange(len(mean))
    made = charts.figure(HEIGHT, "views given", "value of the channel")
    made.add_trace(charts.band(steps, mean - 2 * spread, mean + 2 * spread, "", palette.GLOBAL))
    hover = "%{x} views: %{y:.2f} ± %{customdata:.3f}"
    made.add_trace(charts.line(steps, mean, "", palette.GLOBAL, hover, customdata=spread))
    here: dict[str, Any] = {
        "mode": "markers",
        "marker": {"size": 12},
        "customdata": spread[[count]],
    }
    made.add_trace(charts.line([count], mean[[count]], "", palette.GLOBAL, hover, **here))
    made.update_xaxes(tickvals=list(range(0, len(mean), 4)))
    return made


def many_views_one_style() -> None:
    picker, which, one, some = st.columns([2, 2, 1.3, 3], gap="medium")
    with picker:
        choice = models.pick(only=divided, figures=True)
    model, found = notices.attempt(lambda: (choice.load(), encoded(choice)))
    views = shown(choice)
    angles = views.angles[0].numpy()
    Q, names = len(angles), [f"{degrees:g}°" for degrees in np.rad2deg(angles).round(1)]
    first = int((views.labels == 3).int().argmax())
    if st.session_state.get("how.style.digit", 0) >= len(views):
        st.session_state["how.style.digit"] = first
    channels = list(range(1, model.config.latents - model.config.local + 1))
    if st.session_state.get("how.style.views", 0) > Q:
        st.session_state["how.style.views"] = Q
    thing = "Figure" if choice.figures else "Digit"
    digit = which.slider(thing, 0, len(views) - 1, first, key="how.style.digit", **KEPT)
    channel = one.selectbox("Global channel", channels, key="how.style.channel", **KEPT)
    count = some.slider("Views given", 0, Q, 3, key="how.style.views", **KEPT)

    j = model.config.local + channel - 1
    order = np.argsort(np.arange(Q) * 7 % Q)  # views from all around, not one after the other
    mu, sd = found.mu[digit][order, j], np.sqrt(found.var[digit][order, j])
    mean, spread = (each[:, 0] for each in latents.product(mu[:, None], sd[:, None] ** 2))
    given = np.isin(np.arange(Q), order[:count])
    images = np.where(given[:, None, None], 1, 0.25) * views.images[digit].numpy()
    with frame.card(
        "The views that the model has",
        ("The bright ones are given to the model; the dark ones are not."),
    ):
        st.html(
            pictures.grid([("", images)], names, palette.angle_colours(angles), alt="views given")
        )
    left, right = st.columns([3, 2], gap="medium")
    with (
        left,
        frame.card(
            "What each view says, and what they say together",
            (
                "Thin lines: single views, in the colour of their angle. Dashed: the prior. "
                "Bold: all of them together."
            ),
            height="stretch",
        ),
    ):
        each = [(names[order[k]], angles[order[k]], mu[k], sd[k]) for k in range(count)]
        charts.show(
            partial(bells, channel, each, (mean[count], spread[count])),
            "how.style.bells",
            HEIGHT,
            f"Global channel {channel}: what {count} views say, and together "
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
    with frame.card("The product of Gaussians", ("Precisions add up; the prior adds 1.")):
        formula(
            r"\bar\sigma^2=\Big(1+\sum_{q=1}^{Q}\frac{1}{\sigma_q^2}\Big)^{-1},\qquad"
            r"\bar\mu=\bar\sigma^2\sum_{q=1}^{Q}\frac{\mu_q}{\sigma_q^2}",
            "fgpvae.posterior.global_posterior",
        )
        st.html(
            numbers.numbers(
                [
                    (f"{mean[count]:+.2f} ± {spread[count]:.3f}", f"given {count} views"),
                    ("+0.00 ± 1.000", "the prior, without any"),
                    (f"{mean[Q]:+.2f} ± {spread[Q]:.3f}", f"given all {Q}"),
                ]
            )
        )
        st.markdown(verdict(count, mean, spread))
        st.markdown(
            "How well the views agree is the global part of the evidence, again in closed form:"
        )
        formula(
            r"\log Z=-\tfrac12\Big(\sum_{q=1}^{Q}\frac{(\mu_q-\bar\mu)^2}{\sigma_q^2}+\bar\mu^2"
            r"-\log\bar\sigma^2+\sum_{q=1}^{Q}\log 2\pi\sigma_q^2\Big)",
            "fgpvae.posterior.global_posterior",
        )


def verdict(count: int, mean: np.ndarray, spread: np.ndarray) -> str:
    """Does the belief from some views hold once all are seen?"""
    every = len(mean) - 1
    if count == every:
        return "These are all the views there are."
    apart = abs(mean[count] - mean[every]) / spread[count]
    if apart <= 2:
        return (
            f"All {every} together are **{apart:.1f}** standard deviations away from what "
            f"{count} said: more certain, and in agreement."
        )
    return (
        f"All {every} together are **{apart:.1f}** standard deviations away from what {count} "
        "said, more than a Gaussian should be. The product assumes that the errors of the "
        "views are independent; for this channel they are not, so it is too certain."
    )
