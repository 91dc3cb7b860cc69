"""One's own objects: reading, splitting, training, scoring."""

import io
import json
import zipfile

import numpy as np
import pytest
import torch
from PIL import Image

from fgpvae.__main__ import main
from fgpvae.data import object_files, objects
from fgpvae.data.track import Track
from fgpvae.errors import UserError
from fgpvae.evaluation import protocol
from fgpvae.gp.kernels import ON_A_LINE
from fgpvae.gp.mean_functions import MeanOnALine
from fgpvae.runs import writer
from fgpvae.runs.checkpoints import CONFIG, load_config, load_objects, load_pretrained
from fgpvae.training import batches, presets
from fgpvae.training.configs import DataConfig, RunConfig
from fgpvae.training.trainer import Trainer
from scripts.make_sprites import make
from tests.configs import model_config

SMALL = ["--set", "model.network.widths=[16]", "--set", "model.latents=6", "--set", "model.local=2"]


def sprites(**changes):
    """Arrays of ten ragged sprites in colour, images 9 high and 14 wide."""
    options = {"objects": 10, "views": 6, "height": 9, "width": 14} | changes
    return make(**options)


def archive(path, **arrays):
    np.savez(path, **arrays)
    return path


def refused(path, *words):
    with pytest.raises(UserError) as caught:
        object_files.load(path)
    sentence = str(caught.value)
    assert sentence.endswith(".")
    assert sentence.count(". ") == 0
    assert "Traceback" not in sentence
    for word in words:
        assert word in sentence
    return sentence


@pytest.mark.parametrize("grey", [False, True])
def test_an_archive_is_what_was_saved(tmp_path, grey):
    arrays = sprites(grey=grey)
    found = object_files.load(archive(tmp_path / "s.npz", **arrays))
    assert found.shape == ((1, 9, 14) if grey else (3, 9, 14))
    assert np.array_equal(found.images, arrays["images"])
    assert np.array_equal(found.view, arrays["view"])
    assert [found.names[i] for i in found.index] == arrays["object"].tolist()
    assert len(found.names) == 10
    for number, mine in enumerate(found.by_object):
        assert set(mine) == set(np.flatnonzero(found.index == number))
        assert np.all(np.diff(found.view[mine]) >= 0)
    again = object_files.parse(object_files.pack(found), "again")
    assert np.array_equal(again.images, found.images)
    assert np.array_equal(again.index, found.index)
    assert again.names == found.names


def folder(path, arrays, order=("file", "object", "view")):
    path.mkdir()
    lines = [",".join(order)]
    for number, image in enumerate(arrays["images"]):
        Image.fromarray(image).save(path / f"{number}.png")
        row = {"file": f"{number}.png", "object": arrays["object"][number]}
        row["view"] = repr(float(arrays["view"][number]))
        lines.append(",".join(str(row[column]) for column in order))
    (path / "views.csv").write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("grey", [False, True])
def test_a_folder_holds_the_same_as_an_archive(tmp_path, grey):
    arrays = sprites(objects=5, grey=grey)
    ours = object_files.load(folder(tmp_path / "set", arrays, order=("view", "file", "object")))
    theirs = object_files.load(archive(tmp_path / "s.npz", **arrays))
    assert ours.names == theirs.names
    for name in ("images", "index", "view"):
        assert np.array_equal(getattr(ours, name), getattr(theirs, name))


