"""The charting layer: what is in the figures, against the numbers they were made of."""

import itertools
import json
from base64 import b64decode
from functools import partial

import numpy as np
import plotly.graph_objects as go
import pytest
from streamlit.testing.v1 import AppTest

from fgpvae.configs import CUBES, OBJECTS, DataConfig
from ui import charts
from ui.charts.drawn import drawn
from ui.how import cost, kernels, style
from ui.how.learning import config_of, history, multiplier, recorded
from ui.latents import disentanglement
from ui.train import curves

GROUNDS = ("#ffffff", "#171b24")  # of cards, light and dark


def lab(colour: str) -> np.ndarray:
    """CIELAB of #rrggbb under D65."""
    linear = light(colour)
    to_xyz = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    xyz = np.array(to_xyz) @ linear / [0.95047, 1, 1.08883]
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def light(colour: str) -> np.ndarray:
    value = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


def contrast(first: str, second: str) -> float:
    low, high = sorted(float(light(each) @ [0.2126, 0.7152, 0.0722]) for each in (first, second))
    return (high + 0.05) / (low + 0.05)


def test_ten_classes_can_be_told_apart_on_both_grounds():
    assert len(charts.CLASSES) == 10
    for first, second in itertools.combinations(charts.CLASSES, 2):
        assert np.linalg.norm(lab(first) - lab(second)) > 45
    for colour, ground in itertools.product(charts.CLASSES, GROUNDS):
        assert contrast(colour, ground) >= 1.9
    assert all(contrast(charts.GREY, ground) >= 3 for ground in GROUNDS)


def test_many_colours_differ():
    assert len(set(charts.several(60))) == 60


def test_text_and_grounds_take_the_colours_of_the_theme():
    made = charts.figure(300, "across", "up").to_plotly_json()["layout"]
    assert made["paper_bgcolor"] == made["plot_bgcolor"] == "rgba(0,0,0,0)"
    assert "font" not in made
    assert made["xaxis"] == {"title": {"text": "across"}}
    assert made["yaxis"]["title"]["text"] == "up"


def test_a_name_cannot_be_markup():
    assert charts.words("<b>%{x}</b>") == "&lt;b&gt;%&#123;x}&lt;/b&gt;"
    assert len(charts.words("a" * 100)) == 60


@pytest.mark.parametrize(
    ("values", "ticks", "texts"),
    [
        ([0.03, 0.2], [0.05, 0.1, 0.2], ["0.05", "0.1", "0.2"]),
        ([0.002, 400], [0.01, 0.1, 1, 10, 100], ["0.01", "0.1", "1", "10", "100"]),
        ([2e-6, 3e-4], [1e-5, 1e-4], ["10<sup>-5</sup>", "0.0001"]),
        ([50, 2e6], [100, 1e3, 1e4, 1e5, 1e6], ["100", *(f"10<sup>{p}</sup>" for p in (3, 4, 5))]),
        ([1.9e5, 1e6], [2e5, 5e5, 1e6], ["2·10<sup>5</sup>", "5·10<sup>5</sup>", "10<sup>6</sup>"]),
    ],
)
def test_logarithmic_axes_have_round_numbers(values, ticks, texts):
    axis = charts.log_axis(values)
    inside = [
        (tick, text)
        for tick, text in zip(axis["tickvals"], axis["ticktext"], strict=True)
        if min(values) <= tick <= max(values)
    ]
    assert [tick for tick, _ in inside] == ticks
    assert [text for _, text in inside][: len(texts)] == texts
    assert charts.log_axis([0.036, 0.043]) == {"type": "log"}


@pytest.mark.parametrize(
    ("value", "text"), [(136_984.0, "137,000"), (1e6, "1,000,000"), (33.333, "33.3"), (0.5, "0.5")]
)
def test_the_multiplier_is_written_out(value, text):
    assert multiplier(value) == text


# --- PCA ------------------------------------------------------------------------------------------


def cloud(still: bool = False, closed: bool = True) -> charts.Cloud:
    points = np.random.default_rng(0).normal(size=(4, 3, 3))
    if still:
        points[:] = points[:, :1]
    hues = [f"#0000{k:02d}" for k in range(12)]
    names = [f"digit {p}" for p in range(4)]
    shares = np.array([0.5, 0.3, 0.1])
    return charts.Cloud(points, shares, hues, ["a", "b"] * 2, names, list("uvw"), still, closed)


