"""Figures of cubes: notation, sameness, splits, pictures, references."""

import itertools
import math
import random
import time

import numpy as np
import pytest
import torch
from PIL import Image, ImageDraw

from fgpvae import presets, timing
from fgpvae.data import cubes
from fgpvae.data.cubes import drawing, figures
from fgpvae.errors import UserError

FOUR_ARMS = "x3 y2 -z2 x2"


def some_figures(count, seed=0):
    stream = random.Random(seed)
    return [cubes.grown(stream, stream.randint(1, 10)) for _ in range(count)]


# Notation


def test_moves_are_walked_from_the_first_cube():
    corner = cubes.parse("x2 -y")
    assert corner.cubes == ((0, 1, 0), (1, 1, 0), (2, 0, 0), (2, 1, 0))
    assert cubes.parse("o").cubes == ((0, 0, 0),)
    assert cubes.parse("x (y) (z) x").cubes == (
        (0, 0, 0),
        (1, 0, 0),
        (1, 0, 1),
        (1, 1, 0),
        (2, 0, 0),
    )


@pytest.mark.parametrize(
    "text", ["x3 y2 -z2 x2", "X3Y2-Z2X2", " x3, y2, −z2, x x", "x1x2 yy -z-z x2"]
)
def test_spaces_commas_and_capitals_do_not_matter(text):
    assert cubes.parse(text) == cubes.parse(FOUR_ARMS)


def test_every_figure_can_be_written_and_read_again():
    for figure in [*some_figures(300), *cubes.chains()]:
        assert cubes.parse(figure.moves) == figure
    assert all("(" not in chain.moves for chain in cubes.chains())


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("", "empty"),
        ("  ", "empty"),
        ("x3 q2", "'q2' is no move"),
        ("x3 2", "'2' is no move"),
        ("x3 -", "'-' is no move"),
        ("x²", "'²' is no move"),
        ("x0", "from 1 to 10"),
        ("x" + 40 * "9", "from 1 to 10"),
        ("x9 y", "more than 10 cubes"),
        ("x2 y -x2 -y", "comes back"),
        ("x -x", "comes back"),
        ("x (y", "not closed"),
        ("x y)", "not opened"),
        ("x " * 200, "at most 200 letters"),
    ],
)
def test_bad_moves_get_one_sentence(text, word):
    with pytest.raises(UserError) as caught:
        cubes.parse(text)
    sentence = str(caught.value)
    assert word in sentence
    assert sentence.endswith(".")
    assert ". " not in sentence


@pytest.mark.parametrize(
    ("places", "word"),
    [
        ([], "at least one cube"),
        ([(0, 0, 0), (0, 0, 2)], "in pieces"),
        ([(0, 0, 0), (1, 1, 0)], "in pieces"),
        ([(0, 0, 0), (1, 0, 0), (0, 0, 0)], "Cube 3"),
        ([(x, 0, 0) for x in range(11)], "at most 10"),
        ([(0, 0)], "three whole numbers"),
        ([(0, 0, 0.5)], "three whole numbers"),
        ([(0, 0, 10**30)], "three whole numbers"),
    ],
)
def test_bad_cubes_get_one_sentence(places, word):
    with pytest.raises(UserError, match=word):
        cubes.from_cubes(places)


def test_a_figure_too_long_for_the_picture_is_refused():
    with pytest.raises(UserError, match="too long"):
        cubes.check_fits(cubes.parse("x9"))
    for chain in cubes.chains():
        for copy in chain.copies():
            cubes.check_fits(copy)


# Which figures are the same


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
    chosen = [cubes.grown(stream, 4) for _ in range(40)] + list(cubes.chains()[:10])
    forms = [naive_forms(figure.cubes, turns) for figure in chosen]
    mirrored = [naive_forms(figure.cubes, turns, mirrored=True) for figure in chosen]
    same = 0
    for (i, a), (j, b) in itertools.combinations(enumerate(chosen), 2):
        turned, reflected = forms[i] == forms[j], mirrored[i] == forms[j]
        assert (a.object == b.object) == turned
        assert (a.shape == b.shape) == (turned or reflected)
        same += turned + reflected
    assert same  # both cases occur


