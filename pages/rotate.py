"""Drag a subject along its coordinate: turn a digit or an object, play a film."""

import streamlit as st

from ui.catalog import models, subjects
from ui.inference import cached, captions, downloads, stage
from ui.inference.places import from_dial
from ui.rotate import beside, guide, morph_swap
from ui.shell import frame, notices, query_params

frame.guard()
models.check_link()
head, side = st.columns([2.2, 1.3], vertical_alignment="center")
with side:
    group = subjects.switch("rotate")
    menus = st.container(key="rotate.menus", horizontal=True, wrap=False)
    lines = st.container()
with menus:
    choice = models.pick(group=group)
model = notices.attempt(choice.load)
collection = notices.attempt(lambda: choice.collection)
key, words, track = f"rotate.{collection.name}", collection.words, collection.track
link = query_params.initial_params(key)
subject, other = subjects.pair(key, choice, link.get("subject"), link.get("other"))
with menus:
    second_model = beside.pick(choice, subject)
lines.caption(
    "  \n".join(f"{frame.plain(each.name)}: {each.line}" for each in (choice, second_model) if each)
)
with side:
    guide.link()
given = stage.chosen_views(key, subject, link)
seen = cached.imagined(choice, subject, given)
second = cached.imagined(choice, other, other.first_views)
guide.card(query_params.text(second.own) if len(second.own) else None)
left, right = st.columns([1.1, 1], gap="medium")
in_ring = beside.scene(second_model, subject, given) if seen.scene else None
state = stage.show(
    seen,
    choice,
    key,
    link,
    (left, right.container(), right.container()),
    style=query_params.numbers(link.get("style")),
    morph=second.own.tolist() if len(second.own) else None,
    beside=in_ring,
    lead=f"{in_ring.name} follows where it has the same slider." if in_ring else "",
    editable=model.takes_new_digits,
)
w = from_dial(track, state.angle)
with head:
    frame.heading(words.title, captions.moving(seen, collection, state.style))
with frame.card(words.many.capitalize()):
    subjects.gallery(key, choice, subject, other if len(second.own) else None)
morph_swap(key, collection, seen, second, w)
title = f"{words.one.capitalize()} {subject.id}, imagined by {choice.name}"
downloads.card(seen, collection, state, f"{choice.name}-{subject.id}", title, key)
query_params.write(
    subject=subject.id,
    other=other.id,
    angle=f"{state.angle:g}",
    views=query_params.text(given),
    style=query_params.text(state.style),
)