@pytest.mark.parametrize("spatial", [False, True])
def test_points_are_where_the_projection_says(spatial):
    space = cloud()
    made = charts.cloud(space, [], 0, spatial, 300)
    assert [trace.name for trace in made.data] == ["a", "b"]  # the legend switches them
    for trace in made.data:
        for at, (p, q) in enumerate(trace.customdata):
            place = [trace.x[at], trace.y[at], *([trace.z[at]] if spatial else [])]
            np.testing.assert_allclose(place, space.points[p, q, : 2 + spatial], atol=1e-5)
            assert trace.marker.color[at] == space.colours[3 * p + q]
            assert trace.text[at] == f"digit {p} · {'uvw'[q]}"
    assert sorted(map(tuple, np.concatenate([t.customdata for t in made.data]))) == [
        (p, q) for p in range(4) for q in range(3)
    ]
    if not spatial:
        assert made.layout.xaxis.title.text == "component 1 · 50%"
        assert made.layout.yaxis.scaleanchor == "x"  # one unit is as long either way


@pytest.mark.parametrize(("closed", "length"), [(True, 4), (False, 3)])
def test_what_was_picked_is_a_loop_and_its_view_has_a_ring(closed, length):
    space = cloud(closed=closed)
    made = charts.cloud(space, [2, 1], 1, False, 300)
    assert made.layout.legend.traceorder == "normal"  # ten classes side by side leave it its height
    *_, first, second, ring = made.data
    for trace, p in ((first, 2), (second, 1)):
        np.testing.assert_allclose(trace.x[:3], space.points[p, :, 0], atol=1e-5)
        assert len(trace.x) == length
    np.testing.assert_allclose([ring.x[0], ring.y[0]], space.points[2, 1, :2], atol=1e-5)


def test_a_digit_that_stands_still_is_one_point_without_a_view():
    made = charts.cloud(cloud(still=True), [3], 2, False, 300)
    every = [tuple(each) for trace in made.data[:2] for each in trace.customdata]
    assert sorted(every) == [(p, -1) for p in range(4)]


# --- matrices and channels ------------------------------------------------------------------------


def test_a_heat_map_has_its_first_row_on_top_and_no_colour_at_zero():
    values = np.array([[1.0, 0.25], [np.nan, 2.0]])
    made = charts.heatmap(values, ["0°", "180°"], "#ff0000", 200, axis="angle")
    (trace,) = made.data
    np.testing.assert_allclose(trace.z, [[1, 0.25], [0, 1]])
    assert (trace.zmin, trace.zmax) == (0, 1)
    assert list(trace.x) == list(trace.y) == ["0°", "180°"]
    low, high = made.layout.yaxis.range
    assert low > high
    assert trace.colorscale[0][1] == "rgba(255,0,0,0.03)"


def test_small_multiples_have_bands_bars_and_hollow_views():
    x, at = np.linspace(0, 360, 5), np.array([0.0, 90.0])
    found = [
        charts.Channel(
            f"c{k}", "#ff0000", x, x / 100 + k, x / 400, at, at / 90, np.ones(2) / 4, 2.5
        )
        for k in range(3)
    ]
    made = charts.channels(found, np.array([True, False]), ["#111111"] * 2, 2, charts.TURN, "°")
    band, line, dots = made.data[3:6]  # of the second
    np.testing.assert_allclose(band.y[:5], x / 100 + 1 + 2 * x / 400)
    np.testing.assert_allclose(band.y[5:], (x / 100 + 1 - 2 * x / 400)[::-1])
    np.testing.assert_allclose(line.y, x / 100 + 1)
    np.testing.assert_allclose(dots.error_y.array, [0.5, 0.5])
    assert dots.marker.symbol == ("circle", "circle-open")
    assert [note.text for note in made.layout.annotations] == ["c0", "c1", "c2"]
    assert made.layout.yaxis3.range == (-2.5, 2.5)
    assert {trace.xaxis for trace in made.data} == {"x", "x2", "x3"}
    assert made.layout.height == charts.channels_height(3, 2)


# --- How it works ---------------------------------------------------------------------------------


def test_the_kernel_is_drawn_over_a_turn():
    found = kernels.kernel_pictures(1.2, 0.7, 2 * np.pi)
    (trace,) = kernels.covariance(found["curve"], 1.2).data
    right = 1.2**2 * np.exp(-2 * np.sin(np.deg2rad(trace.x) / 2) ** 2 / 0.7**2)
    np.testing.assert_allclose(trace.y, right, rtol=1e-5)
    assert trace.x[-1] == 360


