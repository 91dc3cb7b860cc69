"""The live view: a dial that turns a digit, and sliders for its style, all in the browser.

The browser loads the decoder's weights once (`decoders`) and gets a few numbers a digit
(`fgpvae.scenes`); dragging sends nothing back. When the person lets go, the pose arrives here and
the page runs again:

    indices = dial.context("rotate", [0, 4, 8])          # the views the person has chosen
    scene = scenes.scene(model, views, angles, observed)  # what the model makes of them
    state = dial.dial(scene, key="rotate", held_out=[7])
    with state.aside:                                     # below the sliders
        ...

Nothing here loads torch: the first digit is shown before that is there (`opening`).
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ui.components import decoders
from ui.components.dial.standalone import Standalone
from ui.components.shared import Component, packed, rounded
from ui.components.style_sliders import Morph, slider_data, style_sliders
from ui.shell import palette

if TYPE_CHECKING:
    from fgpvae.latents import Styles
    from fgpvae.scenes import Scene
    from fgpvae.style_directions import Style

LEAD = "What stays the same when the digit turns."
KEEP = "keep"

_dial = Component(
    "dial",
    "dial/dial.js",
    "dial/dial.html",
    ("shared/common.css", "shared/degrees.css", "dial/dial.css"),
)
_track = Component(
    "track",
    "dial/track.js",
    "dial/track.html",
    ("shared/common.css", "dial/dial.css", "dial/track.css"),
)


@dataclass(frozen=True)
class Pose:
    """How the digit is shown."""

    angle: float = 0.0  # degrees, counter-clockwise, from 0 to 360
    style: tuple[float, ...] | None = None  # one number a global channel; None is its own style


@dataclass(frozen=True)
class DialState:
    """What the person did with the dial, as far as the server knows."""

    angle: float
    style: list[float] | None  # None is the digit's own
    context: list[int]  # indices of the observed views
    aside: DeltaGenerator = field(repr=False)  # the space below the sliders, for the page to fill
    below: DeltaGenerator = field(repr=False)  # the space below the dial
    page: Standalone | None = field(default=None, repr=False)  # the dial as a file of its own

    @property
    def radians(self) -> float:
        return float(np.deg2rad(self.angle))


@dataclass(frozen=True)
class Scale:
    """In what unit the views of one's own objects are read: from low to high around or along."""

    low: float
    high: float
    degrees: bool = False  # an angle, with a slider and a number below the ring as for a digit


@dataclass(frozen=True)
class Beside:
    """The same digit as a second model sees it."""

    name: str
    scene: Scene
    styles: Sequence[Style] = ()  # its sliders: it follows those that the first model has as well


@dataclass
class _Record:
    """What is kept of a dial between runs, and when its page is left."""

    pose: Pose = Pose()
    given: Pose | None = None  # the arguments of the last run
    asked: Pose = Pose()  # where the page last moved the dial
    revision: str = ""  # changes when the page, not the person, moves the dial
    subject: Hashable = None
    default: list[int] | None = None
    context: list[int] | None = None


