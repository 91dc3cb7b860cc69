"""Write the tables of results/ into README.md and docs/results.md, each between its markers.

    python scripts/readme_tables.py [--measure]

A table stands between `<!-- results/NAME.md -->` and `<!-- end -->`. The README's summary is made
from results/table1.json. `--measure` first scores the shipped models into results/shipped.md.
"""

import argparse
import json
import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from fgpvae import evaluation, load_pretrained  # noqa: E402
from fgpvae.runs import checkpoints  # noqa: E402

SHIPPED = ("paper", "wide", "best")
DOCUMENTS = ("README.md", "docs/results.md")
MARKED = re.compile(r"(<!-- (results/[\w-]+\.md) -->\n).*?(<!-- end -->)", re.S)
SUMMARY = {  # preset in the equal block: (name, preset as published)
    "cvae": ("CVAE", "cvae-published"),
    "gpvae": ("GP-VAE", "gpvae"),
    "svgpvae": ("SVGP-VAE", "svgpvae"),
    "paper": ("FGP-VAE", "paper"),
    "angle-given": ("FGP-VAE, larger networks, angle given to the encoder", None),
}


def filled(text: str) -> str:
    """Replace the tables of a document by those in results/."""
    return MARKED.sub(lambda found: f"{found[1]}\n{table(found[2])}\n\n{found[3]}", text)


def table(path: str) -> str:
    return (ROOT / path).read_text().strip()


def summary() -> str:
    """The README's table: errors as published, with equal budgets, and from one view."""
    result = json.loads((ROOT / "results" / "table1.json").read_text())
    published = {row["preset"]: row for row in result["rows"]}
    lines = ["| MSE | in the paper | as published | equal budgets | one view of an unseen digit |"]
    lines.append("|---|---|---|---|---|")
    for row in result["equal"]["rows"]:
        if row["preset"] not in SUMMARY:
            continue
        name, preset = SUMMARY[row["preset"]]
        own = published.get(preset)
        known = own and own["published"]
        cells = [f"{known['mse']:.4f}" if known else "-"]
        cells += [_mean(own and own["test_mse"])]
        cells += [_mean(row["test_mse"]), _mean(row["one_view_mse"])]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _mean(figure: dict[str, Any] | None) -> str:
    return "-" if not figure or figure["mean"] is None else f"{figure['mean']:.4f}"


def shipped() -> str:
    """Score the shipped FGP-VAEs by the protocol of the benchmark."""
    head = "| model | test MSE | unseen digits, eleven views | unseen digits, one view |"
    lines = [head, "|---|---|---|---|"]
    for name in SHIPPED:
        config = checkpoints.config_of(name)
        figures = evaluation.evaluate(load_pretrained(name), config.data, config.seed)
        cells = [
            "-" if figures[key] is None else f"{figures[key]:.4f}"
            for key in ("test_mse", "extrapolation_mse", "one_view_mse")
        ]
        what = "all ten digits" if len(config.data.classes) == 10 else "threes"
        lines.append(f"| [`{name}`](models/{name}.md), {what} | " + " | ".join(cells) + " |")
    return "\n".join([*lines, "", f"`python -m fgpvae evaluate {' '.join(SHIPPED)} --json`", ""])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--measure", action="store_true", help="score the shipped models again")
    if parser.parse_args().measure:
        (ROOT / "results" / "shipped.md").write_text(shipped())
    (ROOT / "results" / "summary.md").write_text(summary())
    for name in DOCUMENTS:
        document = ROOT / name
        document.write_text(filled(document.read_text()))


if __name__ == "__main__":
    main()