def test_a_turned_figure_stands_alike_only_after_turns_about_the_vertical():
    figure = cubes.parse(FOUR_ARMS)
    for rotation in figures.ROTATIONS:
        upright = rotation[2, 2] == 1
        assert (figure.transformed(rotation).placed == figure.placed) == upright


def test_copies_are_all_attitudes_once():
    for figure in cubes.chains()[::20]:
        everything = naive_forms(figure.cubes, naive_turns())
        everything |= naive_forms(figure.cubes, naive_turns(), mirrored=True)
        quarters = [
            {frozenset(copy.transformed(turn).cubes) for turn in figures.QUARTER_TURNS}
            for copy in figure.copies()
        ]
        assert set().union(*quarters) == everything
        assert sum(map(len, quarters)) == len(everything)


# Which figures there are


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


@pytest.mark.parametrize(("count", "arms"), [(4, 2), (6, 3), (6, 4), (7, 5), (10, 4)])
def test_chains_are_as_many_as_walks_find(count, arms):
    chains = cubes.chains(count, arms)
    assert len(chains) == len({chain.shape for chain in chains})
    assert len(chains) == naive_chain_shapes(count, arms)


def test_there_are_216_shapes_of_ten_cubes_in_four_arms():
    chains = cubes.chains()
    assert len(chains) == 216
    turns = naive_turns()
    attitudes = handed = 0
    for chain in chains:
        forms, mirrored = (naive_forms(chain.cubes, turns, mirror) for mirror in (False, True))
        assert (forms != mirrored) == (chain.object != chain.mirrored().object)
        handed += forms != mirrored
        attitudes += len(forms | mirrored)
    assert handed == 147  # differ from their mirror images
    assert len(cubes.all_copies(chains)) == 2178
    assert attitudes == 4 * 2178  # none looks the same after a quarter or half turn


@pytest.mark.parametrize("seed", [0, 1])
def test_nothing_unseen_is_a_training_figure_turned_or_mirrored(seed):
    parts = cubes.splits(seed)
    assert parts == cubes.splits(seed)
    assert [len(p) for p in (parts.training, parts.validation, parts.unseen)] == [160, 20, 36]
    kept = parts.validation + parts.unseen
    more = cubes.more_figures(500, seed, kept)
    turns = naive_turns()
    for held, other in ((parts.unseen, parts.validation), (parts.validation, parts.unseen)):
        known = {frozenset(f.cubes) for f in cubes.all_copies(parts.training + other)}
        known |= {frozenset(f.cubes) for f in more}
        for figure in held:
            assert not known & naive_forms(figure.cubes, turns)
            assert not known & naive_forms(figure.cubes, turns, mirrored=True)


def test_no_seed_shows_a_shape_that_is_kept_for_tests():
    parts = cubes.splits()
    kept = {figure.shape for figure in parts.validation + parts.unseen}
    for seed in (0, 3):
        figures, _ = cubes.training_figures(300, seed)
        assert not kept & {figure.shape for figure in figures}  # a shape: turned or in a mirror
        placed = [figure.placed for figure in figures]
        assert len(set(placed)) == len(placed)


def test_how_long_a_run_takes_is_told_by_a_few_figures():
    assert timing.digits(presets.preset("cubes-quick")) == 4 * 1614
    assert 0 < timing.seconds_an_epoch(presets.preset("cubes-quick")) < 600


def test_turned_copies_are_the_copies_in_all_quarters():
    shapes = cubes.splits().unseen
    plain, turned = cubes.all_copies(shapes), cubes.turned_copies(shapes)
    assert turned == cubes.turned_copies(shapes)
    assert [figure.placed for figure in turned] == [figure.placed for figure in plain]
    same = sum(a == b for a, b in zip(plain, turned, strict=True))
    assert 0.15 * len(plain) < same < 0.35 * len(plain)


def test_another_seed_splits_otherwise():
    assert cubes.splits(0).unseen != cubes.splits(1).unseen


def test_random_figures_come_from_their_seed_alone():
    assert cubes.more_figures(60, 3) == cubes.more_figures(60, 3)
    assert cubes.more_figures(60, 3) != cubes.more_figures(60, 4)
    stream = random.Random(2)
    known = {chain.shape for chain in cubes.chains()}
    drawn = [cubes.random_chain(stream) for _ in range(3000)]
    assert {figure.shape for figure in drawn} == known
    with pytest.raises(UserError, match="cannot have"):
        cubes.random_chain(stream, 4, 4)


