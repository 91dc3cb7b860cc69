"""The frame of the app, and its pages Latents and How it works."""

import pydoc
import re
from pathlib import Path

import pytest
import torch
from streamlit.testing.v1 import AppTest

from fgpvae.runs import checkpoints
from tests import small_runs
from tests.pages import html, open_page
from ui import charts
from ui.catalog import models
from ui.shell import about, frame

ROOT = Path(__file__).parent.parent
PAGES = [name for name, _ in frame.PAGES]


@pytest.fixture
def app(every_kind, monkeypatch):
    """The app with a run of every kind of model, at a page of one's choice."""
    monkeypatch.setenv("FGPVAE_RUNS", str(every_kind))
    return open_page


@pytest.fixture
def no_models(monkeypatch, tmp_path):
    monkeypatch.setenv("FGPVAE_RUNS", str(tmp_path / "nothing"))
    monkeypatch.setattr(checkpoints, "PRETRAINED", tmp_path / "nothing")


def fine(at: AppTest) -> bool:
    return not at.exception and not at.error


def texts(at: AppTest) -> str:
    return "\n".join(
        str(each.value)
        for each in (*at.markdown, *at.caption, *at.title, *at.header, *at.subheader)
    )


def test_the_app_opens_with_its_first_page_and_a_menu(app):
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=240).run()
    assert fine(at), at.exception
    assert at.title[0].value == app(PAGES[0]).title[0].value
    assert "by hand" in at.sidebar.caption[0].value
    links = [each.proto.label for each in at.sidebar.get("page_link")]
    assert links == [title for _, title in frame.PAGES]
    at.sidebar.button(key="shell.about").click().run()
    said = " ".join(each.value for each in at.markdown)
    assert fine(at), at.exception
    assert "](https://arxiv.org/abs/2011.07255)" in said
    assert "MIT licence" in said
    assert all(f"**{word}**" in said for word in about.GLOSSARY)


@pytest.mark.parametrize("page", PAGES)
def test_every_page_does_without_models(no_models, page):
    at = open_page(page)
    assert fine(at), at.exception


def test_a_run_is_loaded_again_when_its_weights_change(tmp_path, monkeypatch):
    monkeypatch.setenv("FGPVAE_RUNS", str(tmp_path))
    small_runs.make(tmp_path, "turning")
    first = models.find("runs/turning")
    old = first.load()
    assert first.load() is old
    assert first.kind.title == "FGP-VAE"
    assert first.classes == (3, 7)
    changed = checkpoints.load_model(first.path)
    with torch.no_grad():
        next(changed.parameters()).add_(1)
    checkpoints.save_model(changed, first.path)
    second = models.find("runs/turning")
    assert second != first
    ours, theirs = (next(each.parameters()) for each in (second.load(), old))
    torch.testing.assert_close(ours, theirs + 1)


def test_the_link_chooses_the_model_and_other_pages_keep_it(app):
    at = app("latents", model="runs/turning")
    assert at.selectbox(key="model").value == "runs/turning"
    at.switch_page("pages/train.py").run()
    at.switch_page("pages/latents.py").run()
    assert at.selectbox(key="model").value == "runs/turning"


@pytest.mark.parametrize(("page", "query"), [("latents", {}), ("how", {"screen": "5"})])
def test_a_damaged_run_is_named(tmp_path, monkeypatch, page, query):
    monkeypatch.setenv("FGPVAE_RUNS", str(tmp_path))
    small_runs.make(tmp_path, "turning")
    (tmp_path / "turning" / checkpoints.WEIGHTS).write_bytes(b"junk")
    at = open_page(page, model="runs/turning", **query)
    assert fine(at), at.exception
    assert at.selectbox(key="model").value == "runs/turning"
    assert any("damaged" in each for each in html(at, 'role="alert"'))


def test_latents_shows_exactly_the_digit_that_was_picked(app):
    """Also one that has a style in the chart of many, but no curve in the chart of few."""
    at = app("latents", model="runs/turning", subject="new-7-39")
    assert fine(at), at.exception
    assert at.selectbox(key="latents.picked.digits").value == "new-7-39"


@pytest.mark.parametrize("screen", "123456")
def test_a_link_opens_a_screen_with_formulae_and_what_implements_them(app, screen):
    at = app("how", screen=screen, model="runs/turning")
    assert fine(at), at.exception
    assert at.session_state["screen"] == screen
    assert at.query_params["screen"] in (screen, [screen])
    named = re.findall(r"`(fgpvae[\w.]+)`", texts(at))
    assert len(named) >= len(at.get("latex")) > 0
    for name in named:
        assert exists(name), name


def exists(name: str) -> bool:
    """Is this the full name of a function, a class, or something that a class says it has?"""
    owner, _, last = name.rpartition(".")
    found = pydoc.locate(owner)
    return hasattr(found, last) or last in getattr(found, "__annotations__", {})


def test_next_and_back_walk_through_the_screens(app):
    at = app("how")
    seen = []
    while forward := [each for each in at.button if each.label.startswith("Next")]:
        at = forward[0].click().run()
        assert fine(at), at.exception
        seen.append(at.session_state["screen"])
    assert seen == list("23456")
    back = next(each for each in at.button if each.label.startswith("Back"))
    assert back.click().run().session_state["screen"] == "5"


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("line-grey 3.5 (a, b)", "line-grey 3.5 (a, b)"),
        ("_a_ *b* `c` ~d~", r"\_a\_ \*b\* \`c\` \~d\~"),
        ("![](http://host/x.png)", r"\!\[\](http\://host/x.png)"),
        ("$x$ :red[y] :smile: <b> &amp;", r"\$x\$ \:red\[y\] \:smile\: \<b\> \&amp;"),
        ("1. one", r"1\. one"),
        ("- one\n\n    two", r"\- one two"),
        ("back\\slash", r"back\\slash"),
    ],
)
def test_nothing_in_a_name_is_markdown(text, escaped):
    assert frame.plain(text) == escaped


def test_a_name_in_a_chart_cannot_be_markup():
    assert charts.words("<b>%{x}</b>") == "&lt;b&gt;%&#123;x}&lt;/b&gt;"
    assert len(charts.words("a" * 100)) == 72
