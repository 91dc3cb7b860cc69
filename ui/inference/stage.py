"""One subject as one model sees it: the dial, and the cards that belong to it."""

from collections.abc import Mapping, Sequence

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from fgpvae.browser.imagined import Imagined
from ui.catalog import models
from ui.catalog.models import Choice
from ui.components import dial, pictures
from ui.components.dial import Beside, DialState, Morph
from ui.inference import cached, captions, context_views, strip, turntables
from ui.shell import frame, notices, query_params

DOUBTS = 24  # places at which the width of the ring is measured
ELSEWHERE = {"Try the paper's model": "paper", "See a film": "films"}


def show(
    seen: Imagined,
    choice: Choice,
    key: str,
    link: Mapping[str, str],
    places: tuple[DeltaGenerator, DeltaGenerator, DeltaGenerator],
    *,
    samples: DeltaGenerator | None = None,
    style: Sequence[float] | None = None,
    morph: Morph | None = None,
    beside: Beside | None = None,
    lead: str = "",
    editable: bool = True,
    warned: bool = False,
) -> DialState:
    """Show the dial `key`, the truth and which views the model sees, samples, and a strip.

    `places` are for the dial, its cards and the style; `samples` is for the samples, by default
    below the dial. It starts at the place of the link, in a given `style` or the subject's own.
    `morph` and `beside` are those of `dial.dial`; `lead` is added to the text above the sliders.
    `warned`: the page says that the views may not be of one subject, so no caption says what they
    do and the doubt is no less than the error at them.
    """
    collection, subject, track = choice.collection, seen.subject, choice.collection.track
    start = query_params.number(link.get("angle"), 0 if track.period else 50)
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
            style=style,
            styles=cached.sliders(choice, subject.label),
            likely=cached.likely_of(choice, seen),
            morph=morph,
            beside=beside,
            doubt=cached.doubt(seen, track.grid(DOUBTS), warned),
            lead=f"What stays the same all along this {collection.words.one}. {lead}".strip(),
            editable=editable,
            held_out_text=strip.held_out_text(choice),
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


def _picture(seen: Imagined, key: str, angle: float, place: DeltaGenerator) -> DialState:
    """Stand in for the dial, for a model that only the server can draw: a picture and a slider."""
    with place:
        with frame.card(key=f"{key}.still"):
            picture = st.container()
            chosen = st.slider(
                "Angle",
                0.0,
                359.5,
                min(round(2 * angle) / 2 % 360, 359.5),
                0.5,
                format="%.1f°",
                key=f"{key}.angle",
                persist_state="session",
            )
            image = seen.images([np.deg2rad(chosen)])[0]
            picture.html(
                f'<img src="{pictures.address(image, 8)}" alt="The picture that the model draws" '
                'style="display:block;width:min(100%,330px);margin:0.6rem auto;border-radius:50%">'
            )
        below = st.container()
    return DialState(angle=chosen, style=None, below=below)


def _views(seen: Imagined, choice: Choice, key: str, editable: bool, warned: bool) -> None:
    given = np.flatnonzero(seen.observed).tolist()
    if not given:
        return
    with frame.card(key="inference.views"):
        context_views.slider(key, seen.subject, given, choice.collection, disabled=not editable)
        if not warned:
            st.caption(captions.what_views_do(seen, choice.collection))
        if seen.model.config.network.harmonics and choice.group == "Digits":
            # models in which the Gaussian process has more to do
            with st.container(horizontal=True):
                for label, model in ELSEWHERE.items():
                    if models.find(model) is not None:
                        link = {"model": model}
                        st.page_link(frame.page("rotate"), label=label, query_params=link)
