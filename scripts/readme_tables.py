"""Write the tables of results/ into the README, each between its markers.

    python scripts/readme_tables.py [--measure]

A table stands between `<!-- results/NAME.md -->` and `<!-- end -->`. With `--measure` the models
that come with the package are scored first, into results/shipped.md.
"""

import argparse
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from fgpvae import evaluation, load_pretrained  # noqa: E402

SHIPPED = ("paper", "wide", "best")
MARKED = re.compile(r"(<!-- (results/[\w-]+\.md) -->\n).*?(<!-- end -->)", re.S)


def filled(text: str) -> str:
    """The README with the tables as they are in results/ now."""
    return MARKED.sub(lambda found: f"{found[1]}\n{table(found[2])}\n\n{found[3]}", text)


def table(path: str) -> str:
    return (ROOT / path).read_text().strip()


def shipped() -> str:
    """The shipped FGP-VAEs by the protocol of the benchmark."""
    head = "| model | test MSE | unseen digits, eleven views | unseen digits, one view |"
    lines = [head, "|---|---|---|---|"]
    for name in SHIPPED:
        config = evaluation.config_of(name)
        figures = evaluation.evaluate(load_pretrained(name), config.data, config.seed)
        cells = [
            "-" if figures[key] is None else f"{figures[key]:.4f}"
            for key in ("test_mse", "extrapolation_mse", "one_view_mse")
        ]
        what = "all ten digits" if len(config.data.classes) == 10 else "threes"
        lines.append(f"| [`{name}`](docs/models/{name}.md), {what} | " + " | ".join(cells) + " |")
    return "\n".join([*lines, "", f"`python -m fgpvae evaluate {' '.join(SHIPPED)} --json`", ""])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--measure", action="store_true", help="score the shipped models anew")
    if parser.parse_args().measure:
        (ROOT / "results" / "shipped.md").write_text(shipped())
    readme = ROOT / "README.md"
    readme.write_text(filled(readme.read_text()))


if __name__ == "__main__":
    main()
