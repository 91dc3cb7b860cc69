"""Experiments end to end on tiny runs, their reports, and the cards."""

import json
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from fgpvae import cards, load_pretrained, pretrained_names, runs
from fgpvae.__main__ import main
from fgpvae.errors import UserError
from fgpvae.evaluation import config_of
from fgpvae.experiments import Experiment, common, equal, report
from fgpvae.experiments.disentanglement import (
    disentanglement,
    model_scores,
    swap_error,
    unseen_views,
)
from fgpvae.experiments.extrapolation import extrapolation, prior_samples
from fgpvae.experiments.one_view import one_view
from fgpvae.experiments.rates import choose
from fgpvae.experiments.scaling import by_number_of_views, scaling
from fgpvae.experiments.table1 import table1, trivial
from fgpvae.models import FGPVAE, FGPVAEConfig
from fgpvae.networks import NetworkConfig
from fgpvae.presets import preset
from fgpvae.runs import open_run


@pytest.fixture(scope="module")
def experiment(tmp_path_factory):
    root = tmp_path_factory.mktemp("experiment")
    tiny = ("training.epochs=1", "data.digits=300")
    return Experiment(
        seeds=1, runs=root / "runs", results=root / "results", models=("paper",), changes=tiny
    )


def train(command, **options):
    """Train rates that are tried in this process; what is reported in one of its own."""
    if "-cosine-" in " ".join(command) or "-constant-" in " ".join(command):
        return SimpleNamespace(returncode=main(command[3:]), stderr="")
    return subprocess.run(command, **options)


@pytest.fixture(scope="module")
def table(experiment):
    rates = sys.modules[choose.__module__]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rates, "CANDIDATES", (("cosine", 1e-5), ("constant", 0.004)))
        patch.setattr(rates, "KEPT_BACK", 20)
        calls = SimpleNamespace(run=train, CalledProcessError=subprocess.CalledProcessError)
        patch.setattr(common, "subprocess", calls)
        yield table1(experiment)


@pytest.fixture
def no_svg(monkeypatch):
    """A chart is a page only: test_report_writes_every_file has one drawn by a browser, too."""
    monkeypatch.setattr(report, "_write_svg", lambda figure, path: False)


def test_table1_trains_and_scores(table):
    (row,) = table["rows"]
    assert row["model"] == "FGP-VAE"
    assert 0.01 < row["test_mse"]["mean"] < 0.2
    assert row["peak_memory_mb"]["mean"] > 50
    assert row["published"]["mse"] == 0.0284


def test_equal_block_has_a_rate_chosen_on_views_kept_back(experiment, table):
    (row,) = table["equal"]["rows"]
    slow, fast = (each["validation_mse"]["mean"] for each in row["choice"]["tried"])
    assert fast < slow
    assert (row["choice"]["schedule"], row["choice"]["rate"]) == ("constant", 0.004)
    run = open_run(experiment.runs / "paper-paper-equal-0")
    training = run.config.training
    assert (training.schedule, training.learning_rate) == ("constant", 0.004)  # not the preset's
    assert training.average
    assert (run.config.data.split, run.config.data.validation) == ("shuffled", 0)
    assert row["cpu_seconds"]["mean"] > 0
    by_views = extrapolation(experiment)["curves"][0]["mse"]
    assert row["mse_by_views"].keys() == by_views.keys()
    assert row["mse_by_views"]["11"]["mean"] == pytest.approx(row["extrapolation_mse"]["mean"])


