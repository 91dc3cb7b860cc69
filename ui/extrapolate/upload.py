"""Pictures that a person brings: files, drawings, photos; kept in the memory of the session."""

from dataclasses import dataclass, field
from hashlib import sha256

import streamlit as st

from fgpvae import images
from ui.components.canvas import Strokes, canvas, to_png
from ui.components.paste import paste
from ui.shell import notices

MOST = 12  # pictures of one digit


@dataclass(frozen=True)
class Brought:
    """A picture as it came."""

    name: str
    content: bytes = field(repr=False)

    @property
    def id(self) -> str:
        return sha256(self.content).hexdigest()[:12]


def uploaded() -> list[Brought]:
    """Files that were chosen, dropped or pasted."""

    def changed() -> None:
        files = st.session_state["extrapolate.upload"][:MOST]
        st.session_state["extrapolate.now.upload"] = [
            Brought(file.name, file.getvalue()) for file in files
        ]

    files = st.file_uploader(
        (
            f"{images.ACCEPTED}; a photo or a scan. Several files count as several views of "
            "one digit."
        ),
        accept_multiple_files=True,
        max_upload_size=20,  # MB
        key="extrapolate.upload",
        on_change=changed,
        help="Pictures stay in memory while this page is open; nothing is written to disk.",
    )
    paste("extrapolate.paste")
    if len(files) > MOST:
        notices.note(f"Only the first {MOST} pictures are used.")
    now: list[Brought] = st.session_state.get("extrapolate.now.upload", [])
    if now and not files:  # the uploader forgets its files when it is out of sight
        _start_again("upload")
    return now


def photographed() -> list[Brought]:
    key = f"extrapolate.camera.{_round('camera')}"

    def changed() -> None:
        shot = st.session_state[key]
        photo = [] if shot is None else [Brought("photo", shot.getvalue())]
        st.session_state["extrapolate.now.camera"] = photo

    now: list[Brought] = st.session_state.get("extrapolate.now.camera", [])
    st.camera_input(
        "A digit on paper, well lit, filling most of the picture.",
        key=key,
        on_change=changed,
        width=220 if now else "stretch",  # the photo itself is shown below
    )
    return _with_kept("camera", now, "photograph")


def drawn() -> list[Brought]:
    def changed(strokes: Strokes) -> None:
        st.session_state["extrapolate.now.draw"] = strokes

    strokes: Strokes = st.session_state.get("extrapolate.now.draw", ())
    st.caption("Draw one digit.")
    canvas(strokes, key="extrapolate.canvas", sheet=str(_round("draw")), on_drawn=changed)
    return _with_kept("draw", [Brought("drawing", to_png(strokes))] if strokes else [], "draw")


def _with_kept(source: str, now: list[Brought], verb: str) -> list[Brought]:
    """What was kept before and what is there now, with the button that keeps it."""
    kept: list[Brought] = st.session_state.setdefault(f"extrapolate.kept.{source}", [])
    with st.container(horizontal=True, gap="small"):
        st.button(
            "Add another view",
            disabled=not now or len(kept) + 1 >= MOST,
            help=f"Keeps this one and lets you {verb} the same digit again at another angle.",
            on_click=_keep,
            args=(source, now),
            key=f"extrapolate.keep.{source}",
        )
        if kept:
            _start_again(source)
    return [*kept, *now]


def _start_again(source: str) -> None:
    st.button("Start again", on_click=_forget, args=(source,), key=f"extrapolate.forget.{source}")


def _keep(source: str, now: list[Brought]) -> None:
    _begin(source, [*st.session_state[f"extrapolate.kept.{source}"], *now])


def _forget(source: str) -> None:
    _begin(source, [])


def _begin(source: str, kept: list[Brought]) -> None:
    """Empty what the person draws or photographs on; widgets get another key for it."""
    st.session_state[f"extrapolate.kept.{source}"] = kept
    st.session_state.pop(f"extrapolate.now.{source}", None)
    st.session_state[f"extrapolate.round.{source}"] = _round(source) + 1


def _round(source: str) -> int:
    return st.session_state.get(f"extrapolate.round.{source}", 0)
