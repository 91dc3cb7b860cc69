"""PCA of the local curves and of the global channels, side by side."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from fgpvae.browser.imagined import imagine
from fgpvae.data.collections import Digits, Subject
from fgpvae.evaluation import latents
from ui import charts
from ui.catalog import Choice, models
from ui.charts import scatter
from ui.components import hover_picture, pictures
from ui.inference.places import colours, labels
from ui.latents.codes import Codes, encodings, styles
from ui.shell import frame, palette

HEIGHT, SMALL = 400, 330  # pixels of charts
DIGITS, LABEL = 10, 3  # threes, on which all shipped models of digits were trained
BASELINES = ("vae", "cvae")
ALIKE = 0.02  # share of the variance between subjects below which all curves count as one
PICKED = "latents.picked"  # the id of the picked subject, in the session state


def show(choice: Choice, found: Codes, row: int, view: int) -> None:
    """The spaces of a model, with the picked subject highlighted and shown between them."""
    words, picked = choice.collection.words, found.subjects[row]
    with st.container(key="latents.spaces"):
        left, middle, right = st.columns([5, 2, 5], gap="medium")
    if found.curves is None:
        with left, frame.card("All channels", _joint_sentence(choice.title), height="stretch"):
            _joint(choice, found, row, view)
        with right:
            frame.empty(
                "No division", "Only an FGP-VAE divides its channels into local and global ones."
            )
    else:
        by_class = ", coloured by class" if len(choice.collection.classes) > 1 else ""
        sentence = f"They are the same along the whole {words.one}: each {words.one} is one point"
        with left, frame.card("Local channels", _local_sentence(choice, found), height="stretch"):
            _local(choice, found, row, view)
        with right, frame.card("Global channels", f"{sentence}{by_class}.", height="stretch"):
            _global(choice, picked)
    with middle, frame.card("Picked", key="latents.portrait", height="stretch"):
        made = imagine(choice.load(), picked, picked.order).images(picked.w[[view]])[0]
        name = f"{picked.name}, {labels(choice.collection.track, picked.w)[view]}"
        true = pictures.framed(picked.images[view], f"{name}, true")
        redrawn = pictures.framed(made, f"{name}, redrawn")
        st.html(pictures.row(true, redrawn, size=90, fill=True))
        shown = [each.thumbnail for each in found.subjects]
        hover_picture.follow(["latents.local", "latents.joint"], shown, "latents.hover")
        if found.curves is not None:
            shown = [each.thumbnail for each in styles(choice)[0]]
            hover_picture.follow(["latents.global"], shown, "latents.hover_global")


def _show(
    choice: Choice,
    key: str,
    what: str,
    space: scatter.Cloud,
    picked: list[int],
    view: int,
    subjects: Sequence[Subject],
    channels: int,
) -> None:
    """A chart of subjects; in two dimensions a click or lasso picks a subject."""

    def pick(points: list[Any]) -> None:
        if points:
            name = f"{PICKED}.{choice.collection.name}"
            st.session_state[name] = subjects[points[0][0]].id

    neighbours = space.axis == "t-SNE"
    spatial = st.session_state.get("latents.space") == "3-D" and not neighbours
    charts.show(
        partial(scatter.cloud, space, picked, view, spatial),
        key,
        HEIGHT,
        f"{what} of {len(subjects)} {choice.collection.words.many}",
        picked=None if spatial else pick,
    )
    few = space.projection.shares[: 3 if spatial else 2]
    if neighbours:
        st.caption("t-SNE keeps neighbours together; its distances and axes have no meaning.")
    else:
        st.caption(
            f"These {len(few)} {space.axis}s show {few.sum():.0%} of the variance of {channels} "
            "channels."
        )


def _local_sentence(choice: Choice, found: Codes) -> str:
    words, shared = choice.collection.words, found.shared()
    front = f"Rings are the encodings of single {words.views} of the picked {words.one}."
    if shared < ALIKE:
        share = "less than 0.1%" if shared < 0.001 else f"{shared:.1%}"
        return (
            f"They change along the {words.place}. The curves of all {len(found.subjects)} "
            f"{words.many} nearly coincide: {share} of the variance differs. {front}"
        )
    if found.processes() is not None:
        front = f"The broad grey line is the true path of the picked {words.one}."
    return (
        f"They change along the {words.place}: each {words.one} is a curve, and "
        f"{shared:.0%} of the variance differs between {words.many}. {front}"
    )


def _local(choice: Choice, found: Codes, row: int, view: int) -> None:
    track, z, subject = choice.collection.track, found.local(), found.subjects[row]
    by_angle = bool(track.period) and st.session_state.get("latents.plane") == "angle"
    projection = latents.project(z, angles=found.grid if by_angle else None)
    paths = found.processes()
    space = scatter.Cloud(
        projection,
        colours(track, found.grid) * len(z),
        closed=bool(track.period),
        dots=projection.onto(encodings(choice, subject)[0][:, found.blocks["local"]]),
        dot_colours=colours(track, subject.w),
        axis="direction" if by_angle else "component",
        truth=None if paths is None else latents.laid_over(paths, projection.points)[row],
    )
    what, channels = "Curves in the local channels", z.shape[-1]
    _show(choice, "latents.local", what, space, [row], view, found.subjects, channels)


def _global(choice: Choice, picked: Subject) -> None:
    subjects, z = styles(choice)
    neighbours = st.session_state.get("latents.projection") == "t-SNE"
    projection = neighbourhoods(choice) if neighbours else latents.project(z[:, None])
    classes = [each.label for each in subjects]
    space = scatter.Cloud(
        projection,
        [palette.GLOBAL if label is None else charts.CLASSES[label] for label in classes],
        ["all" if label is None else str(label) for label in classes],
        [f"{each.name}, {each.id}" for each in subjects],
        axis="t-SNE" if neighbours else "component",
    )
    here = [row for row, each in enumerate(subjects) if each.id == picked.id]
    _show(choice, "latents.global", "Styles", space, here, 0, subjects, z.shape[-1])


@st.cache_resource(max_entries=8, show_spinner="Arranging styles by their neighbours")
def neighbourhoods(choice: Choice) -> latents.Projection:
    """The styles in a plane by t-SNE."""
    from sklearn.manifold import TSNE

    _, z = styles(choice)
    plane = TSNE(2, perplexity=min(30, len(z) / 4), init="pca", random_state=0).fit_transform(z)
    points = np.pad(plane, ((0, 0), (0, 1)))[:, None]
    return latents.Projection(points, np.zeros(3), np.zeros(0), np.zeros((0, 3)))


def _joint_sentence(title: str) -> str:
    if title == "CVAE":
        return (
            "A CVAE gets the angle as input. Its channels should hold only the style, but nothing "
            "in its training ensures that."
        )
    return f"The {title} does not divide its channels: angle and style are in the same channels."


def _joint(choice: Choice, found: Codes, row: int, view: int) -> None:
    z = np.stack(found.mu)  # [P, Q, L]
    projection, track, w = latents.project(z), choice.collection.track, found.subjects[row].w
    space = scatter.Cloud(
        projection,
        colours(track, w) * len(z),
        names=[each.name for each in found.subjects],
        views=labels(track, w),
        closed=bool(track.period),
    )
    what, channels = "Views in all channels", z.shape[-1]
    _show(choice, "latents.joint", what, space, [row], view, found.subjects, channels)


def before_after(choice: Choice) -> None:
    """Two PCAs of single views coloured by digit: scattered before, one heap each after."""
    same = {each.name: each for each in models.available(choice.group) if each != choice}
    others = [same[name] for name in BASELINES if name in same]
    if not others or "global" not in choice.load().blocks:
        return
    digits = list(Digits((LABEL,)).subjects(True))[:DIGITS]
    with frame.card(
        "Before and after",
        f"Sixteen views each of {DIGITS} threes, every view placed by itself; a colour is one "
        "digit. If style is separated from the angle, the views of a digit lie together.",
    ):
        columns = st.columns(len(others) + 1)
    for number, (column, each) in enumerate(zip(columns, [*others, choice], strict=True)):
        blocks = each.load().blocks
        part = "global" if "global" in blocks else "all"
        channels = blocks.get(part, slice(None))
        z = np.stack([encodings(each, digit)[0][:, channels] for digit in digits])  # [P, Q, C]
        with column:
            st.markdown(f"**{frame.plain(each.name)}**, {part} channels")
            charts.show(
                partial(_single_views, z),
                f"latents.before.{number}",
                SMALL,
                f"Single views of {DIGITS} digits as {each.name} places them",
            )
            st.caption(
                f"{latents.share_within(z):.0%} of the variance is within a digit (0 % is best)."
            )


def _single_views(z: np.ndarray) -> go.Figure:
    """The principal components of codes [P, Q, C], a colour for each digit."""
    projection, (P, Q, _) = latents.project(z), z.shape
    space = scatter.Cloud(
        projection,
        [charts.CLASSES[p] for p in range(P) for _ in range(Q)],
        names=[f"digit {p + 1}" for p in range(P)],
        views=[f"{22.5 * q:g}°" for q in range(Q)],
    )
    return scatter.cloud(space, [], 0, False)
