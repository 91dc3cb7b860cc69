"""The entry of the app: page config and routing, nothing else."""

import streamlit as st

from ui.shell import frame

st.set_page_config(
    page_title="fgpvae", page_icon=frame.ICON, layout="wide", initial_sidebar_state=232
)
frame.run()
