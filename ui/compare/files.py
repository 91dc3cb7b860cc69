"""What stands below a figure: the file, and where its numbers come from."""

from collections.abc import Callable
from typing import Any

import streamlit as st

from ui.catalog import results
from ui.compare import tables
from ui.shell import frame

KEEP: dict[str, Any] = {"bind": "query-params", "persist_state": "session"}
BLOCK: dict[str, Any] = {  # of the control that chooses one of the blocks of results
    "required": True,
    "format_func": results.BLOCKS.__getitem__,
    "label_visibility": "collapsed",
}


def command(experiment: str, key: str, sentence: str) -> None:
    """A card for a result that has not been computed."""
    with frame.empty("Not measured yet", sentence, key=key):
        st.markdown(f"`python -m fgpvae experiment {experiment} --seeds 5`")


def foot(result: dict[str, Any] | None, content: Callable[[], str], name: str) -> None:
    """Below a figure: the file, and where the figures come from."""
    with st.container(horizontal=True, vertical_alignment="center"):
        download(content, name)
        if result:
            st.caption(frame.plain(tables.provenance(result)))


def download(content: Callable[[], str | bytes], name: str, kind: str = "text/csv") -> None:
    """A button whose file is made when it is pressed."""
    st.download_button(
        name.rsplit(".")[-1].upper(),
        content,
        f"fgpvae-{name}",
        kind,
        key=f"compare.download.{name}",
        on_click="ignore",
        help="Save this as a file.",
    )
