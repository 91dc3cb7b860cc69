"""Digits, objects or films: the collection of a page, the subject that is picked, a gallery."""

import streamlit as st

from fgpvae.data.collections import Collection, Digit, Subject
from ui.catalog import models
from ui.catalog.models import Choice
from ui.components.pictures import address
from ui.components.tiles import Tile, tiles
from ui.shell import query_params, widget_keys

GROUPS = ("Digits", "Objects", "Films")
SHOWN, MORE = 20, 60  # subjects in a gallery
FEW = 12  # new subjects below which those of training are shown with them


def switch(key: str) -> str:
    """Switch between digits, objects and films; remembers the last model of each."""
    groups = {choice.name: choice.group for choice in models.available()}
    offered = [group for group in GROUPS if group in groups.values()]
    now = st.query_params.get("model") or st.session_state.get("model")
    # the models of a link to Compare may be gone
    linked = [group for group in offered if f"{key}.{group.lower()}" in st.query_params]
    here = groups.get(str(now), [*linked, *offered, GROUPS[0]][0])
    last: dict[str, str] = st.session_state.setdefault("catalog.last", {})
    if now in groups:
        last[here] = str(now)
        query_params.write(model=str(now))  # a link to this page has the group

    def lead(wanted: str) -> None:
        names = [name for name, group in groups.items() if group == wanted]
        query_params.write(model=last[wanted] if last.get(wanted) in names else names[0])

    if len(offered) > 1:
        st.segmented_control(
            "Digits, objects or films",
            offered,
            required=True,
            help="A digit is a picture that turns. An object in space hides its far side. A film "
            "moves along a path that no single frame shows.",
            label_visibility="collapsed",
            **widget_keys.showing(f"{key}.group", here, lead),
        )
    return here


def suits(subject: Subject, choice: Choice) -> bool:
    classes = choice.collection.classes
    if subject.label is not None and classes and subject.label not in classes:
        return False
    return choice.kind.takes_new_digits or subject.row >= 0


def some(collection: Collection, new: bool, count: int) -> list[Subject]:
    """About `count` subjects, equally many of each class."""
    if not collection.classes:
        found = list(collection.subjects(new))
        if len(found) < FEW:
            found += collection.subjects(not new)
        return found[:count]
    each = max(count // len(collection.classes), 1)
    return [s for label in collection.classes for s in list(collection.subjects(new, label))[:each]]


def first(choice: Choice, label: int | None = None) -> Subject:
    """Return the subject that a page starts with."""
    found = choice.collection.first(label)
    return found if suits(found, choice) else choice.collection.subjects(False, found.label)[0]


def chosen(key: str, choice: Choice, linked: str | None = None) -> Subject:
    """Return the subject picked under `key`, else that of the link, else the first one.

    A subject that this model cannot take stays picked, as another model may take it.
    """
    name = f"{key}.{choice.collection.name}.subject"
    picked = st.session_state.get(name) or linked
    found = choice.collection.find(picked) if picked else None
    if found is not None and suits(found, choice):
        st.session_state[name] = found.id
        return found
    return first(choice, found.label if found else None)


def pick(key: str, choice: Choice, id: str) -> None:
    st.session_state[f"{key}.{choice.collection.name}.subject"] = id


def pair(key: str, choice: Choice, a: str | None, b: str | None) -> tuple[Subject, Subject]:
    """Return subject A on the dial and another subject B to morph to and swap with."""
    one, other = chosen(key, choice, a), chosen(f"{key}.second", choice, b)
    if other == one or (other.label != one.label and b is None):
        others = list(choice.collection.subjects(bool(one.new), one.label))
        others = [each for each in others[9:] + others[:9] if each != one and suits(each, choice)]
        other = others[0] if others else other
    return one, other


def gallery(key: str, choice: Choice, current: Subject, second: Subject | None = None) -> None:
    """Show thumbnails of the model's subjects; a click picks one under `key`.

    With a `second` subject the two are A and B, and a switch selects which of them a click picks.
    """
    words, target, shown = choice.collection.words, key, current

    def to_class(label: int) -> None:
        found = first(choice, label)
        if not new and found.new:
            found = choice.collection.subjects(False, label)[0]
        pick(target, choice, found.id)

    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if second is not None:
            one = words.one.capitalize()
            target = query_params.segments(
                "Which one to pick",
                {key: f"{one} A", f"{key}.second": f"{one} B"},
                f"{key}.side",
                linked=False,
                help=f"A is shown. B is the {words.one} to morph into and to swap with.",
                label_visibility="collapsed",
            )
            shown = current if target == key else second
        place = st.container(width="content")
        new = choice.kind.takes_new_digits and query_params.segments(
            "New or training",
            {True: f"New {words.many}", False: f"Training {words.many}"},
            f"{key}.{choice.collection.name}.kind",
            linked=False,
            default=shown.new is not False,
            help=f"The model learned from the training {words.many} and never saw the new ones.",
            label_visibility="collapsed",
        )
        label, classes = None, sorted(choice.collection.classes)
        if len(classes) > 1:
            label = place.pills(
                "Class",
                classes,
                required=True,
                label_visibility="collapsed",
                wrap=True,  # not the last on a phone, where it would be out of sight
                **widget_keys.showing(f"{target}.class", shown.label, to_class),
            )
        more = st.toggle("More", key=f"{key}.more")
    every = list(choice.collection.subjects(new, label))[: MORE if more else SHOWN]
    for special in (second, current):
        fits = special is not None and bool(special.new) == new
        if special and fits and special not in every and label in (None, special.label):
            every.insert(0, special)
    tiles(
        [tile(each, current, second) for each in every],
        key=f"{key}.tiles",
        label=f"{words.many.capitalize()} to pick from",
        on_pick=lambda id: pick(target, choice, id),
        single=second is None,
    )


def tile(subject: Subject, current: Subject, second: Subject | None = None) -> Tile:
    """Make a tile to pick a subject; with two subjects A and B are marked."""
    number = f" {subject.number + 1}" if isinstance(subject, Digit) else ""
    kind = {True: "new", False: "training", None: "training or new"}[subject.new]
    is_a, is_b = subject == current, subject == second
    badge = "A" if is_a else "B" if is_b else ""
    return Tile(
        subject.id,
        address(subject.thumbnail, 2),
        f"{subject.name.capitalize()}{number}, {kind}",
        selected=is_a,
        second=is_b and not is_a,
        badge=badge if second is not None else "",
    )
