"""The paper in five screens."""

import streamlit as st

from ui import charts
from ui.how import SCREENS
from ui.shell import frame, query_params

frame.guard()
frame.heading("How it works", "The paper in five screens, each with something to move.")

asked = st.query_params.get("screen", "")
if "how.screen" not in st.session_state and asked in map(str, SCREENS):
    st.session_state["how.screen"] = int(asked)
st.session_state.setdefault("how.screen", 1)
screen = st.segmented_control(
    "Screen",
    list(SCREENS),
    format_func=lambda number: f"{number} · {SCREENS[number][0]}",
    required=True,
    key="how.screen",
    persist_state="session",
    label_visibility="collapsed",
)
assert screen is not None  # it is required
st.query_params["screen"] = str(screen)


def go_to(number: int) -> None:
    st.session_state["how.screen"] = number


_, show = SCREENS[screen]
with charts.last():
    show()
    if screen != 3:  # only there they mean something
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
