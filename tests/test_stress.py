"""Small samples of tests/stress, of which `python -m tests.stress` does all."""

from itertools import islice

from tests.stress import checkpoints, pictures, uploads


def test_uploads_give_a_digit_or_a_sentence_in_bounded_memory() -> None:
    def files():
        yield from islice(pictures.truncated(), 0, None, 12)
        yield from pictures.mutated(60, seed=1)
        yield from islice(pictures.spliced(), 0, None, 8)
        yield from pictures.foreign()
        yield from islice(pictures.polyglots(), 0, None, 6)
        yield from pictures.modes()
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
