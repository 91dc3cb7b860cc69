"""Models of figures of cubes: presets, batches, evaluation, cards, the command line."""

import json
import math
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from fgpvae import (
    calibration,
    cards,
    cube_cards,
    data,
    evaluation,
    figure_view,
    models,
    presets,
    recorder,
    runs,
    training_data,
)
from fgpvae.__main__ import main
from fgpvae.batches import TurnedFigures
from fgpvae.checkpoints import load_pretrained, load_run
from fgpvae.data import cubes
from fgpvae.errors import UserError
from fgpvae.experiments import Experiment, report
from fgpvae.experiments.objects import VARIANTS, objects
from fgpvae.randomness import Part
from fgpvae.training import Trainer

ROOT = Path(__file__).parent.parent
SMALL = (
    "model.network.widths=[32,16]",
    "model.latents=12",
    "model.local=4",
    "training.epochs=1",
    "training.batch=256",
)
FOUR_ARMS = "x3 y2 -z2 x2"


def small(*changes):
    return presets.preset("cubes-quick", [*SMALL, *changes])


@pytest.fixture(scope="module")
def few():
    """A few copies of some shapes in place of all of them, so that drawing takes no time."""
    parts = cubes.splits()
    kept = cubes.Splits(parts.training[:3], parts.validation[:2], parts.unseen[:2])
    with pytest.MonkeyPatch.context() as patch:
        for module in (sys.modules["fgpvae.data.cubes.sets"], cubes):
            patch.setattr(module, "splits", lambda seed=0: kept)
        evaluation.unseen_figures.cache_clear()
        evaluation.cube_references.cache_clear()
        yield kept
    evaluation.unseen_figures.cache_clear()
    evaluation.cube_references.cache_clear()


@pytest.fixture(scope="module")
def run(few, tmp_path_factory):
    directory = tmp_path_factory.mktemp("runs") / "cubes"
    for _ in recorder.execute(directory, small("training.epochs=2")):
        pass
    return directory


@pytest.fixture
def model():
    return models.build(small().model).eval()


# Training


def test_an_epoch_has_the_training_copies_four_times_and_others_once(few):
    figures, often = cubes.training_figures(5, seed=1)
    source = TurnedFigures(cubes.turntable(figures), often, 7, 3, 0)
    shown = torch.cat([source.batch(step).ids for step in range(source.steps)])
    counts = shown.bincount(minlength=len(figures)).tolist()
    assert counts == [4] * often + [1] * (len(figures) - often)
    assert often == len(cubes.all_copies(few.training))


def test_workers_draw_the_views_that_one_alone_would(few):
    figures, often = cubes.training_figures(0)
    source = TurnedFigures(cubes.turntable(figures), often, 6, 4, 0)
    whole = source.batch(3)
    parts = [source.batch(3, Part(*ends, 6)) for ends in ((0, 2), (2, 6))]
    assert torch.equal(torch.cat([part.images for part in parts]), whole.images)
    assert torch.equal(torch.cat([part.angles for part in parts]), whole.angles)


@pytest.mark.parametrize("changes", VARIANTS.values(), ids=VARIANTS)
def test_every_model_of_the_experiment_takes_a_few_steps(few, changes):
    config = small("training.batch=32", "training.epochs=6", "training.warmup=0", *changes)
    trainer = Trainer(config, training_data.build_source(config)[0])
    first, *_, last = [step.mse for step in trainer.steps()]
    assert last < first
    assert evaluation.evaluate_cubes(trainer.result())["figures"] == len(
        evaluation.unseen_figures()
    )


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ("data.views=25", "from 1 to 24"),
        ("data.figures=-1", "from 0 to 20000"),
        ("data.warp=1.0", "neither"),
        ("model.network.shape=[1,32,28]", "grey squares"),
        ("model.network.shape=[3,32,32]", "grey squares"),
        ("model.kernel=matern32", "circle"),
    ],
)
def test_settings_that_figures_cannot_have_get_one_sentence(change, word):
    with pytest.raises(UserError, match=word):
        presets.preset("cubes-quick", [change])


def test_a_run_that_is_stopped_ends_with_the_same_weights(few, run, tmp_path):
    training = recorder.execute(tmp_path, small("training.epochs=2"))
    next(training)
    training.close()
    for _ in recorder.execute(tmp_path):
        pass
    first, second = (load_run(path)[0].state_dict() for path in (run, tmp_path))
    assert all(torch.equal(first[name], second[name]) for name in first)


@pytest.mark.slow
def test_training_keeps_within_its_memory(tmp_path):
    """All figures of the quick preset, in a process of their own."""
    command = [sys.executable, "-m", "fgpvae", "train", "--preset", "cubes-quick", "--json"]
    for change in ("model.network.widths=[32,16]", "training.epochs=1", "training.batch=512"):
        command += ["--set", change]
    done = subprocess.run(
        [*command, "--run-dir", str(tmp_path / "run")], cwd=ROOT, capture_output=True, check=True
    )
    assert json.loads(done.stdout)["memory_mb"] < 900


