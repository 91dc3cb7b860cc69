"""The page Latents for a model of one's own objects, or of figures of cubes."""

from typing import Any

import numpy as np
import streamlit as st
import torch

from fgpvae import latents
from fgpvae.metrics import mse
from fgpvae.models import Model
from ui import charts
from ui.catalog import objects
from ui.catalog.models import Choice
from ui.catalog.objects import ObjectSet
from ui.components import hover_picture, pictures
from ui.latents import channels, correlations, spaces
from ui.latents.traversals import traversals
from ui.shell import frame, notices, numbers, palette, query_params

PLACES = 16  # along the track, at which every object is placed
OBJECTS = 60  # that are shown
CHANNELS = 8  # global ones that are shown, those that change the picture most
PICKED = "latents.object_picked"  # rows that were circled, in the session state
TITLE = {"local": "Local channels", "global": "Global channels"}
SENTENCE = {
    "local": "They change with the view: each object is a curve.",
    "global": "They do not depend on the view: each object is one point.",
}
LEFT_OUT = (
    "Three parts of this page are left out for your own objects, because they need the same "
    "views of every object: points placed by one image alone, what the encoder says, and the "
    "measures of disentanglement."
)
DIGITS_ALONE = (
    "Three parts of this page exist for digits only: points placed by one image alone, what "
    "the encoder says, and the measures of disentanglement."
)
KEPT: dict[str, Any] = {"required": True, "bind": "query-params", "persist_state": "session"}


def page(choice: Choice) -> None:
    """All of the page below the box with the models."""
    model = notices.attempt(choice.load)
    found = notices.attempt(lambda: objects.load_objects(choice))
    shown, grid = _shown(found), _grid(found)
    names = [found.objects.names[number] for number in shown]
    labels = [found.text(view) for view in np.asarray(found.track.to_view(grid))]
    codes = _codes(choice, model, found)  # [P, PLACES, L]
    spatial = st.session_state.get("latents.space") == "3-D"

    linked = st.query_params.get("object", "")
    if "latents.object" not in st.session_state and linked in map(str, shown):
        st.session_state["latents.object"] = shown.index(int(linked))
    first = st.session_state.get("latents.object")
    if first is None or not 0 <= first < len(shown):
        st.session_state["latents.object"] = 0
    above = st.container()
    with frame.card("This object", "The selected object: true, and as the model redraws it."):
        which, where, some = st.columns(3, gap="medium")
        row = which.selectbox(
            "Object", range(len(shown)), key="latents.object", format_func=lambda row: names[row]
        )
        place = where.select_slider(
            "Place",
            range(PLACES),
            key="latents.place",
            format_func=lambda k: labels[k],
            bind="query-params",
            persist_state="session",
        )
        mode = some.segmented_control(
            "Views given to the model",
            ["one", "half", "all"],
            default="all",
            key="latents.object_given",
            **KEPT,
        )
        number = shown[row]
        query_params.write(object=str(number))
        given = _given(found, number, mode)
        _this(model, found, number, given)
    with above:
        spaces.show(
            "latents.object_pca",
            [
                _space(found, codes, block, part, grid, spatial, names, labels)
                for block, part in model.blocks.items()
            ],
            spaces.together(row, PICKED, choice.name),
            place,
            spatial,
            _picked(model, codes[row, place], f"{names[row]}, {labels[place]}"),
            _choose,
            hover_picture.Thumbnails(_middles(found, shown)),
        )

    with frame.card(
        "Channel by channel",
        "Dots are the encoder's estimates for each recorded view, with their errors. The line "
        "is what the model concludes from the filled dots, the band how sure it is.",
    ):
        _channels(model, found, number, given, _strongest(model, codes))
    own, hues = codes[row], [found.colour(float(w)) for w in grid]
    traversals(choice, own, place, _strongest(model, own[None]), labels, hues)
    left, right = st.columns(2, gap="medium")
    with (
        left,
        frame.card("What the prior expects", ("How alike are the local channels at two places?")),
    ):
        correlations.show(latents.prior_gram(model, grid), labels, "latents.object_prior", "view")
    with (
        right,
        frame.card(
            "Which channels go together", ("Strength of the correlation, without its sign.")
        ),
    ):
        strength = np.abs(latents.channel_correlation(codes))
        correlations.show_channels(strength, "latents.object_channels", model.config.local)
    notices.note(DIGITS_ALONE if choice.figures else LEFT_OUT)


def _middles(found: ObjectSet, shown: list[int]) -> np.ndarray:
    """The view of each object in the middle of the track."""
    return np.stack([found.pixels(number)[found.middle(number)] for number in shown])


def _shown(found: ObjectSet) -> list[int]:
    """New objects first, then training objects."""
    unseen = list(found.split.unseen)
    known = set(unseen)
    rest = [number for number in range(len(found)) if number not in known]
    return (unseen + rest)[:OBJECTS]


def _grid(found: ObjectSet) -> np.ndarray:
    if found.track.period:
        return np.linspace(0, 2 * np.pi, PLACES, endpoint=False)
    return np.linspace(-1, 1, PLACES)


