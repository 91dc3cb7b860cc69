"""Runs that come back from an archive, and archives that are none."""

import io
import zipfile

import pytest

from fgpvae import runs
from fgpvae.errors import UserError
from fgpvae.runs import archives, queue, writer
from fgpvae.runs.checkpoints import load_pretrained
from tests import tiny


@pytest.fixture(scope="module")
def packed(tmp_path_factory):
    path = tiny.train(tmp_path_factory.mktemp("packed"), "seedling", "data.views=2", epochs=2)
    return archives.pack(runs.open_run(path))


def repacked(content, **changes):
    """An archive with some files changed (None takes one out), and others added."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    parts |= {name.replace("_", "."): part for name, part in changes.items()}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in parts.items():
            if part is not None:
                archive.writestr(zipfile.ZipInfo(name), part, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def test_a_downloaded_run_comes_back_and_can_be_used_but_not_resumed(packed, tmp_path):
    run = queue.add(tmp_path, "again", archives.unpack(packed, "seedling.zip"))
    assert (run.state, run.epoch, len(run.metrics())) == (runs.FINISHED, 2, 2)
    load_pretrained(run.path)
    with pytest.raises(UserError, match="cannot be trained further"):
        queue.resume(run, 3)
    with pytest.raises(UserError, match="cannot be trained further"):
        next(writer.execute(run.path, epochs=3))
    assert archives.pack(run) == packed
    with pytest.raises(UserError, match="already"):
        queue.add(tmp_path, "again", archives.unpack(packed, "seedling.zip"))


def test_a_run_that_was_stopped_in_its_first_epoch_comes_back_as_such(packed, tmp_path):
    run = queue.add(tmp_path, "whole", archives.unpack(packed, "seedling.zip"))
    (run.path / runs.METRICS).unlink()
    stopped = archives.unpack(archives.pack(run), "stopped.zip")
    back = queue.add(tmp_path, "back", stopped)
    assert (back.state, back.epoch) == (runs.STOPPED, 0)
    bare = archives.unpack(repacked(packed, metrics_jsonl=None), "bare.zip")  # weights alone
    assert queue.add(tmp_path, "bare", bare).state == runs.FINISHED


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda c: c[:-1], "not an archive"),
        (lambda c: b"junk" * 100, "not an archive"),
        (lambda c: bytes(archives.LARGEST + 1), "too large"),
        (lambda c: repacked(c, **{"../evil": b"x"}), "no file of a run"),
        (lambda c: repacked(c, state_pt=b"x"), "no file of a run"),
        (lambda c: repacked(c, model_safetensors=None), "must hold one"),
        (lambda c: repacked(c, config_json=bytes(2**20 + 1)), "config.json in .* is too large"),
        (lambda c: repacked(c, metrics_jsonl=bytes(2**26 + 1)), "too large"),
        (lambda c: repacked(c, model_safetensors=b"x"), "damaged"),
        (lambda c: repacked(c, objects_npz=b"x"), "just if its run is on own objects"),
    ],
)
def test_an_archive_that_is_no_run_is_one_sentence(packed, change, sentence):
    with pytest.raises(UserError, match=sentence) as caught:
        archives.unpack(change(packed), "run.zip")
    assert "\n" not in str(caught.value)
