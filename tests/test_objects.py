"""One's own objects: reading, splitting, training, scoring."""

import io
import json
import zipfile
from dataclasses import replace

import numpy as np
import pytest
import torch
from PIL import Image

from fgpvae import archives, data, evaluation, models, presets, recorder, runs, training_data
from fgpvae.__main__ import main
from fgpvae.checkpoints import CONFIG, load_config, load_objects, load_pretrained
from fgpvae.configs import DataConfig, RunConfig, from_dict
from fgpvae.data import object_files, objects
from fgpvae.data.objects import Track
from fgpvae.errors import UserError
from fgpvae.kernels import ON_A_LINE
from fgpvae.models import FGPVAEConfig
from fgpvae.models.mean_functions import MeanOnALine
from fgpvae.training import Trainer
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


# Reading


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


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.int64, bool])
def test_other_kinds_of_numbers_are_taken_as_pixels(tmp_path, kind):
    arrays = sprites(grey=True)
    pixels = arrays["images"]
    if kind is bool:
        pixels = 255 * (pixels > 100).astype(np.uint8)
        given = pixels > 0
    elif kind is np.int64:
        given = pixels.astype(kind)
    else:
        given = (pixels / 255).astype(kind)
    arrays |= {
        "images": given[..., None],
        "object": np.unique(arrays["object"], return_inverse=True)[1],
    }
    found = object_files.load(archive(tmp_path / "s.npz", **arrays))
    assert np.array_equal(found.images, pixels)
    assert found.images.dtype == np.uint8


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


def test_what_is_transparent_is_black(tmp_path):
    path = folder(tmp_path / "set", sprites(objects=4, views=2))
    Image.new("RGBA", (14, 9), (255, 0, 0, 0)).save(path / "0.png")
    assert object_files.load(path).images[0].max() == 0


# Bad input: one sentence each

N = len(sprites()["view"])
BAD = {
    "no images": ({"images": None}, "no array 'images'"),
    "no object": ({"object": None}, "no array 'object'"),
    "no view": ({"view": None}, "no array 'view'"),
    "NaN views": ({"view": np.full(N, np.nan)}, "not a finite number"),
    "infinite views": ({"view": np.full(N, np.inf)}, "not a finite number"),
    "text as views": ({"view": np.full(N, "left")}, "real numbers"),
    "complex views": ({"view": np.full(N, 1j)}, "real numbers"),
    "one view too few": ({"view": np.zeros(N - 1)}, f"each of the {N} images"),
    "two columns of objects": ({"object": np.zeros((N, 2), dtype=int)}, "one entry for each"),
    "fractions as objects": ({"object": np.linspace(0, 1, N)}, "whole numbers or text"),
    "flat images": ({"images": np.zeros((N, 126), dtype=np.uint8)}, "must have the shape"),
    "two channels": ({"images": np.zeros((N, 9, 14, 2), dtype=np.uint8)}, "must have the shape"),
    "thousands of pixels": ({"images": np.zeros((N, 9, 2000), dtype=np.uint8)}, "9 x 2000"),
    "no pixels": ({"images": np.zeros((N, 0, 14), dtype=np.uint8)}, "no pixels"),
    "pixels beyond 1": ({"images": np.full((N, 9, 14), 1.5)}, "numbers from 0 to 1"),
    "NaN pixels": ({"images": np.full((N, 9, 14), np.nan)}, "numbers from 0 to 1"),
    "negative pixels": ({"images": np.full((N, 9, 14), -1)}, "numbers from 0 to 1"),
    "one object": ({"object": np.zeros(N, dtype=int)}, "1 objects"),
    "a view an object": ({"object": np.arange(N)}, "Every object"),
    "nameless": ({"object": np.full(N, "")}, "name of an object"),
    "nothing": (
        {"images": np.zeros((0, 9, 14)), "object": np.zeros(0, int), "view": np.zeros(0)},
        "has no images",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_archive_ends_in_one_sentence(tmp_path, case):
    changes, words = BAD[case]
    arrays = {k: v for k, v in (sprites() | changes).items() if v is not None}
    refused(archive(tmp_path / "s.npz", **arrays), words)


def test_an_object_with_a_single_view_is_named(tmp_path):
    arrays = sprites()
    arrays["object"][0] = "lonely"
    refused(archive(tmp_path / "s.npz", **arrays), "'lonely' has a single view")


def test_too_many_views_of_one_object(tmp_path):
    arrays = sprites(objects=4, views=2)
    many = {k: np.repeat(v, 600, axis=0) for k, v in arrays.items()}
    refused(archive(tmp_path / "s.npz", **many), "at most 512")


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
        b"\x93NUMPY\x09\x00",
    ],
)
def test_damaged_arrays_are_refused_before_anything_is_allocated(tmp_path, member):
    path = archive(tmp_path / "s.npz", **{k: v for k, v in sprites().items() if k != "images"})
    with zipfile.ZipFile(path, "a") as file:
        file.writestr("images.npy", member)
    refused(path, "images")


