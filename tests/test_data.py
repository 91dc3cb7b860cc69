import gzip
import hashlib
import lzma
import random
import struct
import tracemalloc
import urllib.request

import numpy as np
import pytest
import scipy.ndimage
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from fgpvae import data
from fgpvae.data import (
    ANGLES,
    CLASS_COUNTS,
    HELD_OUT_INDEX,
    TRAIN_DIGITS,
    Digits,
    draw_angles,
    embedded,
    extrapolation,
    factorized,
    interpolation,
    keep_views_back,
    load_idx,
    load_openml,
    one_view,
    recipe_ids,
    rotate,
    rotate_fast,
    shuffled,
    shuffled_rows,
    sources,
    split_validation,
    task,
    trainable,
    unseen,
)
from fgpvae.errors import UserError
from scripts import build_digits
from tests import openml

# Of the raw bytes, computed from the genuine IDX files with the benchmark's own lines.
SHA_THREES = "36561e74d56bbc3d570747190803ab7524e97d72f1e436e6cb271c8f33dfe157"
SHA_EMBEDDED = "f8b7f5c0331cd95949a8c8af2af20580b7fd954804a53f153105ae867dbe6ca5"
SHA_UNSEEN = "74a7f7842eceb4d48e6ae43f031556c5c80d9a04a95f9f16a218acde0ec828c9"


def sha(images):
    return hashlib.sha256(np.rint(255 * images).astype(np.uint8).tobytes()).hexdigest()


def spline(image, radians):
    return scipy.ndimage.rotate(image.astype(np.float64), np.rad2deg(radians), reshape=False)


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def same(a, b):
    """Are two sets of views equal to the last bit?"""
    names = ("images", "angles", "observed", "ids", "labels", "tested")
    return all(torch.equal(getattr(a, name), getattr(b, name)) for name in names)


# Digits


def test_embedded_digits_are_the_benchmarks():
    assert sha(embedded().images) == SHA_THREES
    assert sha(embedded(range(10)).images) == SHA_EMBEDDED
    assert sha(unseen().images) == SHA_UNSEEN


def test_recipe_ids():
    ids = recipe_ids(3)
    assert ids[:6] == [3155, 3445, 331, 2121, 4188, 3980]
    assert sum(ids) == 1_208_007
    assert sum(CLASS_COUNTS) == 60_000


def test_embedded_shapes_and_order_of_classes():
    digits = embedded((7, 3))
    assert digits.images.shape == (800, 28, 28)
    assert digits.images.dtype == np.float32
    assert digits.images.min() == 0
    assert digits.images.max() == 1
    assert digits.labels.dtype == np.int64
    np.testing.assert_array_equal(digits.labels, [7] * 400 + [3] * 400)
    np.testing.assert_array_equal(digits.images[400:], embedded((3,)).images)
    assert len(unseen()) == 500
    assert len(unseen([4])) == 50


def test_no_unseen_digit_is_embedded():
    known = {image.tobytes() for image in embedded(range(10)).images}
    assert len(known) == 4000
    assert not any(image.tobytes() in known for image in unseen().images)


def test_trainable_leaves_out_what_stays_unseen():
    digits = embedded((3, 8))
    kept = trainable(digits)
    expected = np.arange(800) % 400 < TRAIN_DIGITS
    np.testing.assert_array_equal(kept.images, digits.images[expected])
    np.testing.assert_array_equal(kept.labels, digits.labels[expected])
    assert len(trainable(unseen())) == 0


def test_a_callers_change_does_not_reach_the_package():
    embedded().images[:] = 0.5
    factorized().images.fill_(0.5)
    assert sha(embedded().images) == SHA_THREES
    assert factorized().images.std() > 0.2


@pytest.mark.parametrize("classes", [(), (11,), (-1,), (3, 3), 3, ("3",), (2.5,), None])
@pytest.mark.parametrize("make", [embedded, unseen, factorized, shuffled, extrapolation, one_view])
def test_bad_classes(make, classes):
    with pytest.raises(UserError, match=r"\.$"):
        make(classes)


# Rotation


def test_angles():
    np.testing.assert_allclose(np.rad2deg(ANGLES), np.arange(16) * 22.5, rtol=1e-15)
    assert np.rad2deg(ANGLES[HELD_OUT_INDEX]) == pytest.approx(157.5)


