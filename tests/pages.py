"""Pages of the app without a browser."""

from streamlit.testing.v1 import AppTest

from tests.browser import ROOT
from ui.shell import frame


def open_page(page: str, **query: str) -> AppTest:
    """A page as a link opens it, by itself: without the frame of app.py, so its flag is set."""
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=240)
    at.session_state[frame.FLAG] = True
    at.switch_page(f"pages/{page}.py")
    for name, value in query.items():
        at.query_params[name] = value
    return at.run()