def test_more_figures_can_leave_all_four_arms_out():
    without = {chain.shape for chain in cubes.chains()}
    found = cubes.more_figures(800, 0, cubes.chains())
    assert not without & {figure.shape for figure in found}
    assert len({figure.placed for figure in found}) == 800
    with pytest.raises(UserError, match="more figures"):
        cubes.more_figures(-1)


# Pictures


def cast(figure, w, size, samples):
    """Follow a line of sight from far away through every sample, and look for the first cube."""
    e = drawing.ELEVATION
    places = np.array(figure.cubes, float)
    middle = places.mean(0)
    cos, sin = math.cos(w), math.sin(w)
    turn = np.array([[cos, -sin, 0], [sin, cos, 0], [0, 0, 1]])
    viewer = np.array([0, -math.cos(e), math.sin(e)])
    upwards = np.array([0, math.sin(e), math.cos(e)])
    light = turn.T @ drawing.LIGHT
    fine = np.zeros((size * samples, size * samples))
    for row, column in np.ndindex(*fine.shape):
        right = ((column + 0.5) / len(fine) - 0.5) * drawing.FRAME
        up = (0.5 - (row + 0.5) / len(fine)) * drawing.FRAME
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
                fine[row, column] = drawing.AMBIENT + max(0, normal @ light)
    return fine.reshape(size, samples, size, samples).mean((1, 3))


@pytest.mark.parametrize("w", [0.3, 1.9, 4.4])
def test_pictures_are_what_lines_of_sight_find(w):
    for moves in (FOUR_ARMS, "x2 (y2) (z) -z2", "x y -x z x"):
        figure = cubes.parse(moves)
        drawn = cubes.draw([figure], [[w]], size=16)[0, 0] / 255
        wanted = cast(figure, w, 16, drawing.SAMPLES)
        # a sample on an edge may fall to either side of it
        assert np.abs(drawn - wanted).max() < 1.5 / drawing.SAMPLES**2
        assert np.square(drawn - wanted).mean() < 1e-5
        assert drawn.max() > 0.3


@pytest.mark.parametrize("w", [0.0, 0.6, math.pi / 2, 3.7])
@pytest.mark.parametrize(
    ("tones", "elevation"),
    [(drawing.GREY, drawing.ELEVATION), ((1.0, 0.7), 1.2), (drawing.GREY, -0.5)],
)
def test_faces_painted_in_their_order_make_the_picture(w, tones, elevation):
    for figure in [*cubes.chains()[::40], *some_figures(5)]:
        size = 512
        canvas = Image.new("F", (size, size))
        pen = ImageDraw.Draw(canvas)
        for face in cubes.faces(figure, w, elevation, tones):
            corners = [(c * size - 0.5, r * size - 0.5) for c, r in face.corners]
            pen.polygon(corners, fill=255 * face.shade)
        drawn = cubes.draw([figure], [[w]], size, elevation, tones)[0, 0].astype(float)
        painted = np.asarray(canvas)
        assert (np.abs(drawn - painted) > 2).mean() < 0.02  # along edges
        assert drawn.any()


def test_a_face_says_where_a_cube_put_onto_it_goes():
    figure = cubes.parse("x (z) x")
    for face in cubes.faces(figure, 0.2) + cubes.faces(figure, 2.5):
        there = tuple(a + b for a, b in zip(face.cube, face.normal, strict=True))
        larger = cubes.from_cubes([*figure.cubes, there])
        assert len(larger.cubes) == 5
        shift = [max(0, -place) for place in there]  # coordinates of a figure start at 0
        cube = tuple(a + b for a, b in zip(face.cube, shift, strict=True))
        for w in (0.2, 2.5):
            assert (cube, face.normal) not in [(f.cube, f.normal) for f in cubes.faces(larger, w)]


def test_the_yaw_is_counter_clockwise_from_above_and_turned_figures_agree():
    bar = cubes.parse("x5")
    column, row, _ = cubes.project([2.5, 0, 0], math.pi / 4)
    assert column > 0.5
    assert row < 0.5  # the right end has gone away from the viewer: up in the picture
    turned = figures.QUARTER_TURNS[[(t @ [1, 0, 0])[1] == 1 for t in figures.QUARTER_TURNS]][0]
    for figure in (bar, cubes.parse(FOUR_ARMS)):
        w = np.array([[0.4, 2.0]])
        a = cubes.draw([figure.transformed(turned)], w)
        b = cubes.draw([figure], w + math.pi / 2)
        assert np.abs(a.astype(int) - b.astype(int)).max() <= 255 / drawing.SAMPLES**2 + 1