def test_rows_are_kept_if_asked(experiment, table, tmp_path):
    """Those with enough seeds, of both blocks; and others that nobody asked for."""
    old = json.loads(json.dumps(table)) | {"date": "2020-01-01", "commit": "abc"}
    for row in (*old["rows"], *old["equal"]["rows"]):
        del row["date"], row["commit"], row["seeds"], row["cpu_seconds"]  # as they once were
    old["rows"].append(old["rows"][0] | {"preset": "vae"})
    (tmp_path / "table1.json").write_text(json.dumps(old))
    again = replace(experiment, results=tmp_path, runs=tmp_path / "none", reuse=True)
    found = table1(again)  # trains nothing
    assert not again.runs.exists()
    assert [row["preset"] for row in found["rows"]] == ["vae", "paper"]
    for row in (*found["rows"], *found["equal"]["rows"]):
        assert (row["date"], row["commit"], row["seeds"]) == ("2020-01-01", "abc", 1)
    assert report.markdown(found).count("2020-01-01, abc, seeds: 1") == 3


def test_a_model_can_be_asked_for_in_the_equal_block_alone(experiment, table):
    alone = table1(replace(experiment, models=("paper-equal",)))
    assert alone["rows"] == []
    assert alone["equal"]["rows"] == table["equal"]["rows"]


def test_rows_with_too_few_seeds_or_other_epochs_are_made_anew(
    experiment, table, tmp_path, monkeypatch, no_svg
):
    report.write(table, tmp_path)
    again = replace(experiment, results=tmp_path, reuse=True)
    monkeypatch.setattr(Experiment, "run", lambda *given, **more: pytest.fail("trained"))
    assert table1(again)["rows"] == table["rows"]
    for change in ({"seeds": 2}, {"reuse": False}):
        with pytest.raises(pytest.fail.Exception, match="trained"):
            table1(replace(again, **change))
    monkeypatch.setattr(equal, "EPOCHS", equal.EPOCHS + 1)
    with pytest.raises(pytest.fail.Exception, match="trained"):
        table1(again)


@pytest.mark.parametrize(
    ("errors", "chosen"),
    [
        (([0.030], [0.028], [0.027]), 0.006),  # one seed tells no error of its own
        (([0.0300], [0.028, 0.028], [0.0275, 0.0284]), 0.003),  # level: the lower rate
        (([0.0275, 0.0276], [0.0274, 0.0276], [0.0269, 0.0271]), 0.006),
        (([0.0300], [0.0270, 0.0272], [0.0275, 0.0262]), 0.003),  # the first is far behind
    ],
)
def test_of_rates_that_cannot_be_told_apart_the_lowest_is_chosen(errors, chosen, monkeypatch):
    module = sys.modules[choose.__module__]
    candidates = (("constant", 0.001), ("cosine", 0.003), ("cosine", 0.006))
    monkeypatch.setattr(module, "CANDIDATES", candidates)
    found = {f"{rate:g}": values for (_, rate), values in zip(candidates, errors, strict=True)}

    class Runs:
        def run(self, preset, seed, changes, tag):
            value = found[tag.rsplit("-", 1)[-1]][seed]
            return SimpleNamespace(metrics=lambda: [{"validation_mse": value}])

    assert choose(Runs(), "paper", "paper", (), range(len(errors[-1])))["rate"] == chosen


def test_one_view_stands_beside_what_was_published(
    experiment, table, monkeypatch, tmp_path, no_svg
):
    monkeypatch.setattr(sys.modules[one_view.__module__], "SHIPPED", ("wide",))
    result = one_view(experiment)
    wide, trained = result["rows"]
    assert wide["model"] == "FGP-VAE, dense networks, encoder told the angle"
    for known in result["published"]:
        assert wide[known["task"]]["mean"] < known["mse"]
        assert trained[known["task"]]["mean"] > known["mse"]  # one epoch
    assert max(result["geometry"].values()) < 1e-6
    text = report.markdown(result)
    assert result["comparable"] in text
    assert all(path.stat().st_size for path in report.write(result, tmp_path))


def test_one_view_has_a_row_with_more_epochs(experiment, table, monkeypatch):
    done, asked = experiment.run("paper", 0), []
    monkeypatch.setattr(Experiment, "run", lambda self, *given, **more: asked.append(given) or done)
    rows = one_view(replace(experiment, models=common.MODELS))["rows"]
    assert [row["preset"] for row in rows if not row["shipped"]] == ["quick", "quick-longer"]
    assert asked == [
        ("quick", 0, (), ""),
        ("quick", 0, ("training.epochs=440",), "-longer"),
    ]


