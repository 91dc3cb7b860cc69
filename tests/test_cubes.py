"""Figures of cubes: notation, sameness, splits, pictures, references."""

import itertools
import math
import random

import numpy as np
import pytest

from fgpvae.data import cube_figures as figures
from fgpvae.data import cubes
from fgpvae.errors import UserError

FOUR_ARMS = "x3 y2 -z2 x2"


def some_figures(count, seed=0):
    stream = random.Random(seed)
    return [figures.grown(stream, stream.randint(1, 10)) for _ in range(count)]


def test_moves_are_walked_from_the_first_cube():
    corner = figures.parse("x2 -y")
    assert corner.cubes == ((0, 1, 0), (1, 1, 0), (2, 0, 0), (2, 1, 0))
    assert figures.parse("o").cubes == ((0, 0, 0),)
    assert figures.parse("x (y) (z) x").cubes == (
        (0, 0, 0),
        (1, 0, 0),
        (1, 0, 1),
        (1, 1, 0),
        (2, 0, 0),
    )


def test_every_figure_can_be_written_and_read_again():
    for figure in [*some_figures(300), *figures.chains()]:
        assert figures.parse(figure.moves) == figure
    assert all("(" not in chain.moves for chain in figures.chains())


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("", "empty"),
        ("x3 q2", "'q2' is no move"),
        ("x²", "'²' is no move"),
        ("x0", "from 1 to 10"),
        ("x9 y", "from 1 to 10 cubes, not 11"),
        ("x2 y -x2 -y", "where another one is"),
        ("x (y", "not closed"),
        ("x " * 200, "at most 200 letters"),
    ],
)
def test_bad_moves_get_one_sentence(text, word):
    with pytest.raises(UserError) as caught:
        figures.parse(text)
    sentence = str(caught.value)
    assert word in sentence
    assert sentence.endswith(".")
    assert ". " not in sentence


@pytest.mark.parametrize(
    ("places", "word"),
    [
        ([], "from 1 to 10 cubes"),
        ([(0, 0, 0), (0, 0, 2)], "in pieces"),
        ([(0, 0, 0), (1, 0, 0), (0, 0, 0)], "Cube 3"),
        ([(x, 0, 0) for x in range(11)], "from 1 to 10 cubes"),
    ],
)
def test_bad_cubes_get_one_sentence(places, word):
    with pytest.raises(UserError, match=word):
        figures.from_cubes(places)


def naive_turns():
    """All rotations, as products of quarter turns about x and z found by walking through them."""
    about_x = lambda p: (p[0], -p[2], p[1])  # noqa: E731
    about_z = lambda p: (-p[1], p[0], p[2])  # noqa: E731
    probe = ((1, 0, 0), (0, 1, 0), (0, 0, 1))
    found, edge = {probe: ()}, [probe]
    for frame in edge:
        for turn in (about_x, about_z):
            new = tuple(turn(p) for p in frame)
            if new not in found:
                found[new] = (*found[frame], turn)
                edge.append(new)
    return list(found.values())


def naive_forms(places, turns, mirrored=False):
    """The figure in every attitude, as a set of sets of places."""
    forms = set()
    for turn in turns:
        turned = [(-x, y, z) for x, y, z in places] if mirrored else list(places)
        for quarter in turn:
            turned = [quarter(p) for p in turned]
        low = [min(p[i] for p in turned) for i in range(3)]
        forms.add(frozenset((x - low[0], y - low[1], z - low[2]) for x, y, z in turned))
    return forms


def test_objects_and_mirror_images_are_recognised_as_by_trying_all_turns():
    turns = naive_turns()
    assert len(turns) == 24
    stream = random.Random(1)
    chosen = [figures.grown(stream, 4) for _ in range(40)] + list(figures.chains()[:10])
    forms = [naive_forms(figure.cubes, turns) for figure in chosen]
    mirrored = [naive_forms(figure.cubes, turns, mirrored=True) for figure in chosen]
    same = 0
    for (i, a), (j, b) in itertools.combinations(enumerate(chosen), 2):
        turned, reflected = forms[i] == forms[j], mirrored[i] == forms[j]
        keys = [figures.canonical(each.array, figures.ROTATIONS) for each in (a, b)]
        assert (keys[0] == keys[1]) == turned
        assert (a.shape == b.shape) == (turned or reflected)
        same += turned + reflected
    assert same  # both cases occur


def test_copies_are_all_attitudes_once():
    for figure in figures.chains()[::20]:
        everything = naive_forms(figure.cubes, naive_turns())
        everything |= naive_forms(figure.cubes, naive_turns(), mirrored=True)
        quarters = [
            {frozenset(copy.transformed(turn).cubes) for turn in figures.QUARTER_TURNS}
            for copy in figure.copies()
        ]
        assert set().union(*quarters) == everything
        assert sum(map(len, quarters)) == len(everything)


