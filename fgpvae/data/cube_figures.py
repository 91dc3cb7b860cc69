"""Figures of cubes: notation, checks, equality up to rotation, and which figures there are.

A figure is written as moves from its first cube. A move is an axis, with a minus sign for the other
direction, and how many cubes it adds (1 if no number is given):

    x3 y2 -z2 x2        ten cubes in four arms
    x2 (y) z2           a branch stands in brackets; what follows starts where the branch did
    o                   one cube

x points to the right, y away from the viewer and z up, before the figure is turned.

Shepard and Metzler's figures have ten cubes in four arms that touch at their three bends only.
There are 216 shapes; a shape is a figure with all its rotations and mirror images. The split is
over shapes, so no unseen figure is a rotated or mirrored training figure.
"""

import math
import random
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import combinations, groupby, pairwise, permutations, product

import numpy as np
from numpy.typing import NDArray

from ..errors import UserError, require

MOST_CUBES = 10
LONGEST_TEXT = 200  # letters of a notation
ALONE = "o"  # the notation of one cube
ELEVATION = math.radians(28)  # of the viewer
FRAME = 9.4  # cubes across a picture; the farthest corner of four arms is 4.69 from the axis
ARMS = 4
VALIDATION, UNSEEN = 20, 36  # shapes; each has up to twelve copies
CHAINS = 0.7  # share of chains among additional figures
MOST_FIGURES = 20_000

Cube = tuple[int, int, int]
Key = tuple[int, ...]
Array = NDArray[np.int64]

DIRECTIONS: dict[str, Cube] = {
    "x": (1, 0, 0),
    "-x": (-1, 0, 0),
    "y": (0, 1, 0),
    "-y": (0, -1, 0),
    "z": (0, 0, 1),
    "-z": (0, 0, -1),
}
NAMES = {step: name for name, step in DIRECTIONS.items()}
_TOKEN = re.compile(r"(?P<axis>-?[xyz])(?P<count>[0-9]*)|[()]")

UNIT = np.eye(3, dtype=np.int64)
SIGNS, ORDERS = list(product((1, -1), repeat=3)), list(permutations(range(3)))
SYMMETRIES = np.array([np.diag(s) @ UNIT[list(o)] for s in SIGNS for o in ORDERS])  # 48, of a cube
ROTATIONS = SYMMETRIES[np.linalg.det(SYMMETRIES) > 0]  # 24
QUARTER_TURNS = ROTATIONS[ROTATIONS[:, 2, 2] == 1]  # 4, about the vertical axis


@dataclass(frozen=True)
class Figure:
    """At most ten connected cubes; their position in space does not matter."""

    cubes: tuple[Cube, ...]  # sorted, smallest coordinates 0

    @cached_property
    def array(self) -> Array:
        return np.array(self.cubes, dtype=np.int64)  # [n, 3]

    @cached_property
    def moves(self) -> str:
        """A notation of this figure that `parse` takes: from one end, straight on if possible."""
        left = set(self.cubes)
        start = min(self.cubes, key=lambda cube: (len(left.intersection(neighbours(cube))), cube))
        left.remove(start)
        words = []
        for word, same in groupby(_branch(start, None, left)):
            count = len(list(same))
            words += [word] * count if word in "()" else [word + (str(count) if count > 1 else "")]
        return " ".join(words).replace("( ", "(").replace(" )", ")") or ALONE

    @cached_property
    def placed(self) -> Key:
        """Equal for figures that differ by quarter turns about the vertical axis."""
        return canonical(self.array, QUARTER_TURNS)

    @cached_property
    def shape(self) -> Key:
        """Equal for figures that differ by a rotation, a reflection or both."""
        return canonical(self.array, SYMMETRIES)

    def transformed(self, symmetry: Array) -> "Figure":
        return _figure(self.array @ symmetry.T)

    def fits(self) -> bool:
        """Whether it stays within the picture at all yaws."""
        reach = np.abs(self.array - self.array.mean(0)) + 0.5
        aside = np.hypot(reach[:, 0], reach[:, 1])
        upwards = math.cos(ELEVATION) * reach[:, 2] + math.sin(ELEVATION) * aside
        return bool(2 * max(aside.max(), upwards.max()) <= FRAME)

    def copies(self) -> list["Figure"]:
        """The figure and its mirror image in all orientations, sorted.

        One for each way to place it on a turntable: at most 6 faces down, times 2.
        """
        found = {figure.placed: figure for figure in map(self.transformed, SYMMETRIES[::-1])}
        return [found[key] for key in sorted(found)]


