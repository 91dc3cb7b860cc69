"""The views of a subject, true and as a model redraws them, side by side."""

from fgpvae.browser.imagined import Imagined
from fgpvae.data.collections import Collection
from ui.components import pictures
from ui.inference.places import colour
from ui.inference.strip import some_views


def grid(seen: Imagined, collection: Collection, marked: int | None = None) -> str:
    """Two rows of pictures as HTML, with a bar below the views that the model sees.

    `marked` is the index of a view to be outlined.
    """
    subject, track, words = seen.subject, collection.track, collection.words
    few = some_views(subject.w)
    w = subject.w[few]
    bars = [
        colour(track, float(place)) if given else "transparent"
        for place, given in zip(w, seen.observed[few], strict=True)
    ]
    return pictures.grid(
        [("true", subject.images[few]), ("model", seen.images(w))],
        [track.text(float(track.to_view(place))) for place in w],
        bars,
        marked=few.index(marked) if marked in few else None,
        alt=f"{subject.name} at {len(few)} {words.place}s, true and redrawn",
    )
