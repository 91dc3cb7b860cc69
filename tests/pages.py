"""Pages of the app without a browser."""

import json

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


def linked(app: AppTest, name: str) -> str | None:
    """What the page has written into its address."""
    value = app.query_params.get(name)
    return value[0] if isinstance(value, list) else value


def sent(app: AppTest, part: str) -> list[dict]:
    """What components with this entry were given."""
    found = [json.loads(each.proto.json or "[{}]") for each in app.get("bidi_component")]
    return [each for each, *_ in found if part in each]


def html(app: AppTest, part: str = "") -> list[str]:
    return [each.proto.body for each in app.get("html") if part in each.proto.body]
