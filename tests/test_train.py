"""The page Train: settings, runs and what one can do with them."""

import dataclasses
import io
import json
import re
import shutil
from html import unescape

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from fgpvae import runs
from fgpvae.models import MODELS
from fgpvae.runs import archives, checkpoints, queue, writer
from fgpvae.training.configs import CUBES
from fgpvae.training.presets import FIRST, PRESETS, for_objects, grouped
from tests import small_runs, tiny
from tests.pages import open_page
from ui.train import form

NPZ, ZIP = "application/octet-stream", "application/zip"
GROUPS = {name: group for group, names in grouped().items() for name in names}


def filled(name):
    """A form with a preset in it, and the config or the sentence that it makes."""

    def script(name):
        import streamlit as st

        from fgpvae import UserError
        from fgpvae.training.presets import PRESETS
        from ui.train import form

        if form.BASE not in st.session_state:
            form.fill(PRESETS[name])
        form.form()
        try:
            st.session_state["built"] = form.build()
        except UserError as error:
            st.session_state["built"] = str(error)

    app = AppTest.from_function(script, default_timeout=240, args=(name,)).run()
    assert not app.exception
    return app


def typed(app, values):
    for path, value in values.items():
        app.session_state[f"train.setting.1.{path}"] = value
    app.run()
    assert not app.exception
    return app.session_state["built"]


def test_every_field_can_be_set_but_for_those_that_follow_from_others():
    for model, kind in MODELS.items():
        config = PRESETS["quick"]
        table = dataclasses.asdict(dataclasses.replace(PRESETS["vae"], model=kind.Config()))
        left = {path for path, _ in form.flat(table)} - set(form.settings(model))
        assert left <= {
            "preset",
            "model.kernel",
            "model.style_dropout",
            "model.network.moving",
            "model.network.shape",
            *(f"data.track.{each.name}" for each in dataclasses.fields(config.data.track)),
            "training.start",
        }


@pytest.mark.parametrize("name", [*FIRST, *GROUPS])
def test_a_config_comes_back_from_the_form_as_it_was(name):
    app = filled(name)
    assert app.session_state["built"] == PRESETS[name]
    assert set(GROUPS) | set(FIRST) >= {n for n, c in PRESETS.items() if not c.training.start}


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"model.latents": 1000}, "Channels (L) must be from 1 to 256, not 1000."),
        ({"model.local": 99}, "There are 16 channels (L), so 99 of them cannot be local (J)."),
        (
            {"model.network.kind": "dense", "model.network.widths": "1, two"},
            "Widths must be whole",
        ),
        ({"data.split": "continuous", "data.source": "/etc"}, "IDX files are for the command line"),
        ({"data.split": CUBES, "data.views": 6}, "use convolutional ones"),
    ],
)
def test_a_wrong_value_is_named_in_a_sentence(values, sentence):
    assert sentence in typed(filled("paper"), values)


def test_another_model_or_training_set_brings_what_belongs_to_it():
    app = filled("paper")
    cubes = {"model.network.kind": "dense", "data.split": CUBES, "data.views": 6}
    made = typed(app, {"model.name": "gpvae-amortised", **cubes})
    assert (made.model.name, made.data.source) == ("gpvae-amortised", "drawn")
    assert made.model.network.shape == (1, 32, 32)
    assert typed(app, {"data.split": "factorized"}).model.network.shape == (1, 28, 28)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    return tiny.train(tmp_path_factory.mktemp("trained"), "seedling", "data.views=2", epochs=2)


@pytest.fixture
def root(tmp_path, monkeypatch):
    """A directory for runs, and a machine that has no core to spare: all that is started waits."""
    monkeypatch.setenv("FGPVAE_RUNS", str(tmp_path))
    monkeypatch.setattr(queue, "slots", lambda: 0)
    return tmp_path


@pytest.fixture
def own(root, trained):
    """One finished run in it."""
    return shutil.copytree(trained, root / "seedling")


def train(**query):
    app = open_page("train", **query)
    assert not app.exception
    return app


def press(app, label):
    next(b for b in app.button if b.label == label).click().run()
    assert not app.exception
    return app


