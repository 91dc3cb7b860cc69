"""A digit: an example, a drawing, a file, a photo, or a random one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256

import numpy as np
import streamlit as st

from fgpvae import images
from fgpvae.browser.imagined import prior
from fgpvae.data.collections import Digit, Digits
from ui.catalog import Choice, subjects
from ui.components.buttons import paste
from ui.components.canvas import Strokes, canvas, from_link, to_link, to_png
from ui.components.tiles import Tile, tiles
from ui.extrapolate import angle, pieces
from ui.extrapolate.angle import View
from ui.extrapolate.built import Built
from ui.inference import cached
from ui.shell import frame, notices, query_params
from ui.shell.public import allowed

EXAMPLE, DRAW, UPLOAD, CAMERA, RANDOM = "Example", "Draw", "Upload", "Camera", "Random"
FEW = 4  # visible examples
PLAIN = (3, 2, 5, 7)  # classes of the examples, if the model knows them
NOTHING = Built(title="No digit yet", sentence="Draw, upload or choose one, and it turns here.")
UNCLEAR = Built(title="One digit or several?", sentence="Say what your pictures show.")
SIDES, DIGITS = "One digit from several sides", "Different digits"
MEMORY = "Pictures stay in memory while this page is open; nothing is written to disk."
BRING, CANVAS, TOP = "shell.card.extrapolate-bring", "extrapolate.canvas", "extrapolate.top"


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
    left_out: int = 0  # number of pictures that were too many
    before: tuple[list[Brought], bool] = ([], False)  # pictures and `asks`, for `cancel`

    def take(self, new: list[Brought]) -> None:
        """Replace the pictures, or add to them after the button for another view."""
        every = [*(self.pictures if self.adding else []), *new]
        self.pictures, self.adding = every[: allowed().pictures], False
        self.left_out = len(every) - len(self.pictures)

    def renew(self, pictures: Sequence[Brought] = (), adding: bool = False) -> None:
        """Empty the widget; the next picture replaces these `pictures` or is added to them."""
        self.before = self.pictures, self.asks
        self.pictures, self.adding, self.asks, self.left_out = list(pictures), adding, False, 0
        self.round += 1

    def cancel(self) -> None:
        """Go back to before the button for another view."""
        (self.pictures, self.asks), self.adding = self.before, False
        self.round -= 1


def build(choice: Choice, link: Mapping[str, str]) -> Built:
    views, built, own = list[View](), NOTHING, dict[str, str | None]()
    shown: int | None = 0
    brought: list[Brought] | None = []
    with frame.card(key="extrapolate.bring"):
        source = query_params.segments(
            "Where the digit comes from",
            [EXAMPLE, DRAW, UPLOAD, CAMERA, RANDOM],
            "extrapolate.source",
            label_visibility="collapsed",
            width="stretch",
            wrap=False,
        )
        if source == RANDOM:
            built = _random(choice, link)
        elif source == EXAMPLE:
            digit, degrees = _example(choice, link)
            image, id = digit.truth_at(np.deg2rad([degrees]))[0], f"{digit.id}-{degrees}"
            own_image = pieces.close_up(images.picture(image), (0, 0, 1, 1))
            views = [View(id, image, own_image, degrees)]
            own = {"subject": digit.id, "shown": str(degrees)}
        else:
            bring = {UPLOAD: _uploaded, CAMERA: _photographed}
            brought = bring.get(source, partial(_drawn, link))()
            if brought is None:
                built = UNCLEAR
            elif brought:
                views, shown, waits = _pictures(brought, source)
                if waits:
                    views, built = [], Built(title="Which one?", sentence=pieces.CHOOSE)
                own = {"strokes": to_link(brought[0].strokes) if len(brought) == 1 else None}
    if views:
        with st.container(key=TOP):
            built = angle.build(choice, views, shown, own, link)
    # on a phone scroll to another source, then to a new picture of it, except while drawing
    newest = views[-1].id if views else brought[-1].id if brought else None
    name, now = "extrapolate.in_sight", (source, newest, bool(views))
    before, target = st.session_state.get(name, (now, None))
    if source != before[0]:
        target = CANVAS if source == DRAW else BRING, source
    elif now != before and source != DRAW:
        target = newest and (TOP if views else BRING, newest)
    st.session_state[name] = now, target
    if target:
        frame.in_sight(*target)
    return built


def _pictures(brought: list[Brought], source: str) -> tuple[list[View], int | None, bool]:
    """Read pictures: views, index of the shown one, and whether a digit must be chosen."""
    name, state = source.lower(), _source(source.lower())
    read = [pieces.read(each.content, pieces.corrected(each.id)) for each in brought]
    number = max((k for k, piece in enumerate(read) if piece.readable), default=0)
    if (count := len(brought)) > 1:
        names, key = {k: str(k + 1) for k in range(count)}, f"extrapolate.view.{count}"
        number = query_params.segments("View", names, key, linked=False, default=number)
    here, row = brought[number], st.container(horizontal=True, gap="small")
    with row:
        if state.adding:
            st.caption("Now the same digit at another angle.")
            st.button("Cancel", on_click=state.cancel, key=f"extrapolate.cancel.{name}")
        elif any(piece.digit is not None for piece in read) and len(brought) < allowed().pictures:
            st.button(
                "Add another view of this digit",
                help="Without this button, a new picture takes the place of the old one.",
                on_click=state.renew,
                args=(brought, True),
                key=f"extrapolate.add.{name}",
            )
        if source != DRAW or len(brought) > 1:
            st.button("Start again", on_click=state.renew, key=f"extrapolate.forget.{name}")
    pieces.show(here.id, here.content, here.name, read[number], row)
    views, shown = list[View](), None
    for k, (each, piece) in enumerate(zip(brought, read, strict=True)):
        if piece.digit is not None and piece.own is not None:
            shown = len(views) if k == number else shown
            views.append(View(each.id, piece.digit, piece.own, number=k + 1))
        elif k != number:
            notices.problem(f"View {k + 1}, {each.name}: {piece.error}")
    return views, shown, read[number].several


def _example(choice: Choice, link: Mapping[str, str]) -> tuple[Digit, int]:
    """Ask for a digit that no model was trained on, and its angle."""
    collection = choice.collection
    assert isinstance(collection, Digits)
    picked = subjects.chosen("extrapolate", choice, link.get("subject"))
    digit = picked if isinstance(picked, Digit) and picked.new else collection.first(picked.label)
    labels = sorted(collection.classes)
    plain = [collection.first(label) for label in PLAIN if label in labels]
    few = list(dict.fromkeys([digit, *plain, *collection.subjects(True, labels[0])[:FEW]]))
    with st.container(horizontal=True, vertical_alignment="center"):
        with st.container():
            _gallery(choice, few[:FEW], digit)
        with st.popover("More"):
            label = digit.label
            if len(labels) > 1:
                label = st.pills("Class", labels, default=label, required=True, wrap=True)
            _gallery(choice, collection.subjects(True, label), digit, "all")
            degrees = st.slider(
                "Shown turned by",
                0,
                345,
                int(query_params.number(link.get("shown"), 45)) // 15 * 15 % 360,
                15,
                format="%d°",
                key="extrapolate.shown",
                persist_state="session",
                help="The model does not get this angle: it has to infer it.",
            )
    return digit, degrees


def _gallery(choice: Choice, shown: Sequence[Digit], current: Digit, name: str = "few") -> None:
    tiles(
        [subjects.tile(each, current) for each in shown],
        key=f"extrapolate.examples.{name}",
        label="Digits to pick from" if name == "all" else "Examples",
        on_pick=lambda id: subjects.pick("extrapolate", choice, id),
    )


def _random(choice: Choice, link: Mapping[str, str]) -> Built:
    """Draw a random style; a button draws another."""
    name = "extrapolate.seed"
    linked = int(abs(query_params.number(link.get("seed"), 1))) % 10**6
    seed = st.session_state.setdefault(name, linked)
    st.caption("An invented digit: the style of a training digit, changed at random.")
    st.button(
        "Another one",
        type="primary",
        on_click=lambda: st.session_state.update({name: seed + 1}),
        key="extrapolate.another",
    )
    model = notices.attempt(choice.load)
    seen, style = notices.attempt(partial(prior, model, seed))
    rng = np.random.default_rng(seed)
    near = cached.likely(choice, int(rng.choice(sorted(choice.classes))))
    if near is not None:  # a draw from the prior is often not a digit
        count = len(near.factor)
        style = near.draw(rng.integers(count, size=1), rng.normal(size=(1, count)))[0].tolist()
    return Built(seen=seen, style=style, link={"seed": str(seed)})


def _source(name: str) -> Source:
    return st.session_state.setdefault(f"extrapolate.source.{name}", Source())


def _drawn(link: Mapping[str, str]) -> list[Brought]:
    """Ask for drawings of views, one after the other."""
    first = "extrapolate.source.draw" not in st.session_state
    source = _source("draw")
    if first and (linked := from_link(link.get("strokes"))):
        source.pictures = [Brought("drawing", to_png(linked), linked)]

    count = len(source.pictures)
    here = count if source.adding else st.session_state.get(f"extrapolate.view.{count}", count - 1)

    def changed(strokes: Strokes) -> None:
        drawing = [Brought("drawing", to_png(strokes), strokes)] if strokes else []
        before, after = source.pictures[: max(here, 0)], source.pictures[max(here, 0) + 1 :]
        source.pictures = [*before, *drawing, *after]
        source.adding = bool(source.pictures) and not strokes

    canvas(
        source.pictures[here].strokes if 0 <= here < count else (),
        key="extrapolate.canvas",
        sheet=f"{source.round} {here}" if count > 1 else str(source.round),
        on_drawn=changed,
        dial="extrapolate.digits",
    )
    return source.pictures


def _uploaded() -> list[Brought] | None:
    """Ask for files; None until the user says what several files show."""
    source = _source("upload")
    now, key = source.pictures, f"extrapolate.upload.{source.round}"

    def changed() -> None:
        if not (files := st.session_state.get(key)):
            return
        source.asks = len(files) > 1 and not source.adding
        source.take([Brought(file.name, file.getvalue()) for file in files])
        source.round += 1

    label = "Another picture" if now else "Choose a picture"
    opened = not now or source.adding
    with st.expander(label, expanded=opened, key=f"extrapolate.chooser.{source.round}"):
        st.file_uploader(
            f"{images.ACCEPTED}; a photo or a scan. At most {allowed().pictures} of one digit.",
            accept_multiple_files=True,
            max_upload_size=allowed().megabytes,
            key=key,
            on_change=changed,
            help=MEMORY,
        )
        paste("extrapolate.paste", {})
    if source.left_out:
        notices.note(f"The first {len(now)} pictures were taken, {source.left_out} left out.")
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


def _photographed() -> list[Brought]:
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
