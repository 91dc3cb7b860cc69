"""Photographs of digits through `fgpvae.images`: python -m tests.photographs [--count 600]

Prints the shares of refused pictures and wrong shapes, how well a classifier reads the result, and
the processor time a picture takes.
`--write docs/photographs.md` replaces the tables there.
"""

import argparse
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from tests.photographs import sets
from tests.photographs.measure import Result, measure_one, reading, table, times
from tests.stress.table import replace_table


def report(results: list[Result]) -> str:
    originals, photographs, count = reading(results)
    refusals = Counter(result.refusal for result in results if result.digit is None)
    said = [f"- {count} refused: {sentence}" for sentence, count in refusals.most_common()]
    return "\n\n".join(
        [
            table(results),
            f"Read rightly: {100 * originals:.1f} % of {count} originals, "
            f"{100 * photographs:.1f} % of their photographs.",
            times(results),
            *(["\n".join(said)] if said else []),
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--set", choices=[sets.TUNING, sets.REPORT], default=sets.REPORT)
    parser.add_argument("--count", type=int, default=600)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    with ProcessPoolExecutor(options.workers, get_context("spawn")) as pool:
        found = list(pool.map(partial(measure_one, options.set), range(options.count)))
    text = report(found)
    print(text)
    if options.write:
        replace_table(options.write, "after", f"{text}\n")


if __name__ == "__main__":
    main()
