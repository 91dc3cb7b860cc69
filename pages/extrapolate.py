"""Make a subject of one's own: a digit, a cube figure or a film."""

import streamlit as st

from ui.catalog import models, subjects
from ui.extrapolate import BUILDERS, PARAMS
from ui.inference import cached, captions, downloads, stage
from ui.shell import frame, notices, query_params

frame.guard()
models.check_link()
head, side = st.columns([2.2, 1.3], vertical_alignment="center")
with side, st.container(horizontal=True, vertical_alignment="center"):
    group = subjects.switch("extrapolate")
    choice = models.pick(group=group, label_visibility="collapsed")
model = notices.attempt(choice.load)
collection = notices.attempt(lambda: choice.collection)
key, words = f"extrapolate.{collection.name}", collection.words
link = query_params.initial_params(key)
if collection.name not in BUILDERS or not model.takes_new_digits:
    with head:
        frame.heading(words.bring, f"Nothing can be added to the {words.many} of this model here.")
    sentence = f"This model knows {words.many} of its own only. Choose another one above for yours."
    with frame.empty(f"The {words.many} are on Rotate", sentence):
        st.page_link(frame.page("rotate"), label=words.title)
    st.stop()

with st.container(key="extrapolate.board"):
    left, right = st.columns([1, 1.1], gap="medium")
cards_place, style_place = st.columns([1, 1.1], gap="medium")
with left:
    built = BUILDERS[collection.name](choice, link)
seen, style, given = built.seen, built.style, list[int]()
if built.subject is not None:
    given = stage.chosen_views(key, built.subject, link)
    seen = cached.imagined(choice, built.subject, given)
if seen is None:
    with head:
        frame.heading(words.bring, f"Make a {words.one}, and the model imagines the rest of it.")
    with right:
        frame.empty(built.title, built.sentence)
    query_params.write(**dict.fromkeys((*PARAMS, "views", "style")) | built.link)
    st.stop()

if st.session_state.setdefault(f"{key}.linked", seen.subject.id) == seen.subject.id:
    style = query_params.numbers(link.get("style")) or style
with right:
    if built.warning:
        notices.note(built.warning)
    place = st.container()
state = stage.show(
    seen,
    choice,
    key,
    link,
    (place, cards_place, style_place),
    samples=cards_place,
    style=style,
    editable=built.subject is not None,
    warned=bool(built.warning),
)
with right:
    if built.fine:
        st.caption(built.fine)
    if limits := captions.classes_met(choice.classes):
        notices.note(limits)
with head:
    sentence = captions.moving(seen, collection, state.style) if built.subject else captions.RANDOM
    frame.heading(words.bring, sentence)
title = f"{words.one.capitalize()} of my own, imagined by {choice.name}"
downloads.card(seen, collection, state, f"{choice.name}-{words.one}", title, key)
if not built.shareable:
    frame.not_in_link("your pictures")
drawn = built.style and [round(value, 3) for value in built.style]
query_params.write(
    **dict.fromkeys(PARAMS) | built.link,
    angle=f"{state.angle:g}",
    views=query_params.text(given or None),
    style=None if state.style == drawn else query_params.text(state.style),
)
