"""Many workers are one worker: real processes that talk over the loopback."""

import dataclasses
import json
import math
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from fgpvae import data, distributed, posterior, presets, randomness, runs, training_data
from fgpvae.batches import FixedViews, FreshViews, random_context
from fgpvae.checkpoints import WEIGHTS, load_model
from fgpvae.distributed import Workers
from fgpvae.errors import UserError
from fgpvae.randomness import Part
from fgpvae.training import Trainer
from scripts import make_sprites
from tests.zygote import Child, zygote

OFTEN = {"CHECKPOINT_SECONDS": 0.02, "HEARTBEAT_SECONDS": 0.01}
TINY = (
    "data.split=shuffled",  # ragged
    "data.digits=34",
    "training.batch=33",  # an epoch has a batch of 33 digits and one of a single digit
    "training.average=0.9",
    "training.schedule=constant",
    "model.network.widths=[16]",
    "model.latents=6",
    "model.local=3",
)


@pytest.fixture(scope="module")
def forks(tmp_path_factory):
    with zygote(tmp_path_factory.mktemp("out")) as ready:
        yield ready


def record(out: str, *changes: str) -> None:
    """Train in this process, and write down what every step was."""
    config = presets.preset("quick", changes)
    with distributed.join() as workers:
        workers.begun = True  # all know what to do
        trainer = Trainer(config, training_data.build_source(config)[0], workers)
        modules = {"model": trainer.model, "objective": trainer.objective}
        steps = []
        for step in trainer.steps():
            gradients = {
                f"{kind}.{name}": p.grad.clone()
                for kind, module in modules.items()
                for name, p in module.named_parameters()
                if p.grad is not None
            }
            steps.append({"gradients": gradients, "step": dataclasses.asdict(step)})
        learned = [p for p in trainer.model.parameters() if p.requires_grad]
        result = {
            "steps": steps,
            "state": trainer.state(),
            "bytes": workers.bytes,
            "gradient_bytes": 4 + sum(p.numel() * p.element_size() for p in learned),
            "digits": config.training.epochs * trainer.source.digits,
        }
        torch.save(result, f"{out}-{workers.rank}")


def wait(children: list[Child]) -> list[int]:
    return [child.wait() for child in children]


def said(children: list[Child]) -> list[str]:
    return [child.out.read_text() for child in children]


# The same gradients

MODELS = {
    "FGP-VAE, ELBO": (
        2,
        ["objective.learn_pixel_variance=true", "training.context_dropout=0.5", "training.clip=1"],
    ),
    "FGP-VAE, GECO": (
        3,
        [
            "objective.name=geco",
            "model.network.kind=paper",
            "model.learn_kernel=true",
            "data.warp=1",
        ],
    ),
    "FGP-VAE, new angles": (2, ["data.split=continuous", "training.batch=250", "data.warp=0.5"]),
    "VAE": (2, ["model.name=vae"]),
    "CVAE": (2, ["model.name=cvae", "objective.name=geco"]),
    "GP-VAE, a phase an epoch": (
        2,
        ["model.name=gpvae", "model.phases=[0.3,0.6]", "training.epochs=3"],
    ),
    "amortised GP-VAE, joint": (
        2,
        ["model.name=gpvae-amortised", "model.phases=[0,0]", "model.network.kind=paper"],
    ),
}


