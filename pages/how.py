"""The paper in six screens."""

import streamlit as st

from ui.how import SCREENS, a_gaussian_process
from ui.shell import about, frame, query_params

frame.guard()
frame.heading("How it works", f"The paper in six screens: {about.CITED}.")
screen = st.segmented_control(
    "Screen",
    list(SCREENS),
    format_func=lambda number: f"{number} · {SCREENS[number][0]}",
    required=True,
    label_visibility="collapsed",
    **query_params.follow("screen", SCREENS, "1"),
)
assert screen is not None  # it is required
_, show = SCREENS[screen]
show()
if show is not a_gaussian_process:  # only there they mean something
    query_params.write(points=None, kernel=None)
before, after = str(int(screen) - 1), str(int(screen) + 1)
with st.container(horizontal=True, horizontal_alignment="right"):
    for label, number in (("Back", before), ("Next", after)):
        if number in SCREENS:
            st.button(
                f"{label}: {SCREENS[number][0]}",
                on_click=query_params.write,
                kwargs={"screen": number},
                type="primary" if label == "Next" else "secondary",
            )
