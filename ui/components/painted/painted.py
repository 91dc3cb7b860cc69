"""Waiting on the server until the browser has painted what it was sent.

React draws all that has arrived in one pass, and evaluates the files of charts and tables before it
paints what came with them. What is sent only after this wait cannot hold back what was sent before.

The browser tells it by a request of its own: a message of a component would run the page again.
Where no server has these `routes`, nobody waits.
"""

import secrets
from threading import Event

import streamlit as st
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from streamlit.runtime.scriptrunner import get_script_run_ctx

from ui.components.shared import Component

KEY = "charts.painted"
LONGEST = 30.0  # seconds: what waits comes also if the browser says nothing
LOOK = 0.05  # seconds between two looks whether the page is to run anew

_component = Component("painted", "painted/painted.js")
_told: dict[str, Event] = {}  # by a word that only the browser of the session knows
_served = Event()


def routes() -> list[Route]:
    """For `st.App`: where browsers say that they have painted, below any path of a proxy."""
    _served.set()
    return [Route("/{base:path}painted/{word}", _tell, methods=["POST"])]


async def _tell(request: Request) -> Response:
    if told := _told.get(request.path_params["word"]):
        told.set()
    return Response(status_code=204)


def wait() -> None:
    """Wait until the browser has painted what it was sent so far; once for each page it opens."""
    context = get_script_run_ctx()
    if context is None or not _served.is_set():
        return
    opened = st.session_state.get(f"{KEY}.page") != context.page_script_hash
    st.session_state[f"{KEY}.page"] = context.page_script_hash
    word = secrets.token_urlsafe() if opened else ""
    _component(key=KEY, data={"word": word})  # always, so that it stays the same element
    if not opened:
        return
    told = _told[word] = Event()
    try:
        for _ in range(round(LONGEST / LOOK)):
            if told.wait(LOOK):
                return
            st.session_state.get(KEY)  # Streamlit ends the script here if the page is to run anew
    finally:
        del _told[word]
