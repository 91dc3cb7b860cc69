"""A digit of one's own."""

from functools import partial

import streamlit as st

from fgpvae.data import ANGLES
from fgpvae.digit_view import prior, turn
from ui.catalog import models, things
from ui.components import dial
from ui.extrapolate import angle_control, doubt, figure_page, picture, sources, upload, user_views
from ui.inference import angle_strip, captions, downloads, server_view, style_names, truth
from ui.shell import frame, notices, query_params

KEY, TITLE = "extrapolate", "Turn a digit of your own"
EXAMPLE, RANDOM = "Example", "Random"
BRING = {"Draw": upload.drawn, "Upload": upload.uploaded, "Camera": upload.photographed}

frame.guard()
head, side = st.columns([3.6, 1], vertical_alignment="center")
above = head.container()
with side:
    kind = things.switch(KEY)
    choice = models.pick(
        only=lambda each: things.of(each) == kind,
        label_visibility="collapsed",
        figures=kind == things.OBJECTS,
    )
if kind == things.OBJECTS:
    figure_page.page(KEY, above, choice)
    st.stop()
link, model = query_params.initial_params(KEY), notices.attempt(choice.load)
if not model.takes_new_digits:
    with above:
        frame.heading(TITLE, captions.NOTHING)
    frame.empty("Not with this model", captions.no_new_digits(model))
    st.stop()

with st.container(key="extrapolate.board"):
    left, right = st.columns([1, 1.1], gap="medium")
bring, way = (left.container(key=f"extrapolate.{part}") for part in ("bring", "way"))
result, style_place = (right.container(key=f"extrapolate.{part}") for part in ("result", "style"))
digit, shown, seed, pieces, piece, views = None, None, None, [], None, []
with bring, frame.card("Bring a digit", "Your picture stays in memory; it is not saved to disk."):
    source = st.segmented_control(
        "Where the digit comes from",
        [EXAMPLE, *BRING, RANDOM],
        default=EXAMPLE,
        required=True,
        key="extrapolate.source",
        bind="query-params",
        persist_state="session",
        label_visibility="collapsed",
    )
    if source == EXAMPLE:
        digit = sources.example(KEY, choice, link)
    elif source == RANDOM:
        seed = sources.seed(KEY, link)
    elif pieces := picture.normalise(BRING[source]()):
        piece = picture.show(pieces, visible=source == "Draw")
if digit or any(each.normalised for each in pieces):
    with way, frame.card("What the model sees"):
        if digit:
            shown = sources.shown_at(KEY, digit, link)
            views = sources.of_example(shown, model)
        elif piece:
            views = sources.of_pieces(pieces, piece, model)

subject = (choice.name, source, seed, *(view.key for view in views))
style, seen = query_params.numbers(link.get("style")), []
if views:
    ring = user_views.ring(views)
    seen = user_views.chosen(
        KEY, ring, subject, query_params.numbers(link.get("views")) if shown else None
    )
    turning = turn(model, ring.views, ring.angles, user_views.mask(ring, seen))
elif seed is not None:
    turning, style = notices.attempt(partial(prior, model, seed))

copies = len(set(seen) - set(ring.own)) if views else 0
whose = f"this {shown.digit.word}, which is new to it," if shown else "your digit"
sentence = captions.extrapolating(model, len(seen) - copies, copies, whose)
with above:
    frame.heading(TITLE, captions.RANDOM if seed is not None else sentence)
if limits := captions.classes_met(choice.classes):
    notices.note(limits)
if not views and seed is None:
    with result:
        if piece and piece.several:
            frame.empty("Which one?", picture.CHOOSE)
        else:
            frame.empty("No digit yet", "Bring one on the left, and it turns here.")
    st.stop()

start = query_params.number(link.get("angle"), 0)
likely = style_names.likely(choice, shown.digit.label) if shown else None
if views and not shown and len(turning.own):
    likely = style_names.likely_of(choice, turning.own.tolist())
if turning.scene is None:
    state = server_view.server_view(turning, KEY, start, (result, style_place))
else:
    state = dial.dial(
        turning.scene,
        key=KEY,
        angle=start,
        style=style,
        styles=style_names.names(choice),
        likely=likely,
        editable=seed is None,
        subject=subject,
        size=500,
        places=(result, style_place),
    )
if views:
    with state.below, frame.card("Against your picture, turned"):
        truth.show_reference(turning, state.radians, state.style)
    with way:
        doubt.card(KEY, model, ring, seen)
with frame.card("Sixteen angles"):
    angle_strip.angle_strip(
        turning.images(ANGLES, state.style),
        key=KEY,
        angle=state.angle,
        observed=user_views.near(turning.angles[turning.observed], ANGLES),
        move=dial.move if turning.scene else server_view.move,
    )
with frame.card("Take it with you", downloads.SENTENCE):
    title = f"{'A digit' if seed is not None else 'My digit'}, turned by {choice.name}"
    downloads.save(turning, state, f"{choice.name}-{source.lower()}", title, KEY)
query_params.write(
    digit=shown.digit.name if shown else None,
    shown=str(shown.degrees) if shown else None,
    said=angle_control.said(shown.key) if shown else None,
    views=query_params.text(seen) if shown else None,
    seed=None if seed is None else str(seed),
    angle=f"{state.angle:g}",
    style=query_params.text(state.style) if shown else None,
    figure=None,
)
