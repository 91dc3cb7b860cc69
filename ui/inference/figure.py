"""One figure of cubes as one model sees it: the dial, the truth beside it, and what is possible."""

from collections.abc import Mapping, Sequence

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from fgpvae import latents, scenes, style_directions
from fgpvae.data import cubes
from fgpvae.figure_view import Imagined, figure_of, imagine
from fgpvae.latents import Styles
from fgpvae.models import Model
from fgpvae.style_directions import Style
from ui.catalog import figures
from ui.catalog.models import Choice
from ui.components import dial
from ui.components.turntable import turntable
from ui.inference.captions import COUNTS
from ui.shell import frame, notices, query_params

LEAD = "What stays the same when the figure turns."
FIRST = 2  # the view at 30 degrees: two sides of the cubes and their tops are seen
SIDES = np.rad2deg(cubes.grid().numpy()).round().astype(int).tolist()  # degrees
SURE = 0.5  # samples that differ by less than this share of the error do not show it

HINTS = {
    "true": "The figure itself, at the angle of the dial.",
    "mean": "What the model believes: its posterior mean, as on the dial.",
    "MSE here": "Mean squared error of a pixel between the model's picture and the true one.",
    "nearest view": "The same for the nearest view that the model sees, left as it is: no rotation "
    "of a picture shows what is behind.",
    "mean image": "The same for the mean of training figures at this angle: what one gets without "
    "looking at the figure.",
}


def show(
    key: str,
    choice: Choice,
    moves: str,
    link: Mapping[str, str],
    places: tuple[DeltaGenerator, DeltaGenerator],
) -> dial.DialState:
    """The dial and the truth in two places, and below them what the model holds possible."""
    model, live = notices.attempt(choice.load), f"{key}.figure"
    given = chosen(live, link)
    notices.attempt(lambda: imagined(choice, moves, (FIRST,), model))
    scene = notices.attempt(lambda: _scene(model, moves, given))
    left, right = places
    with right:
        beside, control = st.container(), st.container()
    card = st.container()
    style = st.container()
    state = dial.dial(
        scene,
        key=live,
        angle=query_params.number(link.get("angle"), SIDES[FIRST]),
        styles=_styles(choice, model),
        likely=_likely(choice, model),
        subject=(choice.name, moves),
        size=500,
        lead=LEAD,
        scale=dial.Scale(0, 360),
        places=(left, style),
    )
    seen = imagined(choice, moves, tuple(given), model)
    with beside, frame.card("The truth", "It turns with the dial.", key="inference.truth"):
        turntable(
            {"true": seen.truth},
            key=live,
            name="truth",
            figures=_errors(seen),
            hints=HINTS,
        )
    with control, frame.card(key="inference.views"):
        _views(live, given)
    sentence = possible(choice, moves, tuple(given), model)
    with card, frame.card("Possibilities", sentence, key="inference.possibilities"):
        samples = {f"possible {k}": each for k, each in enumerate(seen.possible, start=1)}
        turntable(
            {"true": seen.truth, "mean": seen.mean} | samples,
            key=live,
            name="possible",
            hints=HINTS,
            across=2 + len(samples),
        )
    return state


def chosen(live: str, link: Mapping[str, str]) -> list[int]:
    """Indices of the sides that the model sees: those of the link, or one, until others are."""
    name = f"{live}.views"
    if name not in st.session_state:
        linked = query_params.numbers(link.get("views")) or []
        st.session_state[name] = sorted({int(v) for v in linked if v in range(cubes.ANGLES)})
    found = dial.context(live, st.session_state[name] or [FIRST])
    return [each for each in found if 0 <= each < cubes.ANGLES] or [FIRST]


def words(given: Sequence[int]) -> str:
    """From 30 degrees; from 30 and 210 degrees; from eight sides."""
    if len(given) > 4:
        count = len(given)
        return f"from {COUNTS[count] if count < len(COUNTS) else count} sides"
    *most, last = [f"{SIDES[index]}°" for index in given]
    return f"from {', '.join(most)} and {last}" if most else f"from {last} only"