def dial(
    scene: Scene,
    *,
    key: str,
    angle: float = 0.0,
    style: Sequence[float] | None = None,
    held_out: int | Iterable[int] = (),
    held_out_text: str = "never seen in training",
    styles: Sequence[Style] | None = None,
    morph: Morph | None = None,
    likely: Styles | None = None,
    editable: bool = True,
    subject: Hashable = None,
    size: int = 470,
    lead: str = LEAD,
    scale: Scale | None = None,
    name: str = "",
    beside: Beside | None = None,
    places: Sequence[DeltaGenerator] | None = None,
) -> DialState:
    """Show a digit in a dial, with its style beside it (below it on a narrow screen).

    `angle` (degrees) and `style` are where it starts; when a page gives other values later, the
    dial goes there. `styles` are the sliders (`style_directions`). `likely` is where
    a random style comes from; without it, from the prior. `held_out` are
    indices of views that nobody may add. `subject` says which digit it is: with another one the
    style goes back to the digit's own. On a line the dial is a track, and `angle` is a share of
    the way, from 0 to 100. With a `scale` it reads in the unit of one's own views. `beside` is the
    same digit as a second model sees it, turned together with the first; both are named then, and
    the second follows changes of style in the properties that both have a direction for.
    `places` are where the dial and its style go, instead of two new columns.
    """
    record = _record(key)
    held = [held_out] if isinstance(held_out, int) else list(held_out)
    count = len(scene.styles)
    _give(record, Pose(_degrees(angle), _style(style, count)), subject, count)
    options = {"heldOut": held, "heldOutText": held_out_text, "editable": editable}
    data = _data(scene, beside, followed(styles, beside), options) | {
        "key": key,
        "subject": repr(subject),
        "name": name,
        "pose": _asked(record),
        "cycle": list(palette.TRACK if scene.line else palette.CYCLE),
        "scale": None if scale is None else asdict(scale),
        "heldOutColour": palette.HELD_OUT,
        "size": size,
    }
    thing = "digit" if scale is None else "object"
    sliders = slider_data(scene, key, styles, morph, likely, lead, thing)
    with st.container(gap=None):  # what was opened early stays where it is
        left, right = places or _columns()
        with left:
            _mount(_track if scene.line else _dial, key, data)
            below = st.container()
        with right:
            if sliders:
                style_sliders(sliders)
            aside = st.container()
    pose = record.pose
    page = Standalone(scene.network, data, sliders, pose.angle, pose.style)
    return DialState(
        angle=pose.angle,
        style=None if pose.style is None else list(pose.style),
        context=np.flatnonzero(scene.observed).tolist(),
        aside=aside,
        below=below,
        page=None if scene.line else page,
    )


def kept_dial(key: str, subject: Hashable, blob: bytes, data: Mapping[str, Any]) -> None:
    """A dial at 0 degrees from what it once got, where `dial` will put the same later."""
    record = _record(key)
    _give(record, Pose(), subject, 0)
    decoders.offer(data["network"], blob)
    with st.container(gap=None), _columns()[0]:
        _mount(_dial, key, {**data, "pose": _asked(record)})


def context(key: str, default: Iterable[int]) -> list[int]:
    """Indices of the views the person has chosen on the dial, `default` until then.

    To be asked before the scene is made. With another default (another digit, another number of
    views) the choice is forgotten.
    """
    record, default = _record(key), sorted(default)
    if default != record.default:
        record.default, record.context = default, None
    return default if record.context is None else record.context


def pose(key: str) -> Pose:
    """Where the dial is, for a page that needs to know before it shows the dial."""
    return _record(key).pose


def move(key: str, angle: float | None = None, style: Sequence[float] | str | None = KEEP) -> None:
    """Turn the dial from the page (a click on a strip, say), or give the digit another style."""
    now = pose(key)
    turned = now.angle if angle is None else _degrees(angle)
    kept = now.style if isinstance(style, str) else style
    _move(_record(key), Pose(turned, None if kept is None else tuple(map(float, kept))))


def _columns() -> Sequence[DeltaGenerator]:
    return st.columns([1.1, 1], gap="medium")


def _record(key: str) -> _Record:
    name = f"{key}.record"
    if name not in st.session_state:
        st.session_state[name] = _Record()
    return st.session_state[name]


def _mount(component: Component, key: str, data: dict[str, Any]) -> None:
    # streamlit.css keeps the room of a ring free, which is a known one with the slider of degrees
    degrees = data["scale"] is None or data["scale"]["degrees"]
    room = "ring" if component is _dial and degrees else "line"
    with st.container(key=f"{key}.{room}", gap=None):
        component(
            key=f"{key}.dial",
            data=data,
            on_pose_change=lambda: _take_pose(key),
            on_context_change=lambda: _take_context(key),
            on_need_change=lambda: None,  # that the page runs is enough: it offers the decoder anew
        )


