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

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from fgpvae import load_pretrained  # noqa: E402
from fgpvae.evaluation import protocol  # noqa: E402
from fgpvae.evaluation.cards import table  # noqa: E402
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

    def replaced(found: re.Match[str]) -> str:
        return f"{found[1]}\n{(ROOT / found[2]).read_text().strip()}\n\n{found[3]}"

    return MARKED.sub(replaced, text)


def summary() -> str:
    """The README's table: errors as published, with equal budgets, and from one view."""
    result = json.loads((ROOT / "results" / "table1.json").read_text())
    published = {row["preset"]: row for row in result["rows"]}
    rows = []
    for row in result["equal"]["rows"]:
        if row["preset"] in SUMMARY:
            name, preset = SUMMARY[row["preset"]]
            own = published.get(preset, {})
            errors = (own.get("test_mse"), row["test_mse"], row["one_view_mse"])
            cells = (_error(each and each["mean"]) for each in errors)
            rows.append([name, _error((own.get("published") or {}).get("mse")), *cells])
    head = "MSE", "in the paper", "as published", "equal budgets", "one view of an unseen digit"
    return table(head, *rows) + "\n"


def _error(mse: float | None) -> str:
    return "-" if mse is None else f"{mse:.4f}"


def shipped() -> str:
    """Score the shipped FGP-VAEs by the protocol of the benchmark."""
    rows = []
    for name in SHIPPED:
        config = checkpoints.config_of(name)
        figures = protocol.evaluate(load_pretrained(name), config.data, config.seed)
        cells = (_error(figures[key]) for key in ("test_mse", "extrapolation_mse", "one_view_mse"))
        what = "all ten digits" if len(config.data.classes) == 10 else "threes"
        rows.append([f"[`{name}`](models/{name}.md), {what}", *cells])
    head = "model", "test MSE", "unseen digits, eleven views", "unseen digits, one view"
    command = f"`python -m fgpvae evaluate {' '.join(SHIPPED)} --json`"
    return f"{table(head, *rows)}\n\n{command}\n"


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
