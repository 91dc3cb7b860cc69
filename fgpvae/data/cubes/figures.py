"""Figures of cubes: notation, checks, and equality up to rotation.

A figure is written as moves from its first cube. A move is an axis, with a minus sign for the other
direction, and how many cubes it adds (1 if no number is given):

    x3 y2 -z2 x2        ten cubes in four arms
    x2 (y) z2           a branch stands in brackets; what follows starts where the branch did
    o                   one cube

x points to the right, y away from the viewer and z up, before the figure is turned.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, permutations, product

import numpy as np
from numpy.typing import NDArray

from ...errors import UserError

MOST_CUBES = 10
LONGEST_TEXT = 200  # letters of a notation
ALONE = "o"  # the notation of one cube

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
        """A notation of this figure that `parse` takes."""
        return _notation(self.cubes)

    @cached_property
    def placed(self) -> Key:
        """Equal for figures that differ by quarter turns about the vertical axis."""
        return canonical(self.array, QUARTER_TURNS)

    @cached_property
    def object(self) -> Key:
        """Equal for figures that differ by a rotation."""
        return canonical(self.array, ROTATIONS)

    @cached_property
    def shape(self) -> Key:
        """Equal for figures that differ by a rotation, a reflection or both."""
        return canonical(self.array, SYMMETRIES)

    def transformed(self, symmetry: Array) -> "Figure":
        return _figure(self.array @ symmetry.T)

    def mirrored(self) -> "Figure":
        return self.transformed(np.diag([-1, 1, 1]))

    def copies(self) -> list["Figure"]:
        """The figure and its mirror image in all orientations, sorted.

        One for each way to place it on a turntable: at most 6 faces down, times 2.
        """
        found = {figure.placed: figure for figure in map(self.transformed, SYMMETRIES[::-1])}
        return [found[key] for key in sorted(found)]


def parse(text: str) -> Figure:
    """The figure that a notation describes."""
    return from_cubes(_walk(text))


def from_cubes(places: Sequence[Cube]) -> Figure:
    """The figure of cubes at these places."""
    if len(places) > MOST_CUBES:
        raise UserError(f"A figure may have at most {MOST_CUBES} cubes.")
    if not places:
        raise UserError("A figure needs at least one cube.")
    for index, place in enumerate(places):
        if place in places[:index]:
            raise UserError(f"Cube {index + 1} of the figure is where another one is already.")
    array = np.array(places, dtype=np.int64)
    step = np.abs(array[:, None] - array).sum(-1) <= 1  # [n, n]: to a neighbour, or none
    if not np.linalg.matrix_power(step.astype(np.int64), len(array)).all():
        raise UserError("The figure is in pieces; each cube must share a face with another one.")
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
    shifted = cubes - cubes.min(0)
    return Figure(tuple(sorted((x, y, z) for x, y, z in shifted.tolist())))


def add(cube: Cube, step: Cube) -> Cube:
    return cube[0] + step[0], cube[1] + step[1], cube[2] + step[2]


# Notation


def _walk(text: str) -> list[Cube]:
    """The cubes of a notation, in the order in which it adds them."""
    if len(text) > LONGEST_TEXT:
        raise UserError(f"The moves of a figure may have at most {LONGEST_TEXT} letters.")
    rest = text.lower().replace("\N{MINUS SIGN}", "-").replace(",", " ").strip()
    if not rest:
        raise UserError("The figure is empty; write its moves, for instance x3 y2 -z2 x2.")
    here: Cube = (0, 0, 0)
    cubes, branches = [here], list[Cube]()
    if rest == ALONE:
        return cubes
    while rest:
        token = _TOKEN.match(rest)
        if not token:
            raise UserError(f"'{rest.split()[0]}' is no move; write moves as in x3 y2 -z2 x2.")
        rest = rest[token.end() :].lstrip()
        if token.group() == "(":
            branches.append(here)
        elif token.group() == ")":
            if not branches:
                raise UserError(f"A bracket in '{text}' is closed but was not opened.")
            here = branches.pop()
        else:
            count = int(token["count"] or 1)
            if not 1 <= count <= MOST_CUBES:
                raise UserError(f"A move must add from 1 to {MOST_CUBES} cubes, not {count}.")
            for _ in range(count):
                here = add(here, DIRECTIONS[token["axis"]])
                cubes.append(here)
            if len(cubes) > MOST_CUBES:
                raise UserError(f"'{text}' has more than {MOST_CUBES} cubes.")
    if branches:
        raise UserError(f"A bracket in '{text}' is opened but not closed.")
    if len(set(cubes)) < len(cubes):
        raise UserError(f"'{text}' comes back to a place where a cube is already.")
    return cubes


def _notation(cubes: tuple[Cube, ...]) -> str:
    """Walk through the figure from one end, straight on if possible."""
    left = set(cubes)

    def degree(cube: Cube) -> int:
        return len(left.intersection(neighbours(cube)))

    start = min(cubes, key=lambda cube: (degree(cube), cube))
    left.remove(start)
    words = []
    for word, same in groupby(_branch(start, None, left)):
        count = len(list(same))
        words += [word] * count if word in "()" else [word + (str(count) if count > 1 else "")]
    return " ".join(words).replace("( ", "(").replace(" )", ")") or ALONE


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