def _give(record: _Record, given: Pose, subject: Hashable, count: int) -> None:
    """The page's arguments of this run; a style has `count` numbers."""
    wanted = _wanted(record, given, new=subject != record.subject)
    wanted = Pose(wanted.angle, _style(wanted.style, count))
    if record.given is None or wanted != record.pose:
        _move(record, wanted)
    record.given, record.subject = given, subject


def _wanted(record: _Record, given: Pose, new: bool) -> Pose:
    """Where the dial should be: with the person, except where the page asks for something else."""
    if record.given is None:
        return given
    now = record.pose
    angle = now.angle if given.angle == record.given.angle else given.angle
    style = (None if new else now.style) if given.style == record.given.style else given.style
    return Pose(angle, style)


def _move(record: _Record, to: Pose) -> None:
    record.pose = record.asked = to
    record.revision = secrets.token_hex(4)


def _asked(record: _Record) -> dict[str, Any]:
    """Where the page has moved the dial: the person's own poses are not sent back."""
    return {"revision": record.revision, **asdict(record.asked)}


def _degrees(angle: float) -> float:
    return round(float(angle), 2) % 360 if np.isfinite(angle) else 0.0


def _style(style: Sequence[float] | None, count: int) -> tuple[float, ...] | None:
    if style is None or len(style) != count or not np.isfinite(style).all():
        return None
    return tuple(round(float(value), 3) for value in style)


def followed(styles: Sequence[Style] | None, beside: Beside | None) -> list[tuple[Style, Style]]:
    """Sliders of the first model and, of the second, those for the same property.

    Single channels are left out: each model has its own.
    """
    if beside is None:
        return []
    second = {style.name: style for style in beside.styles if style.channel is None}
    return [(each, second[each.name]) for each in styles or () if each.name in second]


def _data(
    scene: Scene,
    beside: Beside | None,
    follow: Sequence[tuple[Style, Style]],
    options: dict[str, Any],
) -> dict[str, Any]:
    """What the browser draws from, under a name that changes with any of it."""
    second = None
    if beside is not None:
        pairs = [
            {"reading": rounded(first.reading), "direction": rounded(other.direction)}
            for first, other in follow
        ]
        second = {"name": beside.name, **_picture(beside.scene), "follow": pairs}
    picture = {
        **_picture(scene),
        **options,
        "angles": angles_of(scene).tolist(),
        "observed": scene.observed.tolist(),
        "beside": second,
    }
    return picture | {"scene": sha256(json.dumps(picture).encode()).hexdigest()[:16]}


def _picture(scene: Scene) -> dict[str, Any]:
    """A digit as one model draws it, with a decoder that the browser loads by its name."""
    decoders.offer(scene.network.id, scene.network.blob)
    return {
        "network": scene.network.id,
        "code": _series(scene.code),
        "variance": None if scene.variance is None else _series(scene.variance[None]),
        "frequency": scene.frequency,
        "styles": scene.styles.tolist(),
        "own": rounded(scene.own),
    }


def angles_of(scene: Scene) -> np.ndarray:
    """Where on the dial the views of a scene are: degrees, or shares of the way on a line."""
    if scene.line:
        return (50 * (scene.angles + 1)).round(2)
    return np.rad2deg(scene.angles).round(2) % 360


def _take_pose(key: str) -> None:
    """The person has let go: remember where, unless the page has moved the dial since."""
    record, sent = _record(key), _sent(key, "pose")
    if sent.get("revision") != record.revision:
        return
    angle, style = sent.get("angle"), sent.get("style")
    if isinstance(angle, int | float):
        style = None if style is None else tuple(float(value) for value in style)
        record.pose = Pose(_degrees(angle), style)


def _take_context(key: str) -> None:
    record, sent = _record(key), _sent(key, "context")
    indices = sent.get("indices")
    if isinstance(indices, list) and indices:
        record.context = sorted({int(index) for index in indices})


def _sent(key: str, name: str) -> Mapping[str, Any]:
    """A message of the dial."""
    value = (st.session_state.get(f"{key}.dial") or {}).get(name)
    return value if isinstance(value, Mapping) else {}


def _series(values: np.ndarray) -> dict[str, Any]:
    return {"rows": len(values), "values": packed(values)}
