"""The chosen digit, true and as the model makes it again."""

import numpy as np
import streamlit as st

from fgpvae import UserError, latents
from fgpvae.data import ANGLES, Views
from fgpvae.digit_view import DigitView
from ui.catalog import Choice
from ui.catalog.digits import mean_image
from ui.components import pictures
from ui.inference.context_views import mask, remembered
from ui.latents import spaces
from ui.latents.codes import LABELS, shown
from ui.shell import frame, numbers, palette
from ui.shell.kept import content, kept, sent

VIEWS_GIVEN = {1: [0], 2: [0, 8], 4: [0, 4, 8, 12], 8: list(range(0, 16, 2)), 16: list(range(16))}


@kept(64)
def made_again(choice: Choice, digit: int, given: tuple[bool, ...]) -> np.ndarray | str:
    """Its sixteen views from those given, or why the model cannot."""
    try:
        views = shown(choice)[[digit]]
        return latents.generated(choice.load(), views, np.array(given))[0].numpy()
    except UserError as error:
        return str(error)


def picked(
    choice: Choice, views: Views, name: str, digit: int, view: int, given: np.ndarray
) -> str:
    """The view that stands out, true and generated, as HTML."""
    made = made_again(choice, digit, tuple(given.tolist()))
    images = [("true", views.images[digit, view].numpy())]
    if not isinstance(made, str):
        images.append(("generated", made[view]))
    return spaces.portrait(images, f"{name}, {LABELS[view]}")


def this_digit(choice: Choice, views: Views, digit: int, view: int, given: np.ndarray) -> None:
    """The chosen digit, true and generated, with numbers that have company."""
    model, mine = choice.load(), views[[digit]]
    truth = mine.images[0].numpy()
    made = made_again(choice, digit, tuple(given.tolist()))
    if isinstance(made, str):
        st.caption(frame.plain(made))
        return
    sent(
        content("this digit", choice, digit, view, given),
        lambda: st.html(
            pictures.grid(
                [("true", truth), ("generated", made)],
                LABELS,
                palette.angle_colours(ANGLES),
                marked=view,
                alt=f"digit {digit} at sixteen angles, true and generated",
            )
        ),
    )
    w, known = float(ANGLES[view]), remembered(model, mine.ids)
    mean = mean_image(int(mine.labels[0]), w)
    seen = DigitView(model, truth, ANGLES, mask(known) if known else given)
    turned = seen.geometric(np.array([w]))[0]
    error = ((made - truth) ** 2).mean((1, 2))
    st.html(
        numbers.numbers(
            [
                (f"{error[view]:.4f}", f"MSE at {LABELS[view]}"),
                (f"{error.mean():.4f}", "MSE of all sixteen"),
                (f"{((turned - truth[view]) ** 2).mean():.4f}", "geometric rotation"),
                (f"{((mean - truth[view]) ** 2).mean():.4f}", "mean image"),
            ]
        )
    )