def test_rotation_of_the_benchmark_is_scipys():
    digits = embedded().images[:20]
    expected = np.array([[spline(image, w) for w in ANGLES] for image in digits])
    views = rotate(digits, ANGLES)
    assert views.dtype == np.float32
    np.testing.assert_allclose(views, expected, atol=1e-6)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    P=st.sampled_from([1, 2, 16, 17]),
    size=st.sampled_from([28, 5]),
    shared=st.booleans(),
    turns=st.lists(
        st.one_of(st.floats(-20, 20), st.integers(-8, 8).map(lambda n: n * np.pi / 4)),
        min_size=1,
        max_size=3,
    ),
)
def test_rotation_of_any_image_by_any_angle_is_scipys(seed, P, size, shared, turns):
    draws = np.random.default_rng(seed)
    images = draws.normal(size=(P, size, size))  # nothing is blank at the border
    angles = np.array(turns) if shared else draws.permuted(np.tile(turns, (P, 1)), axis=1)
    views = rotate(images, angles)
    for p in {0, P - 1}:
        # quarter turns put pixels on the border exactly, where a rounding error blanks them
        degrees = np.round(np.rad2deg(angles if shared else angles[p]), 9) % 360
        expected = [scipy.ndimage.rotate(images[p], d, reshape=False) for d in degrees]
        np.testing.assert_allclose(views[p], expected, atol=2e-6)


def test_pixel_range_of_the_test_images():
    targets = interpolation(factorized()).targets
    assert targets.min().item() == pytest.approx(-0.22, abs=0.005)
    assert targets.max().item() == pytest.approx(1.22, abs=0.005)


def test_fast_rotation_is_near_the_spline_and_turns_the_same_way():
    digits = embedded(range(10)).images[::40]
    angles = np.random.default_rng(0).uniform(0, 2 * np.pi, (len(digits), 6))
    fast = rotate_fast(torch.tensor(digits), torch.tensor(angles)).numpy()
    assert np.mean((fast - rotate(digits, angles)) ** 2) < 1e-4
    assert np.mean((fast - rotate(digits, -angles)) ** 2) > 1e-2


@pytest.mark.parametrize("fast", [False, True])
def test_a_quarter_turn_is_counter_clockwise(fast):
    image = np.zeros((1, 28, 28), dtype=np.float32)
    image[0, 14, 24] = 1  # right of the centre
    turn = np.array([[np.pi / 2]])
    if fast:
        turned = rotate_fast(torch.tensor(image), torch.tensor(turn)).numpy()
    else:
        turned = rotate(image, turn)
    assert np.unravel_index(turned.argmax(), (28, 28)) == (3, 14)  # above it


@pytest.mark.parametrize(
    ("images", "angles"),
    [
        (np.zeros((28, 28)), [0.0]),
        (np.zeros((2, 28, 27)), [0.0]),
        (np.zeros((2, 28, 28)), 0.0),
        (np.zeros((2, 28, 28)), np.zeros((3, 1))),
        (np.zeros((2, 28, 28)), [np.nan]),
    ],
)
def test_rotation_of_what_cannot_be_rotated(images, angles):
    with pytest.raises(UserError):
        rotate(images, angles)


# Training sets


def test_factorized():
    train = factorized()
    assert train.images.shape == (360, 11, 28, 28)
    assert train.images.dtype == torch.float32
    assert train.angles.dtype == torch.float64
    assert int(train.observed.sum()) == 3960
    assert train.ids.tolist() == list(range(360))
    assert train.ids[train.tested].tolist() == list(range(270))
    assert not torch.isclose(train.angles, torch.tensor(ANGLES[HELD_OUT_INDEX])).any()
    # each of the 15 angles is drawn for 264 digits on average, never twice for one digit
    counts = (train.angles[..., None] == torch.tensor(ANGLES)).sum((0, 1))
    assert counts[HELD_OUT_INDEX] == 0
    assert 220 < counts[torch.arange(16) != HELD_OUT_INDEX].min() <= counts.max() < 310
    assert (train.angles.diff(dim=1) > 0).all()


def test_shuffled_is_the_published_one():
    rows, test_ids = shuffled_rows(3)
    assert rows[:4] == [395, 2522, 1471, 4284]
    assert test_ids[:5] == [141, 346, 166, 86, 228]
    assert sum(test_ids) == 49_120

    train = shuffled()
    counts = train.observed.sum(1)
    assert (int(counts.sum()), int(counts.min()), int(counts.max())) == (4050, 6, 15)
    assert sorted(test_ids) == train.ids[train.tested].tolist()
    # the digit-major list of BENCHMARK's 360 x 15 images, written out
    listed = [(p, a) for p in range(360) for a in range(16) if a != HELD_OUT_INDEX]
    expected = {listed[row] for row in rows}
    at = [np.abs(ANGLES - w).argmin() for w in train.angles[train.observed].numpy()]
    owners = train.ids[:, None].expand_as(train.observed)[train.observed].tolist()
    assert set(zip(owners, at, strict=True)) == expected


