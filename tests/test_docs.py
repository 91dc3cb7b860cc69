"""What README, CONTRIBUTING, CHANGELOG, docs/ and examples/ say: names, links, tables, lengths."""

import configparser
import doctest
import importlib
import json
import pkgutil
import re
import shlex
import tomllib
from pathlib import Path

import pytest
import streamlit as st

import fgpvae
from fgpvae.__main__ import parser
from scripts import api_reference, readme_tables

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]
PAGES += sorted((ROOT / "docs").rglob("*.md"))
NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))
every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
GENERATED = re.compile(
    r"<!-- (?:results/[\w-]+\.md|table|after|reading) -->.*?<!-- end[^>]*-->", re.S
)


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(), re.S | re.M)


def commands(page: Path) -> list[list[str]]:
    """The commands of a page's blocks, as words."""
    lines = "".join(blocks(page, "bash")).replace("\\\n", " ").splitlines()
    return [words for line in lines if (words := shlex.split(line, comments=True))]


def words(path: Path) -> int:
    """Words that somebody has written: no generated tables, no bars of tables."""
    text = GENERATED.sub("", path.read_text())
    return sum(re.search(r"\w", word) is not None for word in text.split())


def test_documents_are_short():
    assert len((ROOT / "README.md").read_text().split()) <= 900
    written = [path for path in (ROOT / "docs").glob("*.md") if path.name != "api.md"]
    assert sum(map(words, written)) <= 12_000


def test_the_api_reference_is_current():
    """If this fails: python scripts/api_reference.py"""
    assert api_reference.reference() == (ROOT / "docs" / "api.md").read_text()


def test_tables_are_those_of_the_results():
    texts = [(ROOT / name).read_text() for name in readme_tables.DOCUMENTS]
    shown = {path for text in texts for _, path, _ in readme_tables.MARKED.findall(text)}
    assert shown == {f"results/{path.name}" for path in (ROOT / "results").glob("*.md")}
    assert [readme_tables.filled(text) for text in texts] == texts
    assert readme_tables.summary() == (ROOT / "results" / "summary.md").read_text()


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_committed_with_small_outputs(path):
    cells = json.loads(path.read_text())["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert any(cell["outputs"] for cell in code)
    assert path.stat().st_size < 400_000
    assert not re.search(r"/(?:work|root|home|tmp)/", path.read_text())


@pytest.mark.parametrize("name", fgpvae.pretrained_names())
def test_every_shipped_model_has_a_card(name):
    text = (ROOT / "docs" / "models" / f"{name}.md").read_text()
    weights = sum(p.numel() for p in fgpvae.load_pretrained(name).parameters())
    assert f"{weights:,} parameters" in text
    assert f"(models/{name}.md)" in (ROOT / "docs" / "results.md").read_text()


def test_every_public_name_has_an_example_and_all_examples_run():
    finder, runner = doctest.DocTestFinder(), doctest.DocTestRunner(optionflags=FLAGS)
    said: list[str] = []
    modules = [info.name for info in pkgutil.walk_packages(fgpvae.__path__, "fgpvae.")]
    found = set()
    for name in ["fgpvae", *modules]:
        for example in finder.find(importlib.import_module(name)):
            if example.examples:
                found.add(example.name.rpartition(".")[2])
                runner.run(example, out=said.append)
    assert not runner.failures, "".join(said)
    assert set(fgpvae.__all__) - {"MODELS"} <= found  # a dict


def test_the_version_is_written_the_same_everywhere():
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert fgpvae.__version__ == version
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text()
    assert f"## {version}" in (ROOT / "CHANGELOG.md").read_text()


@every_page
def test_commands_are_understood(page):
    """Those in blocks, and those between backticks that are no pattern with dots."""
    spans = re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", page.read_text(), flags=re.S))
    inline = [span.split() for span in spans if re.match(r"(\S*python3?|torchrun) ", span)]
    for line in [*commands(page), *inline]:
        if "-m" in line and "fgpvae" in line and "..." not in line:
            if arguments := line[line.index("fgpvae") + 1 :]:
                assert callable(parser().parse_args(arguments).action), line
        elif len(line) > 1 and line[1].startswith("scripts/"):
            source = (ROOT / line[1]).read_text()
            assert all(f'"{word}"' in source for word in line if word.startswith("--")), line
        for option in re.findall(r"--((?:server|browser)\.\w+)", " ".join(line)):
            st.get_option(option)  # an error if there is none of this name


@every_page
def test_settings_of_other_programs_can_be_read(page):
    for code in blocks(page, "toml"):
        tomllib.loads(code)
    for code in blocks(page, "ini"):
        unit = configparser.ConfigParser(interpolation=None)
        unit.read_string(code)
        assert unit["Service"]["ExecStart"].split()[1:3] == ["run", "app.py"]


@every_page
def test_links_lead_somewhere(page):
    pattern = r'(?:\]\(|src="|srcset=")((?!http)[^)"#]*)(?:#([^)]+))?[)"]'
    for link, anchor in re.findall(pattern, page.read_text()):
        target = page.parent / link if link else page
        assert target.exists(), link
        if anchor:
            assert anchor in _anchors(target.read_text()), f"{link}#{anchor}"


def _anchors(text: str) -> set[str]:
    """As GitHub makes them of headings."""
    heads = re.findall(r"^#+ (.+)$", text, re.M)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


@every_page
def test_files_named_in_documentation_exist(page):
    if page.name == "CONTRIBUTING.md":
        return  # it shows files that are to be written
    folders = "docs|fgpvae|pages|results|scripts|tests|ui"
    named = re.findall(rf"`((?:{folders})/[\w./-]+)`", page.read_text())
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_functions_named_in_the_maths_exist():
    named = re.findall(r"`(?:\w+\.)*(\w+)\.(\w+)`", (ROOT / "docs" / "maths.md").read_text())
    assert len(named) > 10
    sources = "\n".join(path.read_text() for path in (ROOT / "fgpvae").rglob("*.py"))
    modules = {path.stem for path in (ROOT / "fgpvae").rglob("*")}
    for holder, name in named:
        assert holder in modules or f"class {holder}" in sources, f"{holder}.{name}"
        assert re.search(rf"\b(def|class) {name}\b|\b{name}:? ?.*=", sources), f"{holder}.{name}"