@pytest.mark.parametrize(("count", "changes"), MODELS.values(), ids=MODELS.keys())
def test_many_workers_have_the_gradients_of_one(count, changes, forks, tmp_path):
    # steps so small that a rounding error in one does not show in the next
    setting = [*TINY, "training.epochs=2", "training.learning_rate=1e-7", "training.warmup=0"]
    if "gpvae" in " ".join(changes):
        setting.append("training.context_dropout=0")
    function = "tests.test_distributed.record"
    alone = forks.start(tmp_path / "alone", *setting, *changes, function=function)
    many = forks.start_workers(count, tmp_path / "many", *setting, *changes, function=function)
    assert [alone.wait(), *wait(many)] == [0] * (count + 1), said([alone, *many])
    expected = torch.load(tmp_path / "alone-0")
    found = [torch.load(tmp_path / f"many-{rank}") for rank in range(count)]

    assert len(expected["steps"]) >= 4
    for one, other in zip(expected["steps"], found[0]["steps"], strict=True):
        assert one["gradients"].keys() == other["gradients"].keys()
        for name, gradient in one["gradients"].items():
            largest = float(gradient.abs().max())
            close = torch.allclose(
                other["gradients"][name], gradient, rtol=1e-3, atol=1e-5 * largest + 1e-12
            )
            assert close, name
        assert other["step"] == pytest.approx(one["step"], rel=1e-4)
    assert any(g.abs().max() > 0 for g in expected["steps"][-1]["gradients"].values())

    # in step to the last bit: weights, moments, λ
    first = flat(found[0]["state"])
    for other in found[1:]:
        assert flat(other["state"]).keys() == first.keys()
        assert all(torch.equal(value, first[name]) for name, value in flat(other["state"]).items())
    # a step sends three numbers a digit, and the gradient once
    steps = len(expected["steps"])
    for worker in found:
        digits = worker["bytes"] - steps * worker["gradient_bytes"]
        assert digits == 3 * 8 * (worker["digits"] + steps)


def flat(state, path="") -> dict[str, torch.Tensor]:
    if isinstance(state, torch.Tensor):
        return {path: state}
    items = state.items() if isinstance(state, dict) else ()
    return {k: v for name, value in items for k, v in flat(value, f"{path}.{name}").items()}


def test_dropout_is_refused_with_a_sentence():
    config = presets.preset("quick", [*TINY, "model.network.dropout=0.1"])
    source = training_data.build_source(config)[0]
    Trainer(config, source)
    with pytest.raises(UserError, match=r"set model\.network\.dropout to 0\."):
        Trainer(config, source, Workers(1, 2))


def test_mps_is_refused_with_a_sentence():
    config = presets.preset("quick", TINY)
    with pytest.raises(UserError, match=r"use --device cpu\."):
        Trainer(config, training_data.build_source(config)[0], Workers(1, 2), "mps")


@pytest.mark.parametrize(
    ("cause", "seen"),
    [
        (RuntimeError("Connection closed by peer"), distributed.WorkerLost),
        (torch.OutOfMemoryError("of this GPU"), torch.OutOfMemoryError),
    ],
)
def test_only_a_worker_that_is_lost_is_called_lost(cause, seen, monkeypatch):
    def fail(loss):
        raise cause

    workers = Workers(0, 2)
    monkeypatch.setattr(workers, "_shared", fail)
    with pytest.raises(seen):
        workers.backward(torch.zeros((), requires_grad=True))


def stumble(out: str) -> None:
    """Train with an image that is not finite among the digits of the last worker."""
    config = presets.preset("quick", [*TINY, "data.split=factorized", "data.views=3"])
    views = data.factorized()[:10]
    source = FixedViews(views, 33, config.seed)
    views.images[source.shuffle.rows(0)[-1], 0, 5, 5] = math.nan
    with distributed.join() as workers:
        workers.begun = True
        with pytest.raises(UserError) as stop:
            Trainer(config, source, workers).advance()
        Path(f"{out}-{workers.rank}").write_text(str(stop.value))


def test_what_stops_one_worker_stops_all_with_a_sentence(forks, tmp_path):
    function = "tests.test_distributed.stumble"
    workers = forks.start_workers(2, tmp_path / "out", function=function)
    assert wait(workers) == [0, 0], said(workers)
    other, own = ((tmp_path / f"out-{rank}").read_text() for rank in range(2))
    assert other.startswith("Training stopped at step 0: the reconstruction and the KL term is not")
    assert own.startswith("Training stopped at step 0: The posterior of a digit could not be")


