"""Sources of pictures: drawings, files, photos. Pictures stay in the session's memory."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256

import streamlit as st

from fgpvae import images
from ui.components.canvas import Strokes, canvas, from_link, to_png
from ui.components.paste import paste
from ui.components.tiles import Tile, tiles
from ui.extrapolate import pieces
from ui.shell import notices
from ui.shell.public import allowed

SIDES, DIGITS = "One digit from several sides", "Different digits"
MEMORY = "Pictures stay in memory while this page is open; nothing is written to disk."


@dataclass(frozen=True)
class Brought:
    name: str
    content: bytes = field(repr=False)
    strokes: Strokes = ()  # strokes of a drawing

    @property
    def id(self) -> str:
        return sha256(self.content).hexdigest()[:12]


@dataclass
class Source:
    """The pictures of one digit that came from a source."""

    pictures: list[Brought] = field(default_factory=list)
    adding: bool = False  # the next picture is a further view of the digit
    round: int = 0  # part of the widget's key: a new value empties the widget
    asks: bool = False  # whether to ask what several files show
    too_many: bool = False

    def take(self, new: list[Brought]) -> None:
        """Replace the pictures, or add to them after the button for another view."""
        before = self.pictures if self.adding else []
        self.pictures = [*before, *new][: allowed().pictures]
        self.adding = False

    def renew(self, pictures: Sequence[Brought] = (), adding: bool = False) -> None:
        """Empty the widget; the next picture replaces these `pictures` or is added to them."""
        self.pictures, self.adding, self.asks = list(pictures), adding, False
        self.round += 1


def _source(name: str) -> Source:
    return st.session_state.setdefault(f"extrapolate.source.{name}", Source())


def drawn(link: Mapping[str, str]) -> list[Brought]:
    """Ask for drawings of views, one after the other."""
    first = "extrapolate.source.draw" not in st.session_state
    source = _source("draw")
    if first and (linked := from_link(link.get("strokes"))):
        source.pictures = [Brought("drawing", to_png(linked), linked)]

    def changed(strokes: Strokes) -> None:
        before = source.pictures if source.adding else source.pictures[:-1]
        drawing = Brought("drawing", to_png(strokes), strokes)
        source.pictures = [*before, drawing] if strokes else before
        source.adding = bool(before) and not strokes

    last = source.pictures[-1].strokes if source.pictures and not source.adding else ()
    canvas(last, key="extrapolate.canvas", sheet=str(source.round), on_drawn=changed)
    return source.pictures


def uploaded() -> list[Brought] | None:
    """Ask for files; None until the user says what several files show."""
    source = _source("upload")
    now, key = source.pictures, f"extrapolate.upload.{source.round}"

    def changed() -> None:
        if not (files := st.session_state.get(key)):
            return
        source.too_many = len(files) > allowed().pictures
        source.asks = len(files) > 1 and not source.adding
        source.take([Brought(file.name, file.getvalue()) for file in files])
        source.round += 1

    label = "Another picture" if now else "Choose a picture"
    opened = not now or source.adding
    with st.expander(label, expanded=opened, key=f"extrapolate.chooser.{source.round}"):
        st.file_uploader(
            f"{images.ACCEPTED}; a photo or a scan.",
            accept_multiple_files=True,
            max_upload_size=allowed().megabytes,
            key=key,
            on_change=changed,
            help=MEMORY,
        )
        paste("extrapolate.paste")
    if source.too_many:
        notices.note(f"Only the first {allowed().pictures} pictures are used.")
    if len(now) < 2 or not source.asks:
        return now
    meant = st.segmented_control(
        f"What do these {len(now)} pictures show?",
        [SIDES, DIGITS],
        key=f"extrapolate.meant.{source.round}",
        persist_state="session",
    )
    if meant != DIGITS:
        return now if meant == SIDES else None
    name = f"extrapolate.which_file.{source.round}"
    picked = st.session_state.get(name, 0)
    tiles(
        [
            Tile(str(k), pieces.address(each.content, 96), each.name, selected=k == picked)
            for k, each in enumerate(now)
        ],
        key="extrapolate.files",
        label="Pictures to pick from",
        on_pick=lambda which: st.session_state.update({name: int(which)}),
        layout="choice",
    )
    return [now[picked]]


def photographed() -> list[Brought]:
    source = _source("camera")
    now, key = source.pictures, f"extrapolate.camera.{source.round}"

    def changed() -> None:
        if key not in st.session_state:
            return
        if (shot := st.session_state[key]) is not None:
            source.take([Brought("photo", shot.getvalue())])
        elif now:
            source.pictures, source.adding = now[:-1], len(now) > 1

    opened = not now or source.adding
    with st.expander("Camera", expanded=opened, key=f"extrapolate.camera_fold.{opened}"):
        st.camera_input(
            "A digit on paper, well lit, filling most of the picture.",
            key=key,
            on_change=changed,
            help=MEMORY,
        )
    return now


def buttons(name: str, now: list[Brought], readable: bool) -> None:
    """Show buttons that add a view of the digit with the pictures `now`, or start again."""
    source = _source(name)
    if source.adding:
        st.caption("Now the same digit at another angle.")
    elif readable and len(now) < allowed().pictures:
        st.button(
            "Add another view of this digit",
            help="Without this button, a new picture takes the place of the old one.",
            on_click=source.renew,
            args=(now, True),
            key=f"extrapolate.add.{name}",
        )
    if name != "draw" or len(now) > 1:
        st.button("Start again", on_click=source.renew, key=f"extrapolate.forget.{name}")
