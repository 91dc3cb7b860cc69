"""The paper's table next to ours, as HTML and as files."""

import csv
import io
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from fgpvae import comparison
from ui.catalog.results import METRICS, Curve, Row, spread

STYLE = """
.scroll { overflow-x: auto; }
.quiet { opacity: 0.65; font-weight: 400; }
table.figures { border-collapse: collapse; width: 100%; font-size: 0.9rem; }
table.figures th, table.figures td {
  border: 0; border-bottom: 1px solid light-dark(#e6e6e0, #262c39); padding: 0.45rem 0.8rem;
  text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; line-height: 1.3;
}
table.figures thead th { font-weight: 400; opacity: 0.65; }
table.figures th:first-child {
  text-align: left; font-weight: 600; position: sticky; left: 0; padding-left: 0;
  background: light-dark(#ffffff, #171b24);
}
"""


def table_html(rows: Sequence[Row], metric: str) -> str:
    """The table; in the chosen column the smallest mean is bold."""
    heads = ["Model", METRICS["test_mse"], "published", METRICS["extrapolation_mse"]]
    heads += [METRICS["one_view_mse"], "s/epoch", "published", "GP cost"]
    known = [row.errors[metric].mean for row in rows]
    best = min((value for value in known if value is not None), default=None)

    def cell(row: Row, name: str) -> str:
        text = row.errors[name].text()
        strong = name == metric and best is not None and row.errors[name].mean == best
        return f"<td>{f'<b>{text}</b>' if strong else text}</td>"

    body = []
    for row in rows:
        title = f'<span class="quiet">{escape(row.title)}</span>'
        body.append(
            f"<tr><th>{escape(row.name)}<br>{title}</th>"
            + cell(row, "test_mse")
            + f'<td class="quiet">{_published(row)}</td>'
            + cell(row, "extrapolation_mse")
            + cell(row, "one_view_mse")
            + f"<td>{row.seconds.text(2)}</td>"
            + f'<td class="quiet">{_number(row.published.get("seconds_an_epoch"), 2)}</td>'
            + f"<td>{escape(row.complexity)}</td></tr>"
        )
    head = "".join(f"<th>{escape(text)}</th>" for text in heads)
    return (
        f'<div class="scroll"><table class="figures"><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(body)}</tbody></table></div>"
    )


def _published(row: Row) -> str:
    if not row.published:
        return "–"
    return f"{row.published['mse']:.4f} ± {row.published['sd']:.4f}"


def _number(value: float | None, digits: int) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def table_csv(rows: Sequence[Row], trivial: dict[str, float], committed: bool = True) -> str:
    """`trivial` holds what is done without a model, for the held-out angle."""
    heads = ["model", "kind", "where"]
    for name in comparison.TABLE:
        heads += [name, f"{name}_sd", f"{name}_seeds"]
    heads += ["published_test_mse", "published_sd", "seconds_an_epoch", "parameters"]
    lines: list[list[Any]] = []
    for row in rows:
        line: list[Any] = [row.name, row.title, "measured here" if row.own else "committed"]
        for name in comparison.TABLE:
            found = row.errors[name]
            line += [found.mean, found.sd, len(found.values)]
        line += [row.published.get("mse"), row.published.get("sd")]
        lines.append([*line, row.seconds.mean, row.parameters])
    for name, value in trivial.items():
        where = "committed" if committed else "measured here"
        lines.append([name, "without a model", where, value])
    return to_csv(heads, lines)


def to_csv(heads: Sequence[str], lines: Iterable[Sequence[Any]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(heads)
    for line in lines:
        writer.writerow(["" if value is None else value for value in line])
    return text.getvalue()


def scaling_csv(result: dict[str, Any]) -> str:
    lines: list[list[Any]] = []
    for row in result["by_digits"]:
        for name in ("seconds_an_epoch", "extrapolation_mse"):
            found = spread(row[name])
            lines.append(["P", row["P"], name, found.mean, found.sd])
    for row in result["by_views"]:
        lines += [
            ["Q", row["Q"], f"seconds_{k}", row[k], None] for k in ("joint", "dense", "fourier")
        ]
    lines += [["exponent", "", name, value, None] for name, value in result["exponents"].items()]
    return to_csv(["against", "size", "what", "value", "sd"], lines)


def curves_csv(curves: Sequence[Curve]) -> str:
    return to_csv(
        ["model", "views", "mse", "sd", "seeds"],
        (
            [curve.name, views, point.mean, point.sd, len(point.values)]
            for curve in curves
            for views, point in curve.points.items()
        ),
    )


def provenance(result: dict[str, Any]) -> str:
    """One line: the command, seeds, date and machine behind a result."""
    seeds = result["seeds"]
    return (
        f"{result['command']} · {seeds} seed{'s' if seeds != 1 else ''} · {result['date']} · "
        f"{result['machine']}"
    )
