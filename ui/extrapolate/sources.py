"""From what a person brings to views that a model can take: the two cards on top of Extrapolate."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import streamlit as st

from fgpvae.models import Model
from fgpvae.picture_scores import as_seen
from ui.catalog import digits
from ui.catalog.digits import Digit
from ui.catalog.models import Choice
from ui.extrapolate import angle_control, own_picture, picture, view_angles
from ui.extrapolate.picture import Piece
from ui.extrapolate.user_views import View
from ui.shell import query_params


@dataclass(frozen=True)
class Example:
    """A digit that no model was trained on, shown at an angle."""

    digit: Digit
    degrees: int

    @property
    def key(self) -> str:
        return f"{self.digit.name}-{self.degrees}"

    @property
    def image(self) -> np.ndarray:
        return self.digit.at(float(np.deg2rad(self.degrees)))


def example(key: str, choice: Choice, link: Mapping[str, str]) -> Digit:
    """Pick a digit that no model was trained on."""
    digit = digits.chosen(key, choice, link.get("digit"), new_only=True)
    digits.gallery(key, choice, digit, new_only=True)
    return digit


def shown_at(key: str, digit: Digit, link: Mapping[str, str]) -> Example:
    """The angle at which the model is shown a digit."""
    degrees = st.slider(
        "Shown turned by",
        0,
        345,
        int(query_params.number(link.get("shown"), 45)) // 15 * 15 % 360,
        15,
        format="%d°",
        key=f"{key}.shown",
        persist_state="session",
        help="The model is not told this angle: it has to find it.",
    )
    found, name = Example(digit, degrees), f"{key}.link_taken"
    if name not in st.session_state:
        st.session_state[name] = True
        if "said" in link:
            angle_control.say(found.key, query_params.number(link["said"], 0))
    return found


def seed(key: str, link: Mapping[str, str]) -> int:
    """Which random digit it is; a button draws another."""
    name = f"{key}.seed"
    if name not in st.session_state:
        st.session_state[name] = int(abs(query_params.number(link.get("seed"), 1))) % 10**6

    def another() -> None:
        st.session_state[name] += 1

    st.caption(
        "A digit that nobody wrote: its style is drawn at random from the prior of the global "
        "channels."
    )
    st.button("Another one", type="primary", on_click=another, key=f"{key}.another")
    return st.session_state[name]


def of_example(shown: Example, model: Model) -> list[View]:
    """How the model takes an example."""
    w = angle_control.control(
        shown.key, model, shown.image, own_picture.of_digit(shown.image), shown.degrees
    )
    return [View(shown.image, w, shown.key)]


def of_pieces(pieces: list[Piece], piece: Piece, model: Model) -> list[View]:
    """How pictures become digits, one of them in detail."""
    view_angles.together(model, {p.key: p.normalised.digit for p in pieces if p.normalised})
    known = dict[str, float]()
    if piece.normalised is not None:
        assert piece.own is not None
        known[piece.key] = angle_control.control(
            piece.key, model, piece.normalised.digit, piece.own
        )
        picture.steps(piece.normalised)
    views = []
    for each in pieces:
        if each.normalised is not None:
            image = each.normalised.digit
            w = known.get(each.key)
            w = angle_control.taken(each.key, model, image) if w is None else w
            views.append(View(as_seen(image, w), w, each.key))
    return views
