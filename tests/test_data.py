import gzip
import hashlib
import struct
import tracemalloc

import numpy as np
import pytest
import scipy.ndimage
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from fgpvae import data
from fgpvae.data import ANGLES, HELD_OUT_INDEX, TRAIN_DIGITS
from fgpvae.errors import UserError

# Of the raw bytes, computed from the genuine IDX files with the benchmark's own lines.
SHA_THREES = "36561e74d56bbc3d570747190803ab7524e97d72f1e436e6cb271c8f33dfe157"
SHA_EMBEDDED = "f8b7f5c0331cd95949a8c8af2af20580b7fd954804a53f153105ae867dbe6ca5"
SHA_UNSEEN = "74a7f7842eceb4d48e6ae43f031556c5c80d9a04a95f9f16a218acde0ec828c9"


def sha(images):
    return hashlib.sha256(np.rint(255 * images).astype(np.uint8).tobytes()).hexdigest()


def spline(image, radians):
    return scipy.ndimage.rotate(image.astype(np.float64), np.rad2deg(radians), reshape=False)


def same(a, b):
    """Are two sets of views equal to the last bit?"""
    names = ("images", "angles", "observed", "ids", "labels", "tested")
    return all(torch.equal(getattr(a, name), getattr(b, name)) for name in names)


def test_embedded_digits_are_the_benchmarks():
    assert sha(data.embedded().images) == SHA_THREES
    assert sha(data.embedded(range(10)).images) == SHA_EMBEDDED
    assert sha(data.unseen().images) == SHA_UNSEEN


def test_no_unseen_digit_is_embedded():
    known = {image.tobytes() for image in data.embedded(range(10)).images}
    assert len(known) == 4000
    assert not any(image.tobytes() in known for image in data.unseen().images)


def test_trainable_leaves_out_what_stays_unseen():
    digits = data.embedded((3, 8))
    kept = data.trainable(digits)
    expected = np.arange(800) % 400 < TRAIN_DIGITS
    np.testing.assert_array_equal(kept.images, digits.images[expected])
    np.testing.assert_array_equal(kept.labels, digits.labels[expected])
    assert len(data.trainable(data.unseen())) == 0


@pytest.mark.parametrize("classes", [(), (11,), (3, 3), 3, ("3",), None])
@pytest.mark.parametrize("make", [data.embedded, data.factorized])
def test_bad_classes(make, classes):
    with pytest.raises(UserError):
        make(classes)


@settings(max_examples=60)
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
    views = data.rotate(images, angles)
    for p in {0, P - 1}:
        # quarter turns put pixels on the border exactly, where a rounding error blanks them
        degrees = np.round(np.rad2deg(angles if shared else angles[p]), 9) % 360
        expected = [scipy.ndimage.rotate(images[p], d, reshape=False) for d in degrees]
        np.testing.assert_allclose(views[p], expected, atol=2e-6)


def test_fast_rotation_is_near_the_spline_and_turns_the_same_way():
    digits = data.embedded(range(10)).images[::40]
    angles = np.random.default_rng(0).uniform(0, 2 * np.pi, (len(digits), 6))
    fast = data.rotate_fast(torch.tensor(digits), torch.tensor(angles)).numpy()
    assert np.mean((fast - data.rotate(digits, angles)) ** 2) < 1e-4
    assert np.mean((fast - data.rotate(digits, -angles)) ** 2) > 1e-2


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
        data.rotate(images, angles)


def test_factorized():
    train = data.factorized()
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
    rows, test_ids = data.splits.shuffled_rows(3)
    assert rows[:4] == [395, 2522, 1471, 4284]
    assert test_ids[:5] == [141, 346, 166, 86, 228]
    assert sum(test_ids) == 49_120

    train = data.shuffled()
    counts = train.observed.sum(1)
    assert (int(counts.sum()), int(counts.min()), int(counts.max())) == (4050, 6, 15)
    assert sorted(test_ids) == train.ids[train.tested].tolist()
    # the digit-major list of BENCHMARK's 360 x 15 images, written out
    listed = [(p, a) for p in range(360) for a in range(16) if a != HELD_OUT_INDEX]
    expected = {listed[row] for row in rows}
    at = [np.abs(ANGLES - w).argmin() for w in train.angles[train.observed].numpy()]
    owners = train.ids[:, None].expand_as(train.observed)[train.observed].tolist()
    assert set(zip(owners, at, strict=True)) == expected


@pytest.mark.parametrize("make", [data.factorized, data.shuffled])
def test_views_show_their_digit_at_their_angle(make):
    digits = data.embedded((5, 3))
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


