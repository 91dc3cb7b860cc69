"""Training from the page in a real browser, with real processes that are really killed."""

import json
import re
import shutil
import signal
from contextlib import suppress

import psutil
import pytest
from playwright.sync_api import expect

from fgpvae import runs
from tests import tiny
from tests.browser import serve, settle
from tests.waiting import eventually

EPOCHS = 3
BESIDE = {"FGPVAE_RUNS_NICE": "1"}  # other work must not starve what is waited for


@pytest.fixture(scope="module")
def seedling(tmp_path_factory):
    """A finished run that is quick to train."""
    return tiny.train(tmp_path_factory.mktemp("seedling"), "seedling", "data.views=2")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(scope="module")
def server(folder):
    """A server for all tests of these runs."""
    with serve("app.py", FGPVAE_RUNS=str(folder), **BESIDE) as address:
        yield address


@pytest.fixture
def root(folder, seedling):
    """Runs, one of them finished; at the end whatever still trains is killed and all removed."""
    shutil.copytree(seedling, folder / "seedling")
    yield folder
    for status in folder.glob("*/status.json"):
        process = trainer(status.parent)
        if process is not None:
            with suppress(psutil.NoSuchProcess):
                process.kill()
            eventually(lambda run=status.parent: trainer(run) is None)
    for run in folder.glob("*/"):
        shutil.rmtree(run)


def trainer(run):
    """The process that trains a run, as long as it lives."""
    try:
        pid = json.loads((run / "status.json").read_text()).get("pid")
        process = psutil.Process(pid) if pid else None
        alive = process is not None and process.status() != psutil.STATUS_ZOMBIE
        return process if alive and str(run) in " ".join(command(process)) else None
    except (OSError, psutil.Error):
        return None


def command(process):
    """The words that started a process; none once it has ended."""
    try:
        return process.cmdline()
    except psutil.Error:
        return []


def kill_server(address):
    port = address.rsplit(":", 1)[1]
    server = next(p for p in psutil.Process().children() if port in command(p))
    server.send_signal(signal.SIGKILL)
    server.wait()


def shows(page, name, state):
    """Wait until the list says that a run is in a state."""
    entry = page.get_by_role("button", name=re.compile(rf"{name}\s*{state}"))
    expect(entry).to_be_visible()
    return entry


def action(page, label):
    """The button that can be pressed. Streamlit draws a button that has a help twice, for wide and
    for narrow screens; the one that is hidden has no role."""
    actions = page.locator(".st-key-train-actions")
    button = actions.get_by_role("button", name=label, exact=True, disabled=False)
    expect(button).to_have_count(1)
    return button


def press(page, label):
    action(page, label).click()


def press_at_once(pages, label):
    """Click before any of the pages has heard of the other clicks."""
    buttons = [action(page, label).element_handle() for page in pages]
    for button in buttons:
        button.evaluate("button => button.click()")


def begin(page, name, count):
    """Clone the settings of the chosen run, change the epochs and start."""
    press(page, "Clone settings")
    page.get_by_role("tab", name="Training", exact=True).click()
    for label, value in (("Epochs", str(count)), ("Name", name)):
        page.get_by_label(label, exact=True).fill(value)
        page.get_by_label(label, exact=True).press("Enter")
    start = page.get_by_role("button", name="Start", exact=True)
    expect(start).to_be_enabled()
    start.click()


def epochs(run):
    """Those that are written down."""
    return [line["epoch"] for line in runs.open_run(run).metrics()]


def test_a_run_is_started_finished_and_used(root, server, tabs):
    page = tabs.open()
    page.goto(f"{server}/train?train.preset=Baselines&train.preset.baselines=cvae")
    name = page.get_by_label("Name", exact=True)
    expect(name).to_have_attribute("placeholder", "cvae-2")  # cvae is shipped
    shows(page, "seedling", "finished")
    begin(page, "mine", EPOCHS)
    shows(page, "mine", "finished")
    expect(page).to_have_url(re.compile("run=mine"))
    expect(page.get_by_text("A new digit")).to_be_visible()
    assert epochs(root / "mine") == list(range(1, EPOCHS + 1))

    page.locator(".st-key-train-links").get_by_text("Compare").click()
    chosen = page.locator("[data-testid=stMultiSelect]").get_by_text("runs/mine")
    expect(chosen).to_be_visible()
    page.goto(f"{server}/rotate?model=runs/mine")
    picker = page.get_by_label("Model", exact=True)
    expect(picker).to_have_value("runs/mine")
    settle(page)
    expect(page.get_by_test_id("stException")).to_have_count(0)
    tabs.close(page)


def test_two_servers_share_a_run_and_nothing_is_lost_when_one_or_the_training_is_killed(
    root, server, tabs
):
    run = root / "shared"
    with serve("app.py", FGPVAE_RUNS=str(root), **BESIDE) as there:
        page, other = pages = [tabs.open(), tabs.open()]
        other.goto(f"{there}/train?run=seedling")  # the first that this server is asked for
        shows(other, "seedling", "finished")
        expect(other.get_by_role("link", name="How it works", exact=True)).to_be_visible()
        begin(other, "shared", 5000)
        page.goto(f"{server}/train?run=shared")
        for each in pages:
            shows(each, "shared", "training")
        lines = page.locator(".st-key-train-curves .scatterlayer .js-line")
        expect(lines).to_have_count(4)  # while it trains
        first = eventually(lambda: trainer(run))
        press_at_once(pages, "Stop")
        for each in pages:
            shows(each, "shared", "stopped")
        eventually(lambda: trainer(run) is None)
        reached = epochs(run)[-1]

        # both resume it: one process trains it, and the one who was late is told or sees it train
        press_at_once(pages, "Resume")
        for each in pages:
            shows(each, "shared", "training")
        second = eventually(lambda: trainer(run))
        assert second.pid != first.pid
        eventually(
            lambda: [p.pid for p in psutil.process_iter() if str(run) in command(p)] == [second.pid]
        )
        expect(other.get_by_test_id("stException")).to_have_count(0)
        tabs.close(other)
        kill_server(there)
    assert eventually(lambda: epochs(run)[-1] > reached)
    assert trainer(run).pid == second.pid  # training outlives the server

    second.kill()
    shows(page, "shared", "interrupted")
    expect(page.get_by_text("Nothing is lost")).to_be_visible()
    reached = epochs(run)[-1]
    press(page, "Resume")
    shows(page, "shared", "training")
    press(page, "Stop")
    shows(page, "shared", "stopped")
    assert epochs(run)[-1] >= reached
    assert epochs(run) == list(range(1, len(epochs(run)) + 1))  # none is missing
    expect(page.get_by_test_id("stException")).to_have_count(0)
    tabs.close(page)