def test_finished_runs_are_reused(experiment, table):
    run = experiment.run("paper", 0)
    before = (run.path / "model.safetensors").stat().st_mtime_ns
    assert table1(experiment)["rows"] == table["rows"]
    assert (run.path / "model.safetensors").stat().st_mtime_ns == before


@pytest.mark.parametrize("state", ["finished", "interrupted"])
def test_runs_with_other_settings_are_refused(experiment, table, tmp_path, state):
    run = experiment.run("paper", 0)
    other = replace(experiment, changes=("training.epochs=2", "data.digits=300"))
    if state == "interrupted":
        other = replace(other, runs=tmp_path)
        runs.create(tmp_path / run.name, run.config)
    with pytest.raises(UserError, match="'paper-0' was trained with other settings"):
        other.run("paper", 0)


def test_the_command_of_a_result_names_all_that_differs(experiment):
    plain = Experiment(seeds=2).provenance("table1")["command"]
    assert plain == "python -m fgpvae experiment table1 --seeds 2"
    several = replace(experiment, changes=("data.classes=[3, 8]", "training.epochs=1"))
    assert several.provenance("scaling")["command"] == (
        "python -m fgpvae experiment scaling --seeds 1 --models paper "
        "--set 'data.classes=[3, 8]' --set training.epochs=1"
    )


def test_scaling_takes_every_seed(experiment, table, monkeypatch, tmp_path, no_svg):
    asked, run = [], experiment.run("paper", 0)

    def trained(self, preset, seed, changes=(), tag=""):
        asked.append((tag, seed))
        return run

    monkeypatch.setattr(Experiment, "run", trained)
    module = sys.modules[scaling.__module__]
    monkeypatch.setattr(module, "DIGITS", ((45, 1), (90, 1)))
    views = by_number_of_views((8, 9, 10, 11))
    monkeypatch.setattr(module, "by_number_of_views", lambda: views)
    result = scaling(replace(experiment, seeds=2))
    assert asked == [(tag, seed) for tag in ("-P45", "-P90") for seed in (0, 1)]
    error = result["by_digits"][0]["extrapolation_mse"]
    assert error["values"] == [error["mean"]] * 2
    assert f"{error['mean']:.4f} ± 0.0000" in report.markdown(result)
    assert all(path.stat().st_size for path in report.write(result, tmp_path))


def test_what_cannot_be_reported_is_refused_before_anything_is_trained(tmp_path, capsys):
    (tmp_path / "file").touch()
    common = ["experiment", "extrapolation", "--runs", tmp_path / "runs", "--results"]
    for wrong, word in (
        ([tmp_path / "results", "--models", "gpvae"], "None of these models takes new digits."),
        ([tmp_path / "file"], "file' cannot be made"),
        ([tmp_path / "file" / "in"], "file/in' cannot be made"),
        (["/proc/self/fd"], "cannot be written"),
    ):
        assert main([str(part) for part in (*common, *wrong)]) == 2
        assert word in capsys.readouterr().err
    assert not (tmp_path / "runs").exists()


def test_report_writes_every_file(experiment, table):
    paths = report.write(table, experiment.results)
    drawn = {".svg"} if any(map(shutil.which, report.BROWSERS)) else set()
    assert {path.suffix for path in paths} >= {".json", ".md", ".html"} | drawn
    assert all(path.stat().st_size for path in paths)
    assert json.loads(paths[0].read_text())["rows"] == table["rows"]
    text = paths[1].read_text()
    assert f"{table['rows'][0]['test_mse']['mean']:.4f}" in text
    assert table["command"] in text


