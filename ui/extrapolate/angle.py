"""The angle at which pictures show a digit: inferred by the model or stated by the user."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import streamlit as st
import torch
from PIL import Image

from fgpvae import orientation
from fgpvae.data import circular_error
from fgpvae.data.collections import PictureSubject
from fgpvae.orientation import novelty, picture_scores, several_views
from fgpvae.orientation.novelty import Novelty
from fgpvae.orientation.one_view import Mode
from fgpvae.orientation.picture_scores import PictureScores
from fgpvae.orientation.several_views import Placement
from ui.catalog.models import Choice
from ui.components.tiles import Tile, tiles
from ui.components.upright import upright
from ui.extrapolate import own_picture
from ui.extrapolate.pieces import HOUR
from ui.shell import frame, query_params

POSSIBLE = 0.05  # minimum share of the posterior at which an angle is suggested
SAME, NEAR = math.radians(4), math.radians(20)
QUESTION = "Is this the right way up?"
SEVERAL = "More than one angle is possible."
TURN = "If it is not upright, turn it by hand"
UNTOLD = "This model cannot find the angle of a picture."
WHICH_HELP = "If you state it, angles at which the picture looks like another digit are ruled out."

FINE = "This looks like the digits the model knows."
UNLIKE = "This looks unlike the digits the model knows: expect errors."
NO_DIGIT = "This does not look like a digit. The result is shown anyway."


@dataclass(frozen=True)
class View:
    id: str
    digit: np.ndarray  # [28, 28], input of the model
    own: Image.Image  # name for the user
    truth: float | None = None  # true angle of an example, in degrees


def find(
    choice: Choice,
    views: Sequence[View],
    degrees: Sequence[float | None],
    label: int | None,
    held: bool,
) -> Placement:
    """Infer the angles of views; with `held` the prior favours upright pictures.

    The person may have stated `degrees` of each view, and the `label` of the digit.
    """
    known = [None if each is None else math.radians(each) for each in degrees]
    digits = [view.digit for view in views]
    scores = [each for digit in digits if (each := _scores(choice, digit)) is not None]
    return several_views.place(choice.load(), digits, known, label, held, scores)


@st.cache_resource(max_entries=128, ttl=HOUR, show_spinner=False)
def _scores(choice: Choice, digit: np.ndarray) -> PictureScores | None:
    model = choice.load()
    if not (model.tells_angle and model.separates_style):
        return None
    return picture_scores.score(model, digit, torch.as_tensor(orientation.grid()))


def subject(views: Sequence[View], found: Placement, label: int | None) -> PictureSubject:
    """Make a subject from views and their angles."""
    pairs = zip(views, found.angles.tolist(), strict=True)
    # an example already has MNIST's form
    images = [
        view.digit if view.truth is not None else picture_scores.as_seen(view.digit, w)
        for view, w in pairs
    ]
    id = "-".join(view.id for view in views)
    return PictureSubject(id, np.stack(images), found.angles, label)


def verdict(choice: Choice, views: Sequence[View], found: Placement) -> tuple[list[str], str]:
    """Return warnings, or a sentence that there are none."""
    if found.misfits:
        names = ", ".join(str(view + 1) for view in found.misfits)
        what = f"View {names} does not fit the others: does it"
        if len(found.misfits) > 1:
            what = f"Views {names} do not fit the others: do they"
        if len(found.misfits) == len(views):
            what = "The views contradict each other: do they"
        return [f"{what} show the same digit?"], ""
    said = {
        novelty.verdict(choice.load(), view.digit, _scores(choice, view.digit), w)
        for view, w in zip(views, found.angles.tolist(), strict=True)
    }
    for worst, sentence in ((Novelty.NO_DIGIT, NO_DIGIT), (Novelty.UNLIKE, UNLIKE)):
        if worst in said:
            return [sentence], ""
    return [], FINE if said == {Novelty.FINE} else ""


def stated(id: str) -> float | None:
    """Return the angle in degrees that the user states for a picture."""
    return st.session_state.get(f"extrapolate.stated.{id}")


def state(id: str, degrees: float | None) -> None:
    """Store the stated angle; None lets the model infer it again."""
    st.session_state[f"extrapolate.stated.{id}"] = None if degrees is None else degrees % 360


def stated_label(id: str) -> int | None:
    """Return the class that the user states for the digit with this first picture."""
    return st.session_state.get(f"extrapolate.which.{id}")


def to_link(id: str) -> dict[str, str | None]:
    """Return the stated angle and class of a digit, for a link."""
    degrees, label = stated(id), stated_label(id)
    return {
        "stated": None if degrees is None else f"{degrees:g}",
        "digit": None if label is None else str(label),
    }


def take(id: str, link: Mapping[str, str]) -> None:
    """Take what the link states of the first digit of a session, before its box is drawn."""
    if st.session_state.setdefault("extrapolate.linked_picture", id) != id:
        return
    st.session_state["extrapolate.linked_picture"] = ""
    if "stated" in link:
        state(id, query_params.number(link["stated"], 0))
    if link.get("digit", "") in list("0123456789"):
        st.session_state[f"extrapolate.which.{id}"] = int(link["digit"])


def card(choice: Choice, views: Sequence[View], found: Placement, shown: int) -> None:
    """Ask whether the picture `shown` is upright and which digit it is, with suggestions."""
    view, model = views[shown], choice.load()
    w, belief = float(found.angles[shown]), None if found.belief is None else found.belief[shown]
    question = frame.card(QUESTION, key="extrapolate.angle")
    with question, st.container(horizontal=True, key="extrapolate.question"):
        with st.container(key="extrapolate.picture"):
            upright(
                own_picture.belief_ring(belief, own_picture.address(view.own)),
                round(float(np.rad2deg(w)), 1) % 360,
                key=f"extrapolate.upright.{view.id}",
                stated=stated(view.id) is not None,
                on_turn=lambda degrees: state(view.id, degrees),
            )
        with st.container(key="extrapolate.suggested", gap="small"):
            if belief is None:
                st.caption(f"{UNTOLD} {TURN}.")
            else:
                _suggest(view, orientation.modes(belief), w)
            if model.tells_angle and model.separates_style:
                st.selectbox(
                    "Which digit it is",
                    range(10),
                    index=None,
                    placeholder="Which digit is it?",
                    label_visibility="collapsed",
                    key=f"extrapolate.which.{views[0].id}",
                    persist_state="session",
                    help=WHICH_HELP,
                )


def _suggest(view: View, modes: Sequence[Mode], w: float) -> None:
    """Show the picture turned upright by each likely angle, to choose from."""
    known = "" if view.truth is None else f" Its true angle is {view.truth:g}°."
    open_question = stated(view.id) is None and sum(each.share >= POSSIBLE for each in modes) > 1
    st.caption(f"{TURN}, or pick one.{f' **{SEVERAL}**' if open_question else ''}{known}")
    if stated(view.id) is None and w == 0:  # the one taken if the odds are close
        modes = [Mode(0.0, each.share) if _apart(each, w) < NEAR else each for each in modes]
    tiles(
        [_tile(view.own, mode, chosen=_apart(mode, w) < SAME) for mode in modes],
        key=f"extrapolate.modes.{view.id}",
        label="Angles that the model suggests",
        on_pick=lambda degrees: state(view.id, float(degrees)),
        layout="choice",
    )


def _apart(mode: Mode, w: float) -> float:
    return float(circular_error(mode.angle, w))


def _tile(own: Image.Image, mode: Mode, chosen: bool) -> Tile:
    degrees = round(math.degrees(mode.angle)) % 360
    share = f"{mode.share:.0%}" if mode.share >= 0.01 else "<1%"
    picture, text = own_picture.address(own, degrees, side=96), f"{degrees}° · {share}"
    hint = f"Turned by {degrees}°: {share} likely"
    return Tile(str(degrees), picture, hint, text=text, selected=chosen)
