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

from fgpvae.data import (
    ANGLES,
    CLASS_COUNTS,
    HELD_OUT,
    TRAIN_DIGITS,
    Digits,
    draw_angles,
    embedded,
    extrapolation,
    factorized,
    interpolation,
    load_idx,
    load_openml,
    one_view,
    recipe_ids,
    rotate,
    rotate_fast,
    shuffled,
    shuffled_rows,
    split_validation,
    task,
    trainable,
    unseen,
)
from fgpvae.errors import UserError
from scripts import build_digits

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


def test_openml_without_a_network(monkeypatch, tmp_path):
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "scikit"))
    monkeypatch.setattr(urllib.request, "_opener", None)
    with (
        pytest.warns(UserWarning, match="Retrying"),
        pytest.raises(UserError, match=r"could not be fetched from openml\.org") as caught,
    ):
        load_openml()
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "scikit").exists()


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
