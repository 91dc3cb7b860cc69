"""Drag a digit around."""

import streamlit as st

from fgpvae.data import ANGLES, HELD_OUT_INDEX
from fgpvae.digit_view import turn, verdict
from ui.catalog import digits, models, things
from ui.components import dial
from ui.inference import (
    angle_strip,
    captions,
    context_views,
    downloads,
    server_view,
    style_names,
    truth,
)
from ui.rotate import beside, figure_page, morph_swap, object_page, pair
from ui.shell import frame, notices, query_params

KEY = "rotate"

frame.guard()
head, side = st.columns([2.2, 1.3], vertical_alignment="center")
with side:
    kind = things.switch(KEY, own_objects=True)
    menus, lines = st.container(key="rotate.menus", horizontal=True), st.container()
with menus:
    choice = models.pick(
        only=lambda each: things.of(each) == kind, objects=True, figures=kind == things.OBJECTS
    )
if kind == things.OBJECTS:
    lines.caption(choice.line)
    (figure_page if choice.figures else object_page).page(KEY, head, choice)
    st.stop()
link, model = query_params.initial_params(KEY), notices.attempt(choice.load)
digit, other = pair(KEY, choice, link.get("digit"), link.get("other", "new-3-9"))
with menus:
    second_model = beside.pick(choice, digit)
told = [choice] if second_model is None else [choice, second_model]
lines.caption("  \n".join(f"{frame.plain(each.name)}: {each.line}" for each in told))
ids = digit.id(choice.classes)
kept = context_views.remembered(model, ids)
seen = kept or context_views.chosen(KEY, link)
fresh = choice.config.data.split == "continuous"
hidden = "kept hidden here" if fresh else "never seen in training"
turning = turn(model, digit.views(), ANGLES, context_views.mask(seen), ids)
second = turn(model, other.views(), ANGLES, context_views.mask(seen), other.id(choice.classes))
start = query_params.number(link.get("angle"), 0)

above, subject = head.container(), (choice.name, digit.name)
if turning.scene is None:
    state = server_view.server_view(turning, KEY, start)
else:
    styles = style_names.names(choice, digit.label)
    in_ring = beside.scene(second_model, digit, seen)
    state = dial.dial(
        turning.scene,
        key=KEY,
        angle=start,
        style=query_params.numbers(link.get("style")),
        held_out=HELD_OUT_INDEX,
        held_out_text=hidden,
        styles=styles,
        likely=style_names.likely(choice, digit.label),
        morph=dial.Morph("towards B", second.own.tolist()) if len(second.own) else None,
        editable=kept is None,
        subject=subject,
        size=500,
        name=choice.name,
        beside=in_ring,
        lead=beside.lead(choice, styles, in_ring),
    )
with above:
    known = digits.known(digit, choice)
    frame.heading("Rotate a digit", captions.rotating(model, digit, len(seen), state.style, known))
with state.below, frame.card("Against the truth"):
    if turning.scene is None:
        true, mean = digit.at(state.radians), digits.mean_image(digit.label, state.radians)
        truth.show(verdict(turning, state.radians, true, mean=mean))
    else:
        truth.follow(turning, choice, digit, KEY, subject)
with state.aside, frame.card(key="rotate.views"):
    context_views.slider(KEY, seen, disabled=kept is not None)
if lacking := captions.missing(model):
    with state.aside:
        notices.note(lacking)

with frame.card("Sixteen angles"):
    angle_strip.angle_strip(
        turning.images(ANGLES, state.style),
        key=KEY,
        angle=state.angle,
        observed=seen,
        held_out=[HELD_OUT_INDEX],
        held_out_text=hidden,
        move=dial.move if turning.scene else server_view.move,
    )
with frame.card("Digits"):
    digits.gallery(KEY, choice, digit, other if len(second.own) else None)
morph_swap(KEY, turning, second, digit, other, state.radians)
with frame.card("Take it with you", downloads.SENTENCE):
    title = f"A {digit.word}, turned by {choice.name}"
    downloads.save(turning, state, f"{choice.name}-{digit.name}", title, KEY)
query_params.write(
    digit=digit.name,
    other=other.name,
    angle=f"{state.angle:g}",
    views=query_params.text(seen),
    style=query_params.text(state.style),
    object=None,
    figure=None,
)