def test_own_objects_are_found_in_the_run_by_every_worker(forks, tmp_path):
    np.savez(tmp_path / "own.npz", **make_sprites.make(6, 5, 8, 8))
    command = ["train", "--preset", "objects", "--data", tmp_path / "own.npz", "--epochs", 1]
    command += ["--set", "model.network.widths=[8]", "--run-dir", tmp_path / "run", "--json"]
    workers = forks.start_workers(2, *command)
    assert wait(workers) == [0, 0], said(workers)
    assert json.loads(said(workers)[0])["epoch"] == 1


# The same random numbers


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 40), st.integers(1, 8), st.integers(0, 2**32 - 1))
def test_workers_share_out_the_digits_and_the_numbers_of_one(P, count, seed):
    def draw() -> list[torch.Tensor]:
        torch.manual_seed(seed)
        own = torch.Generator().manual_seed(seed)
        size = len(torch.arange(P)) if part is None else len(part)
        return [
            randomness.normal((size, 3, 2)),
            randomness.uniform((size, 5), torch.float64, own),
            randomness.normal((size,), torch.float64, own),
        ]

    part = None
    whole = draw()
    torch.manual_seed(seed)
    assert torch.equal(whole[0], torch.randn(P, 3, 2))  # alone, nothing is drawn in another way
    assert Workers().part(P) is None
    pieces = []
    for rank in range(count):
        part = Workers(rank, count).part(P)
        with randomness.drawn_for(part):
            pieces.append(draw())
    for drawn, parts in zip(whole, zip(*pieces, strict=True), strict=True):
        assert torch.equal(torch.cat(parts), drawn)


@pytest.mark.parametrize("kind", ["fixed", "warped", "turned", "turned and warped"])
def test_the_parts_of_a_batch_make_the_whole_batch(kind):
    digits = data.embedded()[:14]
    strength = 1.0 if "warped" in kind else 0.0
    source = (
        FreshViews(digits, 9, 3, 4, strength)
        if "turned" in kind
        else FixedViews(data.shuffled()[:14], 9, 4, strength)
    )
    for step in range(3):
        whole = source.batch(step)
        generator = torch.Generator().manual_seed(step)
        context = random_context(whole.observed, 0.5, generator)
        for rank in range(2):
            part = Workers(rank, 2).part(len(whole))
            own = source.batch(step, part)
            for each in dataclasses.fields(whole):
                expected = part.of(getattr(whole, each.name))
                assert torch.equal(getattr(own, each.name), expected), each.name
            generator.manual_seed(step)
            with randomness.drawn_for(part):
                assert torch.equal(random_context(own.observed, 0.5, generator), part.of(context))


def test_numbers_for_other_digits_than_a_worker_has_are_an_error():
    with (
        randomness.drawn_for(Part(2, 5, 9)),
        pytest.raises(ValueError, match="4 digits in a part of 3"),
    ):
        randomness.normal((4, 2))


# Runs


COMMAND = ["train", "--preset", "quick", "--seed", 3, "--json"]
COMMAND += [word for change in TINY for word in ("--set", change)]


def test_a_run_goes_on_with_another_number_of_workers(forks, tmp_path):
    kept = ["--set", "data.validation=4", "--set", "training.validate_every=1"]
    kept += ["--set", "training.keep=best"]
    alone, many = tmp_path / "alone", tmp_path / "many"
    assert forks.run(*COMMAND, *kept, "--run-dir", alone, "--epochs", 4)[0] == 0
    for count, epochs, options in ((2, 2, [*COMMAND, *kept]), (3, 3, None), (1, 4, None)):
        options = options or ["train", "--resume", "--json"]
        workers = forks.start_workers(count, *options, "--run-dir", many, "--epochs", epochs)
        assert wait(workers) == [0] * count, said(workers)
        first, *others = said(workers)
        assert json.loads(first)["epoch"] == epochs
        assert others == [""] * (count - 1)  # the first speaks for all
    one, other = runs.open_run(alone), runs.open_run(many)
    assert other.state == runs.FINISHED
    for a, b in zip(one.metrics(), other.metrics(), strict=True):
        for name in ("epoch", "step", "loss", "mse", "kl", "validation_mse"):
            assert b[name] == pytest.approx(a[name], rel=0.01), name
    assert {path.name for path in many.iterdir()} == {path.name for path in alone.iterdir()}
    load_model(many / WEIGHTS)


