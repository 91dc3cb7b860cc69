"""One subject as one model sees it: the dial, and the cards that belong to it."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from fgpvae.browser.imagined import Imagined
from fgpvae.data.collections import Collection, PictureSubject, Subject
from ui.catalog import Choice, models
from ui.components import dial, pictures
from ui.inference import cached, captions, strip, turntables
from ui.shell import frame, notices, query_params, widget_keys

ELSEWHERE = {"Try the paper's model": "paper", "See a film": "films"}


def show(
    seen: Imagined,
    choice: Choice,
    key: str,
    link: Mapping[str, str],
    places: tuple[DeltaGenerator, DeltaGenerator, DeltaGenerator],
    *,
    samples: DeltaGenerator | None = None,
    lead: str = "",
    editable: bool = True,
    warned: bool = False,
    **options: Any,
) -> dial.DialState:
    """Show the dial `key`, the truth and which views the model sees, samples, and a strip.

    `places` are for the dial, its cards and the style; `samples` is for the samples, by default
    below the dial. It starts at the place of the link. `lead` is added to the text above the
    sliders; `options` go to `dial.dial`. `warned`: the page says that the views may not be of one
    subject, so no caption says what they do and the doubt is no less than the error at them.
    """
    collection, subject, track = choice.collection, seen.subject, choice.collection.track
    start = query_params.number(link.get("angle"), 0 if track.period else 50)
    start = start if track.period else float(np.clip(start, 0, 100))
    if seen.scene is None:
        state = _picture(seen, key, start, places[0])
    else:
        state = dial.dial(
            seen,
            collection,
            (places[0], places[2]),
            key=key,
            model=choice.name,
            angle=start,
            styles=cached.sliders(choice, subject.label),
            likely=cached.likely_of(choice, seen),
            doubt=cached.doubt(seen, track, warned),
            lead=f"What stays the same all along this {collection.words.one}. {lead}".strip(),
            editable=editable,
            held_out_text=strip.held_out_text(choice),
            **options,
        )
    with places[1]:
        _views(seen, choice, key, editable, warned)
        turntables.against_truth(seen, collection, key, warned)
    with samples or state.below:
        turntables.possibilities(seen, collection, key)
        if lacking := captions.missing(seen.model):
            notices.note(lacking)
    strip.card(seen, choice, key, state)
    return state


def _picture(seen: Imagined, key: str, start: float, place: DeltaGenerator) -> dial.DialState:
    """Stand in for the dial, for a model that only the server can draw; the strip moves it."""
    angle = st.session_state.setdefault(f"{key}.angle", start)
    with place:
        with frame.card(key=f"{key}.still"):
            image = pictures.address(seen.images([np.deg2rad(angle)])[0], 8)
            st.html(
                f'<img src="{image}" alt="The picture that the model draws" '
                'style="display:block;width:min(100%,330px);margin:0.6rem auto;border-radius:50%">'
            )
        below = st.container()
    return dial.DialState(angle=angle, style=None, below=below)


def _views(seen: Imagined, choice: Choice, key: str, editable: bool, warned: bool) -> None:
    given = np.flatnonzero(seen.observed).tolist()
    if not given:
        return
    with frame.card(key="inference.views"):
        views_slider(key, seen.subject, given, choice.collection, disabled=not editable)
        if not warned:
            st.caption(captions.what_views_do(seen, choice.collection))
        if seen.model.config.network.harmonics and choice.group == "Digits":
            # models in which the Gaussian process has more to do
            with st.container(horizontal=True):
                for label, model in ELSEWHERE.items():
                    if models.find(model) is not None:
                        link = {"model": model}
                        st.page_link(frame.page("rotate"), label=label, query_params=link)


def chosen_views(key: str, subject: Subject, link: Mapping[str, str]) -> list[int]:
    """Return the indices of the views that the model sees, at first those of the link."""
    name, possible = f"{key}.views", set(subject.order)
    if isinstance(subject, PictureSubject):  # indices chosen for other pictures do not apply
        before = st.session_state.get(f"{key}.views_of")
        st.session_state[f"{key}.views_of"] = subject.id
        if before not in (None, subject.id):
            st.session_state[name] = []
    if name not in st.session_state:
        linked = query_params.numbers(link.get("views")) or []
        st.session_state[name] = sorted({int(v) for v in linked if v in possible})
    return [view for view in st.session_state[name] if view in possible] or subject.first_views


def views_slider(
    key: str, subject: Subject, current: list[int], collection: Collection, disabled: bool = False
) -> None:
    """Ask how many views the model sees; keep as many of the current ones as possible."""

    def resize(count: int) -> None:
        current_first = sorted(subject.order, key=lambda view: view not in current)
        st.session_state[f"{key}.views"] = sorted(current_first[:count])

    st.slider(
        f"{collection.words.views.capitalize()} the model sees",
        1,
        len(subject.order),
        disabled=disabled or len(subject.order) < 2,
        help="Q in the paper. You can also click the dots. The ring is thin where the picture is "
        "certain and wide where it is not.",
        **widget_keys.showing(f"{key}.count", len(current), resize),
    )
