"""Experiments end to end on tiny runs, their reports, and the cards."""

import json
import shutil
import subprocess
import sys
from dataclasses import replace
from types import SimpleNamespace

import pytest

from fgpvae import runs
from fgpvae.__main__ import main
from fgpvae.errors import UserError
from fgpvae.experiments import Experiment, common, report
from fgpvae.experiments.digits import extrapolation
from fgpvae.experiments.table1 import choose, table1
from fgpvae.runs import open_run


@pytest.fixture(scope="module")
def experiment(tmp_path_factory):
    root = tmp_path_factory.mktemp("experiment")
    tiny = ("training.epochs=1", "data.digits=300")
    return Experiment(
        seeds=1, runs=root / "runs", results=root / "results", models=("paper",), changes=tiny
    )


def train_here(patch, own_process=""):
    """Train in this process; runs of a directory with this in its name in one of their own."""

    def run(command, **options):
        if "fgpvae" in command and not (own_process and own_process in " ".join(command)):
            return SimpleNamespace(returncode=main(command[3:]), stderr="")
        return subprocess.run(command, **options)

    calls = SimpleNamespace(run=run, CalledProcessError=subprocess.CalledProcessError)
    patch.setattr(common, "subprocess", calls)


@pytest.fixture(scope="module")
def table(experiment):
    rates = sys.modules[choose.__module__]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rates, "CANDIDATES", (("cosine", 1e-5), ("constant", 0.004)))
        patch.setattr(rates, "KEPT_BACK", 20)
        train_here(patch, own_process="paper-paper-equal-0")
        yield table1(experiment)


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


@pytest.mark.parametrize("state", ["finished", "interrupted"])
def test_runs_with_other_settings_are_refused(experiment, table, tmp_path, state):
    run = experiment.run("paper", 0)
    other = replace(experiment, changes=("training.epochs=2", "data.digits=300"))
    if state == "interrupted":
        other = replace(other, runs=tmp_path)
        with runs.locked(tmp_path / run.name):
            runs.create(tmp_path / run.name, run.config)
    with pytest.raises(UserError, match="'paper-0' was trained with other settings"):
        other.run("paper", 0)


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


def test_extrapolation_has_a_point_for_each_number_of_views(experiment, table):
    result = extrapolation(experiment)
    (curve,) = result["curves"]
    assert list(curve["mse"]) == ["1", "2", "4", "8", "11", "15"]
    for each, wanted in ((table, []), (result, [".svg"])):
        paths = report.write(each, experiment.results)
        drawn = wanted if any(map(shutil.which, report.BROWSERS)) else []
        assert [path.suffix for path in paths] == [".json", ".md", *drawn]
        assert all(path.stat().st_size for path in paths)
        assert json.loads(paths[0].read_text()) == each
        assert each["command"] in paths[1].read_text()
