"""The page Compare: committed results, one's own models, the same digits through each."""

import base64
import csv
import io
import json
import re
import threading
import time

import numpy as np
import pytest
from PIL import Image
from streamlit.testing.v1 import AppTest

from fgpvae import UserError, checkpoints, comparison
from fgpvae.comparison import UNSEEN, Question
from tests import tiny
from ui.catalog import models, results
from ui.catalog.results import Curve, Row, Spread
from ui.compare import charts, evaluation, files, one_view_card, picture_matrix, tables
from ui.shell import frame

ERRORS = {"paper": [0.027, 0.029], "gpvae": [0.035, 0.036]}


def spread(values):
    return {"mean": float(np.mean(values)) if values else None, "sd": None, "values": values}


def write_results(folder):
    """The four results, with figures that are easy to recognise."""
    origin = {"seeds": 2, "date": "2021-03-04", "machine": "2 cores", "changes": []}
    rows = [
        {
            "preset": preset,
            "model": {"paper": "FGP-VAE", "gpvae": "GP-VAE"}[preset],
            "epochs": 5,
            "complexity": "O(PQ³)",
            "parameters": 1000,
            "seconds_an_epoch": spread([0.5, 0.7]),
            "peak_memory_mb": spread([300.0]),
            "published": {"mse": 0.0284, "sd": 0.0004, "seconds_an_epoch": 1.41},
            "test_mse": spread(values),
            "test_mse_sampled": spread(values),
            "extrapolation_mse": spread(values if preset == "paper" else []),
            "one_view_mse": spread(values if preset == "paper" else []),
        }
        for preset, values in ERRORS.items()
    ]
    curve = {str(n): spread([0.06 / n, 0.07 / n]) for n in comparison.VIEWS}
    told = rows[0] | {
        "preset": "told",
        "model": "FGP-VAE, dense networks, encoder told the angle",
        "published": None,
        "epochs": 200,
        "cpu_seconds": spread([70.0, 90.0]),
        "choice": {"rate": 0.003, "schedule": "cosine"},
        "mse_by_views": {str(n): spread([0.03 / n, 0.05 / n]) for n in comparison.VIEWS},
    }
    figures = {"seen": spread([0.016, 0.018]), "unseen_fifth": spread([0.01, 0.02])}
    figures |= {"unseen_all": spread([0.015, 0.025])}
    one_view = {
        "rows": [{"preset": "quick", "model": "FGP-VAE, told", "shipped": False} | figures],
        "geometry": {"seen": 0.0, "unseen_fifth": 0.00004, "unseen_all": 0.0002},
        "published": [{"model": "InImNet", "task": "unseen_fifth", "mse": 0.0125, "sd": 0.0003}],
        "comparable": "The same: threes. Not the same: `quick` learns from deformed digits.",
    }
    sizes = [
        {
            "P": p,
            "seconds_an_epoch": spread([p / 100, p / 50]),
            "extrapolation_mse": spread([1 / p]),
        }
        for p in (45, 360)
    ]
    views = [{"Q": q, "joint": q**3, "dense": q**2, "fourier": q} for q in (8, 16)]
    exponents = {"seconds_an_epoch_in_P": 1.03}
    exponents |= {f"{k}_in_Q": v for k, v in (("joint", 3.0), ("dense", 2.0), ("fourier", 1.0))}
    content = {
        "table1": {
            "rows": rows,
            "equal": {"epochs": 200, "rows": [told]},
            "trivial": {"mean_image": 0.0551, "rotated_neighbour": 0.0005},
        },
        "one-view": one_view,
        "extrapolation": {"curves": [{"preset": "paper", "model": "FGP-VAE", "mse": curve}]},
        "objects": {
            "curves": [{"preset": "cubes", "model": "FGP-VAE", "mse": curve}],
            "references": {"mean_image": 0.0319, "nearest_figure": 0.0264},
        },
        "scaling": {"by_digits": sizes, "by_views": views, "exponents": exponents},
    }
    folder.mkdir(exist_ok=True)
    for name, body in content.items():
        command = f"python -m fgpvae experiment {name} --seeds 2"
        text = json.dumps({"experiment": name, "command": command} | origin | body)
        (folder / f"{name}.json").write_text(text)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Two runs of one's own, and results."""
    folder = tmp_path_factory.mktemp("compare")
    tiny.train(folder / "runs", "first")
    tiny.train(folder / "runs", "second", "model.local=0", epochs=2)
    tiny.train(folder / "runs", "third")
    write_results(folder / "results")
    return folder


