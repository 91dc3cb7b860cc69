"""Waiting on the server until the browser has painted what it was sent.

React draws all that has arrived in one pass, and evaluates the files of charts and tables before it
paints what came with them. What is sent only after this wait cannot hold back what was sent before.

The browser tells it by a request of its own: a message of a component would run the page again.
Where no server has these `routes`, nobody waits; nor does anybody longer than the seconds of
FGPVAE_CHARTS_WAIT.
"""

import os
import secrets
from threading import Event

import streamlit as st
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_run_context import ScriptRunContext

from ui.components.shared import Component

KEY = "charts.painted"
PAGE = "charts.painted.page"  # the last page on which it was waited for
LONGEST = int(os.environ.get("FGPVAE_CHARTS_WAIT", "10"))  # seconds, if the browser says nothing
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
    if context is None or not _served.is_set() or not LONGEST:
        return
    place = st.empty()
    if st.session_state.get(PAGE) == context.page_script_hash:
        return
    st.session_state[PAGE] = context.page_script_hash
    word, told = secrets.token_urlsafe(), Event()
    _told[word] = told
    try:
        with place:
            _component(key=KEY, data={"word": word})
        _say_running(context, False)
        for _ in range(round(LONGEST / LOOK)):
            if told.wait(LOOK):
                break
            st.session_state.get(PAGE)  # Streamlit ends the script here if it is to run anew
        _say_running(context, True)
        place.empty()
    finally:
        del _told[word]


def _say_running(context: ScriptRunContext, running: bool) -> None:
    """Let the browser take the script for ended, or for running.

    While it runs, Streamlit changes an icon every 200 ms, and each time React begins anew what it
    has not finished: on a busy machine it would never finish what is waited for.
    """
    message = ForwardMsg()
    message.session_status_changed.script_is_running = running
    context.enqueue(message)
