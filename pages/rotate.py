"""Drag a digit around."""

import streamlit as st

from fgpvae.data import ANGLES, HELD_OUT
from ui import (
    dial,
    digits,
    downloads,
    frame,
    links,
    models,
    moving,
    notices,
    styles,
    telling,
    truth,
    views,
)
from ui.pair import pair
from ui.still import move as still_move
from ui.still import still
from ui.strip import strip
from ui.turning import turn, verdict

KEY = "rotate"

frame.guard()
head, side = st.columns([3.6, 1], vertical_alignment="center")
with side:
    choice = models.pick(label_visibility="collapsed", objects=True)
if choice.objects:
    moving.page(KEY, head, choice)
    st.stop()
link, model = links.opened(KEY), notices.attempt(choice.load)
digit = digits.chosen(KEY, choice, link.get("digit"))
other = digits.chosen(f"{KEY}-second", choice, link.get("other", "new-3-9"))
ids = digit.id(choice.classes)
kept = views.remembered(model, ids)
seen = kept or views.chosen(KEY, link)
fresh = choice.config.data.split == "continuous"
hidden = "kept hidden here" if fresh else "never seen in training"
turning = turn(model, digit.views(), ANGLES, views.mask(seen), ids)
second = turn(model, other.views(), ANGLES, views.mask(seen), other.id(choice.classes))
start = links.number(link.get("angle"), 0)

above = head.container()
if turning.scene is None:
    state = still(turning, KEY, start)
else:
    state = dial.dial(
        turning.scene,
        key=KEY,
        angle=start,
        style=links.numbers(link.get("style")),
        held_out=HELD_OUT,
        held_out_text=hidden,
        styles=styles.names(choice),
        likely=styles.likely(choice, digit.label),
        morph=dial.Morph("towards B", second.own) if len(second.own) else None,
        editable=kept is None,
        subject=(choice.name, digit.name),
        size=500,
    )
with above:
    known = digits.known(digit, choice)
    frame.heading("Rotate a digit", telling.rotating(model, digit, len(seen), state.style, known))
with state.below, frame.card(key="views"):
    views.slider(KEY, seen, disabled=kept is not None)
with state.aside, frame.card("Against the truth"):
    true = digit.at(state.radians)
    mean = digits.mean_image(digit.label)
    truth.show(verdict(turning, state.radians, true, state.style, mean))
if lacking := telling.missing(model):
    with state.aside:
        notices.note(lacking)

with frame.card("Sixteen angles"):
    strip(
        turning.images(ANGLES, state.style),
        key=KEY,
        angle=state.angle,
        observed=seen,
        held_out=[HELD_OUT],
        held_out_text=hidden,
        move=dial.move if turning.scene else still_move,
    )
with frame.card("Digits"):
    digits.gallery(KEY, choice, digit, other if len(second.own) else None)
pair(KEY, turning, second, digit, other, state.radians)
with frame.card("Take it with you", "The picture as you see it, one full turn, or its code."):
    downloads.save(turning, state.angle, state.style, f"{choice.name}-{digit.name}", KEY)
links.write(
    digit=digit.name,
    other=other.name,
    angle=f"{state.angle:g}",
    views=links.text(seen),
    style=links.text(state.style),
    object=None,
)