@st.cache_data(max_entries=200, show_spinner=False)
def imagined(choice: Choice, moves: str, given: tuple[int, ...], _model: Model) -> Imagined:
    """What the model makes of a figure from some of the 24 sides, all round."""
    return imagine(_model, moves, np.deg2rad([SIDES[index] for index in given]), figures.AROUND)


def possible(choice: Choice, moves: str, given: tuple[int, ...], model: Model) -> str:
    """How far the samples differ, how wrong their mean is, and what one more view does."""
    seen = imagined(choice, moves, given, model)
    spread, error = float(seen.doubt.mean()), float(np.sqrt(seen.errors.mean()))
    views = "this view" if len(given) == 1 else f"these {len(given)} views"
    said = (
        f"Six samples of the posterior, each one figure that turns. Given {views}, a pixel differs "
        f"by ± {spread:.3f} between them; the mean is off by {error:.3f}."
    )
    if spread < SURE * error:
        said += " The model is surer than it should be: what it cannot see it blurs."
    more = opposite(given)
    if more is None:
        return said
    then = float(imagined(choice, moves, tuple(sorted((*given, more))), model).doubt.mean())
    verb = "brings them to" if then < spread else "does not bring them closer:"
    return f"{said} One more view, at {SIDES[more]}°, {verb} ± {then:.3f}."


def opposite(given: Sequence[int]) -> int | None:
    """The side that is farthest from all that are seen; None if all are."""

    def apart(side: int) -> int:
        return min(min((side - each) % 24, (each - side) % 24) for each in given)

    far = max(range(cubes.ANGLES), key=apart)
    return far if apart(far) else None


def _errors(seen: Imagined) -> dict[str, list[float]]:
    """Errors at the angles of the turn: the model's, and two that need no model."""
    apart = np.abs((seen.angles[:, None] - seen.given + np.pi) % (2 * np.pi) - np.pi)
    nearest, mean = seen.views[apart.argmin(1)], figures.mean_images()
    return {
        "MSE here": seen.errors.tolist(),
        "nearest view": ((nearest - seen.truth) ** 2).mean((1, 2)).tolist(),
        "mean image": ((mean - seen.truth) ** 2).mean((1, 2)).tolist(),
    }


def _views(live: str, given: list[int]) -> None:
    """How many views the model sees, at equal distances; single ones by the dots of the ring."""
    name, even = f"{live}.count", None
    step = cubes.ANGLES // len(given)
    if len(given) in cubes.GIVEN and given == sorted(
        (given[0] + k * step) % cubes.ANGLES for k in range(len(given))
    ):
        even = len(given)
    st.session_state[name] = even

    def spread() -> None:
        count = st.session_state[name]
        if count:
            dial.context(live, [])  # the clicks on the ring are forgotten
            places = [(given[0] + k * cubes.ANGLES // count) % cubes.ANGLES for k in range(count)]
            st.session_state[f"{live}.views"] = sorted(places)

    st.segmented_control(
        "Views the model sees",
        cubes.GIVEN,
        key=name,
        on_change=spread,
        help="At equal distances. For others, click the dots on the ring.",
    )


def _scene(model: Model, moves: str, given: list[int]) -> scenes.Scene:
    w = cubes.grid().numpy()
    views = cubes.draw([figure_of(moves)], w[None])[0].astype(np.float32) / 255
    return scenes.scene(model, views, w, np.isin(np.arange(cubes.ANGLES), given))


@st.cache_data(max_entries=12, show_spinner=False)
def _likely(choice: Choice, _model: Model) -> Styles | None:
    """The styles of training figures, which a random one is drawn among."""
    if _model.config.local == _model.config.latents:
        return None
    return latents.styles(_model, figures.training_views())


@st.cache_data(max_entries=12, show_spinner=False)
def _styles(choice: Choice, _model: Model) -> list[Style]:
    """The global channels, those that change the picture most first."""
    if _model.config.local == _model.config.latents:
        return []
    views = figures.training_views()
    made = [scenes.scene(_model, views.images[k].numpy(), views.angles[k].numpy()) for k in (0, 20)]
    codes = np.concatenate([scene.at(np.zeros(1)) for scene in made])
    return style_directions.channels(_model, codes, latents.own_styles(_model, views))
