"""What the newest checkpoint of a run makes of what it was not trained on."""

import numpy as np
import streamlit as st

from fgpvae import UserError, comparison, scenes
from fgpvae.data import ANGLES, HELD_OUT_INDEX, cubes
from fgpvae.figure_view import imagine
from fgpvae.models import MODELS
from fgpvae.runs import Run
from ui.catalog import Choice, figures, models, objects
from ui.components import pictures as pictures_html
from ui.shell import frame, palette
from ui.shell.kept import content, sent

LABELS = [f"{degrees:g}°" for degrees in np.rad2deg(ANGLES)]


def turned(choice: Choice) -> str:
    """What a checkpoint makes of two digits, all around."""
    rows = []
    for true, made in zip(*comparison.turned(choice.load(), choice.classes), strict=True):
        rows += [("truth", true), ("model", made)]
    bars = palette.angle_colours(ANGLES)
    return pictures_html.grid(rows, LABELS, bars, marked=HELD_OUT_INDEX, alt="generated digits")


def moved(choice: Choice) -> str:
    """What a checkpoint makes of an object that it was not trained on."""
    found, model = objects.load_objects(choice), choice.load()
    number = found.split.unseen[0]
    images, w = found.pixels(number), found.w(number)
    observed = np.isin(np.arange(len(w)), found.given(number))
    few = found.strip(number, len(ANGLES))
    made = scenes.draw(model, scenes.scene(model, images, w, observed), w[few])
    labels = [found.text(view) for view in found.views(number)[few]]
    bars = [found.colour(float(w[i])) if observed[i] else "transparent" for i in few]
    rows = [("truth", images[few]), ("model", made)]
    return pictures_html.grid(rows, labels, bars, alt="an object at its views, true and generated")


def imagined(choice: Choice) -> str:
    """What a checkpoint makes of a figure of cubes that it was not trained on."""
    w = cubes.grid().numpy()[::2]
    seen = imagine(choice.load(), figures.unseen(0), w[[1, 7]], w)
    given = np.isclose(w[:, None], seen.given).any(1)
    bars = np.where(given, palette.angle_colours(w), "transparent").tolist()
    rows = [("truth", seen.truth), ("model", seen.mean)]
    labels = [f"{degrees:.0f}°" for degrees in np.rad2deg(w)]
    return pictures_html.grid(rows, labels, bars, alt="a figure of cubes, true and imagined")


def strip(run: Run) -> None:
    """The pictures of the newest checkpoint."""
    choice = models.of_run(run)
    if choice is None:
        st.caption("The first pictures appear as soon as the run is ready.")
        return
    new = MODELS[run.config.model.name].takes_new_digits
    try:
        sent(content("checkpoint", choice), lambda: _show(choice, new))
    except UserError as error:
        st.caption(frame.plain(f"No pictures: {error}"))


def _show(choice: Choice, new: bool) -> None:
    draw = moved if choice.objects else imagined if choice.figures else turned
    pictures = draw(choice)
    if choice.objects:
        st.caption("A new object, given the views with a bar; drawn by the newest weights.")
    elif choice.figures:
        st.caption("A new figure, given the two sides with a bar; drawn by the newest weights.")
    else:
        st.caption(
            f"Two {'new' if new else 'training'} digits, given eleven views; drawn by the "
            "newest weights. The view at 157.5° is never given."
        )
    st.html(pictures)
