"""The entry of the app: the server imports it once, and every session runs it."""

import streamlit as st

from ui.shell import frame

if __name__ == "__main__":
    from ui.components.buttons import copy_link

    st.set_page_config(
        page_title="fgpvae", page_icon=frame.ICON, layout="wide", initial_sidebar_state=232
    )
    page = st.navigation(frame.addresses(), position="hidden")
    frame.menu(page)
    with st.sidebar:
        copy_link("shell.copy_link", {}, "content")
    page.run()
else:
    from starlette.middleware import Middleware

    from ui.shell import backlog, index, server

    server.prepare()  # before anything loads torch

    from ui.components import shared

    app = st.App(
        __file__,
        routes=shared.routes(),
        middleware=[Middleware(index.Index), Middleware(backlog.Backlog)],
    )
