"""A digit: an example, a drawing, a file, a photo, or a random one."""

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
import streamlit as st

from fgpvae.browser.imagined import prior
from fgpvae.data.collections import Digit, Digits
from fgpvae.images import picture as to_image
from ui.catalog import subjects
from ui.catalog.models import Choice
from ui.components.canvas import to_link
from ui.components.tiles import tiles
from ui.extrapolate import angle, pieces, sources
from ui.extrapolate.angle import View
from ui.extrapolate.built import KEY, Built
from ui.extrapolate.sources import Brought
from ui.inference import cached
from ui.shell import frame, notices, query_params

EXAMPLE, DRAW, UPLOAD, CAMERA, RANDOM = "Example", "Draw", "Upload", "Camera", "Random"
FEW = 4  # visible examples
PLAIN = (3, 2, 5, 7)  # classes of the examples, if the model knows them
NOTHING = Built(title="No digit yet", sentence="Draw, upload or choose one, and it turns here.")
# on a phone scroll to what was chosen last: a source, then the picture
BRING, CANVAS, TOP = "shell.card.extrapolate-bring", "extrapolate.canvas", "extrapolate.top"


def build(choice: Choice, link: Mapping[str, str]) -> Built:
    views, shown, built, own = list[View](), 0, NOTHING, dict[str, str | None]()
    with frame.card(key="extrapolate.bring"):
        source = query_params.segments(
            "Where the digit comes from",
            [EXAMPLE, DRAW, UPLOAD, CAMERA, RANDOM],
            "extrapolate.source",
            label_visibility="collapsed",
            width="stretch",
            wrap=False,
        )
        if source == RANDOM:
            built = _random(choice, link)
        elif source == EXAMPLE:
            digit, degrees = _example(choice, link)
            image, id = digit.truth_at(np.deg2rad([degrees]))[0], f"{digit.id}-{degrees}"
            own_image = pieces.close_up(to_image(image), (0, 0, 1, 1))
            views = [View(id, image, own_image, degrees)]
            own = {"subject": digit.id, "shown": str(degrees)}
        else:
            draw = partial(sources.drawn, link)
            bring = {UPLOAD: sources.uploaded, CAMERA: sources.photographed}
            brought = bring.get(source, draw)()
            if brought is None:
                built = Built(
                    title="One digit or several?", sentence="Say what your pictures show."
                )
            elif brought:
                views, shown, waits = _pictures(brought, source)
                if waits:
                    views, built = [], Built(title="Which one?", sentence=pieces.CHOOSE)
                own = {"strokes": to_link(brought[0].strokes) if len(brought) == 1 else None}
    if views:
        with st.container(key=TOP):
            built = angle.build(choice, views, shown, own, link)
    _in_sight(source, views[-1].id if views else None)
    return built


def _in_sight(source: str, id: str | None) -> None:
    """On a phone, scroll to another source, then to a new picture of it, except while drawing."""
    name, now = "extrapolate.in_sight", (source, id)
    before, target = st.session_state.get(name, (now, None))
    if source != before[0]:
        target = CANVAS if source == DRAW else BRING, source
    elif now != before and source != DRAW:
        target = id and (TOP, id)
    st.session_state[name] = now, target
    if target:
        frame.in_sight(*target)


def _pictures(brought: list[Brought], source: str) -> tuple[list[View], int, bool]:
    """Read pictures: views, index of the shown one, and whether a digit must be chosen."""
    number = len(brought) - 1
    if number:
        names = [str(k + 1) for k in range(len(brought))]
        key = f"extrapolate.view.{number}"
        view = query_params.segments("View", names, key, linked=False, default=names[-1])
        number = names.index(view)
    read = [pieces.read(each.content, pieces.corrected(each.id)) for each in brought]
    here, row = brought[number], st.container(horizontal=True, gap="small")
    with row:
        sources.buttons(source.lower(), brought, any(piece.digit is not None for piece in read))
    pieces.show(here.id, here.content, here.name, read[number], row)
    views, shown = list[View](), 0
    for k, (each, piece) in enumerate(zip(brought, read, strict=True)):
        if piece.digit is not None and piece.own is not None:
            shown = len(views) if k == number else shown
            views.append(View(each.id, piece.digit, piece.own))
        elif k != number:
            notices.problem(f"View {k + 1}, {each.name}: {piece.error}")
    return views, shown, read[number].several


def _example(choice: Choice, link: Mapping[str, str]) -> tuple[Digit, int]:
    """Ask for a digit that no model was trained on, and its angle."""
    collection = choice.collection
    assert isinstance(collection, Digits)
    picked = subjects.chosen(KEY, choice, link.get("subject"))
    digit = picked if isinstance(picked, Digit) and picked.new else collection.first(picked.label)
    labels = sorted(collection.classes)
    plain = [collection.first(label) for label in PLAIN if label in labels]
    few = list(dict.fromkeys([digit, *plain, *collection.subjects(True, labels[0])[:FEW]]))
    with st.container(horizontal=True, vertical_alignment="center"):
        with st.container():
            _gallery(choice, few[:FEW], digit)
        with st.popover("More"):
            label = digit.label
            if len(labels) > 1:
                label = st.pills("Class", labels, default=label, required=True, wrap=True)
            _gallery(choice, collection.subjects(True, label), digit, "all")
            degrees = st.slider(
                "Shown turned by",
                0,
                345,
                int(query_params.number(link.get("shown"), 45)) // 15 * 15 % 360,
                15,
                format="%d°",
                key="extrapolate.shown",
                persist_state="session",
                help="The model does not get this angle: it has to infer it.",
            )
    return digit, degrees


def _gallery(choice: Choice, shown: Sequence[Digit], current: Digit, name: str = "few") -> None:
    tiles(
        [subjects.tile(each, current) for each in shown],
        key=f"extrapolate.examples.{name}",
        label="Digits to pick from" if name == "all" else "Examples",
        on_pick=lambda id: subjects.pick(KEY, choice, id),
    )


def _random(choice: Choice, link: Mapping[str, str]) -> Built:
    """Draw a random style; a button draws another."""
    name = "extrapolate.seed"
    if name not in st.session_state:
        st.session_state[name] = int(abs(query_params.number(link.get("seed"), 1))) % 10**6
    st.caption("An invented digit: the style of a training digit, changed at random.")
    st.button(
        "Another one",
        type="primary",
        on_click=lambda: st.session_state.update({name: st.session_state[name] + 1}),
        key="extrapolate.another",
    )
    seed = st.session_state[name]
    model = notices.attempt(choice.load)
    seen, style = notices.attempt(partial(prior, model, seed))
    rng = np.random.default_rng(seed)
    near = cached.likely(choice, int(rng.choice(sorted(choice.classes))))
    if near is not None:  # a draw from the prior is often not a digit
        count = len(near.factor)
        style = near.draw(rng.integers(count, size=1), rng.normal(size=(1, count)))[0].tolist()
    return Built(seen=seen, style=style, link={"seed": str(seed)})
