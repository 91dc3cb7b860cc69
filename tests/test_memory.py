"""What has been loaded is not looked at again; threads take little; a process knows its peak."""

import gc
import os
import platform
import resource
import subprocess
import sys
from types import SimpleNamespace

import pytest

import fgpvae.memory
from fgpvae.background import cores
from tests.browser import ROOT
from ui.shell import garbage, script_threads


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


ALLOCATING = """
import ctypes, sys, threading
exec(sys.argv[1])
together = threading.Barrier(17)
def allocate():
    found = [bytearray(5000) for _ in range(20)]  # too large for Python's own pools
    together.wait()
    together.wait()
threads = [threading.Thread(target=allocate) for _ in range(16)]
for thread in threads:
    thread.start()
together.wait()
libc = ctypes.CDLL(None)
libc.fdopen.restype = ctypes.c_void_p
stream = ctypes.c_void_p(libc.fdopen(1, b"w"))
libc.malloc_info(0, stream)
libc.fflush(stream)
together.wait()
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="arenas are glibc's")
def test_threads_of_the_server_share_few_arenas():
    def arenas(first, **more):
        environment = {name: v for name, v in os.environ.items() if name != "MALLOC_ARENA_MAX"}
        command = [sys.executable, "-c", ALLOCATING, first]
        done = subprocess.run(
            command, capture_output=True, text=True, check=True, cwd=ROOT, env=environment | more
        )
        return done.stdout.count("<heap nr=")

    limit = "from ui.shell import script_threads; script_threads.limit_arenas()"
    assert arenas(limit) == script_threads.ARENAS
    assert arenas("import app") == script_threads.ARENAS
    assert arenas("") > script_threads.ARENAS
    assert arenas(limit, MALLOC_ARENA_MAX="5") == 5  # whoever deploys it decides


COMPUTING = """
import os, sys, threading
exec(sys.argv[1])
import torch
layer, given = torch.nn.Linear(800, 800), torch.randn(200, 800)
def compute():
    before = os.listdir("/proc/self/task")
    layer(given)
    print(len(set(os.listdir("/proc/self/task")) - set(before)))
thread = threading.Thread(target=compute)
thread.start()
thread.join()
"""


@pytest.mark.skipif(sys.platform != "linux" or cores() < 2, reason="needs Linux and two cores")
def test_a_thread_of_the_server_computes_without_helpers():
    def helpers(first, **more):
        environment = {name: v for name, v in os.environ.items() if name != "OMP_NUM_THREADS"}
        command = [sys.executable, "-c", COMPUTING, first]
        done = subprocess.run(
            command, capture_output=True, text=True, check=True, cwd=ROOT, env=environment | more
        )
        return int(done.stdout)

    assert helpers("import app") == 0
    assert helpers("") > 0
    assert helpers("import app", OMP_NUM_THREADS="2") == 1  # whoever deploys it decides


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
