"""The frame around every page: routing, the deep-link guard, and the elements of all pages."""

import re
from collections.abc import Callable, Sequence
from html import escape
from mimetypes import guess_type
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ui.shell import about, query_params
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


def page(name: str, **options: Any) -> st.Page:
    """Return a page, to link to."""
    options = {"title": dict(PAGES)[name], "url_path": name} | options
    return st.Page(ROOT / "pages" / f"{name}.py", **options)


def addresses() -> list[st.Page]:
    """Return the pages and the root of the app, which shows the first of them.

    Streamlit serves a default page at the root only, so it cannot be the one in the menu:
    a link to /rotate would not be found.
    """
    home = page(PAGES[0][0], url_path="home", default=True, visibility="hidden")
    return [home, *(page(name) for name, _ in PAGES)]


def menu(opened: st.Page) -> None:
    """Show the menu in the sidebar, with the current page marked."""
    st.session_state[FLAG] = True
    query_params.note_back()
    st.set_page_config(page_title=f"{opened.title} · fgpvae")
    here = 1 + [title for _, title in PAGES].index(opened.title)
    with st.sidebar:
        with st.container(key="shell.brand", gap=None):
            st.markdown("**fgpvae**")
            st.caption("Gaussian process autoencoders, by hand")
        with st.container(key="shell.menu", gap=None):
            for name, title in PAGES:
                st.page_link(page(name), label=title)
        if st.button("About", key="shell.about", type="tertiary"):
            about.about()
        st.html(f"<style>{HERE % here}</style>")


def guard() -> None:
    """Run app.py first, because a deep link on a new server runs a page without it."""
    if FLAG not in st.session_state:
        st.navigation(addresses(), position="hidden")
        st.session_state[FLAG] = True
        st.rerun()


def plain(text: object) -> str:
    """Escape a name or message for Markdown, on one line."""
    line = " ".join(str(text).split())
    line = re.sub(r"[\\`*_\[\]<>&$:~!|#]|^[-+=]", r"\\\g<0>", line)
    return re.sub(r"^(\d+)([.)])", r"\1\\\2", line)  # would start a list


def heading(title: str, sentence: str, help: str | None = None) -> None:
    """Show the title of a page and one sentence below it."""
    with st.container(key="shell.heading", gap=None):
        st.title(title, anchor=False)
        st.caption(sentence, help=help)


def card(
    title: str | None = None, sentence: str | None = None, key: str | None = None, **options: Any
) -> DeltaGenerator:
    """Return a container with a hairline border, perhaps with a title and one sentence.

    `key` distinguishes cards of one title; `options` go to `st.container`.
    """
    name = slug(key or title or "plain")
    container = st.container(border=True, key=f"shell.card.{name}", **options)
    if title:
        with container.container(gap=None):
            st.header(title, anchor=False)
            if sentence:
                st.caption(sentence)
    return container


def empty(title: str, sentence: str, key: str | None = None) -> DeltaGenerator:
    """Return a card that says what is missing; add a button for it inside."""
    centred = {"horizontal_alignment": "center", "vertical_alignment": "center"}
    return card(title, sentence, f"empty.{key or title}", height=260, **centred)


def numbers(items: Sequence[tuple[str, str]]) -> None:
    """Show numbers side by side, each above its name; the first is bold."""
    each = "".join(
        f'<div><div style="font-size:1.25rem;font-weight:{600 if index else 700};'
        f'font-variant-numeric:tabular-nums;opacity:{0.75 if index else 1}">{escape(value)}'
        f'</div><div style="font-size:.8rem;opacity:.7">{escape(name)}</div></div>'
        for index, (value, name) in enumerate(items)
    )
    st.html(f'<div style="display:flex;flex-wrap:wrap;gap:.6rem 2rem">{each}</div>')


def download(
    label: str, content: Callable[[], str | bytes], file: str, key: str, **options: Any
) -> None:
    """Show a button whose file is made when it is pressed."""
    mime, _ = guess_type(file)
    st.download_button(label, content, file, mime, key=key, on_click="ignore", **options)


def not_in_link(what: str) -> None:
    """Say what a link to this page does not restore; Copy link says so as well."""
    with st.container(key="shell.not_in_link"):
        st.caption(f"A link to this page leaves out {what}.")


def in_sight(key: str, mark: str) -> None:
    """On a phone: scroll to the element of this key, shown before, once for each `mark`."""
    st.html(IN_SIGHT % (mark, key.replace(".", "-")), unsafe_allow_javascript=True)


def slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


IN_SIGHT = """<script>/* %s */
if (matchMedia("(max-width: 640px)").matches) {
  const target = document.querySelector(".st-key-%s");
  // again while the page grows: what comes later makes room for it, or moves it
  const watch = new ResizeObserver(() => target.scrollIntoView({ block: "start" }));
  const done = () => watch.disconnect();
  watch.observe(document.querySelector(".stMainBlockContainer"));
  addEventListener("pointerdown", done, { once: true });
  setTimeout(done, 3000);
}
</script>"""
HERE = """
.st-key-shell-menu > :nth-child(%d) a[data-testid="stPageLink-NavLink"] {
  background: light-dark(#ffffff, #171b24); border-color: light-dark(#e6e6e0, #262c39);
  p { font-weight: 600; }
}
"""
