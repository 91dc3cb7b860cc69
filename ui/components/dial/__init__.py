"""The dial that turns a digit, and sliders for its style, all in the browser.

The browser loads the decoder's weights once and gets a few numbers a digit
(`fgpvae.browser.export`). Dragging sends nothing; its end sends the pose, and the page runs again.
"""

import base64
import json
import secrets
from collections.abc import Callable, Hashable, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from hashlib import sha256
from html import escape
from typing import Any

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from fgpvae.browser import bundle
from fgpvae.browser.export import Scene
from fgpvae.browser.imagined import Imagined
from fgpvae.browser.style_directions import Style, slider_data
from fgpvae.data.collections import Collection
from fgpvae.evaluation.latents import Styles
from ui.components.shared import Component, offer, packed, read, rounded
from ui.shell import palette

SIZE = 500  # pixels of the dial, at most
WIDEST = 0.3  # error of a pixel at which the ring is widest, for all models
NARROW = 0.2  # share of the widest ring, for a model that does not say how sure it is
WIDTHS = 120  # places at which the ring has a width
STANDALONE = "dial/standalone.js"
TRAILS, STEPS = 12, 96  # sampled paths over a film, and places along them

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
class Beside:
    """The same digit for a second model."""

    name: str
    scene: Scene
    styles: Sequence[Style] = ()  # its sliders; it follows those that the first model has as well


@dataclass
class _Record:
    """State of a dial that persists across runs and pages."""

    pose: Pose = Pose()
    given: Pose | None = None  # the arguments of the last run
    revision: str = ""  # changes when the page, not the user, moves the dial
    subject: Hashable = None

    def follow(
        self, angle: float, style: Sequence[float] | None, subject: Hashable, count: int
    ) -> None:
        """Move the dial if the page's arguments have changed since its last run.

        A style has `count` numbers; the style of another subject is dropped.
        """
        given = Pose(_degrees(angle), _style(style, count))
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

    def take_views(self, key: str, sent: dict[str, Any]) -> None:
        """Store the views after a click, unless the page has moved the dial since."""
        if sent.get("revision") == self.revision and sent.get("indices"):
            st.session_state[key] = sorted(map(int, sent["indices"]))


def dial(
    seen: Imagined,
    collection: Collection,
    places: tuple[DeltaGenerator, DeltaGenerator],
    *,
    key: str,
    model: str,
    angle: float = 0.0,
    style: Sequence[float] | None = None,
    styles: Sequence[Style] | None = None,
    morph: Sequence[float] | None = None,
    likely: Styles | None = None,
    beside: Beside | None = None,
    doubt: np.ndarray | None = None,
    lead: str = "",
    editable: bool = True,
    held_out_text: str = "never seen in training",
) -> DialState:
    """Show a subject in a dial in the first of `places`, and its style in the second.

    If a page passes another `angle` (degrees; on a line 0 to 100) or `style` later, the dial moves
    there; with another subject or `model` (its name) the style is reset to the subject's own.
    Indices of the views that the user chooses by clicks are in the session state as `key`.views.
    `styles` are the sliders below the text `lead`, `likely` the source of random styles, by default
    the prior. A model `beside` turns together with the first and follows its style where both have
    a direction. If `editable`, a click on a dot adds or removes a view. `doubt` is the expected
    error of a pixel at even places, the width of the ring; None: the share of variance left.
    """
    scene, record, track = seen.scene, _record(key), collection.track
    assert scene is not None
    record.follow(angle, style, (model, seen.subject.id), len(scene.styles))
    data = _data(seen, collection, doubt) | {
        "key": key,
        "subject": repr(record.subject),
        "name": model,
        "heldOutText": held_out_text,
        "editable": editable,
        "beside": beside and _beside(beside, styles),
    }
    data["scene"] = sha256(json.dumps(data).encode()).hexdigest()[:16]  # changes with any of it
    data["pose"] = {"revision": record.revision, **asdict(record.pose)}
    sliders = slider_data(scene.own, key, styles, morph, likely, lead, collection.words.one)
    with places[0]:
        # streamlit.css reserves the space of a ring, whose size is known with the slider of degrees
        with st.container(key=f"{key}.{'ring' if track.degrees else 'line'}", gap=None):
            _dial(
                f"{key}.{'track' if scene.line else 'dial'}",
                data,
                pose=record.take_pose,
                context=partial(record.take_views, f"{key}.views"),
                need=lambda _: None,  # the rerun suffices: it offers the decoder again
            )
        below = st.container()
    if sliders:
        with places[1]:
            _sliders(f"{key}.styles", sliders)
    now = record.pose
    page = partial(_page, scene.network.blob, data, sliders)
    return DialState(now.angle, None if now.style is None else list(now.style), below, page)


