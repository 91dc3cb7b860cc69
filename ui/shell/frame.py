"""The frame around every page: routing, the deep-link guard, headings and cards."""

import re
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.navigation.page import Page
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.scriptrunner import get_script_run_ctx

from ui.shell import about, garbage, page_imports, warm_up
from ui.shell.palette import CYCLE

ROOT = Path(__file__).parents[2]
FLAG = "shell.frame"  # in the session state once app.py has run

# file in pages/ and address, title
PAGES = (
    ("rotate", "Rotate"),
    ("extrapolate", "Extrapolate"),
    ("train", "Train"),
    ("compare", "Compare"),
    ("latents", "Latents"),
    ("how", "How it works"),
)

_ARCS = "".join(
    f'<circle cx="16" cy="16" r="11" fill="none" stroke="{colour}" stroke-width="7" '
    f'pathLength="8" stroke-dasharray="1.02 6.98" stroke-dashoffset="{index}"/>'
    for index, colour in enumerate(CYCLE[::4])
)
ICON = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">{_ARCS}</svg>'


@lru_cache(maxsize=1)
def pages() -> list[Page]:
    """The pages in the order of the menu, to link to; made once, for that takes a millisecond."""
    return [_page(name, title) for name, title in PAGES]


def addresses() -> list[Page]:
    """The pages, and the root of the app, which shows the first of them.

    Streamlit serves a default page at the root only, so it cannot be the one in the menu:
    a link to /rotate would not be found.
    """
    name, title = PAGES[0]
    first = _page(name, title, url_path="home", default=True, visibility="hidden")
    return [first, *(_page(name, title) for name, title in PAGES)]  # of this visit alone


def _page(name: str, title: str, **options: Any) -> Page:
    return st.Page(ROOT / "pages" / f"{name}.py", title=title, **({"url_path": name} | options))


def route_by_app() -> None:
    """For a server, before the first visit: links to a page go through app.py as well.

    Otherwise Streamlit runs the script of the page itself, until app.py has run once.
    """
    PagesManager.uses_pages_directory = False


def run(opening: Callable[[], bool] = lambda: False) -> None:
    """Show the menu and run the chosen page.

    As long as the modules of pages are not there, `opening` shows what it can of the first page;
    it says whether it has.
    """
    st.session_state[FLAG] = True
    page, listed = st.navigation(addresses(), position="hidden"), pages()
    st.set_page_config(page_title=f"{page.title} · fgpvae")
    here = 1 + next((i for i, each in enumerate(listed) if each.url_path == page.url_path), 0)
    st.html(f"<style>{STYLE}{HERE % (here, here)}</style>")
    st.html(f"<script>{HISTORY}</script>", unsafe_allow_javascript=True)
    with st.sidebar:
        with st.container(key="shell.brand", gap=None):
            st.markdown("**fgpvae**")
            st.caption("Gaussian process autoencoders, by hand")
        with st.container(key="shell.menu", gap=None):
            for each in listed:
                st.page_link(each, label=each.title)
        if st.button("About", key="shell.about", type="tertiary"):
            about.about()
    if warm_up.pending():
        opened = here == 1 and _within(page, opening)
        warm_up.wait()
        if opened:
            st.rerun()
    page_imports.load(ROOT / "pages" / f"{PAGES[here - 1][0]}.py")
    try:
        page.run()
    finally:
        garbage.keep(page.url_path)


def _within(page: Page, show: Callable[[], bool]) -> bool:
    """Show something as the script of a page would: what it shows later is the same element."""
    context = get_script_run_ctx()
    assert context is not None
    with context.run_with_active_hash(page._script_hash):
        return show()


def guard() -> None:
    """First line of every page: a deep link on a fresh server runs a page without app.py."""
    if FLAG not in st.session_state:
        st.navigation(addresses(), position="hidden")
        st.session_state[FLAG] = True
        st.rerun()


def page(name: str) -> Page:
    """One of the pages, for `st.page_link` and `st.switch_page`."""
    return next(each for each, (key, _) in zip(pages(), PAGES, strict=True) if key == name)


def plain(text: object) -> str:
    """A name or a message for where Streamlit expects Markdown: shown as it is, on one line."""
    line = " ".join(str(text).split())
    line = re.sub(r"[\\`*_\[\]<>&$:~!|#]|^[-+=]", r"\\\g<0>", line)
    return re.sub(r"^(\d+)([.)])", r"\1\\\2", line)  # would begin a list


def heading(title: str, sentence: str, help: str | None = None) -> None:
    """The title of a page and, below it, what one sees in one sentence."""
    with st.container(key="shell.heading", gap=None):
        st.title(title, anchor=False)
        st.caption(sentence, help=help)


def card(
    title: str | None = None,
    sentence: str | None = None,
    key: str | None = None,
    **options: Any,
) -> DeltaGenerator:
    """A container with a hairline border, perhaps with a title and one sentence.

    `key` distinguishes cards of one title; `options` go to `st.container`.
    """
    container = st.container(
        border=True, key=f"shell.card.{_slug(key or title or 'plain')}", **options
    )
    if title:
        _titled(container, title, sentence)
    return container


def empty(title: str, sentence: str, key: str | None = None) -> DeltaGenerator:
    """A card for what is not there yet; put the button that changes this into it."""
    container = st.container(
        border=True,
        key=f"shell.card.empty.{_slug(key or title)}",
        height=260,
        horizontal_alignment="center",
        vertical_alignment="center",
    )
    _titled(container, title, sentence)
    return container


def _titled(container: DeltaGenerator, title: str, sentence: str | None) -> None:
    with container.container(gap=None):
        st.header(title, anchor=False)
        if sentence:
            st.caption(sentence)


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


STYLE = (Path(__file__).parent / "streamlit.css").read_text(encoding="utf-8")
HISTORY = (Path(__file__).parent / "history.js").read_text(encoding="utf-8")

HERE = """
.st-key-shell-menu > :nth-child(%d) a[data-testid="stPageLink-NavLink"] {
  background: light-dark(#ffffff, #171b24); border-color: light-dark(#e6e6e0, #262c39);
}
.st-key-shell-menu > :nth-child(%d) a[data-testid="stPageLink-NavLink"] p { font-weight: 600; }
"""
