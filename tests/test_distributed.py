"""Many workers are one worker: real processes that talk over the loopback."""

import dataclasses
import json
import os
import signal
import subprocess
import sys

import pytest
import torch

from fgpvae import data, runs
from fgpvae.errors import UserError
from fgpvae.gp import posterior, randomness
from fgpvae.runs.checkpoints import WEIGHTS, load_model
from fgpvae.training import batches, distributed, presets
from fgpvae.training.batches import FixedViews, FreshViews, random_context
from fgpvae.training.distributed import Workers
from fgpvae.training.trainer import Trainer
from tests.waiting import PATIENCE, eventually
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
        trainer = Trainer(config, batches.build_source(config)[0], workers)
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
        torch.save({"steps": steps, "state": trainer.state()}, f"{out}-{workers.rank}")


def wait(children: list[Child]) -> list[int]:
    return [child.wait() for child in children]


def said(children: list[Child]) -> list[str]:
    return [child.out.read_text() for child in children]


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


def flat(state, path="") -> dict[str, torch.Tensor]:
    if isinstance(state, torch.Tensor):
        return {path: state}
    items = state.items() if isinstance(state, dict) else ()
    return {k: v for name, value in items for k, v in flat(value, f"{path}.{name}").items()}


@pytest.mark.parametrize("kind", ["warped", "turned and warped"])
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
        generator = randomness.PartGenerator()
        generator.manual_seed(step)
        context = random_context(whole.observed, 0.5, generator)
        for rank in range(2):
            part = Workers(rank, 2).part(len(whole))
            own = source.batch(step, part)
            for each in dataclasses.fields(whole):
                expected = part.of(getattr(whole, each.name))
                assert torch.equal(getattr(own, each.name), expected), each.name
            drawn = randomness.PartGenerator()
            drawn.manual_seed(step)
            drawn.part = part
            assert torch.equal(random_context(own.observed, 0.5, drawn), part.of(context))


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


def test_a_lost_first_worker_ends_the_run_with_a_sentence_and_it_resumes(forks, tmp_path):
    directory = tmp_path / "run"
    workers = forks.start_workers(2, *COMMAND, "--run-dir", directory, "--epochs", 100_000, **OFTEN)
    workers[0].until((directory / runs.METRICS).exists)
    workers[0].kill(signal.SIGKILL)
    assert wait(workers) == [-signal.SIGKILL, 2]
    sentence = "Another worker was lost; the last checkpoint is kept"
    assert said(workers)[1].startswith(f"fgpvae: Worker 1: {sentence}")
    assert said(workers)[1].count("\n") == 1
    run = runs.open_run(directory)
    assert (run.state, run.active) == (runs.INTERRUPTED, False)
    kept = torch.load(directory / runs.STATE, weights_only=True)["step"]
    assert kept > 0
    more = kept // 2 + 2
    code, out = forks.run("train", "--resume", "--run-dir", directory, "--epochs", more)
    assert code == 0, out
    assert runs.open_run(directory).state == runs.FINISHED


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
            for name in (runs.STATE, runs.METRICS):
                eventually(lambda name=name: torchrun.poll() or (directory / name).exists())
            assert torchrun.poll() is None, (tmp_path / "out").read_text()
            first = json.loads((directory / runs.STATUS).read_text())["pid"]
            os.kill(other_worker(torchrun.pid, first), signal.SIGKILL)
            assert torchrun.wait(PATIENCE) != 0
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


@pytest.mark.parametrize(
    ("kind", "model"),
    [("dense", "fgpvae"), ("paper", "cvae"), ("convolutional", "gpvae-amortised")],
)
def test_bfloat16_is_for_the_networks_alone(kind, model, monkeypatch):
    try:
        torch.nn.Linear(784, 16, dtype=torch.bfloat16)(torch.rand(33, 784, dtype=torch.bfloat16))
    except RuntimeError:
        pytest.skip("this processor has no bfloat16")
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: "AVX512")
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
        trainer = Trainer(config, batches.build_source(config)[0])
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


def test_a_processor_without_bfloat16_trains_in_float32(monkeypatch):
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: "AVX2")
    losses = []
    for precision in ("float32", "bfloat16"):
        changes = [*TINY, "training.epochs=1", f"training.precision={precision}"]
        config = presets.preset("quick", changes)
        trainer = Trainer(config, batches.build_source(config)[0])
        losses.append([step.loss for step in trainer.steps()])
    assert losses[0] == losses[1]
