"""Cards whose pictures move with the dial: the truth with errors, and posterior samples."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import streamlit as st

from fgpvae.browser.imagined import Imagined
from fgpvae.data.digits import ROTATION, PictureSubject, rotated
from fgpvae.data.subjects import MEAN, NEAREST, Collection
from fgpvae.evaluation.metrics import mse
from ui.components.pictures import address
from ui.components.shared import Component
from ui.inference import cached
from ui.shell import frame

FRAMES = 48  # number of places at which pictures are drawn
COUNT = 6  # samples
SURE = 0.5  # minimum spread of samples, as a share of the error, that shows the doubt

_turntable = Component("turntable")
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


def _sheet(rows: Mapping[str, np.ndarray], line: bool, key: str, **options: Any) -> dict[str, Any]:
    """Pictures [S, n, m] or [S, 3, n, m] by caption, which move as the dial `key` does.

    They are at S places around the circle, or on a `line` from end to end. Three are side by side,
    fewer where one would have less than `least` pixels. `figures` are numbers at the same places.
    `silent` is shown instead while the dial has another style than the subject's own.
    """
    images = np.stack(list(rows.values()))
    images = images[:, :, None] if images.ndim == 4 else images  # [R, S, C, n, m]
    count, frames, channels, height, width = images.shape
    sheet = images.transpose(2, 0, 3, 1, 4).reshape(channels, count * height, frames * width)
    data = {"names": list(rows), "frames": frames, "height": height, "width": width, "line": line}
    data |= {"sheet": address(sheet[0] if channels == 1 else sheet), "hints": HINTS, "key": key}
    return data | {"figures": {}, "least": 0, "silent": ""} | options


def against_truth(seen: Imagined, collection: Collection, key: str, warned: bool = False) -> None:
    """Show the true picture at the place of the dial `key`, with errors; nothing without views."""
    if not seen.observed.any():
        return
    own = isinstance(seen.subject, PictureSubject)
    name = "turntables.truth", key, warned
    data, recorded = cached.once(seen, name, lambda: _compared(seen, collection, key, warned))
    title = "Against your picture, turned" if own else "Against the truth"
    with frame.card(title, key="inference.truth"):
        _turntable(f"{key}.truth", data)
        if recorded:
            st.caption("Only recorded views have a true picture; the nearest one is shown.")


def _compared(
    seen: Imagined, collection: Collection, key: str, warned: bool
) -> tuple[dict[str, Any], bool]:
    """The truth, the model's picture and their difference, and whether only views are true."""
    subject, w = seen.subject, collection.track.grid(FRAMES)
    own = isinstance(subject, PictureSubject)
    truth = rotated(subject, seen.observed, w) if own else subject.truth_at(w)
    recorded = truth is None
    if truth is None:  # the nearest recorded view to each place
        nearest = collection.track.apart(w[:, None], subject.w).argmin(1)
        w, truth = subject.w[nearest], subject.images[nearest]
    made, doubt = seen.images(w), cached.doubt(seen, collection.track, warned)
    references = {} if own else collection.references(subject, seen.observed, w)
    figures = {
        name: ((images - truth) ** 2).reshape(len(w), -1).mean(1).round(5).tolist()
        for name, images in {"MSE here": made, **references}.items()
    }
    if doubt is not None:
        period = collection.track.period and 2 * np.pi
        between = np.interp(w, collection.track.grid(len(doubt)), doubt, period=period or None)
        figures["pixel sd"] = between.round(5).tolist()
    rows = {"true": truth, "model": made, "difference": np.abs(made - truth)}
    silent = "The style was changed, so there is no true picture to compare with."
    line = not collection.track.period
    return _sheet(rows, line, key, figures=figures, silent=silent), recorded


def possibilities(seen: Imagined, collection: Collection, key: str) -> None:
    """Show six samples and where they differ, for collections whose samples do."""
    if not (collection.ambiguous and seen.model.tells_certainty):
        return
    name = "turntables.possible", key
    said, data = cached.once(seen, name, lambda: _sampled(seen, collection, key))
    with frame.card("Possibilities", said, "inference.possible"):
        _turntable(f"{key}.possible", data)


def _sampled(seen: Imagined, collection: Collection, key: str) -> tuple[str, dict[str, Any]]:
    """Say where six samples differ, and show them."""
    words, track = collection.words, collection.track
    w = track.grid(FRAMES)
    samples = seen.samples(w, COUNT)
    doubt = np.sqrt(samples.var(0, ddof=1).mean(axis=tuple(range(1, samples.ndim - 1))))  # [S]
    most = int(doubt.argmax())
    said = (
        f"Six {words.many} that fit what the model has seen. They differ most at {words.place} "
        f"{track.text(round(float(track.to_view(w[most]))))}: by ± {doubt[most]:.3f} a pixel, from "
        "0 for black to 1 for white."
    )
    if (truth := seen.subject.truth_at(w[[most]])) is not None:
        error = float(np.sqrt(mse(seen.images(w[[most]]), truth)))
        if doubt[most] < SURE * error:
            said += f" The picture there has an error of {error:.3f}: the model blurs the rest."
    rows = {f"possible {k}": each for k, each in enumerate(samples, start=1)}
    return said, _sheet(rows, not track.period, key, least=130)
