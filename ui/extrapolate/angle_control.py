"""At which angle a picture shows its digit: found by the model, or said by the person."""

import numpy as np
import streamlit as st
from PIL import Image

from fgpvae import orientation
from fgpvae.models import Model
from ui.components.upright import upright
from ui.extrapolate import (
    belief_ring,
    familiar,
    findings,
    own_picture,
    right_way_up,
    view_angles,
)

TURN = "Turn the picture until it is upright: drag it, use the arrow keys, or type its angle."
UNTOLD = "This model cannot find the angle of a picture. " + TURN


def taken(key: str, model: Model, image: np.ndarray) -> float:
    """The angle in radians: what the person says, else the likeliest, else upright."""
    said = st.session_state.get(f"extrapolate.said.{key}")
    return _angle(said, None if said is not None else _belief(key, model, image))


def _belief(key: str, model: Model, image: np.ndarray) -> np.ndarray | None:
    """Of a view placed with others; of one alone, also where the person has said its angle."""
    placed = view_angles.of_view(key)
    if placed is not None and f"extrapolate.said.{key}" not in st.session_state:
        return placed
    return findings.belief(model, image, view_angles.said_digit(view_angles.subject(key)))


def _angle(said: float | None, found: np.ndarray | None) -> float:
    if said is not None:
        return float(np.deg2rad(said))
    return 0.0 if found is None else orientation.modes(found)[0].angle


def said(key: str) -> str | None:
    """What the person says, for a link."""
    degrees = st.session_state.get(f"extrapolate.said.{key}")
    return None if degrees is None else f"{degrees:g}"


def say(key: str, degrees: float | None) -> None:
    """Take an angle from the person; None leaves it to the model again."""
    if degrees is None:
        st.session_state.pop(f"extrapolate.said.{key}", None)
    else:
        st.session_state[f"extrapolate.said.{key}"] = degrees % 360


def control(
    key: str, model: Model, image: np.ndarray, own: Image.Image, truth: float | None = None
) -> float:
    """How likely each angle is, the likely ones to click on, and the picture to turn by hand.

    `image` [H, W] is the digit as the model gets it, `own` as the person knows it; `truth` in
    degrees, where it is known. Returns the angle as `taken` does.
    """
    familiar.show(model, image)
    said = st.session_state.get(f"extrapolate.said.{key}")
    found = _belief(key, model, image)
    w = _angle(said, found)
    left, right = st.columns([1.1, 1], vertical_alignment="center", gap="small")
    with left:
        upright(
            belief_ring.belief_ring(found, own_picture.address(own)),
            round(float(np.rad2deg(w)), 1) % 360,
            key=f"extrapolate.upright.{key}",
            said=said is not None,
            on_turn=lambda degrees: say(key, degrees),
        )
    with right:
        if found is None:
            st.caption(UNTOLD)
        else:
            modes = orientation.modes(found)
            if said is None:
                right_way_up.ask(modes)
            known = "" if truth is None else f" Its true angle is {truth:g}°."
            st.caption(f"{TURN} Or click one of the angles that the model suggests.{known}")
            right_way_up.offer(
                own,
                modes,
                w,
                key=f"extrapolate.modes.{key}",
                on_pick=lambda degrees: say(key, degrees),
            )
            if model.separates_style:
                view_angles.ask_digit(key)
    return w
