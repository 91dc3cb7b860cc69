"""Posterior samples of a subject side by side, which move together with the dial."""

import numpy as np

from fgpvae.browser.imagined import Imagined
from fgpvae.data.collections import Collection
from ui.components.turntable import turntable
from ui.inference.truth import FRAMES
from ui.shell import frame

COUNT = 6
SURE = 0.5  # minimum spread of samples, as a share of the error, that shows the doubt


def card(seen: Imagined, collection: Collection, key: str) -> None:
    """Show six samples and where they differ, for collections whose samples do."""
    if not (collection.ambiguous and seen.model.tells_certainty):
        return
    w = collection.track.grid(FRAMES)
    samples = seen.samples(w, COUNT)
    with frame.card("Possibilities", sentence(seen, collection, samples, w), "inference.possible"):
        turntable(
            {f"possible {k}": each for k, each in enumerate(samples, start=1)},
            key=key,
            name="possible",
            line=not collection.track.period,
            least=130,
        )


def sentence(seen: Imagined, collection: Collection, samples: np.ndarray, w: np.ndarray) -> str:
    """Say where the samples differ most, and whether the model blurs what it cannot see."""
    words, track = collection.words, collection.track
    doubt = np.sqrt(samples.var(0, ddof=1).mean(axis=tuple(range(1, samples.ndim - 1))))  # [S]
    given = seen.subject.w[seen.observed]
    near = track.apart(w[:, None], given).min(1)
    at_views, most = doubt[near <= near.min() + 1e-9].mean(), int(doubt.argmax())
    place = track.text(float(track.to_view(w[most])))
    said = (
        f"Six {words.many} that fit what the model has seen. They differ most at {words.place} "
        f"{place}: by ± {doubt[most]:.3f} a pixel, from 0 for black to 1 for white. At the "
        f"{words.views} it sees they differ by ± {at_views:.3f}."
    )
    truth = seen.truth(w[[most]])
    if truth is not None:
        error = float(np.sqrt(((seen.images(w[[most]]) - truth) ** 2).mean()))
        if doubt[most] < SURE * error:
            said += f" The picture there has an error of {error:.3f}: the model blurs the rest."
    return said
