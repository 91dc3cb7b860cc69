"""The page Train: settings, runs and what one can do with them."""

import contextlib
import dataclasses
import io
import json
import math
import re
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from html import unescape

import numpy as np
import plotly.graph_objects as go
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fgpvae import UserError, archives, background, checkpoints, runs, timing
from fgpvae.configs import CUBES, RunConfig
from fgpvae.models import MODELS
from fgpvae.presets import PRESETS
from tests import tiny
from tests.pages import open_page
from ui.shell import frame
from ui.train import curves, estimates, form
from ui.train import settings as fields

SLOTS = background.slots
NPZ, ZIP = "application/octet-stream", "application/zip"
ATTACK = "![](http://host.test/x.png) <b>$x$ :red[y]"


def leaves(kind, path=""):
    """The paths of all fields of a config."""
    for field in dataclasses.fields(kind):
        default = field.default_factory() if callable(field.default_factory) else field.default
        if dataclasses.is_dataclass(default):
            yield from leaves(type(default), f"{path}{field.name}.")
        else:
            yield f"{path}{field.name}"


# --- settings -------------------------------------------------------------------------------------


def test_every_field_of_a_config_has_a_setting_and_a_meaning():
    own = {path for model in MODELS.values() for path in leaves(model.Config, "model.")}
    assert set(fields.SETTINGS) | set(fields.DERIVED) == {*leaves(RunConfig), *own}
    for setting in fields.SETTINGS.values():
        assert len(setting.meaning) > 10
        assert "\n" not in setting.meaning


@pytest.mark.parametrize("name", fields.OFFERED)
def test_a_config_comes_back_from_the_form_as_it_was(name):
    held = form.flat(PRESETS[name])
    assert form.build(held, name) == PRESETS[name]
    for setting in fields.SETTINGS.values():
        setting.used(held)


@pytest.mark.parametrize(
    ("path", "text", "sentence"),
    [
        ("model.latents", "abc", "Channels (L) must be a whole number"),
        ("model.latents", "1000", "from 1 to 256"),
        ("model.latents", "1.5", "Channels (L) must be a whole number"),
        ("training.learning_rate", "", "Learning rate must be a number"),
        ("training.learning_rate", "-1", "Learning rate must be above 0"),
        ("model.network.widths", "1, two", "Widths must be a whole number"),
        ("data.classes", [], "at least one class"),
        ("seed", "-1", "Seed must be from 0"),
        ("data.views", "99", "15 angles to draw views (Q) from"),
        ("model.local", "99", "Local channels (J) must be from 0 to Channels (L), not 99"),
        ("training.validate_every", "0", "Validate every at least 1"),
        ("data.source", "/etc", "IDX files are for the command line."),
        ("data.source", "", "IDX files are for the command line."),
    ],
)
def test_a_wrong_value_is_named_in_a_sentence(path, text, sentence):
    with pytest.raises(UserError, match=re.escape(sentence)):
        form.build(form.flat(PRESETS["paper"]) | {path: text}, "paper")


def test_any_model_can_be_set_to_learn_figures_of_cubes_and_back():
    figures = form.flat(PRESETS["gpvae-amortised"]) | {"data.split": CUBES, "data.views": "6"}
    with pytest.raises(UserError, match="use convolutional ones"):
        form.build(figures, "gpvae-amortised")
    made = form.build(figures | {"model.network.kind": "dense"}, "gpvae-amortised")
    assert made.data == dataclasses.replace(PRESETS["cubes-quick"].data, figures=0)
    assert made.model.network.shape == (1, 32, 32)
    digits = form.flat(PRESETS["cubes-quick"]) | {"data.split": "factorized"}
    again = form.build(digits, "cubes-quick")
    assert (again.data.source, again.model.network.shape) == ("embedded", (1, 28, 28))


def test_a_setting_of_one_model_is_wrong_for_that_model_alone():
    wrong = {"model.phases": "0.2"}
    with pytest.raises(UserError, match="Phases must have 2 entries"):
        form.build(form.flat(PRESETS["gpvae"]) | wrong, "gpvae")
    assert form.build(form.flat(PRESETS["paper"]) | wrong, "paper") == PRESETS["paper"]