def texts(app):
    html = [element.proto.body for element in app.get("html")]
    written = (*app.header, *app.markdown, *app.caption, *app.warning, *app.error)
    return unescape(" ".join(html + [read(each) for each in written]))


def read(element):
    """Markdown as one reads it, where all that is special in it is escaped."""
    return re.sub(r"\\([^a-z0-9\s])", r"\1", element.value)


def setting(app, path):
    """The widget of a setting."""
    kinds = (app.number_input, app.selectbox, app.text_input)
    return next(w for kind in kinds for w in kind if (w.key or "").endswith(f".{path}"))


def test_settings_and_names_are_checked_before_a_run_starts(own, root):
    app = train()
    app.session_state["train.open"] = True
    app.run()
    setting(app, "training.epochs").set_value(0).run()
    assert [error.value for error in app.error] == ["Epochs must be from 1 to 100000, not 0."]
    assert next(b for b in app.button if b.label == "Start").disabled
    setting(app, "training.epochs").set_value(7).run()
    assert not app.error
    for name, sentence in {
        "../bad": "A name has up to 60 letters",
        " seedling ": "There is a run 'seedling' already; choose another name.",
        "paper": "'paper' is the name of a shipped model; choose another name.",
    }.items():
        app.text_input(key="train.name").set_value(name).run()
        assert sentence in read(app.error[0])
    app.text_input(key="train.name").set_value("my first run").run()
    assert "It will be called my-first-run." in texts(app)
    press(app, "Start")
    assert checkpoints.load_config(root / "my-first-run").training.epochs == 7
    assert app.session_state["train.open"] is False


@pytest.mark.parametrize(
    ("name", "link"),
    [
        ("paper", {"train.preset": "The paper's"}),
        ("cvae", {"train.preset": "Baselines", "train.preset.baselines": "cvae"}),
    ],
)
def test_a_link_to_a_preset_fills_the_form(root, name, link):
    press(train(**link), "Start")
    assert checkpoints.load_config(root / f"{name}-2") == PRESETS[name]  # the first is shipped


def test_a_finished_run_shows_its_numbers_pictures_and_curves(own):
    app = train()
    shown = texts(app)
    error = json.loads((own / "metrics.jsonl").read_text().splitlines()[-1])["mse"]
    for words in ("finished", "2 / 2", f"{error:.4f}", "A new digit"):
        assert words in shown
    (chart,) = app.get("plotly_chart")
    assert f"{error:.4g}" in chart.proto.alt
    labels = {button.label for button in app.button}
    assert {"More epochs", "Clone settings", "Rename", "Delete"} <= labels
    assert not {"Stop", "Resume"} & labels


def test_a_queued_run_can_be_stopped_and_resumed_from_two_tabs(own, root):
    first = press(train(), "Clone settings")
    setting(first, "training.epochs").set_value(3).run()
    press(first, "Start")
    run = root / "paper-2"
    assert checkpoints.load_config(run).data.views == 2
    second = train(run="paper-2")
    press(first, "Stop")
    press(second, "Stop")  # the page is older than the run's state
    assert runs.open_run(run).state == runs.STOPPED
    first.run()
    second.run()
    press(first, "Resume")
    press(second, "Resume")
    assert runs.open_run(run).state == runs.QUEUED


def test_a_downloaded_run_is_uploaded_again(own, root):
    app = train()
    content = archives.pack(runs.open_run(own))
    app.file_uploader(key="train.archive.0").set_value(("seedling.zip", content, ZIP)).run()
    assert not app.exception
    assert (root / "seedling-2" / checkpoints.WEIGHTS).exists()
    assert next(b for b in app.button if b.label == "More epochs").disabled
    app.file_uploader(key="train.archive.1").set_value(("junk.zip", b"junk", ZIP)).run()
    assert [error.value for error in app.error] == ["'junk.zip' is not an archive of a run."]