def test_shuffled_continues_the_stream_of_the_global_random_module():
    random.seed(0)
    random.sample(list(range(6131)), 400)
    assert random.sample(list(np.arange(16) * 22.5), 1) == [157.5]
    rows = random.sample(list(range(5400)), 4050)
    assert shuffled_rows(3) == (rows, random.sample(list(range(360)), 270))


@pytest.mark.parametrize("make", [factorized, shuffled])
def test_views_show_their_digit_at_their_angle(make):
    digits = embedded((5, 3))
    train = make((5, 3), seed=2)
    assert len(train) == 720
    assert train.ids.tolist() == [*range(360), *range(400, 760)]
    np.testing.assert_array_equal(train.labels, digits.labels[train.ids])
    assert (train.images[~train.observed] == 0).all()
    assert (train.angles[~train.observed] == 0).all()
    assert train.observed.any(1).all()
    for p, q in train.observed.nonzero()[::500].tolist():
        expected = spline(digits.images[train.ids[p]], train.angles[p, q].item())
        np.testing.assert_allclose(train.images[p, q], expected, atol=1e-6)


@pytest.mark.parametrize("make", [factorized, shuffled])
def test_a_seed_gives_the_same_split(make):
    assert same(make(seed=5), make(seed=5))
    assert not torch.equal(make(seed=5).angles, make(seed=6).angles)


def test_a_class_has_the_same_split_alone_and_among_others():
    alone, among = factorized((3,)), factorized((1, 3))[slice(360, None)]
    assert torch.equal(alone.images, among.images)
    assert torch.equal(alone.ids + 400, among.ids)


def test_seeds_give_these_angles_on_every_machine():
    def digest(views):
        index = (views.angles * 8 / torch.pi).round().to(torch.uint8)
        return hashlib.sha256(index.numpy().tobytes()).hexdigest()[:16]

    assert digest(factorized()) == "f6fd0a5437d6e9da"
    assert digest(extrapolation().context) == "5312eb0264ef404e"


@pytest.mark.parametrize("views", [0, 16, -1, 2.5, "3"])
def test_bad_number_of_views(views):
    for make in (factorized, extrapolation):
        with pytest.raises(UserError, match="from 1 to 15 views"):
            make(views=views)
    with pytest.raises(UserError, match="from 1 to 15 views"):
        draw_angles(10, views)


@pytest.mark.parametrize("make", [factorized, shuffled])
def test_validation_digits_are_training_digits_that_are_not_tested(make):
    train = make((3, 4))
    kept, held = split_validation(train, digits=40, seed=1)
    assert [int((held.labels == label).sum()) for label in (3, 4)] == [40, 40]
    assert not held.tested.any()
    assert sorted(kept.ids.tolist() + held.ids.tolist()) == train.ids.tolist()
    assert len(interpolation(kept)) == 540
    assert same(split_validation(train, 40, 1)[1], held)
    assert not torch.equal(split_validation(train, 40, 2)[1].ids, held.ids)
    for digits in (0, 91):
        with pytest.raises(UserError, match="From 1 to 90 digits"):
            split_validation(train, digits)


# Tasks


def test_interpolation():
    digits = embedded((3, 6))
    for make in (factorized, shuffled):
        train = make((3, 6))
        test = interpolation(train)
        assert len(test) == 540
        assert test.targets.shape == (540, 1, 28, 28)
        assert (test.at == ANGLES[HELD_OUT_INDEX]).all()
        assert same(test.context, train[train.tested])
        for p in (0, 269, 270, 539):
            expected = spline(digits.images[test.context.ids[p]], ANGLES[HELD_OUT_INDEX])
            np.testing.assert_allclose(test.targets[p, 0], expected, atol=1e-6)
    with pytest.raises(UserError, match="no test digit"):
        interpolation(extrapolation().context)


