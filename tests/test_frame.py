"""What surrounds every page: the server's start, its sockets, cached elements, widgets' keys."""

import re
import socket
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import Browser, expect
from streamlit.testing.v1 import AppTest

from tests.browser import ROOT, new_page, serve, settle
from ui.shell.server import send_at_once

INNER = re.compile(r"streamlit\.(runtime|proto|web|components)\b|\bst\._|_script_hash|ForwardMsg")


def test_only_public_interfaces_of_streamlit_are_used():
    sources = [ROOT / "app.py", *(ROOT / "pages").glob("*.py"), *(ROOT / "ui").rglob("*.py")]
    inner = {str(each): INNER.findall(each.read_text()) for each in sources}
    assert not {name: found for name, found in inner.items() if found}


PRELOADED = """
import ast, sys
from pathlib import Path
from ui.shell import frame, server
frame.PAGES += (("quarter", "A page of one file"),)
server.prepare()
before = set(sys.modules)
early = {"pandas", "sklearn", "torch._dynamo", "fgpvae.training.trainer"}
assert not early & before, early & before
for page in Path("pages").glob("*.py"):
    tree = ast.parse(page.read_text())
    tree.body = [each for each in tree.body if isinstance(each, ast.Import | ast.ImportFrom)]
    exec(compile(tree, page, "exec"), {})
late = {name for name in sys.modules if name.split(".")[0] in ("ui", "fgpvae", "torch", "scipy")}
assert not late - before, late - before
"""


def test_a_visit_imports_nothing_that_another_may_import_meanwhile():
    """And the server does not import what the first digit can do without."""
    subprocess.run([sys.executable, "-c", PRELOADED], cwd=ROOT, check=True, timeout=300)


def test_links_to_several_pages_of_a_fresh_server(browser: Browser, tmp_path: Path):
    """Until app.py has run once, Streamlit runs the script of a page by itself."""
    with serve(ROOT / "app.py", FGPVAE_RUNS=str(tmp_path)) as address:
        pages = [new_page(browser) for _ in range(3)]
        for page, name in zip(pages, ("train", "latents", "compare"), strict=True):
            page.goto(f"{address}/{name}", wait_until="commit")
        for page, title in zip(pages, ("Train", "Latents", "Compare"), strict=True):
            expect(page.get_by_role("heading", name=title, exact=True)).to_be_visible()
            expect(page.get_by_role("link", name="Rotate", exact=True)).to_be_visible()
            settle(page)
            assert page.get_by_test_id("stException").count() == 0
            page.context.close()


def test_elements_are_written_once_and_shown_to_everybody_where_they_belong():
    def app(text):
        import streamlit as st

        from ui.shell import cache

        def show():
            st.session_state["written"] = True
            st.html(f"<p>{text}</p>")

        left, right = st.columns(2)
        right.caption("before")
        with right:
            cache.elements(cache.digest("tests", text), show)
        left.caption("last")

    runs = [AppTest.from_function(app, args=(text,), default_timeout=240).run() for text in "aab"]
    for page, text in zip(runs, "aab", strict=True):
        assert not page.exception
        caption, html = page.columns[1].children.values()
        assert (caption.value, html.proto.body) == ("before", f"<p>{text}</p>")
    assert ["written" in page.session_state for page in runs] == [True, False, True]


def accepted(server: socket.socket) -> int:
    """Whether a new connection waits for nobody before it sends."""
    with socket.create_connection(server.getsockname()), server.accept()[0] as connection:
        return connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_connections_have_it_from_the_socket_that_listens():
    with socket.create_server(("127.0.0.1", 0)) as server:
        assert not accepted(server)
        send_at_once()
        assert accepted(server)


# a widget that shows what is changed elsewhere, and a browser that has not heard of the change


def script() -> None:
    import streamlit as st

    from ui.shell import widget_keys

    st.session_state.setdefault("value", 2)

    def add() -> None:
        st.session_state["value"] += 1

    def take(value: int) -> None:
        st.session_state["value"] = value

    st.slider("Count", 1, 9, **widget_keys.showing("count", st.session_state["value"], take))
    st.button("Add", key="add", on_click=add)


def test_a_late_message_of_the_browser_does_not_undo_a_change():
    app = AppTest.from_function(script, default_timeout=240).run()
    old = app._tree  # what the browser shows, and says with every click
    app.button(key="add").click().run()
    assert app.session_state["value"] == app.slider[0].value == 3
    app._tree = old
    app.slider[0].set_value(2)
    app.button(key="add").click().run()
    assert app.session_state["value"] == app.slider[0].value == 4


def test_the_persons_own_change_keeps_the_widget():
    app = AppTest.from_function(script, default_timeout=240).run()
    app.button(key="add").click().run()
    key = app.slider[0].key
    app.slider[0].set_value(7).run()
    assert app.session_state["value"] == app.slider[0].value == 7
    assert app.slider[0].key == key