def test_the_dot_of_the_cost_is_on_its_line():
    made = cost.operations(360, [("joint", lambda n: (16 * n) ** 3 / 3, "#111111", "solid")])
    line, dot = made.data
    assert (dot.x[0], dot.y[0]) == (360, pytest.approx((16 * 360) ** 3 / 3, rel=1e-6))
    assert dot.y[0] == line.y[list(line.x).index(360)]


def test_bells_peak_where_views_say():
    made = style.bells(2, [("0°", 0.0, -0.5, 0.2), ("90°", 1.57, 0.4, 0.1)], (0.1, 0.05))
    prior, *views, together = made.data
    peaks = [trace.x[int(np.argmax(trace.y))] for trace in (prior, *views, together)]
    np.testing.assert_allclose(peaks, [0, -0.5, 0.4, 0.1], atol=0.005)
    assert "+0.10 ± 0.050" in together.hovertemplate


def test_the_history_of_a_run_has_its_target_and_the_chosen_epoch():
    lines = [{"epoch": k, "mse": 0.1 / k, "kl": k, "multiplier": 10.0} for k in range(1, 6)]
    target, line, dot = history(lines, "mse", 3, 0.02).data
    np.testing.assert_allclose(target.y, [0.02, 0.02])
    np.testing.assert_allclose(line.y, [0.1 / k for k in range(1, 6)], rtol=1e-6)
    assert (dot.x[0], dot.y[0]) == (3, pytest.approx(0.1 / 3))
    longer = [*lines, {"epoch": 6, "mse": 0.3, "kl": 6, "multiplier": 9.0}]
    beside, line, _ = history(lines, "multiplier", 3, 0.02, ("another", longer)).data
    assert (beside.name, len(beside.x), len(line.x)) == ("another", 5, 5)


def test_a_recorded_run_meets_its_constraint_and_lets_go():
    path = recorded()["within-reach"]
    kappa = config_of(path).objective.kappa_squared
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    largest = max(line["multiplier"] for line in lines)
    assert lines[-1]["mse"] == pytest.approx(kappa, rel=0.01)
    assert lines[-1]["multiplier"] < largest / 100
    assert config_of(recorded()["paper"]).objective.kappa_squared < min(
        json.loads(line)["mse"] for line in recorded()["paper"].read_text().splitlines()
    )


# --- Train ----------------------------------------------------------------------------------------


def record(name: str, epochs: int, **more: float) -> curves.Record:
    lines = [
        {"epoch": k, "loss": -k, "mse": 1 / k, "kl": k, "multiplier": 5} | more for k in range(1, 6)
    ]
    return curves.Record(name, lines, epochs)


@pytest.mark.parametrize(
    ("split", "says"),
    [("factorized", "choose validation digits"), (CUBES, "No figures"), (OBJECTS, "No objects")],
)
def test_why_there_is_no_curve_of_validation(split, says):
    said = curves.no_validation(DataConfig(split))
    assert says in said
    assert ("choose" in said) == (split == "factorized")  # only there it can be chosen


def sent(values: dict[str, str]) -> np.ndarray:
    """Numbers as a browser gets them."""
    return np.frombuffer(b64decode(values["bdata"]), values["dtype"])


def test_curves_of_two_runs_are_over_each_other():
    made = go.Figure(curves.chart([record("one", 10), record("two", 20, loss=3.0)]))
    first, second = made.data[:2]
    assert (first.name, second.name) == ("one", "two")
    assert first.xaxis == second.xaxis
    assert list(sent(first.y)) == [-1, -2, -3, -4, -5]
    assert list(sent(second.y)) == [3] * 5
    assert made.layout.xaxis.range == (0, 20)  # room for what is to come
    assert made.layout.yaxis.range[0] < -5
    assert made.layout.yaxis.range[1] > 3
    assert made.layout.showlegend
    assert {trace.legendgroup for trace in made.data} == {"one", "two"}