@pytest.mark.parametrize("victim", [0, 1])
def test_a_lost_worker_ends_the_run_with_a_sentence_and_it_resumes(victim, forks, tmp_path):
    directory = tmp_path / "run"
    workers = forks.start_workers(2, *COMMAND, "--run-dir", directory, "--epochs", 100_000, **OFTEN)
    wait_until_trained(directory)
    workers[victim].kill(signal.SIGKILL)
    codes = wait(workers)
    assert codes[victim] == -signal.SIGKILL
    assert codes[1 - victim] == 2
    name = "" if victim else "Worker 1: "
    sentence = "Another worker was lost; the last checkpoint is kept"
    assert said(workers)[1 - victim].startswith(f"fgpvae: {name}{sentence}")
    assert said(workers)[1 - victim].count("\n") == 1
    run = runs.open_run(directory)
    assert (run.state, run.active) == (runs.INTERRUPTED, False)
    assert run.message.startswith(sentence if victim else "")
    kept = torch.load(directory / runs.STATE, weights_only=True)["step"]
    assert kept > 0
    more = kept // 2 + 2
    code, out = forks.run("train", "--resume", "--run-dir", directory, "--epochs", more)
    assert code == 0, out
    assert runs.open_run(directory).state == runs.FINISHED


def wait_until_trained(directory: Path) -> None:
    while not (directory / runs.METRICS).exists():
        time.sleep(0.01)


@pytest.mark.parametrize("how", ["signals", "one signal", "stop file"])
def test_all_workers_stop_after_the_same_step(how, forks, tmp_path):
    directory = tmp_path / "run"
    workers = forks.start_workers(2, *COMMAND, "--run-dir", directory, "--epochs", 100_000, **OFTEN)
    wait_until_trained(directory)
    if how == "stop file":
        (directory / runs.STOP).touch()
    for worker in {"signals": workers, "one signal": workers[1:], "stop file": []}[how]:
        worker.kill(signal.SIGTERM)
    assert wait(workers) == [130 if how == "signals" else 0, 0], said(workers)
    run = runs.open_run(directory)
    assert run.state == runs.STOPPED
    step = torch.load(directory / runs.STATE, weights_only=True)["step"]
    assert step == round(run.epoch * 2)


def test_bad_input_is_said_once(forks, tmp_path):
    missing = ["--set", "data.split=continuous", "--set", "data.source=elsewhere"]
    for wrong, sentence in (
        (["--set", "model.latents=1000000"], "latents"),
        (["--resume"], "keeps its settings"),
        (missing, "no directory elsewhere"),
    ):
        workers = forks.start_workers(2, *COMMAND, *wrong, "--run-dir", tmp_path / "run")
        assert wait(workers) == [2, 0], said(workers)
        first, second = said(workers)
        assert re.fullmatch(rf"fgpvae: .*{sentence}.*\n", first)
        assert second == ""


def test_torchrun_starts_them_and_ends_when_one_is_lost(tmp_path):
    directory = tmp_path / "run"
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    command += ["--nproc-per-node", "2", "-m", "fgpvae", *map(str, COMMAND)]
    command += ["--run-dir", str(directory), "--epochs", "100000"]
    with (
        (tmp_path / "out").open("w") as out,
        subprocess.Popen(command, stdout=out, stderr=out) as torchrun,
    ):
        try:
            while not (directory / runs.STATE).exists():
                assert torchrun.poll() is None, (tmp_path / "out").read_text()
                time.sleep(0.05)
            wait_until_trained(directory)
            first = json.loads((directory / runs.STATUS).read_text())["pid"]
            os.kill(other_worker(torchrun.pid, first), signal.SIGKILL)
            assert torchrun.wait() != 0
        finally:
            torchrun.kill()
    assert "Another worker was lost; the last checkpoint is kept" in (tmp_path / "out").read_text()
    run = runs.open_run(directory)
    assert (run.state, run.active) == (runs.INTERRUPTED, False)
    assert run.message.startswith("Another worker was lost")


