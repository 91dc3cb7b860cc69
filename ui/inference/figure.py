"""One figure of cubes as one model sees it: the dial, what is possible, and the truth."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from fgpvae.data import cubes
from fgpvae.digit_view import DigitView, turn
from fgpvae.figure_view import Imagined, imagine
from fgpvae.models import Model
from ui.catalog import figures
from ui.catalog.models import Choice
from ui.components import dial
from ui.components.turntable import turntable
from ui.inference import angle_strip, captions, downloads, style_names
from ui.shell import frame, notices, query_params, widget_keys

LEAD = "What stays the same when the figure turns."
FIRST = 2  # the view at 30 degrees: two sides of the cubes and their tops are seen
GRID: np.ndarray = cubes.grid().numpy()
SIDES = np.rad2deg(GRID).round().astype(int).tolist()  # degrees
STEP = figures.FRAMES // cubes.ANGLES  # frames from one side to the next
SURE = 0.5  # samples that differ by less than this share of the error do not show it
SILENT = "This style is not the figure's own, so there is no true picture to compare with."

HINTS = {
    "true": "The figure itself, at the angle of the dial.",
    "model": "What the model believes: its posterior mean, as on the dial.",
    "difference": "Where the two differ.",
    "MSE here": "Mean squared error of a pixel between the model's picture and the true one.",
    "nearest view": "The same for the nearest view the model has seen, unchanged: no rotation "
    "of a picture shows what is behind.",
    "mean image": "The same for the mean of training figures at this angle: what one gets without "
    "looking at the figure.",
}


@dataclass(frozen=True)
class Places:
    """Where on a page the parts of a figure go."""

    dial: DeltaGenerator
    possible: DeltaGenerator
    style: DeltaGenerator


@dataclass(frozen=True)
class Shown:
    """A figure on a page: what is behind it, and what the person did with it."""

    moves: str
    turning: DigitView
    state: dial.DialState
    key: str  # of the dial

    @property
    def link(self) -> dict[str, str | None]:
        """What the address says of it."""
        return {
            "figure": self.moves.replace(" ", ""),
            "angle": f"{self.state.angle:g}",
            "views": query_params.text(self.state.context),
            "style": query_params.text(self.state.style),
        }


def show(
    key: str, choice: Choice, moves: str, link: Mapping[str, str], places: Places, size: int = 500
) -> Shown:
    """The dial, what the model holds possible, and the truth, each in its place."""
    model, live = notices.attempt(choice.load), f"{key}.figure"
    given = chosen(live, link)
    seen = notices.attempt(lambda: imagined(choice, moves, tuple(given), model))
    views = figures.views(moves)
    turning = turn(model, views, GRID, np.isin(np.arange(cubes.ANGLES), given))
    if turning.scene is None:
        notices.problem(turning.obstacle)
        st.stop()
    styles, likely = style_names.among(choice, figures.training_views())
    with (
        places.possible,
        frame.card(
            "Possibilities", possible(choice, moves, tuple(given), model), "inference.possible"
        ),
    ):
        _views(live, given)
        rows = {f"possible {k}": each for k, each in enumerate(seen.possible, start=1)}
        turntable(rows, key=live, name="possible", least=130)
    state = dial.dial(
        turning.scene,
        key=live,
        angle=query_params.number(link.get("angle"), SIDES[FIRST]),
        style=query_params.numbers(link.get("style")),
        styles=styles,
        likely=likely,
        subject=(choice.name, moves),
        size=size,
        lead=LEAD,
        scale=dial.Scale(0, 360, degrees=True),
        places=(places.dial, places.style),
    )
    with state.below, frame.card("Against the truth", key="inference.truth"):
        turntable(
            {"true": seen.truth, "model": seen.mean, "difference": abs(seen.mean - seen.truth)},
            key=live,
            name="truth",
            figures=_errors(seen),
            hints=HINTS,
            silent=SILENT,
        )
    return Shown(moves, turning, state, live)


def strip(shown: Shown) -> None:
    """A card with the figure at all sides that the model can be shown; a click turns the dial."""
    with frame.card("Twenty-four angles"):
        angle_strip.angle_strip(
            shown.turning.images(GRID, shown.state.style),
            key=shown.key,
            angle=shown.state.angle,
            angles=GRID,
            observed=shown.state.context,
        )


def save(shown: Shown, choice: Choice, title: str) -> None:
    """A card with what can be taken along; `title` says what turns."""
    with frame.card("Take it with you", downloads.SENTENCE):
        name = f"{choice.name}-{shown.link['figure']}"
        title = f"{title}, turned by {choice.name}"
        downloads.save(shown.turning, shown.state, name, title, shown.key)


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
        return f"from {captions.count(len(given))} sides"
    *most, last = [f"{SIDES[index]}°" for index in given]
    return f"from {', '.join(most)} and {last}" if most else f"from {last} only"


@st.cache_data(max_entries=200, show_spinner=False)
def imagined(choice: Choice, moves: str, given: tuple[int, ...], _model: Model) -> Imagined:
    """What the model makes of a figure from some of the 24 sides, all round."""
    return imagine(_model, moves, np.deg2rad([SIDES[index] for index in given]), figures.AROUND)


def possible(choice: Choice, moves: str, given: tuple[int, ...], model: Model) -> str:
    """How far the samples differ where the model looks and where most; what one more view does."""
    seen = imagined(choice, moves, given, model)
    doubt, error = seen.doubt[::STEP], np.sqrt(seen.errors[::STEP])  # [24] at the sides
    said = (
        "Six figures that fit what the model has seen. They differ by ± "
        f"{doubt[list(given)].mean():.3f} per pixel on the "
        f"{'side' if len(given) == 1 else 'sides'} it sees"
    )
    others = [side for side in range(cubes.ANGLES) if side not in given]
    if not others:
        return f"{said}. It has seen all sides."
    most = max(others, key=lambda side: doubt[side])
    then = imagined(choice, moves, tuple(sorted((*given, most))), model).doubt.mean()
    now, then = f"± {seen.doubt.mean():.3f}", f"± {then:.3f}"
    said += f" and most at {SIDES[most]}°, by ± {doubt[most]:.3f}. Seeing that side, too, would "
    said += (
        f"hardly change the average over all sides, {now}."
        if now == then
        else f"bring the average over all sides from {now} to {then}."
    )
    if doubt[most] < SURE * error[most]:
        said += (
            f" The picture there has an error of {error[most]:.3f}: the model blurs what it "
            "cannot see."
        )
    return said


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
    even = None
    step = cubes.ANGLES // len(given)
    if len(given) in cubes.GIVEN and given == sorted(
        (given[0] + k * step) % cubes.ANGLES for k in range(len(given))
    ):
        even = len(given)

    def spread(count: int | None) -> None:
        if count:
            dial.context(live, [])  # the clicks on the ring are forgotten
            places = [(given[0] + k * cubes.ANGLES // count) % cubes.ANGLES for k in range(count)]
            st.session_state[f"{live}.views"] = sorted(places)

    st.segmented_control(
        "Views the model sees",
        cubes.GIVEN,
        help="At equal distances. For others, click the dots on the ring.",
        **widget_keys.showing(f"{live}.count", even, spread),
    )
