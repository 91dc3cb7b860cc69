"""The documentation: examples that run, names that exist, links that lead somewhere."""

import doctest
import importlib
import pkgutil
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import torch
from streamlit.testing.v1 import AppTest

import fgpvae
from fgpvae import models
from fgpvae.__main__ import main, parser
from fgpvae.batches import FixedViews
from fgpvae.training import Trainer
from tests import test_models
from ui.shell import frame

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]
PAGES += sorted((ROOT / "docs").rglob("*.md"))
every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


# --- the package's own words ---


@pytest.mark.parametrize("name", [name for name in fgpvae.__all__ if name != "MODELS"])  # a dict
def test_every_public_name_has_a_docstring_with_an_example_that_runs(name):
    thing = getattr(fgpvae, name)
    assert thing.__doc__
    example = doctest.DocTestParser().get_doctest(thing.__doc__, {}, name, None, None)
    assert example.examples
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    said: list[str] = []
    runner.run(example, out=said.append)
    assert not runner.failures, "".join(said)


def test_every_other_example_of_the_package_runs():
    public = {id(getattr(fgpvae, name)) for name in fgpvae.__all__}
    names = [info.name for info in pkgutil.walk_packages(fgpvae.__path__, "fgpvae.")]
    for name in ["fgpvae", *names]:
        module = importlib.import_module(name)
        for example in doctest.DocTestFinder().find(module):
            thing = _named(module, example.name)
            if example.examples and id(thing) not in public:
                runner = doctest.DocTestRunner(optionflags=FLAGS)
                said: list[str] = []
                runner.run(example, out=said.append)
                assert not runner.failures, "".join(said)


def _named(module, path: str):
    thing = module
    for part in path.removeprefix(module.__name__).strip(".").split("."):
        thing = getattr(thing, part) if part else thing
    return thing


def test_the_version_is_written_the_same_everywhere():
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert fgpvae.__version__ == version
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text()
    assert f"## {version}" in (ROOT / "CHANGELOG.md").read_text()


# --- pages of documentation ---


def commands(text: str) -> list[str]:
    """What is written as a command, in blocks and between backticks; not where it has dots."""
    blocks = [
        line for block in re.findall(r"```bash\n(.*?)```", text, re.S) for line in block.split("\n")
    ]
    spans = re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", text, flags=re.S))
    found = [line.split(" # ")[0].strip() for line in blocks + spans]
    programs = re.compile(r"(\S*python3?|torchrun) ")
    return [line for line in found if programs.match(line) and "..." not in line]


@every_page
def test_commands_in_documentation_are_understood(page):
    for command in commands(page.read_text()):
        words = command.split()
        _, package, arguments = command.partition(" -m fgpvae")
        if package:
            if arguments:
                assert callable(parser().parse_args(arguments.split()).action), command
        elif words[1].startswith("scripts/"):
            source = (ROOT / words[1]).read_text()
            options = [word for word in words[2:] if word.startswith("--")]
            assert all(f'"{option}"' in source for option in options), command


@every_page
def test_links_lead_somewhere(page):
    text = page.read_text()
    for link, anchor in re.findall(r"\]\(((?!http)[^)#]*)(?:#([^)]+))?\)", text):
        target = page.parent / link if link else page
        assert target.exists(), link
        if anchor:
            assert anchor in _anchors(target.read_text()), f"{link}#{anchor}"


@every_page
def test_files_named_in_documentation_exist(page):
    if page.name == "CONTRIBUTING.md":
        return  # it shows files that are to be written
    folders = "docs|fgpvae|pages|results|scripts|tests|ui"
    named = re.findall(rf"`((?:{folders})/[\w./-]+)`", page.read_text())
    assert [name for name in named if not (ROOT / name).exists()] == []


def _anchors(text: str) -> set[str]:
    """As GitHub makes them of headings."""
    heads = re.findall(r"^#+ (.+)$", text, re.M)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def test_functions_named_in_the_maths_exist():
    named = re.findall(r"`((?:\w+\.)*\w+\.\w+)`", (ROOT / "docs" / "maths.md").read_text())
    assert len(named) > 10
    missing = [name for name in named if not _exists(name)]
    assert missing == []


