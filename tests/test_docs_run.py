"""Commands, code and notebooks of the documentation, run; the examples of CONTRIBUTING, added.

The environment and the command of the public container are tested by test_public.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from streamlit.testing.v1 import AppTest

from fgpvae import models
from fgpvae.__main__ import main
from fgpvae.data.collections import COLLECTIONS
from tests import test_models
from tests.browser import ROOT
from tests.pages import open_page
from tests.test_docs import NOTEBOOKS, blocks, commands
from ui.catalog import models as choices
from ui.shell import frame

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
QUICK = "quick", "objects"  # presets that are trained here, for an epoch


def short(words: list[str], trained: set[str]) -> bool:
    """Does this command take seconds, with one epoch? `trained`: the runs of those before it."""
    if words[0] != "python" or words[1:3] != ["-m", "fgpvae"]:
        return words[0] == "python" and words[1].startswith("scripts/")
    if words[3] == "train" and "--preset" in words:
        if quick := words[words.index("--preset") + 1] in QUICK:
            trained.add(words[words.index("--run-dir") + 1])
        return quick
    return words[3] in ("rotate", "site") or (words[3] == "evaluate" and words[4] in trained)


CASES = [
    (page, words)
    for page in PAGES
    for trained in [set()]
    for words in commands(page)
    if short(words, trained)
]


@pytest.fixture(scope="module")
def folders(tmp_path_factory) -> dict[Path, Path]:
    """Where a newcomer stands, for each page, with the picture of a three that comes along."""
    found = {page: tmp_path_factory.mktemp("newcomer") for page in PAGES}
    for folder in found.values():
        (folder / "docs").mkdir()
        shutil.copy(ROOT / "docs" / "three.png", folder / "docs")
    return found


@pytest.mark.parametrize(("page", "words"), CASES, ids=[" ".join(words) for _, words in CASES])
def test_a_command_runs(page, words, folders, monkeypatch, capsys):
    """In the folder of its page and in order: a command may need what those before it have made."""
    monkeypatch.chdir(folders[page])
    if words[1] != "-m":
        script = [sys.executable, ROOT / words[1], *words[2:]]
        subprocess.run(script, check=True, stdout=subprocess.DEVNULL)
        return
    assert main([*words[3:], *(["--epochs", "1"] if words[3] == "train" else [])]) == 0
    assert capsys.readouterr().out.startswith("{")
    for option in {"--out", "--run-dir"} & set(words):
        assert Path(words[words.index(option) + 1]).exists()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_runs(page, tmp_path, monkeypatch):
    if page.name == "api.md":
        return  # signatures
    monkeypatch.chdir(tmp_path)
    for code in blocks(page, "python"):
        exec(code, {})


def test_notebooks_run(tmp_path, monkeypatch):
    """One after the other in one kernel, which imports torch once and forgets all else."""
    monkeypatch.setenv("FGPVAE_SHORT", "1")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    whole = nbformat.v4.new_notebook()
    for path in NOTEBOOKS:
        whole.cells += nbformat.read(path, as_version=4).cells
        whole.cells.append(nbformat.v4.new_code_cell("%reset -f"))
    NotebookClient(whole, timeout=600, resources={"metadata": {"path": tmp_path}}).execute()


CONTRIBUTING = ROOT / "CONTRIBUTING.md"
MODEL, MODEL_LINE, PAGE, COLLECTION, *_ = blocks(CONTRIBUTING, "python")


def command(part: str) -> list[str]:
    """The arguments of the one command with this part."""
    (words,) = [words for words in commands(CONTRIBUTING) if part in " ".join(words)]
    return words[3:]


@pytest.fixture
def added(monkeypatch) -> str:
    """The model of CONTRIBUTING, in the registry by the line shown there."""
    namespace: dict = {"__name__": "fgpvae.models.average"}
    exec(MODEL, namespace)
    kind = namespace[re.search(r", (\w+)\)\n", MODEL_LINE)[1]]
    monkeypatch.setitem(models.MODELS, kind.name, kind)
    return kind.name


def test_the_model_shown_keeps_the_contract_of_every_model(added, tmp_path):
    for network in test_models.NETWORKS:
        test_models.test_shapes_gradients_saving(added, network, tmp_path)
    test_models.test_unobserved_views_have_no_influence(added)
    test_models.test_a_batch_is_its_singles(added)


def test_the_model_shown_is_trained_by_the_command_shown(added, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = command(f"model.name={added}")
    small = ["--epochs", "1", "--set", "data.digits=40", "--set", "data.views=2"]
    assert main([*words, *small]) == 0
    assert main(["evaluate", words[words.index("--run-dir") + 1], "--json"]) == 0


def test_the_page_shown_works(tmp_path, monkeypatch):
    name, title = re.search(r"""`\("(\w+)", "(.+)"\),`""", CONTRIBUTING.read_text()).groups()
    assert f"`pages/{name}.py`" in CONTRIBUTING.read_text()
    monkeypatch.setattr(frame, "PAGES", (*frame.PAGES, (name, title)))
    script = tmp_path / f"{name}.py"
    script.write_text(PAGE)
    at = AppTest.from_file(str(script), default_timeout=240)
    at.session_state[frame.FLAG] = True
    at.run()
    assert not at.exception
    assert at.title[0].value == title
    before = at.get("html")[-1].proto.body
    at.slider[0].set_value(90).run()
    assert not at.exception
    assert at.get("html")[-1].proto.body != before


def test_the_collection_shown_is_trained_and_appears_on_every_page(tmp_path, monkeypatch, capsys):
    space: dict = {"__name__": "fgpvae.data.clocks"}
    exec(COLLECTION, space)
    monkeypatch.setitem(COLLECTIONS, "clocks", space["Clocks"])
    monkeypatch.setitem(choices.GROUPS, "clocks", space["Clocks"].group)
    monkeypatch.setenv("FGPVAE_RUNS", str(tmp_path / "runs"))
    monkeypatch.chdir(tmp_path)
    assert main([*command("data.split=clocks"), "--epochs", "1"]) == 0
    assert main(["evaluate", "runs/clocks", "--json"]) == 0
    assert "mse_by_views" in capsys.readouterr().out
    for page, _ in frame.PAGES:
        at = open_page(page, model="runs/clocks", screen="5")
        assert not at.exception, page
        picked = [each.value for each in at.selectbox if each.key == "model"]
        assert picked == ([] if page in ("train", "compare") else ["runs/clocks"]), page