def test_trivial_predictors_have_the_published_errors():
    test = interpolation(factorized())
    truth = test.targets[:, 0].numpy()
    views = rotate(embedded().images[:270], ANGLES)
    before, after = views[:, HELD_OUT_INDEX - 1], views[:, HELD_OUT_INDEX + 1]
    oracle = rotate(before, ANGLES[1:2])[:, 0]

    def mse(prediction):
        return np.mean((prediction - truth) ** 2)

    assert mse(0) == pytest.approx(0.119, abs=5e-4)
    assert mse(truth.mean(0)) == pytest.approx(0.0551, abs=5e-5)
    assert mse((before + after) / 2) == pytest.approx(0.0495, abs=5e-5)
    assert mse(oracle) == pytest.approx(0.0005, abs=5e-5)


def test_extrapolation_and_one_view():
    digits = embedded((0, 3))
    test, one = extrapolation((0, 3), views=11), one_view((0, 3))
    ids = [*range(360, 400), *range(760, 800)]
    assert test.context.ids.tolist() == one.context.ids.tolist() == ids
    assert test.context.images.shape == (80, 11, 28, 28)
    assert test.targets.shape == (80, 1, 28, 28)
    assert (test.at == ANGLES[HELD_OUT_INDEX]).all()
    assert not torch.isclose(test.context.angles, torch.tensor(ANGLES[HELD_OUT_INDEX])).any()
    assert one.context.images.shape == (80, 1, 28, 28)
    assert (one.context.angles == 0).all()
    assert one.targets.shape == (80, 15, 28, 28)
    np.testing.assert_array_equal(one.at, np.tile(ANGLES[1:], (80, 1)))
    np.testing.assert_allclose(one.context.images[:, 0], digits.images[ids], atol=1e-6)
    for p, s in ((0, 0), (79, 14), (40, 6)):
        expected = spline(digits.images[ids[p]], one.at[p, s].item())
        np.testing.assert_allclose(one.targets[p, s], expected, atol=1e-6)
    assert not set(ids) & set(factorized((0, 3)).ids.tolist())


def test_task_on_unseen_digits_is_the_benchmarks_on_its_own():
    digits = embedded()[slice(360, None)]
    one, expected = task(digits, ANGLES[:1], ANGLES[1:]), one_view()
    torch.testing.assert_close(one.targets, expected.targets)
    torch.testing.assert_close(one.context.images, expected.context.images)

    eleven = task(unseen(), draw_angles(500), ANGLES[[HELD_OUT_INDEX]])
    assert eleven.context.images.shape == (500, 11, 28, 28)
    assert eleven.context.observed.all()
    assert eleven.at.shape == (500, 1)
    shown = eleven.context.images[17, 4]
    expected = spline(unseen().images[17], eleven.context.angles[17, 4].item())
    np.testing.assert_allclose(shown, expected, atol=1e-6)
    some = eleven[[3, 17]]
    assert some.context.ids.tolist() == [-1, -1]
    assert torch.equal(some.targets, eleven.targets[[3, 17]])


# Batches


def test_index_of_views():
    train = shuffled()
    for index in (slice(3, 6), [3, 4, 5], torch.tensor([3, 4, 5]), np.array([3, 4, 5])):
        some = train[index]
        assert some.ids.tolist() == [3, 4, 5]
        assert torch.equal(some.images, train.images[3:6])
    assert same(train[-1], train[[359]])
    assert len(train[[]]) == 0
    assert train[train.ids > 350].ids.tolist() == list(range(351, 360))
    assert same(train.to("cpu"), train)


# Loaders


def idx(items, magic=None, sizes=None):
    sizes = items.shape if sizes is None else sizes
    magic = 2048 + items.ndim if magic is None else magic
    return struct.pack(f">{1 + len(sizes)}I", magic, *sizes) + items.astype(np.uint8).tobytes()


PIXELS = np.random.default_rng(0).integers(0, 256, (7, 28, 28))
LABELS = np.array([5, 0, 4, 1, 9, 2, 1])
IMAGES_NAME, LABELS_NAME = "train-images-idx3-ubyte", "train-labels-idx1-ubyte"


def write(directory, images=None, labels=None, suffix=""):
    images = idx(PIXELS) if images is None else images
    labels = idx(LABELS) if labels is None else labels
    (directory / (IMAGES_NAME + suffix)).write_bytes(images)
    (directory / (LABELS_NAME + suffix)).write_bytes(labels)