N = len(sprites()["view"])
BAD = {
    "no images": ({"images": None}, "no array 'images'"),
    "NaN views": ({"view": np.full(N, np.nan)}, "not a finite number"),
    "text as views": ({"view": np.full(N, "left")}, "real numbers"),
    "one view too few": ({"view": np.zeros(N - 1)}, f"each of the {N} images"),
    "two columns of objects": ({"object": np.zeros((N, 2), dtype=int)}, "one entry for each"),
    "fractions as objects": ({"object": np.linspace(0, 1, N)}, "whole numbers or text"),
    "two channels": ({"images": np.zeros((N, 9, 14, 2), dtype=np.uint8)}, "must have the shape"),
    "thousands of pixels": ({"images": np.zeros((N, 9, 2000), dtype=np.uint8)}, "9 x 2000"),
    "no pixels": ({"images": np.zeros((N, 0, 14), dtype=np.uint8)}, "must have the shape"),
    "pixels beyond 1": ({"images": np.full((N, 9, 14), 1.5)}, "numbers from 0 to 1"),
    "negative pixels": ({"images": np.full((N, 9, 14), -1)}, "numbers from 0 to 1"),
    "one object": ({"object": np.zeros(N, dtype=int)}, "1 objects"),
    "a view an object": ({"object": np.arange(N)}, "a single view"),
    "nothing": (
        {"images": np.zeros((0, 9, 14)), "object": np.zeros(0, int), "view": np.zeros(0)},
        "must have the shape",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_archive_ends_in_one_sentence(tmp_path, case):
    changes, words = BAD[case]
    arrays = {k: v for k, v in (sprites() | changes).items() if v is not None}
    refused(archive(tmp_path / "s.npz", **arrays), words)


class Bomb:
    """Would leave a file behind if it were unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (self.path, "w"))


def test_pickled_arrays_are_refused_and_never_run(tmp_path):
    trap = tmp_path / "trap"
    arrays = sprites() | {"object": np.array([Bomb(str(trap))] * N, dtype=object)}
    np.savez(tmp_path / "s.npz", **arrays)
    refused(tmp_path / "s.npz", "Python objects")
    assert not trap.exists()


def header(shape, kind="|u1"):
    text = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}"
    text += " " * (-(len(text) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()


@pytest.mark.parametrize(
    "member",
    [
        b"",
        b"not an array",
        header("(1000000, 1000000, 1000000)"),  # a terabyte, if it were believed
        header("(-1, 4)") + b"1234",
        header("(4,)") + b"123",
        header("(4,)", "|V0"),
        header("(True, 8, 8)") + bytes(64),
        header("(8.0, 8)") + bytes(64),
        header("(" * 50 + ")" * 50),
        b"\x93NUMPY\x09\x00",
    ],
)
def test_damaged_arrays_are_refused_before_anything_is_allocated(tmp_path, member):
    path = archive(tmp_path / "s.npz", **{k: v for k, v in sprites().items() if k != "images"})
    with zipfile.ZipFile(path, "a") as file:
        file.writestr("images.npy", member)
    refused(path, "images")


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ("", "no rows"),
        ("file,object\n0.png,a\n", "no column 'view'"),
        ("file,object,view\n0.png,a\n", "no column 'view'"),
        ("file,object,view\n0.png,a,0\n0.png,b\n", "Line 3"),
        ("file,object,view\n0.png,a,left\n", "Line 2"),
        ("file,object,view\n7.png,a,0\n", "does not exist"),
        ("file,object,view\n../other.png,a,0\n", "not in the folder"),
        ("file,object,view\nviews.csv,a,0\n", "not an image"),
        ("file,object,view\n0.png,a,0\nlarge.png,a,1\n", "at most 64 x 64"),
        ("file,object,view\n0.png,a,0\nother.png,a,1\n", "one size"),
        ("file,object,view\n0.png,a,nan\n", "not a finite number"),
    ],
)
def test_bad_folders(tmp_path, table, words):
    path = tmp_path / "set"
    path.mkdir()
    for name, size in (("0", (14, 9)), ("large", (3000, 9)), ("other", (9, 14))):
        Image.new("RGB", size).save(path / f"{name}.png")
    Image.new("RGB", (14, 9)).save(tmp_path / "other.png")
    (path / "views.csv").write_text(table)
    refused(path, words)


@pytest.mark.parametrize("track", [Track(360.0), Track(0.0, -3.0, 12.0)])
def test_a_track_and_back(track):
    low, high = track.ends
    view = np.linspace(low, high, 9)[:-1]
    w = track.to_w(view)
    np.testing.assert_allclose(track.to_view(w), view, atol=1e-9)
    if track.period:
        np.testing.assert_allclose(w, np.deg2rad(view))
        assert track.apart(0.1, 2 * np.pi - 0.1) == pytest.approx(0.2)
        assert track.to_w(-90.0) == pytest.approx(-np.pi / 2)
    else:
        assert w[0] == -1
        assert track.to_w(12.0) == 1
        assert track.apart(-1.0, 1.0) == 2


def test_nothing_is_both_trained_on_and_asked_for(tmp_path):
    found = object_files.load(archive(tmp_path / "s.npz", **sprites(objects=30)))
    track = found.track()
    split = objects.Own(found, track, seed=3)
    again = objects.Own(found, track, seed=3)
    assert torch.equal(split.train.images, again.train.images)
    assert split.unseen != objects.Own(found, track, seed=4).unseen
    assert len(split.unseen) == 3
    assert set(split.train.ids.tolist()) == set(range(30)) - set(split.unseen)

    def content(ids, images, angles, there):
        """The views of a batch, each as object, w and pixels."""
        return [
            (int(ids[p]), float(angles[p, q]), images[p, q].numpy().tobytes())
            for p, q in there.nonzero().tolist()
        ]

    train = split.train
    trained = content(train.ids, train.images, train.angles, train.observed)
    counts = {"test_mse": 27, "extrapolation_mse": 3, "one_view_mse": 3}
    every = set()
    for name, task in split.tasks.items():
        context = task.context
        given = content(context.ids, context.images, context.angles, context.observed)
        asked = content(context.ids, task.targets, task.at, task.asked)
        assert len(task) == counts[name]
        assert not set(given) & set(asked)
        assert not set(trained) & set(asked)
        assert bool(context.observed.any(-1).all())
        assert bool(task.asked.any(-1).all())
        if name == "test_mse":
            assert set(given) == set(trained)
            every = set(given) | set(asked)
            assert len(asked) == len(split.held)
        else:
            assert set(context.ids.tolist()) == set(split.unseen)
            whole = sum(len(found.by_object[n]) for n in split.unseen)
            assert len(given) + len(asked) == whole
        if name == "one_view_mse":
            assert context.observed.sum(-1).tolist() == [1] * 3
            distance = task.at.abs().masked_fill(~task.asked, 9).min(-1).values
            assert bool((context.angles[:, 0].abs() <= distance).all())
    unseen = sum(len(found.by_object[n]) for n in split.unseen)
    assert len(every) + unseen == len(found.view)


@pytest.mark.parametrize("name", ON_A_LINE)
def test_the_mean_on_a_line_is_a_draw_from_the_kernel(name):
    mean = MeanOnALine(ON_A_LINE[name](0.1, 0.4), 3)
    at = torch.linspace(-1, 1, 50).double()
    phi = mean.features(at)
    expected = ON_A_LINE[name](1.0, 0.4).gram(at, at)
    # exact at the nodes for every kernel; between them up to how rough its functions are
    nodes = mean.features(mean.nodes)
    gram = ON_A_LINE[name](1.0, 0.4).gram(mean.nodes, mean.nodes)
    torch.testing.assert_close(nodes @ nodes.mT, gram, atol=1e-5, rtol=0)
    rough = {"squared-exponential": 1e-2, "matern52": 0.05, "matern32": 0.1}[name]
    assert float((phi @ phi.mT - expected).abs().max()) < rough
    assert mean(at).shape == (50, 3)
    assert set(mean.state_dict()) == {"weights"}


@pytest.mark.parametrize(
    ("model", "track"),
    [
        ({"kernel": "periodic"}, Track(0.0, 0.0, 1.0)),
        ({"kernel": "matern32"}, Track(360.0)),
        ({"name": "cvae"}, Track(360.0)),
        ({"period": 3.0}, Track(360.0)),
    ],
)
def test_kernel_and_track_must_suit_each_other(model, track):
    with pytest.raises(UserError):
        RunConfig(model=model_config(**model), data=DataConfig("objects", track=track))


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A finished run on a line, from the command line."""
    root = tmp_path_factory.mktemp("objects")
    path = archive(root / "sprites.npz", **sprites(objects=12))
    run = root / "runs" / "line"
    options = ["--preset", "objects", "--data", str(path), "--kernel", "matern52", *SMALL]
    assert main(["train", *options, "--run-dir", str(run), "--epochs", "3", "--json"]) == 0
    path.unlink()  # a run needs nothing but itself
    return run


def test_evaluate_reports_every_figure_with_its_references(trained, capsys):
    assert main(["evaluate", str(trained), "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    config, found = load_config(trained), load_objects(trained)
    split = objects.Own(found, config.data.track, config.seed)
    model = load_pretrained(trained)
    for name in ("test_mse", "extrapolation_mse", "one_view_mse"):
        task, total, nearest = split.tasks[name], [], []
        for p, s in task.asked.nonzero().tolist():
            one = task.context[p]
            made = model.generate(one.images, one.angles, task.at[p : p + 1], one.observed)[0, s]
            truth = task.targets[p, s]
            total.append(float((made - truth).square().mean()))
            seen = one.observed[0].nonzero().flatten().tolist()
            q = min(seen, key=lambda q: abs(float(one.angles[0, q] - task.at[p, s])))
            nearest.append(float((one.images[0, q] - truth).square().mean()))
        assert figures[name] == pytest.approx(np.mean(total), rel=1e-4)
        reference = figures["references"][name]
        assert reference["nearest_view"] == pytest.approx(np.mean(nearest), rel=1e-4)
        assert 0 < reference["mean_image"] < 1
        assert figures[f"{name}_sampled"] > 0
        assert figures["images"][name] == len(total)


def test_a_path_in_a_foreign_config_is_never_opened(trained, tmp_path):
    """Whatever a run says about where its objects came from, only its own copy is read."""
    secret = archive(tmp_path / "secret.npz", **sprites())
    run = tmp_path / "foreign"
    run.mkdir()
    config = json.loads((trained / CONFIG).read_text())
    config["data"]["source"] = str(secret)
    (run / CONFIG).write_text(json.dumps(config))
    with pytest.raises(UserError, match="are gone"):
        load_objects(run)
    (run / "objects.npz").symlink_to(secret)
    with pytest.raises(UserError, match="a link"):
        load_objects(run)
    with pytest.raises(UserError, match="a link"):
        for _ in writer.execute(run):
            pass


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--preset", "objects"], "needs --data"),
        (["--preset", "quick", "--data", "DATA"], "belong to --preset objects"),
        (["--preset", "objects", "--data", "DATA", "--period", "-1"], "must be positive"),
        (["--preset", "objects", "--data", "DATA", "--period", "1e-300"], "periods of"),
        (["--preset", "objects", "--data", "DATA", "--kernel", "periodic"], "period"),
        (["--preset", "objects", "--data", "DATA", "--set", "data.warp=1"], "warped"),
        (["--preset", "objects", "--data", "DATA", "--set", "model.network.kind=paper"], "paper"),
        (["--preset", "objects", "--data", "gone.npz"], "no file or folder"),
        (["--preset", "objects", "--data", "DATA", "--classes", "3"], "--classes"),
    ],
)
def test_bad_commands_end_in_one_line(tmp_path, capsys, options, words):
    path = archive(tmp_path / "s.npz", **sprites())
    options = [str(path) if option == "DATA" else option for option in options]
    assert main(["train", *options, "--run-dir", str(tmp_path / "run"), "--json"]) == 2
    out, error = capsys.readouterr()
    assert out == ""
    assert error.count("\n") == 1
    assert words in error
    assert not (tmp_path / "run").exists()


@pytest.mark.slow
def test_it_learns_where_things_are():
    """A few seconds of training beat the mean image and the nearest view."""
    buffer = io.BytesIO()
    np.savez(buffer, **sprites(objects=60, views=8, height=8, width=16))
    found = object_files.parse(buffer.getvalue(), "s")
    config = presets.changed(
        presets.for_objects(found),
        [
            "model.network.widths=[64]",
            "model.latents=10",
            "model.local=4",
            "training.epochs=60",
            "training.batch=8",
            "training.learning_rate=0.004",
        ],
    )
    source, _ = batches.build_source(config, found)
    trainer = Trainer(config, source)
    for _ in trainer.steps():
        pass
    figures = protocol.evaluate_objects(trainer.result(), found, config.data, config.seed)
    for name, reference in figures["references"].items():
        assert figures[name] < 0.9 * min(reference.values()), (name, figures)
