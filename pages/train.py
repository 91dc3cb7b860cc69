"""Train a model: choose the settings, start a run, watch it learn."""

import streamlit as st

from fgpvae import runs
from fgpvae.runs import queue
from ui import train
from ui.shell import frame, public

TICK = 1.0  # seconds between two looks at a run that trains

frame.guard()
frame.heading("Train", "Choose the settings, start a run and watch it learn.")
if not public.allowed().training:
    with frame.empty(
        "Training is switched off here",
        "This server is open to everybody. On your own computer a quick run takes about a minute:",
    ):
        st.code("python -m fgpvae train --preset quick --run-dir runs/my-run", language="bash")
    st.stop()
train.questions()
# Messages have a place of their own. Without it they would move what is below, and Streamlit
# drops a click on a part of a page that is no longer where it was.
with st.container():
    train.say()
train.new_run()
training = train.live(runs.list_runs(queue.root())[0])
st.fragment(train.watch, run_every=TICK if training else None)(training)