# Evaluation


def test_a_model_is_scored_on_views_that_it_was_not_given(few, run):
    figures = evaluation.evaluate_cubes(load_run(run)[0])
    images = cubes.views_of(cubes.turned_copies(few.unseen))
    assert figures["figures"] == len(images)
    model = load_run(run)[0]
    for given in cubes.GIVEN:
        seen = np.arange(0, 24, 24 // given)
        asked = np.setdiff1d(np.arange(24), seen)
        w = torch.arange(24, dtype=torch.float64).expand(len(images), -1) * (math.pi / 12)
        made = model.generate(images[:, seen], w[:, seen], w[:, asked])
        right = float((made - images[:, asked]).square().mean())
        assert figures["mse_by_views"][str(given)] == pytest.approx(right, rel=1e-4)
    assert figures["one_view_mse"] == figures["mse_by_views"]["1"]


def test_samples_differ_by_their_standard_deviation(few, run):
    model = load_run(run)[0]
    task = cubes.task(evaluation.unseen_figures()[:: evaluation.SPREAD_EACH], 2)
    generator = torch.Generator().manual_seed(0)
    views, drawn = task.context, []
    for _ in range(8):
        made = model.generate(views.images, views.angles, task.at, sample=True, generator=generator)
        drawn.append(made.numpy())
    deviation = math.sqrt(np.var(drawn, axis=0, ddof=1).mean())
    assert evaluation.sample_spread(model, task) == pytest.approx(deviation, rel=1e-4)
    measured = evaluation.evaluate_cubes(model)["spread_by_views"]
    assert measured["2"] == pytest.approx(deviation, rel=1e-4)


def test_the_nearest_figure_is_found_among_all_quarters():
    generator = torch.Generator().manual_seed(0)
    training = torch.rand(5, 24, 3, 3, generator=generator)
    unseen = training[[3, 1]].roll(-12, 1)  # turned by half: training figures themselves
    assert cubes.references(training, unseen)["nearest_figure"] == 0
    other = torch.rand(4, 24, 3, 3, generator=generator)
    errors = []
    for figure in other:  # by looking at each figure in each quarter
        turned = [known.roll(-6 * k, 0) for known in training for k in range(4)]
        best = min(turned, key=lambda known: float((known[0] - figure[0]).square().sum()))
        errors.append((best - figure)[1:].square().mean())
    found = cubes.references(training, other)["nearest_figure"]
    assert found == pytest.approx(float(torch.stack(errors).mean()), rel=1e-5)


def test_bands_are_fitted_on_validation_figures_and_hold_there(few, run):
    model = load_run(run)[0]
    model.calibration = calibration.fit_cubes(model)
    assert model.calibration.views == cubes.GIVEN
    images = cubes.views_of(cubes.turned_copies(few.validation)[:: calibration.FIGURES_EACH])
    for given in cubes.GIVEN:
        shares = cards.coverage(model, calibration.cube_residuals(model, images, given), given)
        assert shares["calibrated_coverage_50"] == pytest.approx(0.5, abs=0.01)
        assert shares["calibrated_coverage_90"] == pytest.approx(0.9, abs=0.01)


def test_the_card_has_what_was_measured(few, run):
    model, config = load_run(run)
    measured = cube_cards.measure(model)
    text = cube_cards.markdown("cubes", cards.about(model, config), measured)
    for n, error in measured["mse_by_views"].items():
        assert f"| {n} | {error:.4f} |" in text
    assert f"{measured['references']['nearest_figure']:.4f}" in text
    assert "--preset cubes-quick --seed 0 --run-dir" in text
    assert "classes" not in text


@pytest.mark.slow
def test_the_experiment_has_a_curve_for_each_model(few, tmp_path, monkeypatch):
    changes = (*SMALL[:2], "training.epochs=1", "training.batch=256")
    experiment = Experiment(
        seeds=1, runs=tmp_path / "runs", results=tmp_path, models=("cvae",), changes=changes
    )

    def trained(self, preset, seed, changes=(), tag=""):
        directory = self.runs / f"{preset}{tag}-{seed}"
        for _ in recorder.execute(directory, presets.preset(preset, (*changes, *self.changes))):
            pass
        return runs.open_run(directory)

    monkeypatch.setattr(Experiment, "run", trained)  # in this process, where figures are few
    result = objects(experiment)
    curve = result["curves"][0]
    assert curve["model"] == "CVAE"
    assert list(curve["mse"]) == ["1", "2", "4", "8"]
    assert result["curves"][-1]["epochs"] == 110 + 150 + 120  # of cubes, which went on twice
    text = report.markdown(result)
    assert "CVAE (`cvae`)" in text
    assert f"{result['references']['mean_image']:.4f}" in text
    with pytest.raises(UserError, match="none of the models"):
        objects(Experiment(seeds=1, runs=tmp_path / "runs", results=tmp_path, models=("paper",)))


# One figure


def test_a_figure_is_imagined_all_around(model):
    seen = figure_view.imagine(model, FOUR_ARMS, [0.0, math.pi], seed=3)
    truth = cubes.views_of([cubes.parse(FOUR_ARMS)])[0].numpy()
    assert np.array_equal(seen.truth, truth)
    assert np.array_equal(seen.views, truth[[0, 12]])
    made = model.generate(seen.views[None], seen.given[None], seen.angles[None])[0]
    assert seen.mean == pytest.approx(made, abs=1e-5)
    assert seen.errors.mean() == pytest.approx(((made - truth) ** 2).mean(), rel=1e-4)
    assert seen.possible.shape == (6, 24, 32, 32)
    again = figure_view.imagine(model, cubes.parse(FOUR_ARMS), [0.0, math.pi], seed=3)
    assert np.array_equal(seen.possible, again.possible)
    assert not np.array_equal(seen.possible[0], seen.possible[1])


def test_samples_of_the_shipped_model_differ_from_one_view_and_agree_from_more():
    """On figures of the validation shapes, at the side away from the first view."""
    model = load_pretrained("cubes")
    figures = cubes.views_of(cubes.turned_copies(cubes.splits().validation)[::10])
    back = slice(8, 17)  # from 120 to 240 degrees
    spreads = []
    for given in cubes.GIVEN:
        task = cubes.task(figures, given)
        w = cubes.grid()[back].expand(len(figures), -1)
        asked = data.Task(task.context, figures[:, back], w)
        spreads.append(evaluation.sample_spread(model, asked))
    assert spreads[0] > 0.04
    for more, less in pairwise(spreads):
        assert less < 0.95 * more
    assert spreads[-1] < 0.6 * spreads[0]


def test_more_views_leave_less_doubt(few, run):
    model = load_run(run)[0]
    doubts = [
        figure_view.imagine(model, FOUR_ARMS, cubes.grid()[:: 24 // n].tolist(), possibilities=40)
        for n in (1, 8)
    ]
    assert doubts[1].doubt.mean() < doubts[0].doubt.mean()


@pytest.mark.parametrize(
    ("figure", "given", "word"),
    [("x9", [0.0], "too long"), ("x -x", [0.0], "comes back"), (FOUR_ARMS, [], "at least one")],
)
def test_bad_figures_and_views_get_one_sentence(model, figure, given, word):
    with pytest.raises(UserError, match=word):
        figure_view.imagine(model, figure, given)


def test_a_model_of_digits_imagines_no_figure():
    digits = models.build(presets.preset("quick").model)
    with pytest.raises(UserError, match="not trained on figures"):
        figure_view.imagine(digits, FOUR_ARMS, [0.0])


# The command line


def test_a_figure_is_turned_by_the_command_line(few, run, tmp_path, capsys):
    out = tmp_path / "strip.png"
    command = ["rotate", FOUR_ARMS, "--model", str(run), "--angle", "0,180", "--to", "0,45,90"]
    assert main([*command, "--out", str(out), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["figure"] == cubes.parse(FOUR_ARMS).moves
    assert said["given"] == [0.0, 180.0]
    assert Image.open(out).size == (3 * 128 + 2 * 4, 256)  # the truth above
    assert main([*command, "--out", str(tmp_path / "turn.gif"), "--json"]) == 0
    assert Image.open(tmp_path / "turn.gif").size == (512, 256)


@pytest.mark.parametrize("figure", ["x9", "x3 q", "x2 y -x2 -y", "", "x (y"])
def test_a_bad_figure_is_one_sentence_on_the_command_line(few, run, tmp_path, capsys, figure):
    out = tmp_path / "strip.png"
    assert main(["rotate", figure, "--model", str(run), "--out", str(out)]) == 2
    said = capsys.readouterr().err.strip()
    assert said.startswith("fgpvae: ")
    assert said.endswith(".")
    assert "\n" not in said
    assert not out.exists()


def test_a_run_is_evaluated_and_gets_a_card(few, run, tmp_path, capsys):
    assert main(["evaluate", str(run), "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert figures["split"] == "cubes"
    assert set(figures["mse_by_views"]) == {"1", "2", "4", "8"}
    assert main(["card", str(run), "--out", str(tmp_path / "card.md"), "--json"]) == 0
    assert f"| 4 | {figures['mse_by_views']['4']:.4f} |" in (tmp_path / "card.md").read_text()


def test_a_digit_picture_is_no_figure(few, run, tmp_path, capsys):
    three = str(ROOT / "docs" / "three.png")
    assert main(["rotate", three, "--model", str(run), "--out", str(tmp_path / "a.png")]) == 2
    assert "is no move" in capsys.readouterr().err
