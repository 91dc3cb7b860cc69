"""Uploads: a downloaded run, and own objects to train on."""

import re
from pathlib import PurePath

import streamlit as st

from fgpvae import UserError
from fgpvae.data import object_files
from fgpvae.data.objects import Objects
from fgpvae.gp.kernels import ON_A_LINE
from fgpvae.runs import archives, queue
from fgpvae.training.configs import RunConfig
from fgpvae.training.presets import for_objects
from ui.shell import frame, query_params
from ui.train.run_state import redraw, say, select

LARGEST_MB = archives.LARGEST >> 20
OWN = "train.own"  # in the session state: the uploaded objects
LINE, CIRCLE = "On a line", "On a circle"


def archive() -> None:
    """Ask for the archive of a run."""
    turn = st.session_state.setdefault("train.archives", 0)  # a new key empties the uploader
    st.file_uploader(
        "A run that was downloaded here or elsewhere (.zip)",
        type="zip",
        key=f"train.archive.{turn}",
        max_upload_size=LARGEST_MB,
        on_change=_add,
        args=(f"train.archive.{turn}",),
        help=("It is checked and listed with the others. It can be used, but not trained further."),
    )


def _add(key: str) -> None:
    file = st.session_state.get(key)
    if file is None:
        return
    root = queue.root()
    try:
        found = archives.unpack(file.getvalue(), file.name)
        words = re.findall(r"[A-Za-z0-9_-]+", PurePath(file.name).stem)
        name = queue.free_name(root, "-".join(words)[:50] or "uploaded")
        select(queue.add(root, name, found).name)
    except UserError as error:
        say(error)
    st.session_state["train.archives"] += 1
    redraw()


def own_objects() -> RunConfig | None:
    """Ask for own objects and the kind of their views; return a config for them.

    None until all is valid; the objects themselves are in the session state.
    """
    file = st.file_uploader(
        "Images of objects, each from several views: a NumPy archive (.npz) with the arrays "
        "images, object and view",
        type="npz",
        key="train.data",
        max_upload_size=LARGEST_MB,
        help="Up to 64 x 64 pixels, grey or colour; docs/own-data.md says more. It is copied "
        "into the run; nothing in it is ever executed.",
    )
    st.session_state.pop(OWN, None)
    if file is None:
        return None
    left, right = st.columns(2)
    with left:
        kind = query_params.segments("Views are", [LINE, CIRCLE], "train.track", linked=False)
    period, kernel = 0.0, None
    if kind == CIRCLE:
        period = right.number_input(
            "They repeat after", 1e-6, 1e9, 360.0, key="train.period", help="360 for degrees."
        )
    else:
        kernel = right.selectbox("How they change", list(ON_A_LINE), key="train.kernel")
    try:
        found = _parsed(file.getvalue(), file.name)
        config = for_objects(found, file.name[:60], period, kernel)
    except UserError as error:
        st.error(frame.plain(error))
        return None
    channels, height, width = found.shape
    st.caption(
        f"{len(found.names):,} objects in {len(found.images):,} images of {height} x {width} "
        f"pixels in {'colour' if channels == 3 else 'grey'}. One in ten is set aside for testing."
    )
    st.session_state[OWN] = found
    return config


@st.cache_resource(max_entries=2, show_spinner="Reading the objects")
def _parsed(content: bytes, name: str) -> Objects:
    if len(content) > archives.LARGEST:
        raise UserError(f"'{name}' is too large: at most {LARGEST_MB} MB are read.")
    return object_files.parse(content, name)
