"""Which views of a subject the model sees: by dots on the dial and by number."""

from collections.abc import Mapping

import streamlit as st

from fgpvae.data.collections import Collection, PictureSubject, Subject
from ui.components import dial
from ui.shell import query_params, widget_keys

HELP = (
    "Q in the paper. You can also click the dots. The ring is thin where the picture is "
    "certain and wide where it is not."
)


def chosen(key: str, subject: Subject, link: Mapping[str, str]) -> list[int]:
    """Return the indices of the views that the model sees, at first those of the link."""
    name, possible = f"{key}.views", set(subject.order)
    if isinstance(subject, PictureSubject):  # indices chosen for other pictures do not apply
        before = st.session_state.get(f"{key}.views_of")
        st.session_state[f"{key}.views_of"] = subject.id
        if before not in (None, subject.id):
            dial.forget_context(key)
            st.session_state[name] = []
    if name not in st.session_state:
        linked = query_params.numbers(link.get("views")) or []
        st.session_state[name] = sorted({int(v) for v in linked if v in possible})
    wanted = [view for view in st.session_state[name] if view in possible]
    found = dial.context(key, wanted or subject.first_views)
    return [view for view in found if view in possible] or subject.first_views


def slider(
    key: str, subject: Subject, current: list[int], collection: Collection, disabled: bool = False
) -> None:
    """Ask how many views the model sees; keep as many of the current ones as possible."""

    def resize(count: int) -> None:
        dial.forget_context(key)  # the clicks on the ring are part of `current`
        current_first = sorted(subject.order, key=lambda view: view not in current)
        st.session_state[f"{key}.views"] = sorted(current_first[:count])

    st.slider(
        f"{collection.words.views.capitalize()} the model sees",
        1,
        len(subject.order),
        disabled=disabled or len(subject.order) < 2,
        help=HELP,
        **widget_keys.showing(f"{key}.count", len(current), resize),
    )