def test_figures_stay_within_the_picture(monkeypatch):
    chosen = [figure for figure in cubes.all_copies(cubes.chains()) if "6" in figure.moves]
    chosen = chosen[::4]
    w = np.tile(np.linspace(0, 2 * math.pi, 16), (len(chosen), 1))
    ink = cubes.draw(chosen, w).sum((-2, -1), dtype=float)
    monkeypatch.setattr(drawing, "FRAME", 2 * drawing.FRAME)  # room on all sides
    roomy = cubes.draw(chosen, w, size=64).sum((-2, -1), dtype=float)
    assert len(chosen) > 20
    assert np.allclose(ink, roomy, rtol=2e-3)


def test_many_views_are_drawn_as_one_at_a_time():
    chosen = some_figures(12)
    w = np.random.default_rng(0).uniform(0, 7, (12, 5))
    together = cubes.draw(chosen, w)
    assert together.shape == (12, 5, 32, 32)
    for row, figure in enumerate(chosen):
        for column in range(5):
            alone = cubes.draw([figure], w[row : row + 1, column : column + 1])
            assert np.array_equal(alone[0, 0], together[row, column])


def test_time_of_a_view_is_printed():
    chosen = list(cubes.chains()[:50])
    w = np.tile(cubes.grid().numpy(), (50, 1))
    begin = time.process_time()
    counted = []
    cubes.draw(chosen, w, progress=counted.append)
    seconds = time.process_time() - begin
    print(f"{1e3 * seconds / w.size:.3f} ms a view")
    assert sum(counted) == w.size


# Sets of views


def test_a_batch_shows_figures_as_they_look_at_its_angles():
    chosen = list(cubes.chains()[:6])
    table = cubes.turntable(chosen, seed=2)
    assert torch.equal(table.images, cubes.turntable(chosen, seed=2).images)
    rows = torch.tensor([4, 1, 1])
    views = table.batch(rows, 7, torch.Generator().manual_seed(0))
    assert views.images.shape == (3, 7, 32, 32)
    assert all(len(set(w.tolist())) == 7 for w in views.angles)
    for row, figure in enumerate(rows.tolist()):
        w = views.angles[row : row + 1].numpy()
        quarters = [chosen[figure].transformed(turn) for turn in figures.QUARTER_TURNS]
        drawn = [torch.from_numpy(cubes.draw([copy], w)[0] / 255) for copy in quarters]
        assert min((d - views.images[row]).square().mean() for d in drawn) < 1e-4
    with pytest.raises(UserError, match="from 1 to 24"):
        table.batch(rows, 25, torch.Generator())


@pytest.mark.parametrize("given", cubes.GIVEN)
@pytest.mark.parametrize("first", [0, 2])
def test_tasks_give_views_at_equal_distances_and_ask_for_the_rest(given, first):
    images = cubes.views_of(cubes.chains()[:3])
    task = cubes.task(images, given, first)
    assert task.context.images.shape[1] == given
    assert task.targets.shape[1] == 24 - given
    step = 2 * math.pi / given
    wanted = step * torch.arange(given).double() + first * math.pi / 12
    assert torch.allclose(task.context.angles[0], wanted)
    both = torch.cat([task.context.angles[0], task.at[0]])
    assert torch.equal(both.sort().values, cubes.grid())
    for column, w in enumerate(task.at[0].tolist()):
        drawn = cubes.draw(cubes.chains()[:1], [[w]])[0, 0] / 255
        assert np.abs(drawn - task.targets[0, column].numpy()).max() < 0.1


def test_views_at_unequal_distances_are_refused():
    for given in (0, -1, 5):
        with pytest.raises(UserError, match="equal distances"):
            cubes.task(torch.zeros(1, 24, 4, 4), given)


def test_references_are_what_a_loop_computes():
    training, unseen = (cubes.views_of(cubes.chains()[part]) for part in (slice(9), slice(9, 13)))
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