def test_extrapolation_has_a_point_for_each_number_of_views(experiment, table):
    result = extrapolation(experiment)
    (curve,) = result["curves"]
    assert list(curve["mse"]) == ["1", "2", "4", "8", "11", "15"]
    report.markdown(result)
    assert (experiment.results / "prior-paper.png").exists()


def test_disentanglement_has_a_row_for_each_figure(experiment, table, tmp_path, no_svg):
    result = disentanglement(experiment)
    (row,) = result["rows"]
    text = report.markdown(result)
    assert f"| swap error | {row['swap_error']['mean']:.3f} |" in text
    assert "date" not in text
    assert all(path.stat().st_size for path in report.write(result, tmp_path))


def test_a_failed_training_is_told(tmp_path):
    broken = Experiment(seeds=1, runs=tmp_path, changes=("model.latents=0",))
    with pytest.raises(UserError, match="latents"):
        broken.run("paper", 0)


def test_trivial_predictors_of_the_benchmark():
    assert trivial()["mean_image"] == pytest.approx(0.0551, abs=5e-5)


def test_posteriors_are_timed_by_number_of_views():
    rows = by_number_of_views((8, 16))
    assert [row["Q"] for row in rows] == [8, 16]
    assert all(row[path] > 0 for row in rows for path in ("dense", "fourier", "joint"))


def small(**changes):
    network = NetworkConfig("dense", widths=(16,))
    return FGPVAE(FGPVAEConfig(latents=6, local=2, network=network, **changes)).eval()


def test_scores_of_a_model_include_its_swap_error():
    model, views = small(), unseen_views()[:12]
    scores = model_scores(model, views)
    assert scores["swap_error"] == swap_error(model, views)
    assert 0 <= scores["digit_retrieval_global"] <= 1


def test_swapping_a_digit_with_itself_is_reconstruction():
    model, views = small(), unseen_views()[:1]
    images = model.generate(views.images, views.angles, views.angles)
    assert swap_error(model, views) == pytest.approx(float((images - views.images).square().mean()))


def test_prior_samples_are_images():
    assert prior_samples(small(), count=3).shape == (3, 28, 28)


def test_card_measures_every_class_and_number_of_views():
    config = preset("best", ["data.classes=[3,8]"])
    measured = cards.measure(small(mean_function=True), config)
    assert set(measured["one_view_mse"]) == {"all", "3", "8"}
    assert list(measured["mse_by_views"]) == list(cards.CONTEXTS)
    mean = (measured["one_view_mse"]["3"] + measured["one_view_mse"]["8"]) / 2
    assert measured["one_view_mse"]["all"] == pytest.approx(mean)
    text = cards.markdown("small", {"model": "a test"}, measured)
    assert f"{measured['one_view_mse']['8']:.4f}" in text
    assert "worse than the mean image" in text


@pytest.mark.parametrize("name", ["gpvae", "vae"])
def test_card_of_a_baseline_has_what_it_can_be_asked_for(name):
    model, config = load_pretrained(name), config_of(name)
    measured = cards.measure(model, config)
    text = cards.markdown(name, cards.about(model, config), measured)
    card = (Path(__file__).parent.parent / "docs" / "models" / f"{name}.md").read_text()
    words, numbers = (re.split(r"\d+\.\d+", text), re.findall(r"\d+\.\d+", text))
    assert re.split(r"\d+\.\d+", card) == words
    kept = [float(number) for number in re.findall(r"\d+\.\d+", card)]
    assert kept == pytest.approx([float(number) for number in numbers], abs=2e-4)
    assert ("one_view_mse" in measured) == model.takes_new_digits
    assert "orientation" not in text


@pytest.mark.parametrize("name", pretrained_names())
def test_a_card_says_how_the_model_was_trained(name):
    card = (Path(__file__).parent.parent / "docs" / "models" / f"{name}.md").read_text()
    training = cards.about(load_pretrained(name), config_of(name))["training"]
    assert f"- **training**: {training}\n" in card
