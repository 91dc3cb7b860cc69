"""One subject as one model sees it: the dial, and the cards that belong to it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from fgpvae.browser.imagined import Imagined
from ui.catalog import models
from ui.catalog.models import Choice
from ui.components import dial
from ui.components.dial import Beside, DialState, Morph
from ui.inference import cached, captions, context_views, server_view, strip, turntables
from ui.shell import frame, notices, query_params

DOUBTS = 24  # places at which the width of the ring is measured


@dataclass(frozen=True)
class Places:
    """Containers of the parts."""

    dial: DeltaGenerator
    cards: DeltaGenerator  # for the views and the truth
    style: DeltaGenerator
    samples: DeltaGenerator | None = None  # below the dial


def show(
    seen: Imagined,
    choice: Choice,
    key: str,
    link: Mapping[str, str],
    places: Places,
    *,
    style: Sequence[float] | None = None,
    morph: Morph | None = None,
    beside: Beside | None = None,
    lead: str = "",
    editable: bool = True,
    warned: bool = False,
) -> DialState:
    """Show the dial `key`, the truth beside it, which views the model sees, and samples.

    It starts at the place of the link, in a given `style` or the subject's own. `morph` and
    `beside` are those of `dial.dial`; `lead` is added to the text above the sliders. `warned`: the
    page says that the views may not be of one subject, so no caption says what they do and the
    doubt is no less than the error at them.
    """
    collection, subject, track = choice.collection, seen.subject, choice.collection.track
    start = query_params.number(link.get("angle"), 0 if track.period else 50)
    if seen.scene is None:
        state = server_view.server_view(seen, key, start, places.dial)
    else:
        state = dial.dial(
            seen,
            collection,
            (places.dial, places.style),
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
    with places.cards:
        _views(seen, choice, key, editable, warned)
        turntables.against_truth(seen, collection, key, warned)
    with places.samples or state.below:
        turntables.possibilities(seen, collection, key)
        if lacking := captions.missing(seen.model):
            notices.note(lacking)
    return state


def _views(seen: Imagined, choice: Choice, key: str, editable: bool, warned: bool) -> None:
    given = np.flatnonzero(seen.observed).tolist()
    if not given:
        return
    with frame.card(key="inference.views"):
        context_views.slider(key, seen.subject, given, choice.collection, disabled=not editable)
        if not warned:
            st.caption(captions.what_views_do(seen, choice.collection))
        with st.container(horizontal=True):
            for label, model in captions.elsewhere(seen, choice.collection).items():
                if models.find(model) is not None:
                    link = {"model": model}
                    st.page_link(frame.page("rotate"), label=label, query_params=link)
