"""Models of figures of cubes: presets, batches, evaluation, cards, the command line."""

import json
import math
from itertools import pairwise

import numpy as np
import pytest
import torch
from PIL import Image

from fgpvae import data, models
from fgpvae.__main__ import main
from fgpvae.data import cube_figures, cubes
from fgpvae.errors import UserError
from fgpvae.evaluation import protocol
from fgpvae.experiments.subjects import CUBES
from fgpvae.runs import writer
from fgpvae.runs.checkpoints import load_pretrained, load_run
from fgpvae.training import batches, presets
from fgpvae.training.batches import TurnedFigures
from fgpvae.training.trainer import Trainer

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
    parts = cube_figures.splits()
    kept = cube_figures.Splits(parts.training[:3], parts.validation[:2], parts.unseen[:2])
    with pytest.MonkeyPatch.context() as patch:
        for module in (cube_figures, cubes):
            patch.setattr(module, "splits", lambda seed=0: kept)
        protocol.unseen_figures.cache_clear()
        protocol.cube_references.cache_clear()
        yield kept
    protocol.unseen_figures.cache_clear()
    protocol.cube_references.cache_clear()


@pytest.fixture(scope="module")
def run(few, tmp_path_factory):
    directory = tmp_path_factory.mktemp("runs") / "cubes"
    for _ in writer.execute(directory, small("training.epochs=2")):
        pass
    return directory


@pytest.fixture
def model():
    return models.build(small().model).eval()


def test_an_epoch_has_the_training_copies_four_times_and_others_once(few):
    figures, often = cube_figures.training_figures(5, seed=1)
    source = TurnedFigures(cubes.Turntable(figures), often, 7, 3, 0)
    shown = torch.cat([source.batch(step).ids for step in range(source.steps)])
    counts = shown.bincount(minlength=len(figures)).tolist()
    assert counts == [4] * often + [1] * (len(figures) - often)
    assert often == len(cube_figures.all_copies(few.training))


@pytest.mark.parametrize("changes", CUBES.values(), ids=CUBES)
def test_every_model_of_the_experiment_takes_a_few_steps(few, changes):
    config = small("training.batch=32", "training.epochs=6", "training.warmup=0", *changes)
    trainer = Trainer(config, batches.build_source(config)[0])
    first, *_, last = [step.mse for step in trainer.steps()]
    assert last < first
    assert protocol.evaluate_cubes(trainer.result())["figures"] == len(protocol.unseen_figures())


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ("data.views=25", "24 angles to draw views"),
        ("data.figures=-1", "from 0 to 20000"),
        ("data.warp=1.0", "Only digits"),
        ("model.network.shape=[1,32,28]", "grey squares"),
        ("model.network.shape=[3,32,32]", "grey squares"),
        ("model.kernel=matern32", "circle"),
    ],
)
def test_settings_that_figures_cannot_have_get_one_sentence(change, word):
    with pytest.raises(UserError, match=word):
        presets.preset("cubes-quick", [change])


def test_a_model_is_scored_on_views_that_it_was_not_given(few, run):
    figures = protocol.evaluate_cubes(load_run(run)[0])
    images = cubes.views_of(cube_figures.turned_copies(few.unseen))
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
    task = cubes.task(protocol.unseen_figures()[:: protocol.SPREAD_EACH], 2)
    generator = torch.Generator().manual_seed(0)
    views, drawn = task.context, []
    for _ in range(8):
        made = model.generate(views.images, views.angles, task.at, sample=True, generator=generator)
        drawn.append(made.numpy())
    deviation = math.sqrt(np.var(drawn, axis=0, ddof=1).mean())
    assert protocol.sample_spread(model, task) == pytest.approx(deviation, rel=1e-4)
    measured = protocol.evaluate_cubes(model)["spread_by_views"]
    assert measured["2"] == pytest.approx(deviation, rel=1e-4)


def test_samples_of_the_shipped_model_differ_from_one_view_and_agree_from_more():
    """On figures of the validation shapes, at the side away from the first view."""
    model = load_pretrained("cubes")
    figures = cubes.views_of(cube_figures.turned_copies(cube_figures.splits().validation)[::10])
    back = slice(8, 17)  # from 120 to 240 degrees
    spreads = []
    for given in cubes.GIVEN:
        task = cubes.task(figures, given)
        w = cubes.grid()[back].expand(len(figures), -1)
        asked = data.Task(task.context, figures[:, back], w)
        spreads.append(protocol.sample_spread(model, asked))
    assert spreads[0] > 0.04
    for more, less in pairwise(spreads):
        assert less < 0.95 * more
    assert spreads[-1] < 0.6 * spreads[0]


def test_a_figure_is_turned_by_the_command_line(few, run, tmp_path, capsys):
    out = tmp_path / "strip.png"
    command = ["rotate", FOUR_ARMS, "--model", str(run), "--angle", "0,180", "--to", "0,45,90"]
    assert main([*command, "--out", str(out), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["views"] == [0.0, 180.0]
    assert said["mse"] > 0
    assert Image.open(out).size == (3 * 128 + 2 * 4, 256)  # the truth above
    assert main([*command, "--out", str(tmp_path / "turn.gif"), "--json"]) == 0
    assert Image.open(tmp_path / "turn.gif").size == (512, 256)
