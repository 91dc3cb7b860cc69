"""The entry of the app: page config and routing; as a module, loaded once: the server."""

import streamlit as st

from ui.shell import frame, script_threads, sockets, warm_up

if __name__ == "__main__":  # a visit
    from ui.components.dial import opening

    st.set_page_config(
        page_title="fgpvae", page_icon=frame.ICON, layout="wide", initial_sidebar_state=232
    )
    frame.run(opening)
else:
    from ui.components import decoders, painted

    script_threads.limit_arenas()
    script_threads.compute_alone()
    sockets.send_at_once()
    frame.route_by_app()
    app = st.App(
        __file__,
        lifespan=warm_up.lifespan("ui.components.dial", "ui.rotate.ahead"),
        routes=[*painted.routes(), *decoders.routes()],
    )
