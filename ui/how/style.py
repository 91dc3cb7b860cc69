"""Screen 4: what each view says of a digit's style, and what they say together."""

import numpy as np
import streamlit as st

from fgpvae import data, latents
from fgpvae.data import ANGLES
from ui.catalog import Choice, models
from ui.charts import Axis, Plot, figures, plot
from ui.components import pictures
from ui.how.cards import KEPT, LABELS, card, formula
from ui.shell import frame, notices, numbers, palette


@st.cache_resource(max_entries=8, show_spinner="Looking at every digit from sixteen angles")
def encoded(choice: Choice) -> latents.Latents:
    return latents.latents(choice.load(), shown(choice.classes))


@st.cache_resource(max_entries=4, show_spinner=False)
def shown(classes: tuple[int, ...]) -> data.Views:
    return latents.digits(classes)


def divided(choice: Choice) -> bool:
    return choice.config.model.divides_channels


def many_views_one_style() -> None:
    picker, which, one, some = st.columns([2, 2, 1.3, 3], gap="medium")
    with picker:
        choice = models.pick(only=divided)
    model, found = notices.attempt(lambda: (choice.load(), encoded(choice)))
    views = shown(choice.classes)
    first = int((views.labels == 3).int().argmax())
    if st.session_state.get("g_digit", 0) >= len(views):
        st.session_state["g_digit"] = first
    channels = list(range(1, model.config.latents - model.config.local + 1))
    digit = which.slider("Digit", 0, len(views) - 1, first, key="g_digit", **KEPT)
    channel = one.selectbox("Global channel", channels, key="g_channel", **KEPT)
    count = some.slider("Views given", 0, 16, 3, key="g_views", **KEPT)

    j = model.config.local + channel - 1
    order = np.argsort(np.arange(16) * 7 % 16)  # views from all around, not one after the other
    mu, sd = found.mu[digit][order, j], np.sqrt(found.var[digit][order, j])
    mean, spread = (each[:, 0] for each in latents.product(mu[:, None], sd[:, None] ** 2))
    given = np.isin(np.arange(16), order[:count])
    images = np.where(given[:, None, None], 1, 0.25) * views.images[digit].numpy()
    with frame.card("The views that the model has", "The bright ones; the others it has not seen."):
        st.html(
            pictures.grid([("", images)], LABELS, palette.angle_colours(ANGLES), alt="views given")
        )
    left, right = st.columns([3, 2], gap="medium")
    with (
        left,
        frame.card(
            "What each view says, and what they say together",
            "Thin: one view each, in the colour of its angle. Dashed: the prior. Bold: together.",
            height="stretch",
        ),
    ):
        z = np.linspace(-3.2, 3.2, 801)

        def bell(m: float, s: float) -> np.ndarray:
            return np.exp(-0.5 * ((z - m) / s) ** 2)

        made = Plot(
            "What each view says, and what they say together",
            Axis(f"global channel {channel}", -3.2, 3.2),
            Axis("density, peaks at one height", 0, 1.08, ticks=()),
        )
        made.line(z, bell(0, 1), figures.GREY, width=1.5, dash="6 5")
        for view in range(count):
            hue = palette.angle_colour(ANGLES[order[view]])
            made.line(z, bell(mu[view], sd[view]), hue, width=1.3)
        made.line(z, bell(mean[count], spread[count]), palette.GLOBAL, width=3, fill=0.15)
        plot.show(made, "g_bells")
    with right, card("Surer with each view", "Mean and two standard deviations."):
        steps = np.arange(17)
        made = Plot("Mean and spread by views", Axis("views given", ticks=[0, 4, 8, 12, 16]))
        made.band(steps, mean - 2 * spread, mean + 2 * spread, palette.GLOBAL)
        tips = [f"{n} views: {mean[n]:.2f} ± {spread[n]:.2f}" for n in steps]
        made.line(steps, mean, palette.GLOBAL, width=2.5, tips=tips)
        made.dots([count], [mean[count]], palette.GLOBAL, size=12, outline=palette.INK)
        plot.show(made, "g_surer")
    with frame.card("The product of Gaussians", "Precisions add up; the prior counts as one."):
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
                    (f"{mean[16]:+.2f} ± {spread[16]:.3f}", "given all sixteen"),
                ]
            )
        )
