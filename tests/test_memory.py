"""What has been loaded is not looked at again; the peak of a process is its own."""

import gc
import resource
import subprocess
import sys
from types import SimpleNamespace

import pytest

import fgpvae.memory
from ui.shell import garbage


def test_objects_are_taken_out_of_the_collection_once(monkeypatch):
    monkeypatch.setattr(garbage, "_done", set())
    before = gc.get_freeze_count()
    try:
        garbage.keep("first")
        frozen = gc.get_freeze_count()
        assert frozen > before
        garbage.keep("first")
        assert gc.get_freeze_count() <= frozen
    finally:
        gc.unfreeze()


def test_the_peak_is_not_that_of_the_process_before():
    code = f"exec(open({fgpvae.memory.__file__!r}).read()); print(peak_mb())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    ours = fgpvae.memory.peak_mb()  # with PyTorch
    assert 1 < float(done.stdout) < 60 < ours


@pytest.mark.parametrize(("platform", "unit"), [("darwin", 1), ("freebsd", 2**10)])
def test_the_peak_has_the_unit_of_the_system(platform, unit, monkeypatch, tmp_path):
    monkeypatch.setattr(fgpvae.memory, "STATUS", tmp_path / "none")
    monkeypatch.setattr(sys, "platform", platform)
    usage = SimpleNamespace(ru_maxrss=300 * 2**20 // unit)
    monkeypatch.setattr(resource, "getrusage", lambda who: usage)
    assert fgpvae.memory.peak_mb() == 300
