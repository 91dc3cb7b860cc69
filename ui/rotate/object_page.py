"""The page Rotate for a model of one's own objects: a dial where views are on a circle, a track
where they are on a line.
"""

from collections.abc import Sequence

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from fgpvae import scenes
from fgpvae.metrics import mse
from fgpvae.models import Model
from fgpvae.scenes import Scene
from ui.catalog import objects
from ui.catalog.models import Choice
from ui.catalog.objects import ObjectSet
from ui.components import dial, pictures
from ui.inference import style_names
from ui.shell import frame, notices, numbers, query_params

LEAD = "What stays the same when the object moves."
HELD_TEXT = "kept out of training"
LEARNT_FROM = 120  # objects, of which the random styles are


def page(key: str, head: DeltaGenerator, choice: Choice) -> None:
    """All of the page below the box with the models."""
    link, model = query_params.initial_params(key), notices.attempt(choice.load)
    found = notices.attempt(lambda: objects.load_objects(choice))
    number = objects.chosen(key, found, link.get("object"))
    images, w = found.pixels(number), found.w(number)
    live = f"{key}.{'circle' if found.track.period else 'line'}"
    start = found.given(number)
    given = [index for index in dial.context(live, start) if index < len(w)] or start
    observed = np.isin(np.arange(len(w)), given)
    scene = notices.attempt(lambda: scenes.scene(model, images, w, observed))
    low, high = found.track.ends
    styles, likely = style_names.among(choice, found.split.train[:LEARNT_FROM])

    above = head.container()
    state = dial.dial(
        scene,
        key=live,
        angle=_start(query_params.number(link.get("angle"), -1.0), bool(found.track.period)),
        held_out=found.held(number),
        held_out_text=HELD_TEXT,
        styles=styles,
        likely=likely,
        subject=(choice.name, number),
        size=500,
        lead=LEAD,
        scale=dial.Scale(low, high),
    )
    with above:
        frame.heading(*_telling(found, number, len(given), state.style))
    at = np.deg2rad(state.angle) if found.track.period else state.angle / 50 - 1
    with state.aside, frame.card("Against the truth"):
        _verdict(model, scene, found, number, float(at), state.style)

    few = found.strip(number)
    labels = [found.text(view) for view in found.views(number)[few]]
    bars = [found.colour(float(w[i])) if observed[i] else "transparent" for i in few]
    with frame.card(
        "Every recorded view",
        "True, and as the model redraws it. A coloured bar marks the views that the model sees.",
    ):
        st.html(
            pictures.grid(
                [("true", images[few]), ("model", scenes.draw(model, scene, w[few], state.style))],
                labels,
                bars,
                alt=f"{found.objects.names[number]} at its recorded views, true and generated",
            )
        )
    with frame.card("Objects"):
        objects.gallery(key, choice, found, number)
    query_params.write(
        object=str(number),
        angle=f"{state.angle:g}",
        digit=None,
        other=None,
        figure=None,
        views=None,
        style=None,
    )


def _start(linked: float, circle: bool) -> float:
    """Where the dial is at first: as the link says, or at 0 on a circle, halfway on a line."""
    if circle:
        return max(linked, 0.0)
    return linked if 0 <= linked <= 100 else 50.0


def _telling(
    found: ObjectSet, number: int, views: int, style: Sequence[float] | None
) -> tuple[str, str]:
    """Title and sentence."""
    name = frame.plain(found.objects.names[number])
    title = "Rotate an object" if found.track.period else "Move an object"
    what = "the ring" if found.track.period else "the handle"
    if style is not None:
        return title, (
            f"Drag {what}. The style is no longer that of {name}: this is an object that "
            "nobody has seen."
        )
    met = "has never met" if found.new(number) else "was trained on"
    dots = "the dotted view" if views == 1 else f"the {views} dotted views"
    return title, (
        f"Drag {what}. The model {met} {name} and sees it only at {dots}; everywhere else it "
        "imagines."
    )


def _verdict(
    model: Model,
    scene: Scene,
    found: ObjectSet,
    number: int,
    at: float,
    style: Sequence[float] | None,
) -> None:
    """The truth is known at recorded views only: that nearest to where the handle is."""
    w, images = found.w(number), found.pixels(number)
    nearest = int(found.track.apart(w, at).argmin())
    made = scenes.draw(model, scene, w, style)
    seen = np.flatnonzero(scene.observed)
    given = images[seen[found.track.apart(w[seen], w[nearest]).argmin()]]
    rest = ~scene.observed
    st.html(
        pictures.row(
            pictures.framed(images[nearest], "true"),
            pictures.framed(made[nearest], "model"),
            pictures.framed(np.abs(made[nearest] - images[nearest]), "difference"),
            size=66,
        )
    )
    figures = [
        (f"{mse(made[nearest], images[nearest]):.4f}", "MSE here"),
        (f"{mse(given, images[nearest]):.4f}", "nearest view it sees"),
        (f"{mse(found.mean_image(float(w[nearest])), images[nearest]):.4f}", "mean image"),
    ]
    if rest.any():
        figures.append((f"{mse(made[rest], images[rest]):.4f}", "MSE of all unseen views"))
    st.html(numbers.numbers(figures))
    place = found.text(found.views(number)[nearest])
    st.caption(f"At {place}, the recorded view nearest to the handle.")
