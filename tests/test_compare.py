"""The page Compare: committed results, one's own models, the same digits through each."""

import csv
import io
import json

import numpy as np
import pytest

from fgpvae.evaluation import comparison
from fgpvae.runs import checkpoints
from tests import tiny
from tests.pages import html, open_page
from tests.waiting import eventually
from ui.compare import curve_cards, files, pictures_card, table_cards
from ui.compare.results import Row, Spread


def spread(values):
    return {"mean": float(np.mean(values)) if values else None, "sd": None, "values": values}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A run of one's own."""
    folder = tmp_path_factory.mktemp("compare")
    return tiny.train(folder / "runs", "first")


@pytest.fixture(autouse=True)
def runs(place, monkeypatch):
    monkeypatch.setenv("FGPVAE_RUNS", str(place.parent))


def compare(*models):
    return fine(open_page("compare", **({"compare.digits": list(models)} if models else {})))


def fine(app):
    assert not app.exception
    return app


def test_without_results_the_page_says_how_to_make_them(monkeypatch, tmp_path):
    monkeypatch.setenv("FGPVAE_RESULTS", str(tmp_path))
    assert any("experiment table1" in text.value for text in compare().markdown)


def test_the_table_has_ours_beside_the_published():
    app = compare()
    fine(app.segmented_control(key="compare.block").set_value("published").run())
    shown = app.dataframe[0].value.set_index("Model")
    for row in json.loads((tiny.ROOT / "results" / "table1.json").read_text())["rows"]:
        found = shown.loc[row["preset"]]
        assert found["Held-out angle"] == pytest.approx(row["test_mse"]["mean"])
        assert found["seconds an epoch"] == pytest.approx(row["seconds_an_epoch"]["mean"])
        if row["published"]:
            assert found["published"] == row["published"]["mse"]


def test_own_runs_are_evaluated_on_demand_and_join_the_table(place):
    app = compare("runs/first")
    evaluate = next(b for b in app.button if b.label == "Evaluate")
    assert "runs/first" not in list(app.dataframe[0].value["Model"])
    fine(evaluate.click().run())
    eventually(lambda: "runs/first" in list(fine(app.run()).dataframe[0].value["Model"]))
    model = checkpoints.load_model(place / "model.safetensors")
    config = checkpoints.load_config(place)
    expected = comparison.table_figures(model, config.data, config.seed)
    shown = app.dataframe[0].value.set_index("Model").loc["runs/first"]
    for name, title in table_cards.METRICS.items():
        assert shown[title] == pytest.approx(expected[name])
    assert next(b for b in app.button if b.label == "Evaluate").disabled


def test_every_question_can_be_asked():
    app = compare("runs/first")
    for kind, digit in (("training", "digit 0"), ("upright", "digit 360")):
        fine(app.segmented_control(key="compare.ask").set_value(kind).run())
        assert html(app, f">{digit}<")
    fine(app.multiselect(key="compare.digits").set_value([]).run())
    assert any("No model chosen" in block.value for block in app.header)


def test_a_link_to_a_model_that_is_gone_says_so_and_opens_the_others():
    app = compare("runs/gone", "runs/first")
    assert html(app, "no run &#x27;gone&#x27;")
    fine(app.segmented_control(key="compare.sort").set_value("difference").run())  # itself alone


def answer(seed):
    draw = np.random.default_rng(seed)
    truth, image = draw.random((2, 4, 28, 28), dtype=np.float32)
    return truth, comparison.Answer(image, truth)


def read_csv(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_files_hold_every_figure():
    truth, first = answer(0)
    matrix = pictures_card.Matrix(truth, "digit", [7, 8, 9, 10], [3, 1, 0, 2], {"a": first}, {})
    lines = read_csv(matrix.csv())
    assert [line["digit"] for line in lines] == ["10", "8", "7", "9"]
    assert float(lines[0]["a"]) == first.errors[3]
    scores = dict.fromkeys((*comparison.TABLE, "seconds_an_epoch"), Spread((0.1, 0.3)))
    row = Row("run", "FGP-VAE", True, scores)
    lines = read_csv(files.columns_csv(table_cards.models_table([row])))
    assert float(lines[0]["Held-out angle"]) == pytest.approx(0.2)
    spread_of = lines[0]["New digits, one view, sd"]
    assert float(spread_of) == pytest.approx(np.std([0.1, 0.3], ddof=1))
    row = {"P": 45, "seconds_an_epoch": spread([1.0, 2.0]), "extrapolation_mse": spread([0.5])}
    scaling = {"by_digits": [row], "by_views": [], "exponents": {"seconds_an_epoch_in_P": 1.0}}
    lines = read_csv(curve_cards.scaling_csv(scaling))
    assert [line["value"] for line in lines] == ["1.5", "0.5", "1.0"]
    assert float(lines[0]["sd"]) == pytest.approx(np.std([1, 2], ddof=1))
    row = Row("run", "FGP-VAE", by_views={1: Spread((0.5,)), 15: Spread()})
    lines = read_csv(files.curves_csv([row]))
    assert [(line["views"], line["mse"], line["sd"]) for line in lines] == [
        ("1", "0.5", ""),
        ("15", "", ""),
    ]