def _exists(path: str) -> bool:
    """`module.thing` of the package, or `Class.method` of a class that some module has."""
    *parents, name = path.split(".")
    try:
        return hasattr(importlib.import_module(f"fgpvae.{'.'.join(parents)}"), name)
    except ImportError:
        pass
    first, *rest = path.split(".")
    holders = [f"fgpvae.{'.'.join(parents[:-1])}"] if len(parents) > 1 else []
    holders += [info.name for info in pkgutil.walk_packages(fgpvae.__path__, "fgpvae.")]
    for holder in holders:
        try:
            thing = importlib.import_module(holder)
        except ImportError:
            continue
        for part in (parents[-1], name) if len(parents) > 1 else (first, *rest):
            thing = getattr(thing, part, None)
        if thing is not None:
            return True
    return False


@pytest.mark.parametrize("name", fgpvae.pretrained_names())
def test_every_shipped_model_has_a_card(name):
    text = (ROOT / "docs" / "models" / f"{name}.md").read_text()
    weights = sum(p.numel() for p in fgpvae.load_pretrained(name).parameters())
    assert f"{weights:,} parameters" in text
    assert f"docs/models/{name}.md" in (ROOT / "README.md").read_text()


# --- CONTRIBUTING: a model and a page, as they are shown there ---

CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text()


def shown(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", CONTRIBUTING, re.S)


@pytest.fixture
def added(monkeypatch) -> str:
    """The model of CONTRIBUTING, in the registry by the line shown there."""
    code, line, *_ = shown("python")
    namespace: dict = {"__name__": "fgpvae.models.average"}
    exec(code, namespace)
    name, kind = re.fullmatch(r'    "(\w+)": (\w+),\n', line).groups()
    monkeypatch.setitem(models.MODELS, name, namespace[kind])
    return name


def test_the_model_shown_passes_what_every_model_passes(added, tmp_path):
    for network in test_models.NETWORKS:
        test_models.test_shapes(added, network)
        test_models.test_every_parameter_has_a_finite_gradient(added, network)
        test_models.test_save_and_load_are_identical(added, network, tmp_path)
    test_models.test_masked_views_have_no_influence(added)
    test_models.test_removing_masked_views_changes_nothing(added)
    test_models.test_a_batch_is_its_singles(added)
    test_models.test_samples_follow_their_generator(added)
    test_models.test_bad_input_is_refused_in_one_sentence(added)


def test_the_model_shown_learns(added):
    views = test_models.digits(16, 8)
    trainer = Trainer(test_models.config(added, 20, "wide"), FixedViews(views, 4, 0))
    errors = [step.mse for step in trainer.steps()]
    assert sum(errors[-8:]) < 0.8 * sum(errors[:8])
    images = trainer.result().generate(views.images, views.angles, views.angles, views.observed)
    assert torch.isfinite(images).all()


def test_the_model_shown_is_trained_by_the_command_shown(added, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (command,) = [c for c in commands(CONTRIBUTING) if f"model.name={added}" in c]
    small = ["--epochs", "1", "--set", "data.digits=40", "--set", "data.views=2"]
    assert main([*command.split()[3:], *small]) == 0
    assert (
        main(["evaluate", command.split()[command.split().index("--run-dir") + 1], "--json"]) == 0
    )


def test_the_page_shown_works(tmp_path, monkeypatch):
    code = shown("python")[2]
    name, title = re.search(r"""`\("(\w+)", "(.+)"\),`""", CONTRIBUTING).groups()
    assert f"`pages/{name}.py`" in CONTRIBUTING
    monkeypatch.setattr(frame, "PAGES", (*frame.PAGES, (name, title)))
    script = tmp_path / f"{name}.py"
    script.write_text(code)
    at = AppTest.from_file(str(script), default_timeout=120)
    at.session_state[frame.FLAG] = True
    at.run()
    assert not at.exception
    assert at.title[0].value == title
    before = at.get("html")[-1].proto.body
    at.slider[0].set_value(90).run()
    assert not at.exception
    assert at.get("html")[-1].proto.body != before


def test_one_test_can_be_run_as_shown():
    words = next(c for c in commands(CONTRIBUTING) if " -k " in c).split()
    done = subprocess.run(
        [sys.executable, *words[1:]], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-2000:]
    assert "passed" in done.stdout
