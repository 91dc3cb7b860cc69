"""What the README says can be done, done; its figures and pictures, from where they come.

Too long to run here, and only read by the real parser: `experiment` (hours), `bench` (minutes) and,
in test_docs, `torchrun` (all of MNIST; test_distributed runs it on little).
The set-up of the two first commands and all of the second are run by .ci/run in a fresh clone.
"""

import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from fgpvae import data, images
from fgpvae.__main__ import main, parser
from scripts import idea_figure, moving_picture, readme_tables
from tests.browser import answered

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "README.md").read_text()
LONG = ("experiment", "bench")


def blocks(language: str, text: str = TEXT) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", text, re.S)


def block_after(marker: str) -> str:
    return blocks("bash", TEXT.partition(f"<!-- {marker} -->")[2])[0].strip()


def commands() -> list[list[str]]:
    """What is run by Python, in the order of the README: the package's commands and the scripts."""
    lines = [line for block in blocks("bash") for line in block.splitlines()]
    words = [shlex.split(line, comments=True) for line in lines]
    return [line[1:] for line in words if line[:1] == ["python"]]


def test_python_example_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (code,) = blocks("python")
    exec(code, {})
    with Image.open(tmp_path / "seven.gif") as film:
        assert film.n_frames > 30


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Where a newcomer stands, with the picture of a three that comes along."""
    folder = tmp_path_factory.mktemp("newcomer")
    (folder / "docs").mkdir()
    shutil.copy(ROOT / "docs" / "three.png", folder / "docs")
    return folder


@pytest.mark.parametrize("command", commands(), ids=" ".join)
def test_commands_run(command, folder, monkeypatch, capsys):
    """In one folder and in order: a command may need what those before it have made."""
    monkeypatch.chdir(folder)
    if command[:2] != ["-m", "fgpvae"]:
        script = [sys.executable, ROOT / command[0], *command[1:]]
        subprocess.run(script, check=True, stdout=subprocess.DEVNULL)
        return
    name, *arguments = command[2:]
    assert callable(parser().parse_args([name, *arguments]).action)
    if name in LONG:
        return
    short = ["--epochs", "1"] if name == "train" else []
    assert main([name, *arguments, *short]) == 0
    assert capsys.readouterr().out.startswith("{")
    if name == "rotate":
        assert (folder / arguments[arguments.index("--out") + 1]).stat().st_size > 0
    if name == "train":
        run = folder / arguments[arguments.index("--run-dir") + 1]
        assert (run / "model.safetensors").exists()


@pytest.fixture(scope="module")
def app(tmp_path_factory) -> Iterator[str]:
    """The last part of the README's first command, in this environment, on a port that is free.

    As on a desktop where Streamlit was never used before: it must start without a question.
    """
    *setup, start = block_after("app command").split(" && ")
    assert setup == ["python3 -m venv .venv", ".venv/bin/pip install -q -r requirements.txt"]
    program, *arguments = shlex.split(start)
    assert (program, arguments) == (".venv/bin/streamlit", ["run", "app.py"])
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    choices = {
        "STREAMLIT_SERVER_PORT": str(port),
        "HOME": str(tmp_path_factory.mktemp("home")),
        "DISPLAY": os.environ.get("DISPLAY", ":0"),
        "BROWSER": "true",  # nobody needs a window here
        "FGPVAE_RUNS": str(tmp_path_factory.mktemp("runs")),
    }
    server = subprocess.Popen(
        [Path(sys.executable).parent / "streamlit", *arguments],
        cwd=ROOT,
        env=os.environ | choices,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        answered(f"http://localhost:{port}/_stcore/health", server)
        yield f"http://localhost:{port}"
    finally:
        server.terminate()
        server.wait()


def test_the_app_starts_and_its_moving_picture_can_be_taken(app, browser):
    frames = moving_picture.take(browser, app, moving_picture.FILMS["rotate"], "dark", 14)
    middle = [np.asarray(frame.convert("L"), float)[150:250, 150:250] for frame in frames]
    for before, after in pairwise(middle[:10]):
        assert np.abs(before - after).mean() > 1  # the digit turns
    assert np.abs(middle[10] - middle[11]).mean() > 1  # and its style changes
    content = moving_picture.animation(frames)
    assert content[8:12] == b"WEBP"


def test_the_possibilities_turn_and_change_with_a_second_view(app, browser):
    frames = moving_picture.take(browser, app, moving_picture.FILMS["objects"], "light", 14)
    assert len(frames) == 14
    right = [np.asarray(frame.convert("L"), float)[180:, 350:] for frame in frames]
    for before, after in pairwise(right[1:5]):
        assert np.abs(before - after).mean() > 1  # they turn
    assert np.abs(right[5] - right[0]).mean() < 0.1  # all the way round
    assert np.abs(right[7] - right[5]).mean() > 0.1  # from two views they are others


@pytest.mark.parametrize("name", moving_picture.FILMS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_moving_picture_moves_and_is_small(name, scheme):
    file = ROOT / "docs" / f"{name}-{scheme}.webp"
    assert f"docs/{file.name}" in TEXT
    assert file.stat().st_size < moving_picture.LARGEST
    with Image.open(file) as film:
        assert film.n_frames > 60
        assert film.info["loop"] == 0


def test_the_figure_of_the_idea_is_what_the_model_says(tmp_path):
    idea_figure.main([str(tmp_path / "idea.svg")])
    drawn, kept = ((folder / "idea.svg").read_text() for folder in (tmp_path, ROOT / "docs"))

    def curves(text: str) -> list[float]:
        paths = re.findall(r'class="(?:mean|style)" d="M([^"]+)"', text)
        return [float(x) for path in paths for x in re.split("[L ]", path)]

    assert len(curves(drawn)) > 400
    assert curves(drawn) == pytest.approx(curves(kept), abs=0.5)  # tenths of a pixel


def test_the_picture_of_a_three_is_a_digit_of_the_package():
    found = images.normalise((ROOT / "docs" / "three.png").read_bytes()).digit
    assert np.abs(found - data.unseen((3,)).images[2]).mean() < 0.05


def test_the_test_command_is_what_ci_runs():
    setup, install, check = block_after("test command").split(" && ")
    assert setup == "python3 -m venv .venv"
    assert install == ".venv/bin/pip install -q -r requirements-dev.txt"
    assert check == ".venv/bin/python -m tests.check"
    assert "-r requirements.txt" in (ROOT / "requirements-dev.txt").read_text()
    script = (ROOT / ".ci" / "run").read_text()
    found = re.search(r"^command=\$\((.*)\)$", script, re.M)
    assert found
    shown = subprocess.run(
        ["bash", "-c", found[1]], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert shown.stdout.strip() == block_after("test command")


def test_tables_are_those_of_the_results():
    shown = sorted(path for _, path, _ in readme_tables.MARKED.findall(TEXT))
    assert shown == sorted(f"results/{path.name}" for path in (ROOT / "results").glob("*.md"))
    assert len(shown) == 8
    assert readme_tables.filled(TEXT) == TEXT


def test_a_changed_result_changes_the_readme(tmp_path, monkeypatch):
    monkeypatch.setattr(readme_tables, "ROOT", tmp_path)
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "a.md").write_text("| new |\n")
    before = "x\n<!-- results/a.md -->\n| old |\n<!-- end -->\ny\n"
    after = "x\n<!-- results/a.md -->\n\n| new |\n\n<!-- end -->\ny\n"
    assert readme_tables.filled(before) == after
    assert readme_tables.filled(after) == after


@pytest.mark.parametrize("link", re.findall(r'(?:\]\(|src="|srcset=")((?!http)[^)"#]+)', TEXT))
def test_links_lead_somewhere(link):
    assert (ROOT / link).exists()