def test_seeds_give_these_angles_on_every_machine():
    def digest(views):
        index = (views.angles * 8 / torch.pi).round().to(torch.uint8)
        return hashlib.sha256(index.numpy().tobytes()).hexdigest()[:16]

    assert digest(data.factorized()) == "f6fd0a5437d6e9da"
    assert digest(data.extrapolation().context) == "5312eb0264ef404e"


@pytest.mark.parametrize("make", [data.factorized, data.shuffled])
def test_validation_digits_are_training_digits_that_are_not_tested(make):
    train = make((3, 4))
    kept, held = data.splits.split_validation(train, digits=40, seed=1)
    assert [int((held.labels == label).sum()) for label in (3, 4)] == [40, 40]
    assert not held.tested.any()
    assert sorted(kept.ids.tolist() + held.ids.tolist()) == train.ids.tolist()
    assert len(data.interpolation(kept)) == 540
    assert same(data.splits.split_validation(train, 40, 1)[1], held)
    assert not torch.equal(data.splits.split_validation(train, 40, 2)[1].ids, held.ids)
    for digits in (0, 91):
        with pytest.raises(UserError, match="From 1 to 90 digits"):
            data.splits.split_validation(train, digits)


def test_interpolation():
    digits = data.embedded((3, 6))
    for make in (data.factorized, data.shuffled):
        train = make((3, 6))
        test = data.interpolation(train)
        assert len(test) == 540
        assert test.targets.shape == (540, 1, 28, 28)
        assert (test.at == ANGLES[HELD_OUT_INDEX]).all()
        assert same(test.context, train[train.tested])
        for p in (0, 269, 270, 539):
            expected = spline(digits.images[test.context.ids[p]], ANGLES[HELD_OUT_INDEX])
            np.testing.assert_allclose(test.targets[p, 0], expected, atol=1e-6)
    with pytest.raises(UserError, match="no test digit"):
        data.interpolation(data.extrapolation().context)


def test_extrapolation_and_one_view():
    digits = data.embedded((0, 3))
    test, one = data.extrapolation((0, 3), views=11), data.one_view((0, 3))
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
    assert not set(ids) & set(data.factorized((0, 3)).ids.tolist())


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
        data.load_idx(directory, **options)
    message = str(caught.value)
    assert message.endswith(".")
    assert "\n" not in message


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_idx(tmp_path, pack):
    suffix = "" if pack is bytes else ".gz"
    write(tmp_path, pack(idx(PIXELS)), pack(idx(LABELS)), suffix)
    digits = data.load_idx(tmp_path)
    assert digits.images.dtype == np.float32
    np.testing.assert_array_equal(np.rint(digits.images * 255), PIXELS)
    assert digits.labels.dtype == np.int64
    np.testing.assert_array_equal(digits.labels, LABELS)
    refused(tmp_path, "no file t10k-images-idx3-ubyte", train=False)


@pytest.mark.parametrize(
    ("images", "labels", "match"),
    [
        (idx(PIXELS, magic=2049), None, "not an IDX file of 28 x 28 images"),
        (None, idx(LABELS, magic=7), "not an IDX file of labels"),
        (idx(PIXELS)[:-1], None, "announces 7 digits"),
        (idx(PIXELS)[:9], None, "not an IDX file"),
        (b"", None, "not an IDX file"),
        (None, idx(LABELS)[:-1], "truncated"),
        (idx(PIXELS) + b"\0", None, "longer than its header says"),
        (idx(PIXELS[:, :27]), None, "not an IDX file of 28 x 28 images"),
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


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_header_that_lies_costs_no_memory(tmp_path, pack):
    write(tmp_path, pack(idx(PIXELS, sizes=(250_000, 28, 28))))
    tracemalloc.start()
    try:
        refused(tmp_path, "truncated")
        assert tracemalloc.get_traced_memory()[1] < 4 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("written", ["{}", "'{}'"])  # either is a nominal value in ARFF
def test_openml_is_read_as_it_is_sent(written, monkeypatch):
    digits = data.embedded((3, 8))
    take = np.r_[0:30, 400:410]
    images, labels = digits.images[take], digits.labels[take]
    sent = np.rint(255 * images).reshape(-1, 784), [written.format(label) for label in labels]
    monkeypatch.setattr("sklearn.datasets.fetch_openml", lambda *_, **__: sent)
    monkeypatch.setattr(data.mnist, "_TRAIN_FILE", 25)
    for train, part in ((True, slice(25)), (False, slice(25, None))):
        found = data.mnist.load_openml(train)
        np.testing.assert_array_equal(found.images, images[part])
        np.testing.assert_array_equal(found.labels, labels[part])
        assert found.images.dtype == np.float32
    monkeypatch.setattr(data.mnist, "_TRAIN_FILE", 60)
    with pytest.raises(UserError, match="has 40 digits of MNIST"):
        data.mnist.load_openml()
