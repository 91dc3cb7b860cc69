"""The dial that turns a digit, and sliders for its style, all in the browser.

The browser loads the decoder's weights once and gets a few numbers a digit
(`fgpvae.browser.export`); dragging sends nothing back. After a drag the pose is sent to the server
and the page runs again:

    indices = dial.context("rotate", [0, 4, 8])          # the views the person has chosen
    scene = scenes.scene(model, views, angles, observed)  # what the model makes of them
    state = dial.dial(scene, dial.Look(held_out=[7]), st.columns(2), key="rotate")
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from fgpvae.browser.sliders import Morph, slider_data
from ui.components.dial import standalone
from ui.components.shared import Component, offer, packed, rounded
from ui.shell import palette

if TYPE_CHECKING:
    from fgpvae.browser.export import Scene
    from fgpvae.browser.style_directions import Style
    from fgpvae.evaluation.latents import Styles

KEEP = "keep"
SIZE = 500  # pixels of the dial, at most
WIDEST = 0.3  # error of a pixel at which the ring is widest, for all models

_dial = Component("dial")
_sliders = Component("style_sliders")


@dataclass(frozen=True)
class Pose:
    """Angle and style with which the digit is shown."""

    angle: float = 0.0  # degrees, counter-clockwise, from 0 to 360
    style: tuple[float, ...] | None = None  # one number a global channel; None is its own style


@dataclass(frozen=True)
class DialState:
    """State of the dial on the server."""

    angle: float
    style: list[float] | None  # None is the digit's own
    below: DeltaGenerator = field(repr=False)  # the space below the dial
    # makes an HTML file of the dial from a title and a sentence
    page: Callable[[str, str], str] | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Scale:
    """Range and unit of views on the dial."""

    low: float
    high: float
    degrees: bool = False  # an angle, with a slider and a number below the ring


@dataclass(frozen=True)
class Beside:
    """The same digit for a second model."""

    name: str
    scene: Scene
    styles: Sequence[Style] = ()  # its sliders; it follows those that the first model has as well


@dataclass(frozen=True, eq=False)
class Look:
    """Texts and options of a dial."""

    scale: Scale  # the unit of its views
    thing: str = "digit"  # word for it
    lead: str = ""  # the sentence above the sliders
    name: str = ""  # name of the model, shown beside a second one
    disc: bool = True  # whether pictures have empty corners
    editable: bool = True  # whether a click on a dot adds or removes a view
    held_out: Sequence[int] = ()  # indices of views that cannot be added
    held_out_text: str = "never seen in training"
    trails: np.ndarray | None = None  # [K, S, 2] paths as shares of the picture, the mean first
    # [S] expected error of a pixel at even places, the width of the ring; if None, the width is the
    # remaining share of the prior variance
    doubt: np.ndarray | None = None


@dataclass
class _Record:
    """State of a dial that persists across runs and pages."""

    pose: Pose = Pose()
    given: Pose | None = None  # the arguments of the last run
    revision: str = ""  # changes when the page, not the person, moves the dial
    subject: Hashable = None
    default: list[int] | None = None
    context: list[int] | None = None

    def follow(self, given: Pose, subject: Hashable, count: int) -> None:
        """Move the dial if the page's arguments have changed since its last run.

        A style has `count` numbers; the style of another subject is dropped.
        """
        now, last = self.pose, self.given or Pose()
        angle = now.angle if given.angle == last.angle else given.angle
        kept = now.style if subject == self.subject else None
        style = _style(kept if given.style == last.style else given.style, count)
        if self.given is None or Pose(angle, style) != now:
            self.move(Pose(angle, style))
        self.given, self.subject = given, subject

    def move(self, pose: Pose) -> None:
        self.pose, self.revision = pose, secrets.token_hex(4)

    def take_pose(self, sent: dict[str, Any]) -> None:
        """Store the pose after a drag, unless the page has moved the dial since."""
        angle, style = sent.get("angle"), sent.get("style")
        if sent.get("revision") == self.revision and isinstance(angle, int | float):
            self.pose = Pose(_degrees(angle), None if style is None else tuple(map(float, style)))

    def take_context(self, sent: dict[str, Any]) -> None:
        if sent.get("indices"):
            self.context = sorted(map(int, sent["indices"]))


def dial(
    scene: Scene,
    look: Look,
    places: tuple[DeltaGenerator, DeltaGenerator],
    *,
    key: str,
    angle: float = 0.0,
    style: Sequence[float] | None = None,
    styles: Sequence[Style] | None = None,
    morph: Morph | None = None,
    likely: Styles | None = None,
    subject: Hashable = None,
    beside: Beside | None = None,
) -> DialState:
    """Show a digit in a dial in the first of `places`, and its style in the second.

    `angle` (degrees) and `style` are the initial pose; if a page passes other values later, the
    dial moves there. On a line the dial is a track, and `angle` is a share of the way, from 0 to
    100. `styles` are the sliders (`style_directions`), `likely` the source of random styles, by
    default the prior. With another `subject` the style is reset to the digit's own. A model
    `beside` turns together with the first and follows its style in the properties for which both
    have a direction.
    """
    record, count = _record(key), len(scene.styles)
    record.follow(Pose(_degrees(angle), _style(style, count)), subject, count)
    data = _picture_data(scene, look, beside, followed(styles, beside)) | {
        "key": key,
        "subject": repr(subject),
        "name": look.name,
        "pose": {"revision": record.revision, **asdict(record.pose)},
        "cycle": palette.TRACK if scene.line else palette.CYCLE,
        "heldOutColour": palette.HELD_OUT,
        "size": SIZE,
        "thing": look.thing,
        "disc": look.disc,
        "doubt": None if look.doubt is None else rounded(np.minimum(look.doubt / WIDEST, 1)),
        "trails": None if look.trails is None else _packed(look.trails),
    }
    sliders = slider_data(scene.own, key, styles, morph, likely, look.lead, look.thing)
    # streamlit.css reserves the space of a ring, whose size is known with the slider of degrees
    room = "ring" if look.scale.degrees else "line"
    with places[0]:
        with st.container(key=f"{key}.{room}", gap=None):
            _dial(
                f"{key}.{'track' if scene.line else 'dial'}",
                data,
                pose=record.take_pose,
                context=record.take_context,
                need=lambda _: None,  # the rerun suffices: it offers the decoder again
            )
        below = st.container()
    if sliders:
        with places[1]:
            _sliders(f"{key}.styles", sliders)
    now = record.pose
    page = partial(standalone.html, scene.network.blob, data, sliders)
    return DialState(now.angle, None if now.style is None else list(now.style), below, page)


def context(key: str, default: Iterable[int]) -> list[int]:
    """Indices of the views chosen on the dial, by default `default`.

    Call this before the scene is made. With another default (another digit or number of views) the
    choice is reset.
    """
    record, default = _record(key), sorted(default)
    if default != record.default:
        record.default, record.context = default, None
    return default if record.context is None else record.context


def forget_context(key: str) -> None:
    """Reset the views chosen on the dial."""
    record = _record(key)
    record.default = record.context = None


def move(key: str, angle: float | None = None, style: Sequence[float] | str | None = KEEP) -> None:
    """Turn the dial from the page (a click on a strip, say), or give the digit another style."""
    record = _record(key)
    turned = record.pose.angle if angle is None else _degrees(angle)
    kept = record.pose.style if isinstance(style, str) else style
    record.move(Pose(turned, None if kept is None else tuple(map(float, kept))))


def followed(styles: Sequence[Style] | None, beside: Beside | None) -> list[tuple[Style, Style]]:
    """Sliders of the first model and, of the second, those for the same property.

    Single channels are left out: each model has its own.
    """
    if beside is None:
        return []
    second = {style.name: style for style in beside.styles if style.channel is None}
    return [(each, second[each.name]) for each in styles or () if each.name in second]


def _record(key: str) -> _Record:
    return st.session_state.setdefault(f"{key}.record", _Record())


def _degrees(angle: float) -> float:
    return round(float(angle), 2) % 360 if np.isfinite(angle) else 0.0


def _style(style: Sequence[float] | None, count: int) -> tuple[float, ...] | None:
    if style is None or len(style) != count or not np.isfinite(style).all():
        return None
    return tuple(round(float(value), 3) for value in style)


def _picture_data(
    scene: Scene,
    look: Look,
    beside: Beside | None,
    follow: Sequence[tuple[Style, Style]],
) -> dict[str, Any]:
    """The data from which the browser draws, with a name that changes with the data."""
    turned = np.rad2deg(scene.angles).round(2) % 360
    angles = (50 * (scene.angles + 1)).round(2) if scene.line else turned
    pairs = [
        {"reading": rounded(first.reading), "direction": rounded(other.direction)}
        for first, other in follow
    ]
    picture = {
        **_decoded(scene),
        "line": scene.line,
        "scale": asdict(look.scale),
        "heldOut": list(look.held_out),
        "heldOutText": look.held_out_text,
        "editable": look.editable,
        "angles": angles.tolist(),
        "observed": scene.observed.tolist(),
        "beside": beside and {"name": beside.name, **_decoded(beside.scene), "follow": pairs},
    }
    return picture | {"scene": sha256(json.dumps(picture).encode()).hexdigest()[:16]}


def _decoded(scene: Scene) -> dict[str, Any]:
    """Data of a digit for one model, whose decoder the browser loads by its name."""
    offer(scene.network.id, scene.network.blob)
    return {
        "network": scene.network.id,
        "code": _packed(scene.code),
        "variance": None if scene.variance is None else _packed(scene.variance[None]),
        "frequency": scene.frequency,
        "styles": scene.styles.tolist(),
        "own": rounded(scene.own),
    }


def _packed(values: np.ndarray) -> dict[str, Any]:
    return {"shape": values.shape, "values": packed(values)}


__all__ = [
    "Beside",
    "DialState",
    "Look",
    "Morph",
    "Scale",
    "context",
    "dial",
    "followed",
    "forget_context",
    "move",
]