def refused(directory, match, **options):
    with pytest.raises(UserError, match=match) as caught:
        load_idx(directory, **options)
    message = str(caught.value)
    assert message.endswith(".")
    assert "\n" not in message


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_idx(tmp_path, pack):
    suffix = "" if pack is bytes else ".gz"
    write(tmp_path, pack(idx(PIXELS)), pack(idx(LABELS)), suffix)
    digits = load_idx(tmp_path)
    assert digits.images.dtype == np.float32
    np.testing.assert_array_equal(np.rint(digits.images * 255), PIXELS)
    assert digits.labels.dtype == np.int64
    np.testing.assert_array_equal(digits.labels, LABELS)
    refused(tmp_path, "no file t10k-images-idx3-ubyte", train=False)


def test_idx_test_file_and_the_other_spelling(tmp_path):
    (tmp_path / "t10k-images.idx3-ubyte").write_bytes(idx(PIXELS[:2]))
    (tmp_path / "t10k-labels.idx1-ubyte").write_bytes(idx(LABELS[:2]))
    np.testing.assert_array_equal(load_idx(str(tmp_path), train=False).labels, [5, 0])


@pytest.mark.parametrize(
    ("images", "labels", "match"),
    [
        (idx(PIXELS, magic=2049), None, "magic number 2049 instead of 2051"),
        (None, idx(LABELS, magic=7), "magic number 7 instead of 2049"),
        (idx(PIXELS)[:-1], None, "truncated: it announces 7 digits"),
        (idx(PIXELS)[:9], None, "too short"),
        (b"", None, "too short"),
        (None, idx(LABELS)[:-1], "truncated"),
        (idx(PIXELS) + b"\0", None, "longer than its header says"),
        (idx(PIXELS[:, :27]), None, "27 x 28 pixels instead of 28 x 28"),
        (idx(PIXELS, sizes=(2**32 - 1, 28, 28)), None, "announces 4294967295 digits"),
        (idx(PIXELS[:0]), None, "announces 0 digits"),
        (idx(PIXELS[:6]), None, "disagree: 6 images but 7 labels"),
        (None, idx(LABELS + 9), "not digits from 0 to 9"),
        (gzip.compress(idx(PIXELS))[:-20], None, "damaged or incomplete"),
        (gzip.compress(idx(PIXELS), 0)[:-8] + bytes(8), None, "damaged or incomplete"),
        (b"\x1f\x8b" + bytes(40), None, "damaged or incomplete"),
    ],
)
def test_damaged_idx(tmp_path, images, labels, match):
    write(tmp_path, images, labels)
    refused(tmp_path, match)


def test_no_idx_files(tmp_path):
    refused(tmp_path, "has no file train-images")
    refused(tmp_path / "elsewhere", "There is no directory")


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_header_that_lies_costs_no_memory(tmp_path, pack):
    write(tmp_path, pack(idx(PIXELS, sizes=(250_000, 28, 28))))
    tracemalloc.start()
    try:
        refused(tmp_path, "truncated")
        assert tracemalloc.get_traced_memory()[1] < 4 << 20
    finally:
        tracemalloc.stop()


@settings(max_examples=60, deadline=None)
@given(where=st.integers(0, 15), value=st.integers(0, 255), cut=st.integers(0, 40))
def test_any_damage_to_a_header_is_refused(tmp_path_factory, where, value, cut):
    good = idx(PIXELS)
    bad = bytearray(good)
    bad[where] = value
    bad = bytes(bad[: len(bad) - cut])
    directory = tmp_path_factory.mktemp("idx")
    write(directory, bad)
    if bad == good:
        assert len(load_idx(directory)) == 7
    else:
        refused(directory, ".")


@pytest.mark.parametrize("written", ["{}", "'{}'"])  # either is a nominal value in ARFF
def test_openml_is_read_as_it_is_sent(written, monkeypatch, tmp_path):
    digits = embedded((3, 8))
    take = np.r_[0:30, 400:410]
    images, labels = digits.images[take], digits.labels[take]
    openml.answer(tmp_path, np.rint(255 * images), [written.format(label) for label in labels])
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path))
    monkeypatch.setattr(sources, "_TRAIN_FILE", 25)
    for train, part in ((True, slice(25)), (False, slice(25, None))):
        found = load_openml(train)
        np.testing.assert_array_equal(found.images, images[part])
        np.testing.assert_array_equal(found.labels, labels[part])
        assert found.images.dtype == np.float32
    monkeypatch.setattr(sources, "_TRAIN_FILE", 60)
    with pytest.raises(UserError, match="has 40 digits of MNIST"):
        load_openml()


