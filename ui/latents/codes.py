"""The subjects of the page and their codes, cached for all sessions."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby

import numpy as np
import streamlit as st
import torch

from fgpvae.data.collections import Subject, views_of
from fgpvae.evaluation import latents
from ui.catalog import Choice
from ui.catalog.subjects import some, suits

MANY = 60  # subjects whose curves are shown
CLOUD = 300  # subjects whose styles are shown
GRID = 72  # places of a curve along the track
BATCH = 50  # subjects in a chunk
CHANNELS = 8  # global channels that are shown, those with the largest effect


@dataclass(frozen=True, eq=False)
class Codes:
    """Codes of some subjects, each given all views that may be observed."""

    subjects: list[Subject]
    grid: np.ndarray  # [S] places
    curves: np.ndarray | None  # [P, S, L] posterior means; None if a model has no posterior
    mu: list[np.ndarray]  # P times [Q, L], encodings of single views
    var: list[np.ndarray]
    blocks: dict[str, slice]


def codes_of(choice: Choice, subjects: list[Subject]) -> Codes:
    model, grid = choice.load(), choice.collection.track.grid(GRID)
    pooled = "joint" not in model.blocks and not model.decoder_takes_angle
    curves = posterior_means(choice, subjects, grid) if pooled else None
    mu, var = zip(*(encodings(choice, subject) for subject in subjects), strict=True)
    return Codes(subjects, grid, curves, list(mu), list(var), model.blocks)


@st.cache_resource(max_entries=12, show_spinner="Looking at every subject")
def codes(choice: Choice) -> Codes:
    chosen = some(choice.collection, choice.kind.takes_new_digits, MANY)
    first = choice.collection.first()
    chosen.sort(key=lambda subject: subject != first)  # the page starts with a subject among these
    return codes_of(choice, chosen)


def including(choice: Choice, id: str | None) -> Codes:
    """`codes`, with the subject of this id appended if it is not among them."""
    found = codes(choice)
    other = choice.collection.find(id) if id else None
    if other is None or other in found.subjects or not suits(other, choice):
        return found
    one, curves = codes_of(choice, [other]), None
    if found.curves is not None and one.curves is not None:
        curves = np.concatenate([found.curves, one.curves])
    subjects, mu, var = [*found.subjects, other], found.mu + one.mu, found.var + one.var
    return Codes(subjects, found.grid, curves, mu, var, found.blocks)


@torch.no_grad()
def posterior_means(choice: Choice, subjects: Sequence[Subject], grid: np.ndarray) -> np.ndarray:
    """Channels [P, S, L] at places [S], each subject given all views that it may see."""
    model, at, found = choice.load(), torch.as_tensor(grid), []
    for _, alike in groupby(subjects, lambda subject: len(subject.w)):
        group = list(alike)
        for start in range(0, len(group), BATCH):
            some = group[start : start + BATCH]
            views = views_of(some)
            observed = torch.zeros_like(views.observed)
            for row, subject in enumerate(some):
                observed[row, subject.order] = True
            ids = views.ids if bool((views.ids >= 0).all()) else None
            q = model.infer(views.images, views.angles, observed, ids)
            found.append(q.mean(at.expand(len(some), -1)).double().numpy())
    return np.concatenate(found)


@lru_cache(maxsize=256)
def encodings(choice: Choice, subject: Subject) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance [Q, L] that the encoder gives to each view alone."""
    mu, var = latents.encodings(choice.load(), views_of([subject]))
    return mu[0], var[0]


@st.cache_resource(max_entries=12, show_spinner="Reading the style of every subject")
def styles(choice: Choice) -> tuple[list[Subject], np.ndarray]:
    """Subjects of all classes and their styles [P, G], each from all views that it may see."""
    asked = choice.collection, choice.kind.takes_new_digits, CLOUD
    means = posterior_means(choice, some(*asked), choice.collection.track.grid(1))
    # subjects that have not drawn their views yet: 15 MB less
    return some(*asked), means[:, 0, choice.load().blocks["global"]]


@st.cache_resource(max_entries=12, show_spinner=False)
def strongest(choice: Choice) -> list[int]:
    """The global channels, those that change the picture most first."""
    found = codes(choice)
    assert found.curves is not None
    part = found.blocks["global"]
    channels = range(part.start, part.stop)
    effect = latents.effects(choice.load(), found.curves[:8, 0], channels)
    return [channels[i] for i in np.argsort(-effect)]
