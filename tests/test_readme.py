"""What the README says can be done, and the figures it shows."""

import re
from pathlib import Path

import pytest

from fgpvae.__main__ import parser

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "README.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", TEXT, re.S)


def test_python_example_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (code,) = blocks("python")
    exec(code, {})
    assert (tmp_path / "seven.gif").read_bytes().startswith(b"GIF8")


def commands() -> list[list[str]]:
    lines = [line for block in blocks("bash") for line in block.splitlines()]
    return [line.split("#")[0].split()[3:] for line in lines if line.startswith("python -m fgpvae")]


@pytest.mark.parametrize("command", commands(), ids=" ".join)
def test_commands_are_understood(command):
    assert callable(parser().parse_args(command).action)


@pytest.mark.parametrize("name", ["table1", "extrapolation"])
def test_tables_are_those_of_the_results(name):
    assert (ROOT / "results" / f"{name}.md").read_text().strip() in TEXT


@pytest.mark.parametrize("link", re.findall(r"\]\(((?!http)[^)#]+)", TEXT))
def test_links_lead_somewhere(link):
    assert (ROOT / link).exists()
