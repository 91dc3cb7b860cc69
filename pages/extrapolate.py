"""A digit of one's own."""

import streamlit as st

from fgpvae.data import ANGLES
from ui import (
    angle,
    bringing,
    dial,
    downloads,
    frame,
    intake,
    links,
    models,
    notices,
    own,
    sketch,
    telling,
    truth,
)
from ui import styles as sliders
from ui.still import move as still_move
from ui.still import still
from ui.strip import strip
from ui.turning import prior, turn, uncertainty

KEY, TITLE = "extrapolate", "Turn a digit of your own"
EXAMPLE, RANDOM = "Example", "Random"
BRING = {"Draw": bringing.drawn, "Upload": bringing.uploaded, "Camera": bringing.photographed}

frame.guard()
head, side = st.columns([3.6, 1], vertical_alignment="center")
above = head.container()
with side:
    choice = models.pick(label_visibility="collapsed")
link, model = links.opened(KEY), notices.attempt(choice.load)
if not model.takes_new_digits:
    with above:
        frame.heading(TITLE, telling.NOTHING)
    frame.empty("Not with this model", telling.no_new_digits(model))
    st.stop()

left, right = st.columns([1.1, 1], gap="medium")
digit, shown, seed, pieces = None, None, None, []
with (
    left,
    frame.card(
        "Bring a digit", "It stays in memory; nothing is written to disk.", height="stretch"
    ),
):
    source = st.segmented_control(
        "Where the digit comes from",
        [EXAMPLE, *BRING, RANDOM],
        default=EXAMPLE,
        required=True,
        key="from",
        bind="query-params",
        persist_state="session",
        label_visibility="collapsed",
    )
    if source == EXAMPLE:
        digit = intake.example(KEY, choice, link)
    elif source == RANDOM:
        seed = intake.seed(KEY, link)
    else:
        pieces = bringing.normalise(BRING[source]())
with right, frame.card("As the model gets it", height="stretch"):
    if digit:
        shown = intake.shown_at(KEY, digit, link)
        views = intake.of_example(shown, model)
    elif seed is not None:
        views = []
        st.caption("Nothing: there is no picture, so the ring is wide all the way round.")
    else:
        views = intake.of_pieces(pieces, model)

subject = (choice.name, source, seed, *(view.key for view in views))
style, seen = links.numbers(link.get("style")), []
if views:
    ring = own.ring(views)
    seen = own.chosen(KEY, ring, subject, links.numbers(link.get("views")) if shown else None)
    turning = turn(model, ring.views, ring.angles, own.mask(ring, seen))
elif seed is not None:
    turning, style = notices.attempt(lambda: prior(model, seed))

copies = len(set(seen) - set(ring.own)) if views else 0
whose = f"this {shown.digit.word}, new to it," if shown else "your digit"
sentence = telling.extrapolating(model, len(seen) - copies, copies, whose)
with above:
    frame.heading(TITLE, telling.RANDOM if seed is not None else sentence)
if limits := telling.classes_met(choice.classes):
    notices.note(limits)
if not views and seed is None:
    frame.empty("No digit yet", "It turns here as soon as there is one.")
    st.stop()

start = links.number(link.get("angle"), 0)
likely = sliders.likely(choice, shown.digit.label) if shown else None
if views and not shown and len(turning.own):
    likely = sliders.likely_of(choice, turning.own)
if turning.scene is None:
    state = still(turning, KEY, start)
else:
    state = dial.dial(
        turning.scene,
        key=KEY,
        angle=start,
        style=style,
        styles=sliders.names(choice),
        likely=likely,
        editable=seed is None,
        subject=subject,
        size=500,
    )
if views:
    with state.below, frame.card("Against your picture, turned"):
        truth.show_reference(turning, state.radians, state.style)
    order = own.arrival(seen)
    left_over = uncertainty(model, ring.views, ring.angles, order)
    if left_over is not None:
        with (
            state.aside,
            frame.card(
                "More views, less doubt",
                "What is left of the ring's width. A click on one of its dots shows the model a "
                "turned copy of the picture.",
            ),
        ):
            sketch.show(sketch.falling(left_over.tolist(), len(seen)), key=f"{KEY}-falling")
with frame.card("Sixteen angles"):
    strip(
        turning.images(ANGLES, state.style),
        key=KEY,
        angle=state.angle,
        observed=own.near(turning.angles[turning.observed], ANGLES),
        move=dial.move if turning.scene else still_move,
    )
with frame.card("Take it with you", "The picture as you see it, one full turn, or its code."):
    downloads.save(turning, state.angle, state.style, f"{choice.name}-{source.lower()}", KEY)
links.write(
    digit=shown.digit.name if shown else None,
    shown=str(shown.degrees) if shown else None,
    said=angle.said(shown.key) if shown else None,
    views=links.text(seen) if shown else None,
    seed=None if seed is None else str(seed),
    angle=f"{state.angle:g}",
    style=links.text(state.style) if shown else None,
)