@pytest.mark.parametrize("content", [b"", b"PK", b"\x00" * 100])
def test_what_is_no_archive(tmp_path, content):
    (tmp_path / "s.npz").write_bytes(content)
    refused(tmp_path / "s.npz", "not a NumPy archive")


def test_a_cut_archive(tmp_path):
    path = archive(tmp_path / "s.npz", **sprites())
    path.write_bytes(path.read_bytes()[:-200])
    refused(path, "damaged")


def test_paths_that_are_neither(tmp_path):
    refused(tmp_path / "nothing.npz", "no file or folder")
    (tmp_path / "a.txt").write_text("a")
    refused(tmp_path / "a.txt", "neither a NumPy archive")
    (tmp_path / "empty").mkdir()
    refused(tmp_path / "empty", "one table")


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ("", "no rows"),
        ("file,object\n0.png,a\n", "no column 'view'"),
        ("file,object,view\n0.png,a\n", "no column 'view'"),
        ("file,object,view\n0.png,a,0\n0.png,b\n", "too few columns"),
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


# The track, and the split


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
    split = objects.split(found, track, seed=3)
    again = objects.split(found, track, seed=3)
    assert torch.equal(split.train.images, again.train.images)
    assert split.unseen != objects.split(found, track, seed=4).unseen
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


def test_padded_targets_do_not_count():
    class Zero:
        def generate(self, views, angles, at, observed, **_):
            return torch.zeros(*at.shape, 2, 2)

    views = data.Views(
        torch.zeros(2, 1, 2, 2),
        torch.zeros(2, 1).double(),
        torch.ones(2, 1, dtype=torch.bool),
        torch.arange(2),
        torch.zeros(2).long(),
    )
    targets = torch.full((2, 2, 2, 2), 1.0)
    targets[0, 0], targets[1, 1] = 3.0, 100.0
    asked = torch.tensor([[True, True], [True, False]])
    task = data.Task(views, targets, torch.zeros(2, 2).double(), asked)
    assert evaluation.task_mse(Zero(), task) == pytest.approx((9 + 1 + 1) / 3)


# The model on a line


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


def line_model(kernel="matern52", shape=(3, 9, 14)):
    torch.manual_seed(0)
    network = models.base.NetworkConfig("dense", widths=(16,), shape=shape, gated=True)
    config = FGPVAEConfig(
        latents=6, local=2, length_scale=0.5, mean_function=True, kernel=kernel, network=network
    )
    return models.build(config)


@pytest.mark.parametrize("kernel", ON_A_LINE)
def test_padding_has_no_influence_on_a_line(tmp_path, kernel):
    found = object_files.load(archive(tmp_path / "s.npz", **sprites()))
    views = objects.split(found, found.track()).train
    assert not bool(views.observed.all())
    model = line_model(kernel)
    torch.manual_seed(1)
    terms = model.terms(views)
    hidden = ~views.observed
    junk = replace(views, images=views.images.clone(), angles=views.angles.clone())
    junk.images[hidden], junk.angles[hidden] = 1e6, 0.77
    torch.manual_seed(1)
    assert torch.equal(model.terms(junk).squared_error, terms.squared_error)
    assert torch.equal(model.terms(junk).kl, terms.kl)
    (terms.squared_error.sum() + terms.kl.sum()).backward()
    assert all(p.grad.isfinite().all() for p in model.parameters() if p.requires_grad)
    images = model.generate(views.images, views.angles, views.angles[:, :3], views.observed)
    assert images.shape == (len(views), 3, 3, 9, 14)


@pytest.mark.parametrize(
    "bad",
    [
        {"kernel": "linear"},
        {"kernel": "matern32", "name": "cvae"},
        {"kernel": "matern32", "name": "gpvae"},
        {"kernel": "matern32", "name": "vae"},
    ],
)
def test_kernels_that_do_not_exist_or_do_not_suit_are_refused(bad):
    with pytest.raises(UserError, match=r"kernel"):
        from_dict(RunConfig, {"model": bad})


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


# The command line


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


def test_the_config_follows_from_the_data(trained):
    config = load_config(trained)
    assert config.model.network.shape == (3, 9, 14)
    assert config.model.kernel == "matern52"
    assert config.data.split == "objects"
    assert config.data.source == "sprites.npz"
    found = load_objects(trained)
    assert config.data.views == found.most_views()
    assert config.data.track.ends == (found.view.min(), found.view.max())


