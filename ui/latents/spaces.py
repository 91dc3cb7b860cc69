"""The picked subject, and PCA of the local curves and of the global channels side by side."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from fgpvae.browser.imagined import remembered
from fgpvae.data import ANGLES
from fgpvae.data.collections import Digits, Subject
from fgpvae.evaluation import latents
from fgpvae.evaluation.metrics import mse
from ui import charts
from ui.catalog import Choice, models
from ui.charts import scatter
from ui.components import pictures, plot_tools
from ui.inference import strip
from ui.inference.cached import imagined, once
from ui.inference.places import colours, labels
from ui.latents.codes import Codes, encodings, including, styles
from ui.shell import frame, palette, query_params

HEIGHT, SMALL = 400, 330  # pixels of charts
DIGITS, LABEL = 10, 3  # threes, on which all shipped models of digits were trained
BASELINES = ("vae", "cvae")
SCATTERED = 0.5  # share of the variance within digits above which views do not lie together
ALIKE = 0.02  # share of the variance between subjects below which all curves count as one
SHARES = {"one": 1, "four": 4, "all": None}  # views given


def _picked(choice: Choice) -> str:
    """The key of the id of the picked subject."""
    return f"latents.picked.{choice.collection.name}"


def _title(subject: Subject) -> str:
    named = subject.name.endswith(subject.id)
    return subject.name if named else f"{subject.name}, {subject.id}"


def subject_card(choice: Choice) -> tuple[Codes, int, int, list[int]]:
    """The picked subject, true and reconstructed; return codes, its row, its view, given views."""
    collection = choice.collection
    words, name = collection.words, _picked(choice)
    before, linked = st.session_state.get(name), st.query_params.get("subject")
    wanted = linked if linked and (before is None or query_params.went_back()) else before
    found = including(choice, wanted)
    ids = [each.id for each in found.subjects]
    if before is None or before != wanted or before not in ids:
        st.session_state[name] = wanted if wanted in ids else ids[0]
    which, where, given = st.columns(3, gap="medium")
    id = which.selectbox(
        words.one.capitalize(),
        ids,
        key=name,
        format_func=lambda id: _title(found.subjects[ids.index(id)]),
    )
    row = ids.index(id)
    subject = found.subjects[row]
    places = labels(collection.track, subject.w)
    view = where.select_slider(
        words.place.capitalize(),
        range(len(places)),
        key=f"latents.view.{collection.name}.{len(places)}",
        format_func=places.__getitem__,
        persist_state="session",
    )
    with given:
        label = f"{words.views.capitalize()} given"
        many = query_params.segments(label, tuple(SHARES), "latents.given", default="all")
    query_params.write(subject=id)
    shown = subject.order[: SHARES[many]]
    seen = imagined(choice, subject, remembered(choice.load(), subject) or shown)
    truth = subject.images
    made = once(seen, "latents.images", lambda: seen.images(subject.w))
    st.html(strip.redrawn(seen, collection, view))
    errors = {f"MSE at {places[view]}": mse(made[view], truth[view])}

    def of_all() -> dict[str, float]:
        others = collection.references(subject, seen.observed, subject.w)
        found = {f"{kind}, all": mse(images, truth) for kind, images in others.items()}
        return {f"MSE of all {len(truth)}": mse(made, truth)} | found

    errors |= once(seen, "latents.errors", of_all)
    frame.numbers([(f"{error:.4f}", kind) for kind, error in errors.items()])
    return found, row, view, shown


def show(choice: Choice, found: Codes, row: int, view: int) -> None:
    """The spaces of a model, with the picked subject highlighted and shown between them."""
    picked = found.subjects[row]
    with st.container(key="latents.spaces"):
        left, middle, right = st.columns([5, 2, 5], gap="medium")
    if found.curves is None:
        with left:
            _joint(choice, found, row, view)
        with right:
            frame.empty(
                "No division", "Only an FGP-VAE divides its channels into local and global ones."
            )
    else:
        with left:
            _local(choice, found, row, view)
        with right:
            _global(choice, picked)
    with middle, frame.card("Picked", key="latents.portrait", height="stretch"):
        seen = imagined(choice, picked, picked.order)
        made = once(seen, "latents.images", lambda: seen.images(picked.w))[view]
        name = f"{picked.name}, {labels(choice.collection.track, picked.w)[view]}"
        true = pictures.framed(picked.images[view], f"{name}, true")
        redrawn = pictures.framed(made, f"{name}, redrawn")
        st.html(pictures.row(true, redrawn, size=90, fill=True))
        shown = _thumbnails(choice, found.subjects[-1].id, found.subjects)
        plot_tools.hover(["latents.local", "latents.joint"], shown, "latents.hover")
        if found.curves is not None:
            shown = _thumbnails(choice, "styles", styles(choice)[0])
            plot_tools.hover(["latents.global"], shown, "latents.hover_global")


@st.cache_resource(max_entries=24, show_spinner=False)
def _thumbnails(choice: Choice, which: str, _subjects: Sequence[Subject]) -> dict[str, Any]:
    return plot_tools.stacked([each.thumbnail for each in _subjects])


def _show(
    choice: Choice, key: str, what: str, space: scatter.Cloud, subjects: Sequence[Subject]
) -> None:
    """A chart of subjects; in two dimensions a click or lasso picks a subject."""

    def pick(points: list[Any]) -> None:
        if points:
            st.session_state[_picked(choice)] = subjects[points[0]].id

    neighbours, channels = space.axis == "t-SNE", len(space.projection.mean)
    spatial = st.session_state.get("latents.space") == "3-D" and not neighbours and channels > 2
    charts.show(
        partial(scatter.cloud, replace(space, spatial=spatial)),
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


def _local(choice: Choice, found: Codes, row: int, view: int) -> None:
    assert found.curves is not None
    track, words, subject = choice.collection.track, choice.collection.words, found.subjects[row]
    z = found.curves[..., found.blocks["local"]]
    one, shared = f"the picked {words.one}", latents.share_within(z.swapaxes(0, 1))
    by_angle = bool(track.period) and st.session_state.get("latents.plane") == "angle"
    projection = _plane(choice, found.subjects[-1].id, by_angle, found)
    paths = [path for each in found.subjects if (path := each.process(found.grid)) is not None]
    if shared < ALIKE:
        share = "less than 0.1%" if shared < 0.001 else f"{shared:.1%}"
        said = f"The curves of all {len(z)} {words.many} nearly coincide: {share}"
    else:
        said = f"Each {words.one} is a curve: {shared:.0%}"
    rings = f"Rings are the encodings of single {words.views} of {one}."
    front = rings if not paths else f"The broad grey line is the true path of {one}."
    sentence = f"They change along the {words.place}. {said} of the variance differs. {front}"
    space = scatter.Cloud(
        projection,
        colours(track, found.grid) * len(z),
        closed=bool(track.period),
        dots=projection.onto(encodings(choice, subject)[0][:, found.blocks["local"]]),
        dot_colours=colours(track, subject.w),
        axis="direction" if by_angle else "component",
        truth=latents.laid_over(np.stack(paths), projection.points)[row] if paths else None,
        picked=[row],
        view=view,
    )
    with frame.card("Local channels", sentence, height="stretch"):
        _show(choice, "latents.local", "Curves in the local channels", space, found.subjects)


@st.cache_resource(max_entries=24, show_spinner=False)
def _plane(choice: Choice, last: str, by_angle: bool, _found: Codes) -> latents.Projection:
    """The curves of subjects, of which `last` may have been appended."""
    assert _found.curves is not None
    z = _found.curves[..., _found.blocks["local"]]
    return latents.project(z, angles=_found.grid if by_angle else None)


def _global(choice: Choice, picked: Subject) -> None:
    subjects, _ = styles(choice)
    one, classes = choice.collection.words.one, [each.label for each in subjects]
    by_class = ", coloured by class" if len(choice.collection.classes) > 1 else ""
    neighbours = st.session_state.get("latents.projection") == "t-SNE"
    space = scatter.Cloud(
        arranged(choice, neighbours),
        [palette.GLOBAL if label is None else charts.CLASSES[label] for label in classes],
        ["all" if label is None else str(label) for label in classes],
        [_title(each) for each in subjects],
        axis="t-SNE" if neighbours else "component",
        picked=[row for row, each in enumerate(subjects) if each.id == picked.id],
    )
    sentence = f"They are the same along the whole {one}: each {one} is one point{by_class}."
    with frame.card("Global channels", sentence, height="stretch"):
        _show(choice, "latents.global", "Styles", space, subjects)


def _joint(choice: Choice, found: Codes, row: int, view: int) -> None:
    z = np.stack(found.mu)  # [P, Q, L]
    track, w = choice.collection.track, found.subjects[row].w
    space = scatter.Cloud(
        latents.project(z),
        colours(track, w) * len(z),
        names=[each.name for each in found.subjects],
        views=labels(track, w),
        closed=bool(track.period),
        picked=[row],
        view=view,
    )
    sentence = (
        f"Nothing in the training of a {choice.kind.title} divides its channels by angle and style."
    )
    with frame.card("All channels", sentence, height="stretch"):
        _show(choice, "latents.joint", "Views in all channels", space, found.subjects)


@st.cache_resource(max_entries=16, show_spinner="Arranging styles")
def arranged(choice: Choice, neighbours: bool) -> latents.Projection:
    """The styles by PCA, or in a plane by t-SNE, which keeps `neighbours`."""
    _, z = styles(choice)
    if not neighbours:
        return latents.project(z[:, None])
    from sklearn.manifold import TSNE

    plane = TSNE(2, perplexity=min(30, len(z) / 4), init="pca", random_state=0).fit_transform(z)
    points = np.pad(plane, ((0, 0), (0, 1)))[:, None]
    return latents.Projection(points, np.zeros(3), np.zeros(0), np.zeros((0, 3)))


def before_after(choice: Choice) -> None:
    """Two PCAs of single views coloured by digit: scattered before, one heap each after."""
    same = {each.name: each for each in models.available(choice.group) if each != choice}
    others = [same[name] for name in BASELINES if name in same]
    if not others or "global" not in choice.load().blocks:
        return
    with frame.card(
        "Before and after",
        f"Sixteen views each of {DIGITS} threes, every view placed by itself; a colour is one "
        "digit. If style is separated from the angle, the views of a digit lie together.",
    ):
        columns = st.columns(len(others) + 1)
    for number, (column, each) in enumerate(zip(columns, [*others, choice], strict=True)):
        part, projection, within = _scattered(each)
        space = scatter.Cloud(
            projection,
            [charts.CLASSES[p] for p in range(DIGITS) for _ in ANGLES],
            names=[f"digit {p + 1}" for p in range(DIGITS)],
            views=labels(choice.collection.track, ANGLES),
        )
        with column:
            st.markdown(f"**{frame.plain(each.name)}**, {part} channels")
            alt = f"Single views of {DIGITS} digits as {each.name} places them"
            key = f"latents.before.{number}"
            charts.show(partial(scatter.cloud, space), key, SMALL, alt)
            said = f"{within:.0%} of the variance is within a digit (0 % is best)."
            if part == "global" and within > SCATTERED:
                said += " Only the posterior of all views of a digit is one point."
            st.caption(said)


@st.cache_resource(max_entries=12, show_spinner=False)
def _scattered(choice: Choice) -> tuple[str, latents.Projection, float]:
    """Single views of some digits: which channels, their PCA, and the variance within digits."""
    blocks = choice.load().blocks
    part = "global" if "local" in blocks else "all"
    digits = Digits((LABEL,)).subjects(True)[:DIGITS]
    each = [encodings(choice, digit)[0][:, blocks.get(part, slice(None))] for digit in digits]
    z = np.stack(each)  # [P, Q, C]
    return part, latents.project(z), latents.share_within(z)
