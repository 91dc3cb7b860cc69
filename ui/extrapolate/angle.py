"""The angle at which pictures show a digit: inferred by the model or stated by the user."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
import streamlit as st
import torch
from PIL import Image

from fgpvae import orientation
from fgpvae.data import circular_error
from fgpvae.data.collections import PictureSubject
from fgpvae.orientation import novelty, picture_scores, several_views
from fgpvae.orientation.one_view import Mode
from ui.catalog import Choice
from ui.components.shared import Component
from ui.components.tiles import Tile, tiles
from ui.extrapolate import pieces
from ui.extrapolate.built import Built
from ui.shell import frame, palette, query_params

_upright = Component("upright")
POSSIBLE = 0.05  # minimum share of the posterior at which an angle is suggested
DISC, INNER, LENGTH = 56, 66, 22  # radii of picture and ring; longest petal
SAME, NEAR = math.radians(4), math.radians(20)
TURN = "If it is not upright, turn it by hand"
WHICH_HELP = "If you state it, angles at which the picture looks like another digit are ruled out."

FINE = "This looks like the digits the model knows."
WARNINGS = {
    novelty.Novelty.NO_DIGIT: "This does not look like a digit. The result is shown anyway.",
    novelty.Novelty.UNLIKE: "This looks unlike the digits the model knows: expect errors.",
}


@dataclass(frozen=True)
class View:
    id: str
    digit: np.ndarray  # [28, 28], input of the model
    own: Image.Image  # name for the user
    truth: float | None = None  # true angle of an example, in degrees
    number: int = 1  # on the page


def build(
    choice: Choice,
    views: Sequence[View],
    shown: int | None,
    own: dict[str, str | None],
    link: Mapping[str, str],
) -> Built:
    """Make a subject from views; ask for the angle of the one `shown`, and for the class.

    `own` are the query parameters that restore the views; without any no link restores them.
    """
    state, first, shareable = st.session_state, views[0], any(own.values())
    which = f"extrapolate.which.{first.id}"
    if shareable and state.setdefault("extrapolate.linked_picture", first.id) == first.id:
        # what the link states is that of the first digit of a session
        state["extrapolate.linked_picture"] = ""
        if "stated" in link:
            _state(first.id, query_params.number(link["stated"], 0))
        if link.get("digit", "") in list("0123456789"):
            state[which] = int(link["digit"])
    stated, label = [_stated(view.id) for view in views], state.get(which)
    known = [None if each is None else math.radians(each) for each in stated]
    model, scores = choice.load(), [_scores(choice, view.digit) for view in views]
    digits, known_scores = [view.digit for view in views], [each for each in scores if each]
    upright = first.truth is None  # the prior of all but examples
    found = several_views.place(model, digits, known, label, upright, known_scores)
    if shown is not None:
        _card(choice, views, found, shown)
    images, verdicts = [], set()
    for view, score, w in zip(views, scores, found.angles.tolist(), strict=True):
        example = view.truth is not None  # which already has MNIST's form
        images.append(view.digit if example else picture_scores.as_seen(view.digit, w))
        verdicts.add(novelty.verdict(model, view.digit, score, w))
    warning = next((text for worst, text in WARNINGS.items() if worst in verdicts), "")
    if found.misfits:
        names = ", ".join(str(views[view].number) for view in found.misfits)
        said = f"Some views do not fit the others: {names}."
        if len(found.misfits) == len(views):
            said = "These views do not fit together."
        warning = f"{said} Do they show the same digit, and is each the right way up?"
    fine = FINE if verdicts == {novelty.Novelty.FINE} and not warning else ""
    id = "-".join(view.id for view in views)
    own["stated"] = None if stated[0] is None else f"{stated[0]:g}"
    own["digit"] = None if label is None else str(label)
    subject = PictureSubject(id, np.stack(images), found.angles, label)
    return Built(subject, warning=warning, fine=fine, link=own, shareable=shareable)


@st.cache_resource(max_entries=128, ttl=pieces.HOUR, show_spinner=False)
def _scores(choice: Choice, digit: np.ndarray) -> picture_scores.PictureScores | None:
    model = choice.load()
    if not (model.tells_angle and model.separates_style):
        return None
    return picture_scores.score(model, digit, torch.as_tensor(orientation.grid()))


def _stated(id: str) -> float | None:
    """Return the angle in degrees that the user states for a picture."""
    return st.session_state.get(f"extrapolate.stated.{id}")


def _state(id: str, degrees: float | None) -> None:
    """Store the stated angle; None lets the model infer it again."""
    st.session_state[f"extrapolate.stated.{id}"] = None if degrees is None else degrees % 360


def _card(
    choice: Choice, views: Sequence[View], found: several_views.Placement, shown: int
) -> None:
    """Ask whether the picture `shown` is upright and which digit it is, with suggestions."""
    view, model = views[shown], choice.load()
    w, belief = float(found.angles[shown]), None if found.belief is None else found.belief[shown]

    def turn(sent: dict[str, Any]) -> None:
        degrees = sent.get("angle")  # None if the model shall infer it again
        if degrees is None or (isinstance(degrees, int | float) and math.isfinite(degrees)):
            _state(view.id, degrees and round(float(degrees), 1))

    question = frame.card("Is this the right way up?", key="extrapolate.angle")
    with question, st.container(horizontal=True, key="extrapolate.question"):
        with st.container(key="extrapolate.picture"):
            data = {
                "drawing": _belief_ring(belief, pieces.upright_address(view.own)),
                "angle": round(float(np.rad2deg(w)), 1) % 360,
                "stated": _stated(view.id) is not None,
                "cycle": palette.CYCLE,
            }
            _upright(f"extrapolate.upright.{view.id}", data, turned=turn)
        with st.container(key="extrapolate.suggested", gap="small"):
            if belief is None:
                st.caption(f"This model cannot find the angle of a picture. {TURN}.")
            else:
                _suggest(view, orientation.modes(belief), w, len(views) > 1)
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


def _suggest(view: View, modes: Sequence[Mode], w: float, several: bool) -> None:
    """Show the picture turned upright by each likely angle, to choose from.

    With `several` views the angle `w` is that of all together, which may be none of these.
    """
    known = "" if view.truth is None else f" Its true angle is {view.truth:g}°."
    stated = _stated(view.id) is not None
    if not stated and sum(each.share >= POSSIBLE for each in modes) > 1:
        known = f" **More than one angle is possible.**{known}"
    st.caption(f"{TURN}, or pick one.{known}")
    shown: list[Tile] = []

    def suggest(angle: float, likely: str, hint: str, selected: bool) -> None:
        degrees = round(math.degrees(angle)) % 360
        picture = pieces.upright_address(view.own, degrees, side=96)
        text, hint = f"{degrees}° · {likely}", f"Turned by {degrees}°: {hint}"
        shown.append(Tile(str(degrees), picture, hint, text=text, selected=selected))

    for mode in modes:
        apart = circular_error(mode.angle, w)
        # an upright picture that is taken if the odds are close
        angle = 0.0 if not stated and w == 0 and apart < NEAR else mode.angle
        share = f"{mode.share:.0%}" if mode.share >= 0.01 else "<1%"
        suggest(angle, share, f"{share} likely", bool(circular_error(angle, w) < SAME))
    if several and not stated and not any(tile.selected for tile in shown):
        suggest(w, "all views", "what all views say together", True)
    tiles(
        shown,
        key=f"extrapolate.modes.{view.id}",
        label="Angles that the model suggests",
        on_pick=lambda degrees: _state(view.id, float(degrees)),
        layout="choice",
    )


def _belief_ring(belief: np.ndarray | None, picture: str) -> str:
    """A posterior [G] over the angle as petals around a picture; no petals without a posterior.

    Each petal is where the top of the digit would be: angles run as on the dial, counter-clockwise
    from the top of the picture as it came.
    """
    lengths = np.zeros(0) if belief is None else LENGTH * belief / belief.max()
    petals = "".join(
        f'<rect class="petal" x="-1.6" y="{-INNER - length:.1f}" width="3.2" height="{length:.1f}" '
        f'fill="{palette.angle_colour(np.deg2rad(degrees))}" transform="rotate({-degrees:g})"/>'
        for degrees, length in zip(np.linspace(0, 360, len(lengths), False), lengths, strict=True)
        if length > 0.1
    )
    return (
        '<svg viewBox="-90 -90 180 180" aria-hidden="true">'
        f'<clipPath id="disc"><circle r="{DISC}"/></clipPath><circle r="{DISC}" fill="#000"/>'
        f'<image href="{escape(picture)}" x="-{DISC}" y="-{DISC}" '
        f'width="{2 * DISC}" height="{2 * DISC}" clip-path="url(#disc)"/>'
        f'<circle class="line" r="{INNER}"/>{petals}</svg>'
    )