TYPED = [p for p, s in fields.SETTINGS.items() if not s.options and p != "data.classes"]


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(TYPED), st.text("0123456789.,-+eE ", max_size=20) | st.text(max_size=20))
def test_whatever_is_typed_gives_a_config_or_a_sentence(path, text):
    with contextlib.suppress(UserError):
        form.build(form.flat(PRESETS["quick"]) | {path: text}, "quick")


# --- time and curves ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("duration", "words"),
    [(0.2, "1 s"), (59.4, "59 s"), (90, "2 min"), (3600, "1 h"), (7800, "2 h 10 min")],
)
def test_a_duration_in_words(duration, words):
    assert estimates.in_words(duration) == words


def test_curves_skip_what_is_not_a_number():
    lines = [{"epoch": 1, "mse": 0.1}, {"epoch": 2, "mse": math.nan}, {"epoch": 3, "mse": 0.0}]
    lines += [{"epoch": 4}, {"epoch": 5, "mse": 0.05}]
    assert curves.points(lines, "mse", logarithmic=True) == [(1, 0.1), (5, 0.05)]
    assert (3, 0.0) in curves.points(lines, "mse", logarithmic=False)


@given(st.integers(1, 1000))
def test_long_curves_are_thinned_but_keep_their_ends(count):
    found = [(float(k), 1.0) for k in range(count)]
    short = curves.thinned(found)
    assert short[0] == found[0]
    assert short[-1] == found[-1]
    assert len(short) <= curves.MOST_POINTS + 1


@given(
    st.lists(st.floats(1e-8, 1e8), min_size=1, max_size=50),
    st.booleans(),
)
def test_the_range_of_an_axis_holds_its_values(values, logarithmic):
    ends = curves.axis(values, logarithmic)["range"]
    low, high = (10**end if logarithmic else end for end in ends)
    assert low < min(values)
    assert high > max(values)


# --- the page -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    return tiny.train(tmp_path_factory.mktemp("trained"), "seedling", "data.views=2", epochs=2)


@pytest.fixture
def root(tmp_path, trained, monkeypatch):
    """A directory for runs, and a machine that has no core to spare: all that is started waits."""
    monkeypatch.setenv("FGPVAE_RUNS", str(tmp_path))
    monkeypatch.setattr(background, "slots", lambda: 0)
    return tmp_path


@pytest.fixture
def own(root, trained):
    """One finished run in it."""
    path = root / "seedling"
    path.mkdir()
    for file in trained.iterdir():
        (path / file.name).write_bytes(file.read_bytes())
    return path


def train():
    app = open_page("train")
    assert not app.exception
    return app


def press(app, label):
    next(b for b in app.button if b.label == label).click().run()
    assert not app.exception
    return app


def texts(app):
    html = [element.proto.body for element in app.get("html")]
    written = (*app.header, *app.markdown, *app.caption, *app.warning)
    return " ".join(html + [read(each) for each in written])


def read(element):
    """Markdown as one reads it, where all that is special in it is escaped."""
    return re.sub(r"\\([^a-z0-9\s])", r"\1", element.value)


def test_without_runs_there_is_a_button_that_makes_one(root):
    app = train()
    assert "No run yet" in texts(app)
    press(app, "Start a quick run")
    assert checkpoints.load_config(root / "quick") == PRESETS["quick"]
    assert "waiting for its turn" in texts(app)


def test_settings_are_checked_while_they_are_typed(root):
    app = train()
    app.session_state["train.open"] = True
    app.run()
    app.text_input(key="train.setting.training.epochs").set_value("0").run()
    assert [error.value for error in app.error] == ["Epochs must be from 1 to 100000, not 0."]
    assert next(b for b in app.button if b.label == "Start").disabled
    app.text_input(key="train.setting.training.epochs").set_value("7").run()
    assert not app.error
    app.text_input(key="train.name").set_value("../bad").run()
    assert "A name has up to 60 letters" in app.error[0].value
    app.text_input(key="train.name").set_value("mine").run()
    press(app, "Start")
    config = checkpoints.load_config(root / "mine")
    assert config.training.epochs == 7
    assert app.session_state["train.open"] is False


