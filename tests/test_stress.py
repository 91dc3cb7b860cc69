"""Small samples of tests/stress, of which `python -m tests.stress` does all."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path

import pytest

from tests.stress import checkpoints, faults, load, memory, pictures, uploads


def test_uploads_give_a_digit_or_a_sentence_in_bounded_memory() -> None:
    def files():
        yield from islice(pictures.truncated(), 0, None, 12)
        yield from pictures.mutated(60, seed=1)
        yield from islice(pictures.spliced(), 0, None, 8)
        yield from pictures.foreign()
        yield from islice(pictures.polyglots(), 0, None, 6)
        yield from pictures.modes()
        yield from pictures.endless()
        yield from pictures.awkward_pictures()
        # the most that is accepted, and a WebP that was accepted and took 260 MB
        yield from pictures.within_limits("16 bit PNG", "RGBA PNG", "WebP of")

    outcome = uploads.through(files())
    assert outcome.files > 150
    assert outcome.crashes == []
    assert outcome.wordless == []
    assert outcome.touched == []
    assert outcome.digits > 10
    assert outcome.growth < uploads.GROWTH, outcome.largest


def test_damaged_runs_are_refused_in_a_sentence_and_touch_nothing() -> None:
    outcome, wrong = checkpoints.trial(number=4)
    assert outcome.tried > 700
    assert outcome.bad == []
    assert wrong == []
    assert outcome.touched == []
    assert outcome.refused > outcome.tried / 2


def test_clocks_that_jump_change_nothing(tmp_path: Path) -> None:
    assert faults.clocks(tmp_path) == []


def test_a_full_and_a_read_only_disk_are_said_and_lose_nothing(tmp_path: Path) -> None:
    result = faults.disks(tmp_path)
    if result is None:
        pytest.skip("mounting is not allowed here")
    said, wrong = result
    assert wrong == []
    assert any("No space left on device" in sentence for sentence in said)
    assert any("Read-only file system" in sentence for sentence in said)


# kills at random moments are in test_runs.py


def test_two_servers_of_three_tabs_act_on_the_same_runs(tmp_path: Path) -> None:
    count, _, wrong = faults.many_hands(tmp_path, servers=2, seconds=2)
    assert count > 0
    assert wrong == []


def test_sessions_share_models_and_digits() -> None:
    crowd = load.Crowd(3, 0, 5, (0.2, 0.5))
    with ThreadPoolExecutor(1) as thread:  # the browser's loop runs in this one
        found = thread.submit(load.trial, crowd, whole=False).result()
    assert found.record.errors == []
    assert len(found.record.times()) >= 3
    for what in ("models", "digits"):
        assert 1 <= found.held[what] == found.held[f"different_{what}"]


class Silent:
    """A server that takes everything and never answers."""

    async def send(self, message: bytes) -> None:
        pass

    async def recv(self) -> bytes:
        await asyncio.Event().wait()
        return b""


@pytest.mark.parametrize("counts_from", [0.0, float("inf")])
def test_a_page_that_never_comes_counts_with_the_time_it_was_waited_for(
    monkeypatch, counts_from: float
) -> None:
    monkeypatch.setattr(load, "PATIENCE", 0.05)
    record = load.Record()
    session = load.Session(Silent(), record, 0, ["best"], counts_from)
    with ThreadPoolExecutor(1) as thread:  # the browser's loop runs in this one
        waiting = thread.submit(asyncio.run, session.visit("train"))
        with pytest.raises(TimeoutError, match="train: no answer within"):
            waiting.result()
    counted = [seconds >= 0.05 for seconds in record.answers["train"]]
    assert (counted, record.before) == (([True], 0) if counts_from == 0 else ([], 1))


def test_no_page_and_few_pages_have_a_summary() -> None:
    assert load.summary([]) == "no page was answered"
    assert load.summary([2.0]) == "1 pages, median 2000 ms, 95th percentile 2000 ms"
    assert load.p95([float(each) for each in range(101)]) == 95


def test_the_memory_of_a_session_is_what_one_more_takes() -> None:
    assert memory.slope([700.0, 720.0, 740.0]) == pytest.approx(2)