def test_a_curve_that_a_run_does_not_have_has_no_panel():
    titles = [note.text for note in go.Figure(curves.chart([record("one", 10)])).layout.annotations]
    assert len(titles) == 4
    with_it = go.Figure(curves.chart([record("one", 10, validation_mse=0.1)]))
    assert len(with_it.layout.annotations) == 5
    before = go.Figure(curves.chart([curves.Record("new", [], 10)])).layout.annotations
    assert [note.text for note in before] == [*titles, curves.BEFORE]
    assert "one: Loss -5, Reconstruction 0.2" in curves.alt([record("one", 10)])


# --- disentanglement ------------------------------------------------------------------------------


def test_the_best_of_a_figure_is_that_nearest_to_what_it_should_be():
    measured = {
        "a": {"angle_error_global_degrees": 70.0, "digit_retrieval_local": 0.02, "mig": None},
        "b": {"angle_error_global_degrees": 95.0, "digit_retrieval_local": 0.10, "mig": 0.3},
    }
    for found in measured.values():
        found["digit_retrieval_chance"] = 0.03
    by_key = {figure.key: figure for figure in disentanglement.READING}
    for key, best in (
        ("angle_error_global_degrees", ["b"]),
        ("digit_retrieval_local", ["a"]),
        ("mig", ["b"]),
        ("digit_retrieval_chance", []),
        ("swap_error", []),
    ):
        assert disentanglement.winners(by_key[key], measured) == best
    table = disentanglement.table(measured)
    assert list(table.data.columns) == ["Figure", "Best", "a", "b"]
    assert "–" in list(table.data["a"])
    assert table.to_html().partition("</style>")[0].count("_row") == 3


# --- on a page ------------------------------------------------------------------------------------


def script() -> None:
    import streamlit as st

    from ui import charts

    with charts.last():
        charts.show(lambda: charts.figure(200), "early", 200, "an empty chart")
        st.caption("words")
    charts.show(lambda: charts.figure(200), "late", 200, "another")


order: list[str] = []


def noted(what, made):
    order.append(what)
    return made


def test_charts_and_tables_come_after_the_words_of_a_page():
    app = AppTest.from_function(script).run()
    assert not app.exception
    found = {each.proto.alt: each for each in app.get("plotly_chart")}
    assert set(found) == {"an empty chart", "another"}
    with charts.last():  # what is shown within is drawn when all else is done
        charts.show(partial(noted, "chart", charts.figure(200)), "x", 200, "x")
        charts.table(partial(noted, "table", {"a": [1]}), "y", 1, "y")
        order.append("words")
    assert order == ["words", "chart", "table"]


# --- made once for all ----------------------------------------------------------------------------


def a_line(values, name):
    made = charts.figure(200)
    return made.add_trace(charts.line([0, 1, 2], values, name, "#111111", "%{y}"))


def test_a_figure_is_made_once_for_the_same_values():
    first = drawn(partial(a_line, np.arange(3), "a"), {"height": 200})
    assert drawn(partial(a_line, np.arange(3), "a"), {"height": 200}) is first
    others = [
        drawn(partial(a_line, np.arange(3) + 1, "a"), {"height": 200}),
        drawn(partial(a_line, np.arange(3), "b"), {"height": 200}),
        drawn(partial(a_line, np.arange(3), "a"), {"height": 200, "dragmode": False}),
    ]
    assert len({id(each) for each in (first, *others)}) == 4
    right = a_line(np.arange(3), "a").update_layout(height=200)
    assert first.to_dict() == right.to_dict()
    bare = json.loads(first.without_theme)
    assert "template" not in bare["layout"]
    assert bare["data"] == json.loads(right.to_json())["data"]


def test_what_cannot_be_told_apart_is_drawn_anew():
    values = [1.0, 2.0, 3.0]
    first, second = (drawn(lambda: a_line(values, "a"), {}) for _ in range(2))
    assert first is not second
    assert first.to_dict() == second.to_dict()


def test_streamlit_sends_a_kept_figure_as_it_is_and_leaves_it_so():
    def script() -> None:
        from functools import partial

        import numpy as np

        from tests.test_charts import a_line
        from ui import charts

        charts.show(partial(a_line, np.arange(3), "sent"), "chart", 210, "a line")

    kept = drawn(partial(a_line, np.arange(3), "sent"), {"height": 210})
    before = json.dumps(kept.to_dict(), default=str)
    (chart,) = AppTest.from_function(script).run().get("plotly_chart")
    plain = a_line(np.arange(3), "sent").update_layout(height=210)
    assert json.loads(chart.proto.spec) == json.loads(plain.to_json())
    assert json.dumps(kept.to_dict(), default=str) == before