@pytest.fixture
def app(place, monkeypatch):
    monkeypatch.setenv("FGPVAE_RUNS", str(place / "runs"))
    monkeypatch.setenv("FGPVAE_RESULTS", str(place / "results"))
    return AppTest.from_file(str(tiny.ROOT / "app.py"), default_timeout=120)


def compare(app):
    app.session_state[frame.FLAG] = True  # by itself, without app.py
    app.switch_page("pages/compare.py").run()
    assert not app.exception
    return app


def html(app):
    return " ".join(element.proto.body for element in app.get("html"))


def tabled(app):
    """The models of the table."""
    return list(app.dataframe[0].value["Model"])


def traces(app, key):
    """The traces of a chart by name, as the browser gets them."""
    found = next(each for each in app.get("plotly_chart") if f"-{key}" in each.proto.id)
    return {each["name"]: values(each) for each in json.loads(found.proto.spec)["data"]}


def values(trace):
    """Plotly sends arrays of numbers as base64."""
    decoded = {
        name: np.frombuffer(base64.b64decode(part["bdata"]), part["dtype"]).tolist()
        for name, part in trace.items()
        if isinstance(part, dict) and "bdata" in part
    }
    return trace | decoded


def read_csv(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_without_results_the_page_says_how_to_make_them(app, monkeypatch, tmp_path):
    monkeypatch.setenv("FGPVAE_RESULTS", str(tmp_path))
    said = [text.value for text in compare(app).markdown]
    assert [text for text in said if "python -m" in text] == [
        f"`python -m fgpvae experiment {name} --seeds 5`"
        for name in ("table1", "one-view", "extrapolation", "objects", "scaling")
    ]


@pytest.mark.parametrize("content", ["", "{", "[]", '{"experiment": "scaling"}', "null"])
def test_a_damaged_result_counts_as_missing(monkeypatch, tmp_path, content):
    monkeypatch.setenv("FGPVAE_RESULTS", str(tmp_path))
    (tmp_path / "table1.json").write_text(content)
    assert results.load("table1") is None


def table_of(app, block):
    app.segmented_control(key="compare.block").set_value(block).run()
    assert not app.exception
    return app.dataframe[0].value.set_index("Model")


def captions(app):
    return [caption.value for caption in app.caption]


def test_the_table_has_ours_beside_the_published(app):
    shown = table_of(compare(app), "published")
    assert shown.loc["paper", "Held-out angle"] == pytest.approx(0.028)
    assert shown.loc["paper", "published"] == 0.0284
    assert shown.loc["gpvae", "seconds an epoch"] == pytest.approx(0.6)
    assert shown.loc["gpvae", "CPU seconds"] == pytest.approx(5 * 0.6)  # none were recorded
    assert np.isnan(shown.loc["gpvae", "New digits"])
    assert any("experiment table1 --seeds 2 · 2 seeds · 2021-03-04" in t for t in captions(app))
    assert any("epochs, averaging and schedule differ" in text for text in captions(app))
    assert not any("python -m" in text.value for text in app.markdown)


def test_the_block_with_equal_budgets_comes_first_and_says_what_is_equal(app):
    shown = compare(app).dataframe[0].value.set_index("Model")
    told = shown.loc["told"]
    assert told["Kind"] == "FGP-VAE, dense networks, encoder told the angle"
    assert (told["epochs"], told["CPU seconds"], told["parameters"]) == (200, 80, 1000)
    assert told["rate, schedule"] == "0.003, cosine"
    assert "published" not in shown
    assert "paper" not in shown.index
    assert any("200 epochs and averaged weights" in text for text in captions(app))
    assert any("not the paper's model" in text for text in captions(app))


def test_what_knows_geometry_is_apart_from_learned_models(app):
    compare(app)
    apart = app.dataframe[1].value.set_index("Without a model")
    turned = apart.loc["geometric rotation: the nearest view turned as a picture"]
    assert (turned["What it has"], turned["Error"]) == ("knows geometry", 0.0005)
    assert apart.loc["mean image", "What it has"] == "nothing learned"
    assert not any("geometric" in name for name in app.dataframe[0].value["Model"])


def test_one_view_stands_beside_what_others_published(app):
    shown = compare(app).dataframe[2].value.set_index("Model")
    ours, theirs = shown.loc["FGP-VAE, told · quick"], shown.loc["InImNet"]
    assert (ours["Where from"], theirs["Where from"]) == ("trained, 2 seeds", "published")
    assert ours["Training digits at 157.5°"] == pytest.approx(0.017)
    assert theirs["New digits, fifth frame"] == 0.0125
    assert np.isnan(theirs["New digits, 15 angles"])
    assert any("quick learns from deformed digits" in text for text in captions(app))
    assert any("which needs no learning: 0.0000" in text for text in captions(app))
    result = results.load("one-view")
    lines = read_csv(
        one_view_card.file(one_view_card.ours(result) + one_view_card.published(result))
    )
    assert float(lines[0]["unseen_all_sd"]) == pytest.approx(np.std([0.015, 0.025], ddof=1))
    assert [float(lines[1][name]) for name in ("unseen_fifth", "unseen_fifth_sd")] == [
        0.0125,
        0.0003,
    ]


def test_curves_are_those_of_the_block(app):
    drawn = traces(compare(app), "compare.chart.views")
    assert drawn["told"]["y"][0] == pytest.approx(0.04)
    assert "paper" not in drawn
    app.segmented_control(key="compare.curves").set_value("published").run()
    drawn = traces(app, "compare.chart.views")
    assert drawn["paper"]["y"][0] == pytest.approx(0.065)
    assert "told" not in drawn


def test_every_model_is_chosen_at_once(app):
    compare(app)
    app.multiselect(key="models").set_value(["runs/first"]).run()
    next(button for button in app.button if button.label == "All").click().run()
    assert not app.exception
    shipped = [choice.name for choice in models.available() if not choice.own]
    assert app.multiselect(key="models").value == ["runs/first", *shipped]
    app.segmented_control(key="compare.ask").set_value("training").run()
    page = html(app)
    assert all(f"<b>{name}</b>" in page for name in shipped if name != "best")
    assert next(button for button in app.button if button.label == "All").disabled


def test_figures_of_cubes_stand_beside_what_needs_no_model(app):
    drawn = traces(compare(app), "compare.chart.objects")
    assert drawn["cubes"]["y"][0] == pytest.approx(0.065)
    assert drawn["most similar training figure"]["y"] == pytest.approx([0.0264] * 6)
    assert drawn["mean image"]["y"] == pytest.approx([0.0319] * 6)


def test_without_results_the_file_has_the_references_of_its_column(app, monkeypatch, tmp_path):
    monkeypatch.setenv("FGPVAE_RESULTS", str(tmp_path))
    choice, offered = models.find("runs/first"), {}
    row = Row("runs/first", "FGP-VAE", True, {n: Spread((0.1,)) for n in comparison.TABLE})
    monkeypatch.setattr(
        evaluation, "measured", lambda: {choice: evaluation.Measured(row, {}, None, 3)}
    )
    monkeypatch.setattr(files, "download", lambda make, name, *_: offered.update({name: make}))
    compare(app)
    app.multiselect(key="models").set_value(["runs/first"]).run()
    app.segmented_control(key="compare.metric").set_value("one_view_mse").run()
    assert not app.exception
    right = comparison.references(comparison.Question(comparison.TRAINING))
    _, mean, turned = read_csv(offered["table.csv"]())
    assert float(mean["test_mse"]) == pytest.approx(right[comparison.MEAN_IMAGE].mse)
    assert float(turned["test_mse"]) == pytest.approx(right[comparison.ROTATED_VIEW].mse)
    assert mean["where"] == turned["where"] == "measured here"


def test_of_a_model_only_the_newest_measurement_is_kept(monkeypatch, tmp_path):
    every = {}
    monkeypatch.setattr(evaluation, "measured", lambda: every)
    for name, version in (("a", 1.0), ("b", 1.0), ("a", 2.0)):
        evaluation.keep(models.Choice(name, tmp_path, version), None)
    assert [(each.name, each.version) for each in every] == [("b", 1.0), ("a", 2.0)]


def evaluate(app):
    next(b for b in app.button if b.label == "Evaluate").click().run()
    assert not app.exception


def wait_for(app, name):
    """Run the page again until a test is done."""
    until = time.monotonic() + 600
    while name not in tabled(app):
        assert time.monotonic() < until
        time.sleep(0.2)
        app.run()
        assert not app.exception


def test_own_runs_are_evaluated_on_demand_and_join_the_table(app, place):
    compare(app)
    app.multiselect(key="models").set_value(["runs/first"]).run()
    assert "runs/first" not in tabled(app)
    assert any("Not measured yet: runs/first" in text.value for text in app.caption)
    evaluate(app)
    wait_for(app, "runs/first")
    model = checkpoints.load_model(place / "runs/first/model.safetensors")
    config = checkpoints.load_config(place / "runs/first")
    expected = comparison.table_figures(model, config.data, config.seed)
    shown = app.dataframe[0].value.set_index("Model").loc["runs/first"]
    for name, title in results.METRICS.items():
        assert shown[title] == pytest.approx(expected[name])
    by_views = comparison.mse_by_views(model, 3)
    drawn = traces(app, "compare.chart.views")["runs/first"]
    assert drawn["x"] == list(by_views)
    assert drawn["y"] == pytest.approx(list(by_views.values()))
    assert next(b for b in app.button if b.label == "Evaluate").disabled


def test_a_test_goes_on_while_the_page_is_used(app, monkeypatch):
    """The page answers while a model is tested, and what it does loses nothing."""
    go_on, figures = threading.Event(), comparison.table_figures

    def slowly(*given):
        assert go_on.wait(120)
        return figures(*given)

    monkeypatch.setattr(comparison, "table_figures", slowly)
    compare(app)
    app.multiselect(key="models").set_value(["runs/second"]).run()
    places = list(app.main.children)
    try:
        evaluate(app)  # returns although nothing is tested yet
        assert list(app.main.children) == places  # the bar moves no card
        assert next(b for b in app.button if b.label == "Evaluate").disabled
        app.segmented_control(key="compare.metric").set_value("one_view_mse").run()
        assert not app.exception
        assert "runs/second" not in tabled(app)
    finally:
        go_on.set()
    wait_for(app, "runs/second")


def test_a_model_that_cannot_be_tested_says_why(app, monkeypatch):
    def refuse(*given):
        raise UserError("there are no digits")

    compare(app)
    app.multiselect(key="models").set_value(["runs/third"]).run()
    with monkeypatch.context() as broken:
        broken.setattr(comparison, "table_figures", refuse)
        evaluate(app)
        until = time.monotonic() + 60
        while not app.error:
            assert time.monotonic() < until
            time.sleep(0.1)
            app.run()
    assert "there are no digits" in app.error[0].value
    evaluate(app)  # once more, and now it can
    wait_for(app, "runs/third")


def test_digits_are_sorted_by_where_two_models_differ_most(app, place):
    compare(app)
    app.multiselect(key="models").set_value(["runs/first", "runs/second"]).run()
    app.segmented_control(key="compare.sort").set_value("difference").run()
    assert not app.exception
    errors = [
        comparison.answer(
            checkpoints.load_model(place / f"runs/{name}/model.safetensors"), Question(UNSEEN)
        ).errors
        for name in ("first", "second")
    ]
    worst = 360 + int(np.abs(errors[0] - errors[1]).argmax())
    page = html(app)
    assert page.index(f">digit {worst}<") == min(
        page.index(f">digit {n}<") for n in range(360, 400) if f">digit {n}<" in page
    )


def test_every_question_can_be_asked(app):
    compare(app)
    app.multiselect(key="models").set_value(["runs/first"]).run()
    for kind, digit in (("training", "digit 0"), ("upright", "digit 360")):
        app.segmented_control(key="compare.ask").set_value(kind).run()
        assert not app.exception
        assert f">{digit}<" in html(app)
    app.multiselect(key="models").set_value([]).run()
    assert not app.exception
    assert any("No model chosen" in block.value for block in app.header)


def test_a_link_to_a_model_that_is_gone_says_so_and_opens_the_others(app):
    app.query_params["models"] = ["runs/gone", "runs/first"]
    compare(app)
    assert "no run &#x27;gone&#x27;" in html(app)
    app.segmented_control(key="compare.sort").set_value("difference").run()  # with itself alone
    assert not app.exception


def test_a_link_says_how_many_digits_are_shown(app):
    app.query_params["models"] = ["runs/first"]
    app.query_params["compare.shown"] = "16"
    compare(app)
    shown = {n for n in range(360, 400) if f">digit {n}<" in html(app)}
    assert shown == set(range(360, 376))


# --- parts ----------------------------------------------------------------------------------------


def answer(seed):
    draw = np.random.default_rng(seed)
    truth, image = draw.random((2, 4, 28, 28), dtype=np.float32)
    errors = ((image - truth) ** 2).mean((1, 2)).astype(np.float64)
    return truth, comparison.Answer(image, errors, image - truth)


def test_the_picture_of_the_matrix_holds_the_digits_in_their_order():
    truth, first = answer(0)
    content = picture_matrix.png(truth, [7, 8, 9, 10], [2, 0], [picture_matrix.Column("a", first)])
    page = np.asarray(Image.open(io.BytesIO(content)))
    for row, p in enumerate((2, 0)):
        top = picture_matrix.HEAD + row * (84 + picture_matrix.FOOT + picture_matrix.GAP)
        cut = page[top : top + 84 : 3, picture_matrix.GAP : picture_matrix.GAP + 84 : 3]
        np.testing.assert_allclose(cut / 255, truth[p], atol=1 / 255)


def test_the_error_map_is_grey_where_the_image_is_right():
    assert picture_matrix.error_map(np.array([0.0, 1.0, -1.0, 3.0])).tolist() == [
        0.5,
        1.0,
        0.0,
        1.0,
    ]


def test_the_best_model_of_a_row_is_bold_and_references_never_are():
    truth, first = answer(0)
    zero = comparison.Answer(truth, np.zeros(4), np.zeros_like(truth))
    columns = [picture_matrix.Column("a", first), picture_matrix.Column("none", zero, model=False)]
    shown = picture_matrix.html(truth, [0, 1, 2, 3], [1], columns)
    assert f"<b>{first.errors[1]:.4f}</b>" in shown
    assert "<b>0.0000</b>" not in shown


def test_names_are_escaped():
    truth, first = answer(0)
    name = "<script>alert(1)</script>"
    row = Row(name, name, True, {key: Spread((0.1,)) for key in comparison.TABLE})
    shown = picture_matrix.html(truth, [0, 1, 2, 3], [0], [picture_matrix.Column(name, first)])
    assert "<script" not in shown
    assert "<script" not in charts.errors([row], "test_mse", {name: 0.1}).to_json()
    curve = Curve(name, "#000000", {1: Spread((0.5,))})
    assert "<script" not in charts.error_by_views([curve]).to_json()


def test_files_hold_every_figure():
    _, first = answer(0)
    lines = read_csv(
        picture_matrix.csv([7, 8, 9, 10], [3, 1, 0, 2], [picture_matrix.Column("a", first)])
    )
    assert [line["digit"] for line in lines] == ["10", "8", "7", "9"]
    assert float(lines[0]["a"]) == first.errors[3]
    row = Row("run", "FGP-VAE", True, {n: Spread((0.1, 0.3)) for n in comparison.TABLE})
    lines = read_csv(tables.table_csv([row], {"mean_image": 0.0551}))
    assert float(lines[0]["test_mse"]) == pytest.approx(0.2)
    assert float(lines[0]["one_view_mse_sd"]) == pytest.approx(np.std([0.1, 0.3], ddof=1))
    assert lines[1]["model"] == "mean_image"
    row = {"P": 45, "seconds_an_epoch": spread([1.0, 2.0]), "extrapolation_mse": spread([0.5])}
    scaling = {"by_digits": [row], "by_views": [], "exponents": {"seconds_an_epoch_in_P": 1.0}}
    lines = read_csv(tables.scaling_csv(scaling))
    assert [line["value"] for line in lines] == ["1.5", "0.5", "1.0"]
    assert float(lines[0]["sd"]) == pytest.approx(np.std([1, 2], ddof=1))
    curve = Curve("run", "#000000", {1: Spread((0.5,)), 15: Spread()})
    lines = read_csv(tables.curves_csv([curve]))
    assert [(line["views"], line["mse"], line["sd"]) for line in lines] == [
        ("1", "0.5", ""),
        ("15", "", ""),
    ]


def test_the_chart_of_errors_has_seeds_means_bars_published_and_references():
    errors = {name: Spread((0.02, 0.04)) for name in comparison.TABLE}
    errors["one_view_mse"] = Spread()
    row = Row("paper", "FGP-VAE", False, errors, published={"mse": 0.0284, "sd": 0.0004})
    made = charts.errors([row], "test_mse", {"geometric rotation": 0.0005})
    reference, seeds, mean, published = made.data
    assert (reference.name, list(reference.x)) == ("geometric rotation 0.0005", [0.0005] * 2)
    assert list(seeds.x) == [0.02, 0.04]
    assert list(mean.x) == [pytest.approx(0.03)]
    assert list(mean.error_x.array) == [pytest.approx(np.std([0.02, 0.04], ddof=1))]
    assert (list(published.x), list(published.error_x.array)) == ([0.0284], [0.0004])
    assert made.layout.xaxis.range[1] > 0.03
    other = charts.errors([row], "one_view_mse", {})
    assert [len(trace.x) for trace in other.data] == [0, 0, 0]
    assert other.layout.yaxis.ticktext == ("FGP-VAE · paper · takes no new digits",)
    narrow = charts.errors([row], "test_mse", {}, narrow=True)
    assert [(name.text, name.y) for name in narrow.layout.annotations] == [("FGP-VAE · paper", 0)]
    assert not narrow.layout.yaxis.showticklabels
    crossing = charts.errors([row, row], "test_mse", {"mean image": 0.05}, narrow=True).data[0]
    above, below, gap = np.reshape(crossing.y, (2, 3)).T  # a name is above its row, in a gap
    assert np.isnan(gap).all()
    assert below[0] < 0.5 < above[1]


def test_own_runs_are_points_in_the_charts_of_cost():
    rows = [{"P": p, "seconds_an_epoch": spread([p / 100])} for p in (45, 90, 360)]
    made = charts.by_digits(
        {"by_digits": rows}, "seconds_an_epoch", "seconds", [("runs/a", 180, 2.5)]
    )
    measured, own = made.data
    assert list(measured.x) == [45, 90, 360]
    assert list(measured.y) == [0.45, 0.9, 3.6]
    assert (own.x, own.y) == ((180,), (2.5,))
    assert made.layout.yaxis.type == "log"


def test_the_best_of_each_column_of_the_table_is_marked():
    rows = [
        Row(name, "VAE", False, {key: Spread((value,)) for key in comparison.TABLE})
        for name, value in (("good", 0.01), ("bad", 0.02))
    ]
    nothing = Row("none", "VAE", False, dict.fromkeys(comparison.TABLE, Spread()))
    made = tables.styled([*rows, nothing])
    style = made.to_html().partition("</style>")[0]
    columns = [made.data.columns.get_loc(title) for title in results.METRICS.values()]
    assert re.findall(r"row(\d+)_col(\d+)", style) == [("0", str(column)) for column in columns]


def test_a_table_is_written_once_for_all_sessions(monkeypatch):
    def app(value):
        from ui.catalog.results import METRICS, Row, Spread
        from ui.compare import tables

        tables.show([Row("a", "VAE", False, {name: Spread((value,)) for name in METRICS})])

    written = []
    write = tables.st.dataframe
    monkeypatch.setattr(
        tables.st, "dataframe", lambda *args, **kwargs: written.append(write(*args, **kwargs))
    )
    first, second, other = (
        AppTest.from_function(app, args=(value,), default_timeout=60).run()
        for value in (0.1371, 0.1371, 0.1372)
    )
    assert first.dataframe[0].value.equals(second.dataframe[0].value)
    assert not first.dataframe[0].value.equals(other.dataframe[0].value)
    assert len(written) == 2
