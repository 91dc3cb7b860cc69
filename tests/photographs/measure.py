"""Put a set of photographs through `fgpvae.images` and count what goes wrong."""

import time
from dataclasses import dataclass

import numpy as np

from fgpvae.errors import UserError
from fgpvae.images import normalise
from tests.photographs.judge import Verdict, judge, reader
from tests.photographs.scenes import Scene
from tests.photographs.sets import Sample
from tests.photographs.sets import sample as sample_of


@dataclass(frozen=True)
class Result:
    scene: Scene
    label: int
    original: np.ndarray | None  # [28, 28], None for a printed digit
    digit: np.ndarray | None  # [28, 28], None if refused
    refusal: str
    verdict: Verdict | None
    seconds: float  # of processor time

    @property
    def wrong(self) -> bool:
        return self.verdict is not None and self.verdict.wrong


def measure(sample: Sample) -> Result:
    began, digit, refusal, verdict = time.process_time(), None, "", None
    try:
        digit = normalise(sample.photograph.file).digit
    except UserError as error:
        refusal = str(error)
    seconds = time.process_time() - began
    if digit is not None:
        verdict = judge(digit, sample.photograph.centre)
    scene = sample.photograph.scene
    return Result(scene, sample.label, sample.original, digit, refusal, verdict, seconds)


def measure_one(which: str, number: int) -> Result:
    """A photograph by its number."""
    return measure(sample_of(which, number))


def table(results: list[Result]) -> str:
    """Shares of refused and wrong shapes for each kind of scene, as Markdown."""
    kinds = {
        "all": results,
        "ordinary light": [r for r in results if not r.scene.harsh],
        "hard light": [r for r in results if r.scene.harsh],
        "plain paper": [r for r in results if r.scene.paper == "plain"],
        "ruled paper": [r for r in results if r.scene.paper == "ruled"],
        "squared paper": [r for r in results if r.scene.paper == "squared"],
        "pale ink": [r for r in results if r.scene.pale],
        "printed digits": [r for r in results if r.original is None],
    }
    lines = ["| photographs | number | refused | wrong shape |", "|---|---|---|---|"]
    for kind, some in kinds.items():
        refused = sum(r.digit is None for r in some)
        wrong = sum(r.wrong for r in some)
        lines.append(f"| {kind} | {len(some)} | {_share(refused, some)} | {_share(wrong, some)} |")
    return "\n".join(lines)


def reading(results: list[Result]) -> tuple[float, float, int]:
    """Shares read rightly of the originals and of their photographs, and how many there are.

    A photograph that was refused counts as read wrongly.
    """
    written = [r for r in results if r.original is not None]
    labels = np.array([r.label for r in written])
    originals = reader().read(np.stack([np.asarray(r.original) for r in written]))
    blank = np.zeros((28, 28), np.float32)
    found = reader().read(np.stack([blank if r.digit is None else r.digit for r in written]))
    refused = np.array([r.digit is None for r in written])
    right = (found == labels) & ~refused
    return float((originals == labels).mean()), float(right.mean()), len(written)


def times(results: list[Result]) -> str:
    """Processor time a picture by its size, as Markdown."""
    lines = ["| megapixels | number | median | slowest |", "|---|---|---|---|"]
    for size in sorted({max(r.scene.size) for r in results}):
        some = [r for r in results if max(r.scene.size) == size]
        width, height = some[0].scene.size
        spent = [r.seconds for r in some]
        lines.append(
            f"| {width * height / 1e6:.1f} | {len(some)} | {np.median(spent):.2f} s "
            f"| {max(spent):.2f} s |"
        )
    return "\n".join(lines)


def _share(count: int, of: list[Result]) -> str:
    return f"{100 * count / max(1, len(of)):.1f} %"
