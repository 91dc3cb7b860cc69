"""A film: a path drawn by hand, and the look that moves along it."""

import math
from collections.abc import Mapping
from hashlib import sha256

import numpy as np
import streamlit as st

from fgpvae.data import films
from fgpvae.data.collections import Digits, Films
from fgpvae.images import Options
from ui.catalog import Choice, subjects
from ui.components.canvas import Strokes, canvas, from_link, to_link, to_png
from ui.components.tiles import tiles
from ui.extrapolate import pieces
from ui.extrapolate.built import Built
from ui.shell import frame, notices, query_params

PATH, LOOK, OWN = "extrapolate.path", "extrapolate.look", "extrapolate.look_strokes"
MARGIN = 0.25  # margin of the picture, outside of which the middle of a look stays
START = tuple((0.27 + 0.02 * k, 0.5 + 0.2 * math.sin(0.28 * k)) for k in range(24))
DRAWN = "own"  # instead of the id of a digit


def build(choice: Choice, link: Mapping[str, str]) -> Built:
    """Ask for a path and a look; the film shows the look all along the path."""
    if PATH not in st.session_state:
        st.session_state[PATH] = from_link(link.get("path")) or (START,)
        st.session_state[LOOK] = link.get("look", "")
        st.session_state[OWN] = from_link(link.get("strokes"))
    with frame.card("Draw a path", key="extrapolate.draw_path"):
        canvas(
            st.session_state[PATH],
            key="extrapolate.path_canvas",
            sheet="path",
            on_drawn=lambda made: st.session_state.update({PATH: made[-1:]}),
            dial="extrapolate.films",
            thing="path",
            margin=MARGIN,
        )
        st.caption("The middle of the digit moves along your line, from the square to its end.")
        look, label, name = _look()
    path: Strokes = st.session_state[PATH]
    shared = {"path": to_link(path), "look": name, "strokes": None}
    if name == DRAWN:
        shared["strokes"] = to_link(st.session_state[OWN])
    if not path or look is None:
        what = "what moves along it" if name == DRAWN else "choose a digit"
        return Built(title="No film yet", sentence=f"Draw a path and {what}.", link=shared)
    along = places(path[0])
    id = sha256(along.tobytes() + look.tobytes()).hexdigest()[:12]
    film = Films().make(look, along, id, label)
    lost = shared["path"] is None or (name == DRAWN and shared["strokes"] is None)
    return Built(film, link=shared, shareable=not lost)


def places(stroke: tuple[tuple[float, float], ...]) -> np.ndarray:
    """Divide a stroke into even steps, in pixels: [24, 2]."""
    points = films.SIZE * np.array(stroke, dtype=np.float64)
    lengths = np.hypot(*np.diff(points, axis=0).T)
    at = np.concatenate([[0.0], np.cumsum(lengths)])
    even = np.linspace(0, at[-1], films.FRAMES)
    return np.stack([np.interp(even, at, points[:, k]) for k in range(2)], 1)


def _look() -> tuple[np.ndarray | None, int | None, str]:
    """Ask what moves, a digit or a drawing: picture, class, and name in the link."""
    collection = Digits()
    every = [collection.first(label) for label in collection.classes]
    picked = collection.find(st.session_state[LOOK]) or every[3]
    own = query_params.segments(
        "What moves",
        ["A digit", "My drawing"],
        "extrapolate.whose_look",
        linked=False,
        default="My drawing" if st.session_state[LOOK] == DRAWN else "A digit",
        label_visibility="collapsed",
    )
    if own == "A digit":
        tiles(
            [subjects.tile(each, picked) for each in every],
            key="extrapolate.looks",
            label="Digits to pick from",
            on_pick=lambda id: st.session_state.update({LOOK: id}),
        )
        return picked.thumbnail, picked.label, picked.id
    canvas(
        st.session_state[OWN],
        key="extrapolate.look_canvas",
        sheet="look",
        on_drawn=lambda made: st.session_state.update({OWN: made}),
        dial="extrapolate.films",
    )
    if not st.session_state[OWN]:
        return None, None, DRAWN
    piece = pieces.read(to_png(st.session_state[OWN]), Options())
    if piece.digit is None:
        notices.problem(piece.error)
    return piece.digit, None, DRAWN