def test_own_objects_are_uploaded_and_trained_on(root):
    app = train()
    app.segmented_control(key="train.preset").set_value("objects").run()
    assert not [b for b in app.button if b.label == "Start"]
    draw = np.random.default_rng(0)
    buffer = io.BytesIO()
    np.savez(
        buffer,
        images=draw.integers(0, 255, (24, 9, 12), dtype=np.uint8),
        object=np.arange(24) // 4,
        view=np.tile([0.0, 90, 180, 270], 6),
    )
    app.file_uploader(key="train.data").set_value(("things.npz", buffer.getvalue(), NPZ)).run()
    assert "6 objects in 24 images of 9 x 12 pixels in grey" in texts(app)
    app.segmented_control(key="train.track").set_value("On a circle").run()
    app.session_state["train.open"] = True
    app.run()
    setting(app, "training.epochs").set_value(3).run()
    press(app, "Start")
    config = checkpoints.load_config(root / "objects")
    assert config.data.track.period == 360
    assert config.model.network.shape == (1, 9, 12)
    assert config.training.epochs == 3
    assert len(checkpoints.load_objects(root / "objects").images) == 24
    app.file_uploader(key="train.data").set_value(("things.npz", b"junk", NPZ)).run()
    assert any("damaged or not a NumPy archive" in error.value for error in app.error)


def test_a_finished_run_on_own_objects_says_where_copying_is_better(root):
    objects = small_runs.bars()
    config = for_objects(objects, "bars")
    config = dataclasses.replace(config, training=dataclasses.replace(config.training, epochs=1))
    for _ in writer.execute(root / "bars", config, objects=objects):
        pass
    found = runs.open_run(root / "bars").findings
    app = train(run="bars")
    shown = texts(app)
    for words in ("held-out views", "nearest view", "mean image", f"{found['test_mse']:.4f}"):
        assert words in shown
    assert "worse" in found["verdict"]
    assert found["verdict"] in [unescape(each.value).replace("\\", "") for each in app.warning]


def test_a_link_to_a_run_that_is_gone_says_so_and_opens_no_other(own):
    app = train(run="deleted")
    assert "no run 'deleted'" in texts(app)
    assert not [b for b in app.button if b.label == "Delete"]
    press(app, "Show the newest run")
    assert [b for b in app.button if b.label == "Delete"]


def test_deleting_asks_first(own):
    app = train()
    press(app, "Delete")
    app.button(key="train.sure.keep").click().run()
    assert own.exists()
    press(app, "Delete")
    app.button(key="train.sure.delete").click().run()
    assert not app.exception
    assert not own.exists()
    assert "No run yet" in texts(app)


def test_more_epochs_put_a_finished_run_in_the_queue(own, monkeypatch):
    app = press(train(), "More epochs")
    monkeypatch.setenv("FGPVAE_RUNS_EPOCHS", "2")
    app.run()
    assert not app.number_input
    assert "a run started here has at most 2" in texts(app)
    monkeypatch.setenv("FGPVAE_RUNS_EPOCHS", "3")  # less than twice the two it has
    app.run()
    assert app.number_input[0].value == 3
    app.number_input[0].set_value(4)
    app.button(key="train.sure.more").click().run()
    assert "from 1 to 3 epochs, not 4" in app.error[0].value
    app.number_input[0].set_value(3)
    app.button(key="train.sure.more").click().run()
    assert runs.open_run(own).state == runs.QUEUED
    assert checkpoints.load_config(own).training.epochs == 3


@pytest.mark.parametrize(
    ("label", "key"), [("Delete", "delete"), ("Rename", "rename"), ("More epochs", "more")]
)
def test_a_question_about_a_run_that_another_tab_took_away_is_answered_in_a_sentence(
    own, root, label, key
):
    late, app = train(), press(train(), label)
    if label == "Rename":
        app.text_input(key="train.new_name.seedling").set_value("mine")
    queue.rename(runs.open_run(own), "renamed")
    app.button(key=f"train.sure.{key}").click().run()
    assert not app.exception
    assert any("There is no run 'seedling' any more." in error.value for error in app.error)
    press(late, label)  # a page that does not know it yet
    late.run()
    assert not late.exception
    assert [run.name for run in runs.list_runs(root)[0]] == ["renamed"]