def test_settings_that_do_not_matter_cannot_be_changed(root):
    app = train()
    app.session_state["train.open"] = True
    app.run()
    assert app.text_input(
        key="train.setting.objective.kappa_squared"
    ).disabled  # quick has the ELBO
    app.selectbox(key="train.setting.objective.name").set_value("geco").run()
    assert not app.text_input(key="train.setting.objective.kappa_squared").disabled
    assert app.text_input(key="train.setting.objective.pixel_variance").disabled


def test_another_preset_fills_the_form(root):
    app = train()
    app.segmented_control(key="train.preset").set_value("paper").run()
    press(app, "Start")
    assert checkpoints.load_config(root / "paper") == PRESETS["paper"]


def test_a_finished_run_shows_its_figures_pictures_and_curves(own):
    app = train()
    shown = texts(app)
    assert "finished" in shown
    assert "2 / 2" in shown
    error = json.loads((own / "metrics.jsonl").read_text().splitlines()[-1])["mse"]
    assert f"{error:.4f}" in shown
    (chart,) = app.get("plotly_chart")
    assert chart.proto.alt.startswith("Curves over the epochs.")
    assert f"Reconstruction {error:.4g}" in chart.proto.alt
    assert len(json.loads(chart.proto.spec)["data"]) == 4
    assert "Two new digits" in shown
    labels = {button.label for button in app.button}
    assert {"More epochs", "Clone settings", "Rename", "Delete"} <= labels
    assert not {"Stop", "Resume"} & labels


def test_a_queued_run_can_be_stopped_and_resumed(own, root):
    app = train()
    press(app, "Clone settings")
    app.text_input(key="train.setting.training.epochs").set_value("3").run()
    press(app, "Start")
    assert checkpoints.load_config(root / "paper").data.views == 2
    press(app, "Stop")
    assert runs.open_run(root / "paper").state == runs.STOPPED
    press(app, "Resume")
    assert runs.open_run(root / "paper").state == runs.QUEUED


def test_a_clone_of_a_run_on_idx_files_says_where_they_belong(own):
    table = json.loads((own / "config.json").read_text())
    table["data"] |= {"split": "continuous", "source": "somewhere"}
    (own / "config.json").write_text(json.dumps(table))
    app = press(train(), "Clone settings")
    assert [error.value for error in app.error] == ["IDX files are for the command line."]
    app.selectbox(key="train.setting.data.source").set_value("embedded").run()
    assert not app.exception
    assert not app.error
    assert app.selectbox(key="train.setting.data.source").value == "embedded"
    assert len(app.selectbox(key="train.setting.data.source").options) == 2  # and openml.org


def test_a_run_whose_process_died_is_called_interrupted_and_resumes(own):
    status = json.loads((own / "status.json").read_text())
    (own / "status.json").write_text(json.dumps(status | {"state": "running", "epoch": 1.0}))
    app = train()
    assert "Nothing is lost" in texts(app)
    press(app, "Resume")
    assert runs.open_run(own).state == runs.QUEUED
    assert len(runs.open_run(own).metrics()) == 2


def test_a_failed_run_says_why(own):
    (own / "status.json").write_text(
        json.dumps({"state": "failed", "message": "The disk is full."})
    )
    app = train()
    assert [error.value for error in app.error] == ["The disk is full."]


def test_names_and_messages_of_a_run_are_no_markdown(own, root):
    own = own.rename(root / "_a_")
    table = json.loads((own / "config.json").read_text())
    (own / "config.json").write_text(json.dumps(table | {"preset": ATTACK}))
    (own / "status.json").write_text(json.dumps({"state": "failed", "message": ATTACK}))
    app = train()
    escaped = frame.plain(ATTACK)
    assert [error.value for error in app.error] == [escaped]
    assert any(escaped in caption.value for caption in app.caption)
    assert "\\_a\\_" in [header.value for header in app.header]
    assert any(button.label.startswith("**\\_a\\_**  \n") for button in app.button)
    press(app, "Delete")
    assert any(m.value.startswith("**\\_a\\_** with") for m in app.markdown)
    (own / "status.json").write_text(json.dumps({"state": "running", "epoch": 1.0}))
    (own / runs.LOG).write_text(f"{ATTACK}\n")
    assert train().warning[0].value.endswith(escaped)


