"""Photographs of digits through `fgpvae.images`: python -m tests.photographs [--count 600]

Prints the shares of refused pictures and wrong shapes, how well a classifier reads the result, the
processor time a picture takes, and how much larger or smaller a turned digit comes out.
`--before DIR` puts the same photographs through the package of another checkout as well.
`--write docs/photographs.md` replaces the tables there; `--sheet FILE` saves a contact sheet of the
photographs and their digits, `--bad` of the wrong ones, each as FILE-before too. `--keep DIR` keeps
each result there, so that the same command goes on if it was broken off.
"""

import argparse
import io
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from PIL import Image

from fgpvae.images import normalise
from tests.photographs import pens, sets
from tests.photographs.measure import Result, measure_one, reading, table, times
from tests.photographs.tables import replace_table


def turned_sizes(which: str, count: int = 60) -> str:
    """Size of turned digits against the same digit upright, as Markdown."""
    digits = sets.training_digits() if which == sets.TUNING else sets.data.unseen()
    ratios: dict[str, list[float]] = {"all digits": [], "ones": []}
    step = max(1, len(digits) // count)
    for image, label in zip(digits.images[::step], digits.labels[::step], strict=True):
        shape = pens.written(image)
        upright = _spread(shape, 0.0)
        for degrees in (30, 45, 90, 135):
            ratio = _spread(shape, np.deg2rad(degrees)) / upright
            ratios["all digits"].append(ratio)
            if label == 1:
                ratios["ones"].append(ratio)
    lines = ["| turned against upright | smallest | median | largest |", "|---|---|---|---|"]
    for name, found in ratios.items():
        low, middle, high = np.min(found), np.median(found), np.max(found)
        lines.append(f"| {name} | {low:.2f} | {middle:.2f} | {high:.2f} |")
    return "\n".join(lines)


def _spread(shape: pens.Shape, angle: float) -> float:
    """Root mean square distance of the ink from its middle, in pixels of the 28 x 28 digit."""
    y, x = (np.mgrid[0:240, 0:240] - 119.5) / 150
    at = np.cos(angle) * x - np.sin(angle) * y, np.sin(angle) * x + np.cos(angle) * y
    half = 0.0 if shape.outlined else 0.06
    digit = normalise(1 - np.clip((half - shape.distance(*at)) * 150 + 0.5, 0, 1)).digit
    rows, columns = np.indices(digit.shape)
    mass = digit / digit.sum()
    middle = (mass * rows).sum(), (mass * columns).sum()
    return float(np.sqrt((mass * ((rows - middle[0]) ** 2 + (columns - middle[1]) ** 2)).sum()))


def sheet(samples: list[sets.Sample], results: list[Result], columns: int = 10) -> Image.Image:
    """Photographs and their digits side by side; a red ground is a wrong shape or a refusal."""
    cell = 120
    rows = -(-len(samples) // columns)
    page = Image.new("RGB", (columns * (2 * cell + 8), max(1, rows) * (cell + 8)), (40, 40, 40))
    for number, (sample, result) in enumerate(zip(samples, results, strict=True)):
        left, top = number % columns * (2 * cell + 8), number // columns * (cell + 8)
        if result.digit is None or result.wrong:
            page.paste((200, 40, 40), (left, top, left + 2 * cell + 6, top + cell + 6))
        photograph = Image.open(io.BytesIO(sample.photograph.file))
        photograph.thumbnail((cell, cell))
        page.paste(photograph, (left + 2, top + 2))
        if result.digit is not None:
            digit = Image.fromarray(np.uint8(255 * result.digit))
            size = (cell - 4, cell - 4)
            page.paste(digit.resize(size, Image.Resampling.NEAREST), (left + cell + 4, top + 2))
    return page


def report(results: list[Result], sizes: str) -> str:
    originals, photographs, count = reading(results)
    refusals = Counter(result.refusal for result in results if result.digit is None)
    said = [f"- {count} refused: {sentence}" for sentence, count in refusals.most_common()]
    return "\n\n".join(
        [
            table(results),
            f"Read rightly: {100 * originals:.1f} % of {count} originals, "
            f"{100 * photographs:.1f} % of their photographs.",
            times(results),
            *([sizes] if sizes else []),
            *(["\n".join(said)] if said else []),
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--set", choices=[sets.TUNING, sets.REPORT], default=sets.REPORT)
    parser.add_argument("--count", type=int, default=600)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--write", type=Path)
    parser.add_argument("--before", type=Path, help="another checkout of the package")
    parser.add_argument("--keep", type=Path, help="where results are kept until the run is whole")
    parser.add_argument("--sheet", type=Path)
    parser.add_argument("--bad", type=Path)
    options = parser.parse_args()
    results: dict[str, list[Result]] = {"after": []} | ({"before": []} if options.before else {})
    if options.keep:
        options.keep.mkdir(parents=True, exist_ok=True)
    one = partial(measure_one, options.set, options.before, options.keep)
    with ProcessPoolExecutor(options.workers, get_context("spawn")) as pool:
        for found in pool.map(one, range(options.count)):
            for name, result in found.items():
                results[name].append(result)
    for name, found in results.items():
        text = report(found, turned_sizes(options.set) if name == "after" else "")
        print(f"{name}\n\n{text}\n")
        if options.write:
            replace_table(options.write, name, text)
        for file, numbers in (
            (options.sheet, list(range(min(100, options.count)))),
            (options.bad, [i for i, one in enumerate(found) if one.digit is None or one.wrong]),
        ):
            if file:
                samples = [sets.sample(options.set, i) for i in numbers]
                columns = 10 if file == options.sheet else 5
                sheet(samples, [found[i] for i in numbers], columns).save(_named(file, name))


def _named(path: Path, name: str) -> Path:
    return path if name == "after" else path.with_stem(f"{path.stem}-{name}")


if __name__ == "__main__":
    main()
