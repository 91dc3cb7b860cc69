import json
import os
import struct

import numpy as np
import pytest
import torch
from PIL import Image

from fgpvae import data, files, models, runs
from fgpvae.__main__ import main, parser
from fgpvae.errors import UserError
from fgpvae.models import FGPVAEConfig
from fgpvae.networks.standard import NetworkConfig
from fgpvae.runs.checkpoints import WEIGHTS, load_config, save_model
from fgpvae.training.configs import DataConfig
from fgpvae.training.presets import preset

COMMANDS = ("train", "evaluate", "rotate", "runs", "bench")
SMALL = ["--set", "data.views=2", "--set", "model.network.widths=[8]", "--set", "training.batch=90"]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run of one epoch."""
    directory = tmp_path_factory.mktemp("runs") / "mine"
    assert main(["train", "--run-dir", str(directory), "--epochs", "1", *SMALL]) == 0
    return directory


@pytest.fixture
def picture(tmp_path):
    path = tmp_path / "three.png"
    Image.fromarray((255 * data.unseen((3,)).images[0]).astype(np.uint8)).save(path)
    return path


def result(capsys, *arguments: object) -> dict:
    """The one JSON object that a command prints."""
    assert main([str(argument) for argument in arguments]) == 0
    out, error = capsys.readouterr()
    assert error == ""
    value = json.loads(out)
    assert isinstance(value, dict)
    return value


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself_with_an_example_that_parses(command, capsys):
    with pytest.raises(SystemExit) as done:
        main([command, "--help"])
    assert done.value.code == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "--json" in text
    _, _, example = text.partition("example: python -m fgpvae ")
    assert example.startswith(command)
    parser().parse_args(example.split())


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["fly"],
        ["train"],
        ["train", "--run-dir", "x", "--epochs", "many"],
        ["train", "--run-dir", "x", "--preset", "huge"],
        ["train", "--run-dir", "x", "--preset", "two\nlines"],
        ["train", "--run-dir", "x", "--set", "latents=3"],
        ["train", "--run-dir", "x", "--set", "model.latents=" + "[" * 50_000],
        ["train", "--run-dir", "x", "--set", "model.latents=1e999"],
        ["train", "--run-dir", "x", "--set", "data.source=elsewhere"],
        ["train", "--run-dir", "x", "--resume"],
        ["train", "--run-dir", "x", "--resume", "--preset", "quick"],
        ["train", "--run-dir", "x", "--resume", "--period", "360"],
        ["train", "--run-dir", "x", "--data", "elsewhere"],
        ["train", "--run-dir", "x", "--classes", "3;8"],
        ["train", "--run-dir", "x", "--device", "abacus"],
        ["train", "--run-dir", "x", "--unknown"],
        ["train", "--run-dir", "/dev/null/x"],
        ["evaluate"],
        ["evaluate", "nothing"],
        ["rotate", "none.png", "--out", "x.png"],
        ["site", "--out", "/dev/null/x"],
    ],
)
def test_bad_input_is_one_line_on_standard_error_and_exit_code_2(
    arguments, capsys, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    out, error = capsys.readouterr()
    assert out == ""
    assert error.startswith("fgpvae: ")
    assert error.count("\n") == 1
    assert len(error) < 400
    if "data.source=elsewhere" not in arguments:
        assert list(tmp_path.iterdir()) == []


def test_train_prints_where_it_ended_and_refuses_to_train_over_it(run, capsys, tmp_path):
    arguments = ["train", "--run-dir", tmp_path / "run", "--epochs", 2, "--json", *SMALL]
    told = result(capsys, *arguments)
    assert told["state"] == "finished"
    assert told["epoch"] == 2
    assert 0 < told["mse"] < 1
    assert result(capsys, "train", "--resume", "--run-dir", tmp_path / "run", "--json") == told
    assert main([str(argument) for argument in arguments]) == 2
    assert "already holds a run" in capsys.readouterr().err


def test_the_files_of_mnist_and_their_classes_are_options(capsys, tmp_path):
    folder, small = tmp_path / "mnist", ["--set", "model.network.widths=[8]", "--epochs", 1]
    small += ["--set", "training.precision=float32"]
    write_idx(folder, data.embedded((2, 4, 7)))
    result(
        capsys, "train", "--data", folder, "--classes", "2,7", *small, "--run-dir",
        tmp_path / "two", "--set", "training.batch=240", "--json",
    )  # fmt: skip
    config = load_config(tmp_path / "two")
    assert config.data == DataConfig("continuous", str(folder), classes=(2, 7), views=16)
    assert config.preset == "best"
    command = ["train", "--data", folder, "--classes", "all", "--preset", "quick", *small]
    command += ["--set", "data.views=2", "--set", "training.batch=500", "--run-dir"]
    assert result(capsys, *command, tmp_path / "all", "--json")["step"] == 3
    config = load_config(tmp_path / "all")
    assert (config.preset, config.data.views) == ("quick", 2)
    assert config.data.classes == tuple(range(10))
    for wrong, word in (
        (["--classes", "x"], "class"),
        (["--classes", "12"], "0 to 9"),
        (["--preset", "gpvae"], "same angles"),
        (["--preset", "cvae"], "validation digits to 0"),
    ):
        assert main([str(part) for part in (*command, tmp_path / "wrong", *wrong)]) == 2
        error = capsys.readouterr().err
        assert error.count("\n") == 1
        assert word in error


def write_idx(folder, digits):
    folder.mkdir()
    images = np.rint(255 * digits.images).astype(np.uint8)
    head = struct.pack(">4I", 2051, *images.shape)
    (folder / "train-images-idx3-ubyte").write_bytes(head + images.tobytes())
    head = struct.pack(">2I", 2049, len(images))
    labels = digits.labels.astype(np.uint8)
    (folder / "train-labels-idx1-ubyte").write_bytes(head + labels.tobytes())


def test_settings_from_the_command_line_reach_the_run(capsys, tmp_path):
    result(
        capsys, "train", "--run-dir", tmp_path / "a", "--preset", "paper", "--epochs", 1, "--seed",
        3, "--set", "model.latents=9", "--set", "data.classes=[1]", "--set", "data.views=1",
        "--set", "data.digits=20", "--set", "training.schedule=cosine", "--json",
    )  # fmt: skip
    config = runs.open_run(tmp_path / "a").config
    assert (config.seed, config.preset, config.model.latents) == (3, "paper", 9)
    assert (config.data.classes, config.data.views) == ((1,), 1)
    assert (config.training.schedule, config.training.epochs) == ("cosine", 1)
    assert preset("paper", ["seed=4"]).seed == 4


def test_a_reader_that_has_enough_is_no_error(tmp_path, monkeypatch, capfd):
    reader, writer = os.pipe()
    os.close(reader)
    monkeypatch.setattr("sys.stdout", os.fdopen(writer, "w"))
    assert main(["runs", "--root", str(tmp_path)]) == 0
    assert capfd.readouterr().err == ""


def test_evaluate_scores_a_run_by_the_protocol(run, capsys):
    (mine,) = result(capsys, "runs", "--root", run.parent, "--json")["runs"]
    assert (mine["name"], mine["state"], mine["epoch"]) == ("mine", "finished", 1)
    told = result(capsys, "evaluate", run, "--json")
    for name in ("test_mse", "test_mse_sampled", "extrapolation_mse", "one_view_mse"):
        assert 0 < told[name] < 1
    assert told["digits"] == {"test_mse": 270, "extrapolation_mse": 40, "one_view_mse": 40}
    assert told["seconds"] > 0


def test_rotate_writes_strips_and_films(picture, tmp_path, capsys):
    network = NetworkConfig("dense", widths=(8,))
    model = models.build(FGPVAEConfig(latents=4, local=2, mean_function=True, network=network))
    save_model(model, tmp_path / WEIGHTS)
    common = ["rotate", picture, "--model", tmp_path / WEIGHTS, "--json"]
    told = result(
        capsys, *common, "--angle", 0, "--to", "0,45,-90.5", "--out", tmp_path / "strip.png"
    )
    assert (told["angle"], told["images"]) == (0.0, 3)
    with Image.open(tmp_path / "strip.png") as strip:
        assert strip.width > 2 * strip.height
    told = result(capsys, *common, "--out", tmp_path / "turn.gif")
    assert told["angle_inferred"]
    assert 0 <= told["angle"] < 360
    with Image.open(tmp_path / "turn.gif") as film:
        assert film.n_frames > 30
    for wrong in (
        ["--angle", "up", "--out", tmp_path / "a.png"],
        ["--angle", "nan", "--out", tmp_path / "a.png"],
        ["--to", "", "--out", tmp_path / "a.png"],
        ["--to", ",".join(["1"] * 1000), "--out", tmp_path / "a.png"],
        ["--to", ",".join(["1"] * 150), "--out", tmp_path / "a.webp"],
        ["--to", ",".join(["1"] * 600), "--out", tmp_path / "a.jpg"],
        ["--out", tmp_path / "a.xyz"],
        ["--out", tmp_path / "a"],
        ["--out", tmp_path / "no" / "a.png"],
    ):
        assert main([str(word) for word in (*common, *wrong)]) == 2
        out, error = capsys.readouterr()
        assert out == ""
        assert error.count("\n") == 1
        assert ("too wide" in error) == wrong[-1].name.endswith((".webp", ".jpg"))
    assert not (tmp_path / "a.png").exists()


def test_rotate_turns_the_digit_as_the_model_does(picture, tmp_path, capsys):
    model = models.build(FGPVAEConfig(latents=4, local=2)).eval()
    save_model(model, tmp_path / WEIGHTS)
    result(
        capsys, "rotate", picture, "--model", tmp_path / WEIGHTS, "--angle", 30, "--to", 60,
        "--out", tmp_path / "one.png", "--json",
    )  # fmt: skip
    from fgpvae import images
    from fgpvae.orientation import picture_scores

    digit = images.normalise(picture.read_bytes()).digit
    view = torch.from_numpy(picture_scores.as_seen(digit, np.pi / 6))
    angle, at = torch.tensor([[np.pi / 6]]), torch.tensor([[np.pi / 3]])
    expected = images.strip(
        model.generate(view[None, None], angle.double(), at.double())[0].numpy()
    )
    with Image.open(tmp_path / "one.png") as written:
        assert np.array_equal(np.asarray(written), np.asarray(expected))


def test_the_folder_of_the_runs_is_not_told(monkeypatch, tmp_path):
    monkeypatch.setenv("FGPVAE_RUNS", str(tmp_path / "runs"))
    with pytest.raises(UserError, match=r"^'runs/x/model\.safetensors' does not exist"):
        files.read(tmp_path / "runs" / "x" / "model.safetensors", 1)