def test_a_name_with_spaces_is_accepted(root):
    app = train()
    app.text_input(key="train.name").set_value("my first run").run()
    assert "It will be called my-first-run." in texts(app)
    press(app, "Start")
    assert (root / "my-first-run" / checkpoints.CONFIG).exists()


def test_a_name_that_is_taken_is_said_while_it_is_typed(own, root):
    app = train()
    for typed in ("seedling", " seedling "):
        app.text_input(key="train.name").set_value(typed).run()
        assert [read(error) for error in app.error] == [
            "There is a run 'seedling' already; choose another name."
        ]
        assert next(b for b in app.button if b.label == "Start").disabled
    app.text_input(key="train.name").set_value("seedling-b").run()
    assert not app.error
    assert not next(b for b in app.button if b.label == "Start").disabled


@pytest.fixture
def two(own, root):
    """A second run beside the first."""
    shutil.copytree(own, root / "sapling")


def other(app):
    return app.selectbox(key="train.other")


def test_the_choice_of_other_curves_is_left_to_the_browser(own, two):
    app = train()
    # a value that is set goes to the browser, and over a choice that is on its way to the server
    assert not app.run().selectbox(key="train.other").proto.set_value
    chosen = other(app).options[0]
    other(app).set_value(chosen).run()
    assert len(json.loads(app.get("plotly_chart")[0].proto.spec)["data"]) == 8
    assert not other(app.run()).proto.set_value
    assert other(app).value == chosen
    assert app.query_params["train.other"] in (chosen, [chosen])


def test_other_curves_are_there_again_after_a_look_at_their_own_run(own, two):
    app = train()
    chosen = other(app).options[0]
    other(app).set_value(chosen).run()
    entries = {
        b.label.split("**")[1]: b for b in app.button if (b.key or "").startswith("train.entry.")
    }
    shown = next(name for name in entries if name != chosen)
    entries[chosen].click().run()
    assert other(app).value is None
    entry = next(b for b in app.button if b.label.startswith(f"**{shown}**"))
    entry.click().run()
    assert other(app).value == chosen
    other(app).set_value(None).run()
    assert "train.other" not in app.query_params


def test_curves_before_the_first_epoch_have_no_numbers(own):
    made = go.Figure(curves.chart([curves.Record("new", [], 10)]))
    assert [each.text for each in made.layout.annotations][-1] == curves.BEFORE
    assert not made.layout.yaxis.showticklabels
    trained = go.Figure(curves.chart([curves.Record("old", runs.open_run(own).metrics(), 2)]))
    assert curves.BEFORE not in [each.text for each in trained.layout.annotations]
    assert trained.layout.yaxis.showticklabels is not False


def test_a_downloaded_run_is_brought_back(own, root):
    app = train()
    content = archives.pack(runs.open_run(own))
    app.file_uploader(key="train.archive.0").set_value(("seedling.zip", content, ZIP)).run()
    assert not app.exception
    assert (root / "seedling-2" / checkpoints.WEIGHTS).exists()
    assert next(b for b in app.button if b.label == "More epochs").disabled
    app.file_uploader(key="train.archive.1").set_value(("junk.zip", b"junk", ZIP)).run()
    assert [error.value for error in app.error] == ["'junk.zip' is not an archive of a run."]


def test_own_objects_are_brought_and_trained_on(root):
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
    app.text_input(key="train.setting.training.epochs").set_value("3").run()
    press(app, "Start")
    config = checkpoints.load_config(root / "objects")
    assert config.data.track.period == 360
    assert config.model.network.shape == (1, 9, 12)
    assert config.training.epochs == 3
    assert len(checkpoints.load_objects(root / "objects").images) == 24
    app.file_uploader(key="train.data").set_value(("things.npz", b"junk", NPZ)).run()
    assert any("damaged or not a NumPy archive" in error.value for error in app.error)


