"""Small samples of tests/stress, of which `python -m tests.stress` does all."""

from itertools import islice
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.stress import checkpoints, faults, layout, pictures, uploads, walk


def test_uploads_give_a_digit_or_a_sentence_in_bounded_memory() -> None:
    def files():
        yield from islice(pictures.truncated(), 0, None, 12)
        yield from pictures.mutated(60, seed=1)
        yield from islice(pictures.spliced(), 0, None, 8)
        yield from pictures.foreign()
        yield from islice(pictures.polyglots(), 0, None, 6)
        yield from islice(pictures.bombs(), 3, None)  # those that say more than there is
        yield from pictures.modes()
        yield from pictures.endless()
        yield from islice(pictures.awkward_pictures(), 0, None, 6)
        # the most that is accepted, and a WebP that was accepted and took 260 MB
        yield from pictures.within_limits("16 bit PNG", "RGBA PNG", "WebP of")

    outcome = uploads.through(files())
    assert outcome.files > 120
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


def test_runs_killed_at_random_moments_end_with_the_weights_of_undisturbed_ones(tmp_path) -> None:
    seen = faults.killed(tmp_path, 2, ["average, cosine, warmup, context dropout, validation"])
    assert seen.wrong == []
    assert seen.kills


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


@pytest.mark.parametrize("name", ["rotate", "extrapolate", "how"])
def test_nothing_on_a_phone_moves_while_a_page_comes(browser: Browser, address: str, name: str):
    moved, what = layout.shifts(browser, f"{address}/{name}")
    assert moved <= layout.MOST, what


def test_a_person_who_tries_everything_for_a_moment_breaks_nothing(
    browser: Browser, tmp_path: Path
) -> None:
    person, finding = walk.trial(browser, tmp_path, minutes=1, seed=32, seconds=30)
    assert finding == ""
    assert person.steps > person.missed