def parse(text: str) -> Figure:
    """The figure that a notation describes."""
    short = len(text) <= LONGEST_TEXT
    require(short, f"The moves of a figure may have at most {LONGEST_TEXT} letters.")
    rest = text.lower().replace("\N{MINUS SIGN}", "-").replace(",", " ").strip()
    require(rest, "The figure is empty; write its moves, for instance x3 y2 -z2 x2.")
    here: Cube = (0, 0, 0)
    cubes, branches = [here], list[Cube]()
    if rest == ALONE:
        rest = ""
    while rest:
        token = _TOKEN.match(rest)
        if not token:
            raise UserError(f"'{rest.split()[0]}' is no move; write moves as in x3 y2 -z2 x2.")
        rest = rest[token.end() :].lstrip()
        if token.group() == "(":
            branches.append(here)
        elif token.group() == ")":
            require(branches, f"A bracket in '{text}' is closed but was not opened.")
            here = branches.pop()
        else:
            count = int(token["count"] or 1)
            possible = 1 <= count <= MOST_CUBES
            require(possible, f"A move must add from 1 to {MOST_CUBES} cubes, not {count}.")
            for _ in range(count):
                here = add(here, DIRECTIONS[token["axis"]])
                cubes.append(here)
    require(not branches, f"A bracket in '{text}' is opened but not closed.")
    return from_cubes(cubes)


def from_cubes(places: Sequence[Cube]) -> Figure:
    """The figure of cubes at these places."""
    possible = 1 <= len(places) <= MOST_CUBES
    require(possible, f"A figure must have from 1 to {MOST_CUBES} cubes, not {len(places)}.")
    for index, place in enumerate(places):
        free = place not in places[:index]
        require(free, f"Cube {index + 1} of the figure is where another one is already.")
    array = np.array(places, dtype=np.int64)
    step = np.abs(array[:, None] - array).sum(-1) <= 1  # [n, n]: to a neighbour, or none
    joined = np.linalg.matrix_power(step.astype(np.int64), len(array)).all()
    require(joined, "The figure is in pieces; each cube must share a face with another one.")
    return _figure(array)


def neighbours(cube: Cube) -> list[Cube]:
    return [add(cube, step) for step in NAMES]


def canonical(cubes: Array, symmetries: Array) -> Key:
    """The smallest code of a figure under some symmetries, with one number per cube."""
    turned = np.einsum("sij,nj->sni", symmetries, cubes)
    turned -= turned.min(1, keepdims=True)
    codes = np.sort(turned @ np.array([MOST_CUBES**2, MOST_CUBES, 1]), axis=1)  # [S, n]
    return tuple(codes[np.lexsort(codes.T[::-1])[0]].tolist())


def _figure(cubes: Array) -> Figure:
    return Figure(tuple(sorted((x, y, z) for x, y, z in (cubes - cubes.min(0)).tolist())))


def add(cube: Cube, step: Cube) -> Cube:
    return cube[0] + step[0], cube[1] + step[1], cube[2] + step[2]


def _branch(here: Cube, heading: Cube | None, left: set[Cube]) -> list[str]:
    """Steps and brackets from a cube through the remaining ones, which are removed from the set."""
    branches: list[list[str]] = []
    for step in sorted(NAMES, key=lambda step: (step != heading, NAMES[step])):
        there = add(here, step)
        if there in left:
            left.remove(there)
            branches.append([NAMES[step], *_branch(there, step, left)])
    *aside, last = sorted(branches, key=len) or [[]]
    return [word for branch in aside for word in ("(", *branch, ")")] + last


# Sets of figures


@cache
def chains(cubes: int = MOST_CUBES, arms: int = ARMS) -> tuple[Figure, ...]:
    """One figure of each shape of chains with right-angled bends, in a fixed order.

    An arm has at least two cubes; cubes that do not follow each other do not touch.
    """
    found: dict[Key, Figure] = {}
    bends = [[DIRECTIONS["x"], DIRECTIONS["y"]][:arms]]  # an arm is at a right angle to the last
    for _ in range(arms - 2):
        bends = [[*steps, step] for steps in bends for step in _across(steps[-1])]
    for cuts, steps in product(combinations(range(1, cubes - 1), arms - 1), bends):
        if places := _chain(steps, cuts, cubes):
            figure = from_cubes(places)
            found.setdefault(figure.shape, figure)
    return tuple(found[key] for key in sorted(found))


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
        if figure.shape not in tested and figure.fits():
            found.setdefault(figure.placed, figure)
    return own + [figure for key, figure in found.items() if key not in kept], len(own)