def test_evaluate_reports_every_figure_with_its_references(trained, capsys):
    assert main(["evaluate", str(trained), "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    config, found = load_config(trained), load_objects(trained)
    split = objects.split(found, config.data.track, config.seed)
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


def test_two_views_an_object_leave_none_to_hold_out(tmp_path):
    found = object_files.load(archive(tmp_path / "s.npz", **sprites(views=2)))
    config = presets.for_objects(found)
    figures = evaluation.evaluate_objects(models.build(config.model).eval(), found, config.data)
    assert figures["test_mse"] is figures["test_mse_sampled"] is None
    assert figures["one_view_mse_sampled"] > 0


def test_a_periodic_set_takes_the_periodic_kernel(tmp_path, capsys):
    path = archive(tmp_path / "s.npz", **sprites(circle=True, grey=True))
    run = tmp_path / "round"
    options = ["--preset", "objects", "--data", str(path), "--period", "360", *SMALL]
    assert main(["train", *options, "--run-dir", str(run), "--epochs", "1"]) == 0
    config = load_config(run)
    assert config.model.kernel == "periodic"
    assert config.data.track.ends == (0.0, 360.0)
    assert config.model.network.shape == (1, 9, 14)
    capsys.readouterr()
    assert main(["evaluate", str(run), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["one_view_mse"] > 0


def test_an_interrupted_run_ends_as_an_uninterrupted_one(trained, tmp_path):
    config, found = load_config(trained), load_objects(trained)
    runs.keep_objects(tmp_path / "again", found)
    training = recorder.execute(tmp_path / "again", config)
    next(training)
    training.close()
    for _ in recorder.execute(tmp_path / "again"):
        pass
    ours, theirs = load_pretrained(trained), load_pretrained(tmp_path / "again")
    for name, value in ours.state_dict().items():
        assert torch.equal(value, theirs.state_dict()[name]), name


def test_an_archive_of_a_run_holds_its_objects(trained, tmp_path, capsys):
    path = tmp_path / "line.zip"
    path.write_bytes(archives.pack(runs.open_run(trained)))
    assert np.array_equal(load_objects(path).images, load_objects(trained).images)
    assert main(["evaluate", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["test_mse"] > 0


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
        for _ in recorder.execute(run):
            pass


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--preset", "objects"], "needs --data"),
        (["--preset", "quick", "--data", "DATA"], "belong to --preset objects"),
        (["--preset", "objects", "--data", "DATA", "--period", "-1"], "must be positive"),
        (["--preset", "objects", "--data", "DATA", "--period", "nan"], "must be positive"),
        (["--preset", "objects", "--data", "DATA", "--period", "1e-300"], "periods of"),
        (["--preset", "objects", "--data", "DATA", "--kernel", "linear"], "no kernel"),
        (["--preset", "objects", "--data", "DATA", "--kernel", "periodic"], "period"),
        (["--preset", "objects", "--data", "DATA", "--set", "data.warp=1"], "warped"),
        (["--preset", "objects", "--data", "DATA", "--set", "model.network.kind=paper"], "paper"),
        (["--preset", "objects", "--data", "gone.npz"], "no file or folder"),
        (["--preset", "objects", "--data", "DATA", "--epochs", "0"], "epochs"),
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


def test_a_second_run_leaves_the_objects_of_the_first_alone(trained, tmp_path, capsys):
    other = archive(tmp_path / "s.npz", **sprites(objects=5))
    before = (trained / "objects.npz").read_bytes()
    options = ["--preset", "objects", "--data", str(other), "--run-dir", str(trained)]
    assert main(["train", *options]) == 2
    assert "already holds a run" in capsys.readouterr().err
    assert (trained / "objects.npz").read_bytes() == before


def test_models_of_digits_and_of_objects_are_not_mixed_up(trained, tmp_path, capsys):
    picture = tmp_path / "p.png"
    Image.fromarray((255 * data.unseen((3,)).images[0]).astype(np.uint8)).save(picture)
    options = ["--model", str(trained), "--out", str(tmp_path / "o.png")]
    assert main(["rotate", str(picture), *options]) == 2
    assert "other objects" in capsys.readouterr().err
    assert main(["card", str(trained)]) == 2
    assert "own objects" in capsys.readouterr().err


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
            "training.epochs=60",
            "training.batch=8",
            "training.learning_rate=0.004",
        ],
    )
    source = training_data.object_source(config, found)
    trainer = Trainer(config, source)
    for _ in trainer.steps():
        pass
    figures = evaluation.evaluate_objects(trainer.result(), found, config.data, config.seed)
    for name, reference in figures["references"].items():
        assert figures[name] < 0.9 * min(reference.values()), (name, figures)


def npy(descr: str, shape: str, body: bytes) -> bytes:
    """An array with any header at all."""
    text = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}"
    header = text.encode().ljust(118 - 1) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + body


@pytest.mark.parametrize(
    ("descr", "shape"),
    [
        ("'|u1'", "(-1, -8, 8)"),
        ("'|u1'", "(True, 8, 8)"),
        ("('|u1', (8, 8))", "(1,)"),
        ("[('a', '|u1')]", "(1, 8, 8)"),
        ("'|u1'", "(8.0, 8)"),
        ("'|u1'", "(" * 50 + ")" * 50),
        ("'|V1'", "(1, 8, 8)"),
    ],
)
def test_a_hostile_header_gets_one_sentence(descr, shape, tmp_path, capsys):
    path = tmp_path / "hostile.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("images.npy", npy(descr, shape, bytes(64)))
        archive.writestr("object.npy", npy("'|u1'", "(1,)", b"1"))
        archive.writestr("view.npy", npy("'|u1'", "(1,)", b"1"))
    arguments = ["train", "--preset", "objects", "--data", str(path)]
    assert main([*arguments, "--run-dir", str(tmp_path / "run")]) == 2
    error = capsys.readouterr().err
    assert error.startswith("fgpvae: '")
    assert error.count("\n") == 1
