"""A subject at many places side by side: to move the dial with, or true and redrawn."""

import numpy as np
import streamlit as st

from fgpvae.browser.imagined import Imagined
from fgpvae.data.collections import Collection
from ui.catalog.models import Choice
from ui.components import dial, pictures
from ui.components.tiles import Tile, tiles
from ui.inference import cached
from ui.inference.places import colours, from_dial, labels, to_dial
from ui.shell import frame

MOST = 24  # places side by side


def held_out_text(choice: Choice) -> str:
    """Describe views that the model may not be shown."""
    fresh = choice.config.data.split in ("continuous", "films")
    return "never observed here" if fresh else "never seen in training"


def card(seen: Imagined, choice: Choice, key: str, dialled: dial.DialState) -> None:
    """Show pictures along the track; a click moves the dial `key`."""
    collection, subject, track = choice.collection, seen.subject, choice.collection.track
    here, style = from_dial(track, dialled.angle), dialled.style
    w = subject.w if seen.observed.any() else track.grid(16)  # a random subject has no views
    views = some_views(w)
    texts = labels(track, w[views])

    def drawn() -> list[str]:
        return [pictures.address(image, 3) for image in seen.images(w[views], style)]

    addresses = drawn() if style else cached.once(seen, "strip.pictures", drawn)
    observed = seen.observed.any() & np.resize(seen.observed, len(w))
    places, shown = [to_dial(track, float(w[view])) for view in views], list[Tile]()
    hues = colours(track, w[views])
    for view, address, text, hue in zip(views, addresses, texts, hues, strict=True):
        held = view in subject.held_out
        unseen = held_out_text(choice) if held else "imagined"
        shown.append(
            Tile(
                str(len(shown)),
                address,
                f"{text}, {'observed' if observed[view] else unseen}",
                text=text,
                colour=hue,
                dot=bool(observed[view]),
                marked=held,
                selected=bool(np.isclose(track.apart(w[view], here), 0, atol=1e-3)),
            )
        )

    def move(name: str) -> None:
        angle = places[int(name)]
        if seen.scene is None:  # a picture in place of the dial
            st.session_state[f"{key}.angle"] = angle
        else:
            dial.move(key, angle)

    with frame.card(f"All {collection.words.place}s"):
        tiles(
            shown,
            key=f"{key}.strip",
            label=f"{len(views)} {collection.words.place}s",
            layout="strip",
            on_pick=move,
        )


def redrawn(seen: Imagined, collection: Collection, marked: int | None = None) -> str:
    """HTML of views, true and redrawn, a bar below those the model sees, one of them `marked`."""
    name = "strip.redrawn", collection.name, marked
    return cached.once(seen, name, lambda: _redrawn(seen, collection, marked))


def _redrawn(seen: Imagined, collection: Collection, marked: int | None) -> str:
    subject, track = seen.subject, collection.track
    few = some_views(subject.w)
    w = subject.w[few]
    bars = np.where(seen.observed[few], colours(track, w), "transparent").tolist()
    return pictures.grid(
        [("true", subject.images[few]), ("model", seen.images(w))],
        labels(track, w),
        bars,
        marked=few.index(marked) if marked in few else None,
        alt=f"{subject.name} at {len(few)} {collection.words.place}s, true and redrawn",
    )


def some_views(w: np.ndarray) -> list[int]:
    """Return the views to show: all, or some spread evenly along the track."""
    chosen = np.linspace(0, len(w) - 1, min(len(w), MOST)).round().astype(int)
    return np.argsort(w, kind="stable")[chosen].tolist()
