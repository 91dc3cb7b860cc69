"""A predicted picture beside the true one, with errors."""

from collections.abc import Mapping, Sequence

import numpy as np
import streamlit as st

from fgpvae.browser.imagined import Imagined
from fgpvae.data.collections import MEAN, NEAREST, ROTATION, Collection, PictureSubject, rotated
from ui.components.turntable import turntable
from ui.inference import cached
from ui.shell import frame

FRAMES = 48  # number of places at which pictures are drawn along the track

HINTS = {
    "true": "The true picture here.",
    "model": "What the model draws here: its posterior mean.",
    "difference": "Where the two differ.",
    "MSE here": "Mean squared error of a pixel between the model's picture and the true one.",
    ROTATION: "The same for the nearest view the model sees, rotated as a picture. It uses "
    "a rotation, which the model had to learn.",
    NEAREST: "The same for the nearest view the model sees, unchanged.",
    MEAN: "The same for the mean of training pictures here, which ignores the subject.",
    "pixel sd": "The expected error of a pixel, from posterior samples, calibrated on data held "
    "out from training.",
}
SILENT = "The style was changed, so there is no true picture to compare with."
RECORDED = "Only recorded views have a true picture; the nearest one is shown."


def card(seen: Imagined, collection: Collection, key: str, warned: bool = False) -> None:
    """Show the true picture at the place of the dial `key`; nothing if there is none.

    `warned` is that of `cached.doubt`.
    """
    if not seen.observed.any():
        return
    w = collection.track.grid(FRAMES)
    truth, title = seen.truth(w), "Against the truth"
    if truth is None and isinstance(seen.subject, PictureSubject):
        truth, title = rotated(seen.subject, seen.observed, w), "Against your picture, turned"
    if truth is None:  # recorded views only: the nearest one to each place
        nearest = collection.track.apart(w[:, None], seen.subject.w).argmin(1)
        w, truth = seen.subject.w[nearest], seen.subject.images[nearest]
    made = seen.images(w)
    with frame.card(title, key="inference.truth"):
        turntable(
            {"true": truth, "model": made, "difference": np.abs(made - truth)},
            key=key,
            name="truth",
            figures=_errors(seen, collection, w, made, truth, warned),
            hints=HINTS,
            silent=SILENT,
            line=not collection.track.period,
        )
        if seen.truth(w[:1]) is None and not isinstance(seen.subject, PictureSubject):
            st.caption(RECORDED)


def _errors(
    seen: Imagined,
    collection: Collection,
    w: np.ndarray,
    made: np.ndarray,
    truth: np.ndarray,
    warned: bool,
) -> Mapping[str, Sequence[float]]:
    """Compute errors at places [S], of the model and of predictions without a model."""

    def error(images: np.ndarray) -> list[float]:
        return ((images - truth) ** 2).reshape(len(w), -1).mean(1).tolist()

    found = {"MSE here": error(made)}
    if not isinstance(seen.subject, PictureSubject):
        others = collection.references(seen.subject, seen.observed, w)
        found |= {name: error(images) for name, images in others.items()}
    doubt = cached.doubt(seen, w, warned)
    return found if doubt is None else found | {"pixel sd": doubt.tolist()}