def naive_chain_shapes(count, arms):
    """Shapes of chains by walking step by step in all directions and looking at the result."""
    steps = [(1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1)]
    turns, shapes, known = naive_turns(), 0, set()

    def walk(path, taken):
        nonlocal shapes
        bends = sum(a != b for a, b in itertools.pairwise(taken))
        if bends >= arms:
            return
        if len(path) == count:
            if bends != arms - 1 or frozenset(naive_normal(path)) in known:
                return
            shapes += 1
            known.update(naive_forms(path, turns), naive_forms(path, turns, mirrored=True))
            return
        for step in steps:
            there = tuple(a + b for a, b in zip(path[-1], step, strict=True))
            touching = [
                p for p in path if sum(abs(a - b) for a, b in zip(p, there, strict=True)) < 2
            ]
            if touching == [path[-1]]:
                walk([*path, there], [*taken, step])

    walk([(0, 0, 0), (1, 0, 0)], [(1, 0, 0)])
    return shapes


def naive_normal(places):
    low = [min(p[i] for p in places) for i in range(3)]
    return [(x - low[0], y - low[1], z - low[2]) for x, y, z in places]


@pytest.mark.parametrize(("count", "arms"), [(4, 2), (6, 3), (7, 5), (10, 4)])
def test_chains_are_as_many_as_walks_find(count, arms):
    chains = figures.chains(count, arms)
    assert len(chains) == len({chain.shape for chain in chains})
    assert len(chains) == naive_chain_shapes(count, arms)


def cast(figure, w, size, samples):
    """Follow a line of sight from far away through every sample, and look for the first cube."""
    e = figures.ELEVATION
    places = np.array(figure.cubes, float)
    middle = places.mean(0)
    cos, sin = math.cos(w), math.sin(w)
    turn = np.array([[cos, -sin, 0], [sin, cos, 0], [0, 0, 1]])
    viewer = np.array([0, -math.cos(e), math.sin(e)])
    upwards = np.array([0, math.sin(e), math.cos(e)])
    light = turn.T @ cubes.LIGHT
    fine = np.zeros((size * samples, size * samples))
    for row, column in np.ndindex(*fine.shape):
        right = ((column + 0.5) / len(fine) - 0.5) * cubes.FRAME
        up = (0.5 - (row + 0.5) / len(fine)) * cubes.FRAME
        start = turn.T @ (np.array([right, 0, 0]) + up * upwards + 100 * viewer) + middle
        direction = turn.T @ -viewer
        first = math.inf
        for place in places:
            with np.errstate(divide="ignore"):
                ends = np.sort([(place + s - start) / direction for s in (-0.5, 0.5)], axis=0)
            enters, leaves = ends[0].max(), ends[1].min()
            if enters < leaves and enters < first:
                first = enters
                axis = int(ends[0].argmax())
                normal = -np.sign(direction) * np.eye(3)[axis]
                fine[row, column] = cubes.AMBIENT + max(0, normal @ light)
    return fine.reshape(size, samples, size, samples).mean((1, 3))


@pytest.mark.parametrize("w", [0.3, 4.4])
def test_pictures_are_what_lines_of_sight_find(w):
    for moves in (FOUR_ARMS, "x2 (y2) (z) -z2", "x y -x z x"):
        figure = figures.parse(moves)
        drawn = cubes.draw([figure], [[w]], size=16)[0, 0] / 255
        wanted = cast(figure, w, 16, cubes.SAMPLES)
        # a sample on an edge may fall to either side of it
        assert np.abs(drawn - wanted).max() < 1.5 / cubes.SAMPLES**2
        assert np.square(drawn - wanted).mean() < 1e-5
        assert drawn.max() > 0.3


def test_the_yaw_is_counter_clockwise_from_above_and_turned_figures_agree():
    bar = figures.parse("x5")
    right, up, _ = cubes.axes(math.pi / 4) @ (2.5, 0, 0)
    assert right > 0
    assert up > 0  # the right end has gone away from the viewer: up in the picture
    turned = figures.QUARTER_TURNS[[(t @ [1, 0, 0])[1] == 1 for t in figures.QUARTER_TURNS]][0]
    for figure in (bar, figures.parse(FOUR_ARMS)):
        w = np.array([[0.4, 2.0]])
        a = cubes.draw([figure.transformed(turned)], w)
        b = cubes.draw([figure], w + math.pi / 2)
        assert np.abs(a.astype(int) - b.astype(int)).max() <= 255 / cubes.SAMPLES**2 + 1


def test_references_are_what_a_loop_computes():
    training, unseen = (cubes.views_of(figures.chains()[part]) for part in (slice(9), slice(9, 13)))
    known = [np.roll(v, -6 * k, 0) for v in training.numpy() for k in range(4)]
    errors = {"mean_image": [], "same_view": [], "nearest_figure": [], "neighbouring_view": []}
    for views in unseen.numpy():
        best = min(known, key=lambda other: np.square(other[0] - views[0]).sum())
        for k in range(24):
            errors["neighbouring_view"].append(np.square(views[k] - views[k - 1]).mean())
            if k:
                mean = np.mean([other[k] for other in known], 0)
                errors["mean_image"].append(np.square(mean - views[k]).mean())
                errors["same_view"].append(np.square(views[0] - views[k]).mean())
                errors["nearest_figure"].append(np.square(best[k] - views[k]).mean())
    wanted = {name: np.mean(values) for name, values in errors.items()}
    assert cubes.references(training, unseen) == pytest.approx(wanted, rel=1e-4)