def move(key: str, angle: float) -> None:
    """Turn the dial from the page, such as by a click on a strip."""
    record = _record(key)
    record.move(Pose(_degrees(angle), record.pose.style))


def restyle(key: str, style: Sequence[float] | None) -> None:
    """Give the subject another style, or its own."""
    record = _record(key)
    record.move(Pose(record.pose.angle, None if style is None else tuple(map(float, style))))


def _record(key: str) -> _Record:
    return st.session_state.setdefault(f"{key}.record", _Record())


def _degrees(angle: float) -> float:
    return round(float(angle), 2) % 360 if np.isfinite(angle) else 0.0


def _style(style: Sequence[float] | None, count: int) -> tuple[float, ...] | None:
    if style is None or len(style) != count or not np.isfinite(style).all():
        return None
    return tuple(round(float(value), 3) for value in style)


def _data(seen: Imagined, collection: Collection, doubt: np.ndarray | None) -> dict[str, Any]:
    """Data of a subject for a model, places of its views, and colours and widths of the band."""
    scene, track = seen.scene, collection.track
    assert scene is not None
    low, high = track.ends
    turned = np.rad2deg(scene.angles).round(2) % 360
    trails, w = seen.trails(track.grid(STEPS), TRAILS), track.grid(WIDTHS)
    if doubt is not None:
        period = 2 * np.pi if track.period else None
        widths = np.interp(w, track.grid(len(doubt)), np.minimum(doubt / WIDEST, 1), period=period)
    else:
        widths = np.full(WIDTHS, NARROW) if scene.variance is None else scene.unknown(w)
    return {
        **_decoded(scene),
        "line": scene.line,
        "scale": {"low": low, "high": high, "degrees": track.degrees},
        "heldOut": list(seen.subject.held_out),
        "angles": ((50 * (scene.angles + 1)).round(2) if scene.line else turned).tolist(),
        "observed": scene.observed.tolist(),
        "size": SIZE,
        "cycle": palette.TRACK if scene.line else palette.CYCLE,
        "heldOutColour": palette.HELD_OUT,
        "thing": collection.words.one,
        "disc": collection.fills_disc,
        "widths": rounded(widths),
        "trails": None if trails is None else _packed(trails),
    }


def _page(
    decoder: bytes, data: dict[str, Any], sliders: dict[str, Any] | None, title: str, sentence: str
) -> str:
    """The dial as one HTML file of the modules that the app loads, without server or network."""
    content = {
        "decoder": base64.b64encode(decoder).decode(),
        "dial": {**data, "editable": False, "beside": None},  # the encoder is on the server
        "sliders": sliders and sliders | {"morph": None},
    }
    parts = {
        "TITLE": escape(title),
        "SENTENCE": escape(sentence),
        "STYLE": read("shared/common.css") + read("shared/page.css"),
        "IMPORTS": bundle.import_map(read, STANDALONE),
        "CONTENT": bundle.script_json(content),
        "ENTRY": STANDALONE,
        "DIAL": bundle.shadow(read, "dial"),
        "SLIDERS": bundle.shadow(read, "style_sliders") if sliders else "",
    }
    return bundle.page(read("dial/standalone.html"), parts)


def _beside(beside: Beside, styles: Sequence[Style] | None) -> dict[str, Any]:
    """Data of the second model; it follows the sliders that both have, except single channels."""
    second = {style.name: style for style in beside.styles if style.channel is None}
    pairs = [
        {"reading": rounded(each.reading), "direction": rounded(second[each.name].direction)}
        for each in styles or ()
        if each.name in second
    ]
    return {"name": beside.name, **_decoded(beside.scene), "follow": pairs}


def _decoded(scene: Scene) -> dict[str, Any]:
    """Data of a digit for one model, whose decoder the browser loads by its name."""
    offer(scene.network)
    return {
        "network": scene.network.id,
        "code": _packed(scene.code),
        "frequency": scene.frequency,
        "styles": scene.styles.tolist(),
        "own": rounded(scene.own),
    }


def _packed(values: np.ndarray) -> dict[str, Any]:
    return {"shape": values.shape, "values": packed(values)}


__all__ = ["Beside", "DialState", "dial", "move", "restyle"]
