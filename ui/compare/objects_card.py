"""The card with figures of cubes never trained on."""

from ui.catalog import results
from ui.charts import show
from ui.compare import charts
from ui.compare.files import command, foot
from ui.compare.scaling_cards import falling
from ui.compare.tables import curves_csv
from ui.shell import frame, palette

NAMES = {"mean_image": "mean image", "nearest_figure": "most similar training figure"}


def objects() -> None:
    result = results.load("objects")
    curves = results.committed_curves(result)
    with frame.card(
        "Things that no rotation of a picture can turn",
        "Figures of ten cubes, never trained on, at all other angles. Dotted lines need no model "
        "and are given one view.",
        key="compare.objects",
    ):
        if not result or not curves:
            command("objects", "compare.objects", "The error on new figures by views given.")
            return
        known = result["references"]
        lines = [
            results.Curve(
                name,
                palette.TRUTH,
                {views: results.Spread((known[key],)) for views in curves[0].points},
                "dot",
            )
            for key, name in NAMES.items()
        ]
        every = curves + lines
        show(
            lambda: charts.error_by_views(every),
            "compare.chart.objects",
            charts.VIEWS_HEIGHT,
            falling(every),
        )
        foot(result, curves_csv(curves), "objects.csv")