def test_a_link_to_a_run_that_is_gone_says_so_and_opens_no_other(own):
    app = open_page("train", run="deleted")
    assert "no run 'deleted'" in texts(app)
    assert not [b for b in app.button if b.label == "Delete"]
    press(app, "Show the newest run")
    assert [b for b in app.button if b.label == "Delete"]


def test_deleting_asks_first(own):
    app = train()
    press(app, "Delete")
    assert own.exists()
    assert "removed for good" in texts(app)
    app.button(key="train.sure.keep").click().run()
    assert own.exists()
    press(app, "Delete")
    app.button(key="train.sure.delete").click().run()
    assert not app.exception
    assert not own.exists()
    assert "No run yet" in texts(app)


def test_renaming(own, root):
    app = train()
    press(app, "Rename")
    app.text_input(key="train.new_name.seedling").set_value("a/b")
    app.button(key="train.sure.rename").click().run()
    assert "A name has up to 60 letters" in app.error[0].value
    app.text_input(key="train.new_name.seedling").set_value("better")
    app.button(key="train.sure.rename").click().run()
    assert not own.exists()
    assert (root / "better" / "model.safetensors").exists()


def test_more_epochs_put_a_finished_run_in_the_queue(own):
    app = train()
    press(app, "More epochs")
    app.number_input[0].set_value(5)
    app.button(key="train.sure.more").click().run()
    assert runs.open_run(own).state == runs.QUEUED
    assert checkpoints.load_config(own).training.epochs == 5


def test_more_epochs_end_where_the_server_says(own, monkeypatch):
    monkeypatch.setenv("FGPVAE_RUNS_EPOCHS", "3")  # less than twice the two it has
    app = train()
    press(app, "More epochs")
    assert (app.number_input[0].value, app.number_input[0].max) == (3, 3)
    monkeypatch.setenv("FGPVAE_RUNS_EPOCHS", "2")
    app.run()
    assert not app.exception
    assert not app.number_input
    assert "a run started here has at most 2" in texts(app)


def test_more_epochs_with_a_limit_that_is_no_number(own, monkeypatch):
    monkeypatch.setenv("FGPVAE_RUNS_EPOCHS", "many")
    app = press(train(), "More epochs")
    assert "FGPVAE_RUNS_EPOCHS must be a whole number, not 'many'." in map(read, app.error)
    assert not app.number_input


def test_lines_without_numbers_are_no_curves(own):
    (own / runs.METRICS).write_text('{"epoch": 1}\n{"epoch": 2, "mse": "low"}\n')
    assert not train().exception


@pytest.mark.parametrize("name", ["EPOCHS", "AT_ONCE", "LIMIT_MB", "KEPT"])
def test_a_limit_that_is_no_number_is_a_sentence(name, root, monkeypatch):
    if name == "AT_ONCE":
        monkeypatch.setattr(background, "slots", SLOTS)
    monkeypatch.setenv(f"FGPVAE_RUNS_{name}", "many")
    app = press(train(), "Start")
    said = texts(app) + " ".join(map(read, app.error))
    assert f"FGPVAE_RUNS_{name} must be a whole number, not 'many'." in unescape(said)
    assert not (root / "quick").exists()


def test_a_directory_that_is_no_run_is_listed_with_a_reason(own, root):
    (root / "odd").mkdir()
    (root / "odd" / "config.json").write_text("{")
    assert "odd: " in texts(train())


def test_the_estimate_grows_with_the_epochs(monkeypatch):
    # that a process takes steps and times them is tested in test_background.py
    monkeypatch.setattr(timing, "_timed_elsewhere", lambda config: 2.5)
    pool, known = ThreadPoolExecutor(1), {}  # what a page could not time before is not known here
    monkeypatch.setattr(estimates, "_pool", lambda: (pool, known))
    short, long = tiny.config("data.views=2"), tiny.config("data.views=2", epochs=10)
    estimates.seconds(short)
    pool.submit(lambda: None).result()  # it does one thing after the other
    assert estimates.seconds(short) == 2.5
    assert estimates.seconds(long) == 25