def test_openml_without_a_network(monkeypatch, tmp_path):
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path))
    monkeypatch.setattr(urllib.request, "_opener", None)
    with (
        pytest.warns(UserWarning, match="Retrying"),
        pytest.raises(UserError, match=r"could not be fetched from openml\.org") as caught,
    ):
        load_openml()
    assert "\n" not in str(caught.value)


# The script that builds the embedded file


def test_build_takes_the_digits_of_the_recipe():
    labels = np.random.default_rng(0).permutation(np.repeat(np.arange(10), CLASS_COUNTS))
    images = np.zeros((60_000, 28, 28), dtype=np.float32)
    for label in range(10):  # a digit's number in its class, in two pixels
        mine = np.flatnonzero(labels == label)
        images[mine, 0, 0], images[mine, 0, 1] = np.divmod(np.arange(len(mine)), 256)
    train = Digits(images / np.float32(255), labels)
    test = Digits(train.images[:2000], labels[:2000])
    raw = lzma.decompress(build_digits.build(train, test))
    pixels = np.frombuffer(raw, dtype=np.uint8).reshape(4500, 28, 28).astype(int)
    numbers = 256 * pixels[:, 0, 0] + pixels[:, 0, 1]
    for label, count in enumerate(CLASS_COUNTS):
        random.seed(0)
        expected = random.sample(list(range(count)), 400)
        assert numbers[400 * label : 400 * (label + 1)].tolist() == expected
    assert numbers[4000:].tolist() == list(range(50)) * 10


def test_build_refuses_files_that_are_not_mnist(tmp_path, monkeypatch, capsys):
    asset = tmp_path / "digits.xz"
    monkeypatch.setattr(build_digits, "ASSET", asset)
    monkeypatch.setattr("sys.argv", ["build_digits", str(tmp_path)])
    assert build_digits.main() == 2
    assert "has no file train-images-idx3-ubyte" in capsys.readouterr().err
    write(tmp_path)
    assert build_digits.main() == 2
    assert "its MD5 sum differs" in capsys.readouterr().err
    monkeypatch.setattr("sys.argv", ["build_digits"])
    assert build_digits.main() == 2
    assert "usage" in capsys.readouterr().err
    assert not asset.exists()


def test_a_warp_does_not_rotate(monkeypatch):
    """Warp the coordinates themselves, read the linear map from them: its polar factor is I."""
    monkeypatch.setattr("fgpvae.data.augment.ELASTIC", 0.0)
    P, side = 200, 28
    ramp = torch.linspace(-1, 1, side)
    coordinates = torch.stack([ramp.expand(side, side), ramp[:, None].expand(side, side)])
    views = data.Views(
        coordinates.expand(P, -1, -1, -1),
        torch.zeros(P, 2, dtype=torch.float64),
        torch.ones(P, 2, dtype=torch.bool),
        torch.arange(P),
        torch.zeros(P, dtype=torch.int64),
    )
    warped = data.warp(views, 1.0, torch.Generator().manual_seed(0)).images
    inner = slice(9, -9)  # far enough inside that nothing comes from beyond the edge
    places = coordinates[:, inner, inner].reshape(2, -1).T.double()  # [K, 2]
    moved = warped[:, :, inner, inner].reshape(P, 2, -1).mT.double()  # [P, K, 2]
    maps = torch.linalg.lstsq(places.expand(P, -1, -1), moved).solution.mT  # [P, 2, 2]
    u, _, v = torch.linalg.svd(maps)
    turn = (u @ v)[:, 1, 0].asin().rad2deg()
    assert (
        turn.abs().max() < 1
    )  # resampling; with its antisymmetric part it was 5 degrees, 19 at most
    assert (maps - torch.eye(2)).abs().mean() > 0.03


def test_views_kept_back_are_of_training_digits_and_not_trained_on():
    train = shuffled()
    rest, task = keep_views_back(train, 40)
    assert torch.equal(rest.ids, train.ids)
    fewer = train.observed.sum(-1) - rest.observed.sum(-1)
    assert torch.equal(train.ids[fewer > 0], task.context.ids)
    assert fewer.max() == 1
    assert not train.tested[fewer > 0].any()
    for row, digit in enumerate(task.context.ids.tolist()):
        mine = rest[digit]
        assert torch.equal(mine.observed, task.context[row].observed)
        assert float(task.at[row]) not in mine.angles[mine.observed].tolist()
