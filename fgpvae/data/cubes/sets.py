"""Which figures there are, and which of them are for training, validation and testing.

Shepard and Metzler's figures have ten cubes in four arms that touch at their three bends only.
There are 216 shapes; a shape is a figure with all its rotations and mirror images. The split is
over shapes, so no unseen figure is a rotated or mirrored training figure.
"""

import random
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from itertools import combinations, pairwise, product

import numpy as np

from ...errors import UserError
from .drawing import fits
from .figures import (
    DIRECTIONS,
    MOST_CUBES,
    QUARTER_TURNS,
    Cube,
    Figure,
    Key,
    add,
    from_cubes,
    neighbours,
)

ARMS = 4
VALIDATION, UNSEEN = 20, 36  # shapes; each has up to twelve copies
CHAINS = 0.7  # share of chains among additional figures
MOST_FIGURES = 20_000


@cache
def chains(cubes: int = MOST_CUBES, arms: int = ARMS) -> tuple[Figure, ...]:
    """One figure of each shape of chains with right-angled bends, in a fixed order.

    An arm has at least two cubes; cubes that do not follow each other do not touch.
    """
    found: dict[Key, Figure] = {}
    for cuts, steps in product(combinations(range(1, cubes - 1), arms - 1), _bends(arms)):
        if places := _chain(steps, cuts, cubes):
            figure = from_cubes(places)
            found.setdefault(figure.shape, figure)
    return tuple(found[key] for key in sorted(found))


def _bends(arms: int) -> list[list[Cube]]:
    """Directions of arms, each at a right angle to the one before; the first two are x and y."""
    found = [[DIRECTIONS["x"], DIRECTIONS["y"]][:arms]]
    for _ in range(arms - 2):
        found = [[*steps, step] for steps in found for step in _across(steps[-1])]
    return found


def _across(step: Cube) -> list[Cube]:
    """The four directions at right angles to one."""
    return [each for each in DIRECTIONS.values() if not np.dot(each, step)]


def _chain(steps: list[Cube], cuts: Iterable[int], cubes: int) -> list[Cube] | None:
    """The cubes of a chain that bends after `cuts` steps; None if it touches itself."""
    here: Cube = (0, 0, 0)
    places = [here]
    for step, (start, end) in zip(steps, pairwise([0, *cuts, cubes - 1]), strict=True):
        for _ in range(start, end):
            here = add(here, step)
            if sum(beside in places for beside in neighbours(here)) != 1:
                return None
            places.append(here)
    return places


@dataclass(frozen=True)
class Splits:
    """Shapes of the figures of ten cubes in four arms, one figure each."""

    training: tuple[Figure, ...]
    validation: tuple[Figure, ...]
    unseen: tuple[Figure, ...]


@cache
def splits() -> Splits:
    """160 shapes for training, 20 for validation and 36 that no model may see."""
    shapes = list(chains())
    random.Random("cubes 0").shuffle(shapes)
    kept = VALIDATION + UNSEEN
    return Splits(tuple(shapes[kept:]), tuple(shapes[UNSEEN:kept]), tuple(shapes[:UNSEEN]))


def all_copies(shapes: Iterable[Figure]) -> list[Figure]:
    """Each shape and its mirror image in all orientations."""
    return [copy for shape in shapes for copy in shape.copies()]


def turned_copies(shapes: Iterable[Figure]) -> list[Figure]:
    """All copies of shapes, each rotated by some quarter turns, to test a model with."""
    stream = random.Random("turned 0")
    return [copy.transformed(stream.choice(QUARTER_TURNS)) for copy in all_copies(shapes)]


def random_chain(stream: random.Random, cubes: int = MOST_CUBES, arms: int = ARMS) -> Figure:
    """Draw a chain with right-angled bends in any orientation; every shape is possible."""
    if not 1 <= arms < cubes <= MOST_CUBES:
        raise UserError(f"A chain of {cubes} cubes cannot have {arms} arms.")
    while True:
        cuts = sorted(stream.sample(range(1, cubes - 1), arms - 1))
        steps = [stream.choice(list(DIRECTIONS.values()))]
        while len(steps) < arms:
            steps.append(stream.choice(_across(steps[-1])))
        if places := _chain(steps, cuts, cubes):
            return from_cubes(places)


def grown(stream: random.Random, cubes: int = MOST_CUBES) -> Figure:
    """Grow a figure: put each cube onto a free face of an earlier one."""
    places: list[Cube] = [(0, 0, 0)]
    while len(places) < cubes:
        there = stream.choice(list(neighbours(stream.choice(places))))
        if there not in places:
            places.append(there)
    return from_cubes(places)


def training_figures(more: int = 0, seed: int = 0) -> tuple[list[Figure], int]:
    """All copies of the training shapes and then additional figures; and the number of copies.

    Additional ones, chains and branched figures, differ by more than quarter turns, fit into the
    picture and have no shape of the other splits. The shapes are the same for every seed: no run
    is trained on another run's test figures.
    """
    if not 0 <= more <= MOST_FIGURES:
        raise UserError(f"From 0 to {MOST_FIGURES} more figures are possible, not {more}.")
    parts = splits()
    own = all_copies(parts.training)
    kept = {figure.placed for figure in own}
    tested = {figure.shape for figure in parts.validation + parts.unseen}
    stream = random.Random(f"more cubes {seed}")
    found: dict[Key, Figure] = {}
    while len(found) < more:
        if stream.random() < CHAINS:
            cubes = stream.choice(range(6, MOST_CUBES + 1))
            figure = random_chain(stream, cubes, stream.choice(range(2, 6)))
        else:
            figure = grown(stream, stream.choice(range(2, MOST_CUBES + 1)))
        if figure.shape not in tested and fits(figure):
            found.setdefault(figure.placed, figure)
    others = [figure for key, figure in found.items() if key not in kept]
    return [*own, *others], len(own)