@pytest.fixture
def slow(monkeypatch):
    """A pool that is busy until it is told to go on, and what it then times."""
    go, timed = threading.Event(), []
    pool, known = ThreadPoolExecutor(1), {}
    monkeypatch.setattr(estimates, "_pool", lambda: (pool, known))
    monkeypatch.setattr(
        timing, "estimate_seconds", lambda config: timed.append(config.training.batch) or 1.0
    )
    pool.submit(go.wait)
    yield go, pool, timed
    go.set()
    pool.shutdown()


def test_only_the_last_settings_of_a_session_are_timed(slow):
    go, pool, timed = slow
    for batch in (1, 2, 3, 2):
        assert estimates.sentence(tiny.config(f"training.batch={batch}")) is None
    go.set()
    pool.submit(lambda: None).result()
    assert timed == [2]
    assert estimates.sentence(tiny.config("training.batch=2")) == "About 1 s on this machine"
    estimates.sentence(tiny.config("training.batch=3"))  # cancelled, and asked for anew
    pool.submit(lambda: None).result()
    assert timed == [2, 3]


def test_an_estimate_that_another_session_forgets_is_no_error(slow, monkeypatch):
    class Fleeting(dict):
        def __contains__(self, key):  # gone as soon as one has looked
            found = super().__contains__(key)
            self.clear()
            return found

    known = Fleeting()
    monkeypatch.setattr(estimates, "_pool", lambda: (slow[1], known))
    for _ in range(2):
        assert estimates.sentence(tiny.config()) is None


def test_a_timing_that_breaks_down_is_a_sentence(monkeypatch):
    pool, known = ThreadPoolExecutor(1), {}
    monkeypatch.setattr(estimates, "_pool", lambda: (pool, known))

    def fail(config):
        raise RuntimeError("out of memory")

    monkeypatch.setattr(timing, "estimate_seconds", fail)
    estimates.sentence(tiny.config())
    pool.shutdown()
    said = "The time cannot be estimated: a few steps could not be taken"
    assert estimates.sentence(tiny.config()) == said


# --- two tabs on one run --------------------------------------------------------------------------


@pytest.mark.parametrize("other", ["delete", "rename"])
@pytest.mark.parametrize("mine", ["Delete", "Rename", "More epochs"])
def test_a_question_about_a_run_that_another_tab_took_away_is_answered_in_a_sentence(
    own, root, mine, other
):
    app = press(train(), mine)
    if mine == "Rename":
        app.text_input(key="train.new_name.seedling").set_value("mine")
    run = runs.open_run(own)
    if other == "delete":
        background.delete(run)
    else:
        background.rename(run, "renamed")
    key = {
        "Delete": "train.sure.delete",
        "Rename": "train.sure.rename",
        "More epochs": "train.sure.more",
    }[mine]
    app.button(key=key).click().run()
    assert not app.exception
    assert any("There is no run 'seedling' any more." in error.value for error in app.error)
    assert len(runs.list_runs(root)[0]) == (1 if other == "rename" else 0)


@pytest.mark.parametrize("label", ["Clone settings", "More epochs", "Rename", "Delete"])
def test_a_button_of_a_run_that_is_gone_breaks_nothing(own, root, label):
    app = train()
    background.delete(runs.open_run(own))
    press(app, label)
    app.run()
    assert not app.exception
    assert runs.list_runs(root)[0] == []


def test_two_tabs_resume_and_stop_one_run(own):
    checkpoints.save_config(
        dataclasses.replace(
            checkpoints.load_config(own),
            training=dataclasses.replace(checkpoints.load_config(own).training, epochs=3),
        ),
        own,
    )
    (own / runs.STATUS).write_text(json.dumps({"state": runs.STOPPED, "epoch": 2}))
    first, second = train(), train()
    press(first, "Resume")
    assert runs.open_run(own).state == runs.QUEUED
    press(second, "Resume")  # the page is older than the run's state
    assert runs.open_run(own).state == runs.QUEUED
    second.run()
    press(second, "Stop")
    assert runs.open_run(own).state == runs.STOPPED
    press(first, "Stop")
    assert runs.open_run(own).state == runs.STOPPED
