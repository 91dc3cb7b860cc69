"""The paper in six screens."""

import streamlit as st

from ui import charts
from ui.how import SCREENS, a_gaussian_process
from ui.shell import about, frame, query_params

frame.guard()
frame.heading("How it works", f"The paper in six screens: {about.CITED}.")


def go_to(number: int) -> None:
    st.query_params["screen"] = str(number)


asked = st.query_params.get("screen", "")
if asked in map(str, SCREENS):
    st.session_state["how.screen"] = int(asked)
st.session_state.setdefault("how.screen", 1)
screen = st.segmented_control(
    "Screen",
    list(SCREENS),
    format_func=lambda number: f"{number} · {SCREENS[number][0]}",
    required=True,
    key="how.screen",
    on_change=lambda: go_to(st.session_state["how.screen"]),
    persist_state="session",
    label_visibility="collapsed",
)
assert screen is not None  # it is required
query_params.write(screen=str(screen))

_, show = SCREENS[screen]
with charts.last():
    show()
    if SCREENS[screen][1] is not a_gaussian_process:  # only there they mean something
        query_params.write(points=None, kernel=None)
    with st.container(horizontal=True, horizontal_alignment="right"):
        if screen > 1:
            st.button(f"Back: {SCREENS[screen - 1][0]}", on_click=go_to, args=(screen - 1,))
        if screen < len(SCREENS):
            st.button(
                f"Next: {SCREENS[screen + 1][0]}",
                on_click=go_to,
                args=(screen + 1,),
                type="primary",
            )