@st.cache_data(max_entries=8, show_spinner="Looking at every object")
@torch.no_grad()
def _codes(choice: Choice, _model: Model, _found: ObjectSet) -> np.ndarray:
    """The posterior mean of each shown object, given all its views: [P, PLACES, L]."""
    grid = torch.as_tensor(_grid(_found))[None]
    codes = []
    for number in _shown(_found):
        images, w = torch.as_tensor(_found.pixels(number))[None], _found.w(number)[None]
        everything = torch.ones(w.shape, dtype=torch.bool)
        codes.append(_model.infer(images, torch.as_tensor(w), everything).mean(grid)[0])
    return torch.stack(codes).double().numpy()


def _strongest(model: Model, codes: np.ndarray) -> list[int]:
    """The global channels, those that change the picture most first."""
    local = model.config.local
    effect = latents.effects(model, codes[:8, PLACES // 2])[local:]
    return [local + int(g) for g in np.argsort(-effect)][:CHANNELS]


def _given(found: ObjectSet, number: int, mode: str) -> np.ndarray:
    count = len(found.w(number))
    if mode == "one":
        return np.arange(count) == found.middle(number)
    return np.arange(count) % 2 == 0 if mode == "half" else np.ones(count, dtype=bool)


def _choose(points: spaces.Points) -> None:
    if not points:
        return
    row, place = points[0]
    st.session_state["latents.object"] = row
    if place >= 0:
        st.session_state["latents.place"] = place
    st.session_state[PICKED] = list(dict.fromkeys(p for p, _ in points))


@torch.no_grad()
def _picked(model: Model, code: np.ndarray, name: str) -> str:
    image = model.decode(torch.as_tensor(code)).numpy()
    return spaces.portrait([("as the model redraws it", image)], name)


def _space(
    found: ObjectSet,
    codes: np.ndarray,
    block: str,
    part: slice,
    grid: np.ndarray,
    spatial: bool,
    names: list[str],
    labels: list[str],
) -> spaces.Space:
    projection = latents.project(codes[..., part])
    still = block == "global"
    hues = [palette.GLOBAL if still else found.colour(float(w)) for w in grid] * len(codes)
    shares = projection.shares[: 3 if spatial else 2]
    return spaces.Space(
        TITLE[block],
        SENTENCE[block],
        f"These {len(shares)} components show {shares.sum():.0%} of the variance of "
        f"{part.stop - part.start} channels.",
        charts.Cloud(
            projection.points,
            projection.shares,
            hues,
            ["views"] * len(codes),
            names,
            labels,
            still,
            bool(found.track.period),
        ),
    )


@torch.no_grad()
def _this(model: Model, found: ObjectSet, number: int, given: np.ndarray) -> None:
    images, w = found.pixels(number), found.w(number)
    made = model.generate(
        torch.as_tensor(images)[None],
        torch.as_tensor(w)[None],
        torch.as_tensor(w)[None],
        torch.as_tensor(given)[None],
    )[0].numpy()
    few = found.strip(number)
    labels = [found.text(view) for view in found.views(number)[few]]
    hues = [found.colour(float(w[i])) if given[i] else "transparent" for i in few]
    name = found.objects.names[number]
    st.html(
        pictures.grid(
            [("true", images[few]), ("generated", made[few])],
            labels,
            hues,
            alt=f"{name} at its recorded views, true and generated",
        )
    )
    rest, what = (given, "MSE of all views") if given.all() else (~given, "MSE of the others")
    trivial = np.stack([found.mean_image(float(at)) for at in w[rest]])
    st.html(
        numbers.numbers(
            [
                (f"{mse(made[rest], images[rest]):.4f}", what),
                (f"{mse(trivial, images[rest]):.4f}", "mean image"),
                ("new" if found.new(number) else "training", "object"),
            ]
        )
    )


@torch.no_grad()
def _channels(
    model: Model, found: ObjectSet, number: int, given: np.ndarray, strongest: list[int]
) -> None:
    """Every local channel, and the strongest global ones, over the view."""
    w, low_high = found.w(number), found.track.ends
    mu, var = (
        x[0].double().numpy()
        for x in model.encode(
            torch.as_tensor(found.pixels(number))[None],
            torch.as_tensor(w)[None],
            torch.ones(1, len(w), dtype=torch.bool),
        )
    )
    fine = np.linspace(0, 2 * np.pi, 121) if found.track.period else np.linspace(-1, 1, 121)
    view = np.linspace(*low_high, 121)
    at = found.views(number)
    at = at % found.track.period if found.track.period else at
    curves = latents.curves(model, mu, var, given, fine, w)
    sd, local = np.sqrt(var), model.config.local
    every = channels.block_channels("local", 0, list(range(local)), view, curves, at, mu, sd)
    if strongest:
        every += channels.block_channels("global", local, strongest, view, curves, at, mu, sd)
        if len(strongest) < model.config.latents - local:
            st.caption(f"{len(strongest)} of the {model.config.latents - local} global channels")
    hues = [found.colour(float(x)) for x in w]
    axis = {"range": list(low_high), "nticks": 4}
    channels.show(every, given, hues, axis, "", "latents.object_panels")