def other_worker(parent: int, first: int) -> int:
    import psutil

    (other,) = (child.pid for child in psutil.Process(parent).children() if child.pid != first)
    return other


# Devices and precision


def test_a_device_is_chosen_or_refused(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    assert distributed.choose_device("auto") == torch.device("cpu")
    assert distributed.choose_device("cpu") == torch.device("cpu")
    for name, sentence in (("cuda", "has no cuda"), ("mps", "has no mps"), ("tpu", "no device")):
        with pytest.raises(UserError, match=sentence):
            distributed.choose_device(name)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    assert distributed.choose_device("auto") == torch.device("mps")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setenv("LOCAL_RANK", "1")
    assert distributed.choose_device("auto") == torch.device("cuda", 1)
    monkeypatch.setenv("LOCAL_RANK", "2")
    with pytest.raises(UserError, match="no GPU of its own"):
        distributed.choose_device("cuda")


@pytest.mark.parametrize("kind", ["dense", "paper", "convolutional"])
@pytest.mark.parametrize("model", ["fgpvae", "cvae", "gpvae-amortised"])
def test_bfloat16_is_for_the_networks_alone(kind, model, monkeypatch):
    seen = []
    for path in (posterior.DensePosterior, posterior.FourierPosterior):

        def note(self, kernel, w, mu, var, observed, start=path.__init__):
            start(self, kernel, w, mu, var, observed)
            seen.extend([self.mu, self.var, self.alpha if hasattr(self, "alpha") else self.weights])

        monkeypatch.setattr(path, "__init__", note)
    changes = [f"model.network.kind={kind}", f"model.name={model}", "training.epochs=3"]
    changes += ["training.context_dropout=0"]
    changes += ["model.phases=[0,0]"] if model == "gpvae-amortised" else []
    losses, products = {}, {}
    for precision in ("float32", "bfloat16"):
        config = presets.preset("quick", [*TINY, *changes, f"training.precision={precision}"])
        trainer = Trainer(config, training_data.build_source(config)[0])
        layer = next(m for m in trainer.model.encoder.modules() if isinstance(m, torch.nn.Linear))
        layer.register_forward_hook(lambda m, i, out, p=precision: products.update({p: out.dtype}))
        losses[precision] = [step.loss for step in trainer.steps()]
        assert {p.dtype for p in trainer.model.encoder.parameters()} == {torch.float32}
        assert {p.grad.dtype for p in trainer.model.decoder.parameters()} == {torch.float32}
    assert products == {"float32": torch.float32, "bfloat16": torch.bfloat16}
    assert losses["bfloat16"] != losses["float32"]
    assert losses["bfloat16"] == pytest.approx(losses["float32"], rel=0.05)
    assert bool(seen) == (model == "fgpvae")
    assert all(value.dtype == torch.float64 for value in seen)


@pytest.mark.parametrize("Q", [8, 96])
def test_the_gp_is_the_same_to_the_last_bit_within_autocast(Q):
    """What keeps it in float64 is that autocast leaves float64 alone."""
    config = presets.preset("quick", ["training.precision=bfloat16"])
    trainer = Trainer(config, training_data.build_source(config)[0])
    generator = torch.Generator().manual_seed(0)
    mu, var = torch.randn(2, 3, Q, 28, generator=generator)
    w = torch.rand(3, Q, dtype=torch.float64, generator=generator)
    observed = torch.rand(3, Q, generator=generator) < 0.8

    def compute() -> list[torch.Tensor]:
        found = trainer.model.posterior(mu, var.square() + 0.1, w, observed)
        return [*found.at_views(), found.style_mean, found.style_var, found.log_evidence()]

    plain = compute()
    with trainer._precision():
        assert torch.is_autocast_enabled("cpu")
        mixed = compute()
    for one, other in zip(plain, mixed, strict=True):
        assert one.dtype == other.dtype == torch.float64
        assert torch.equal(one, other)
