"""Two subjects: morph from the style of A to that of B, and swap styles."""

import streamlit as st

from fgpvae.browser.imagined import Imagined, morphed
from fgpvae.data.collections import Collection
from fgpvae.evaluation.metrics import mse
from ui.components import dial, pictures
from ui.components.tiles import Tile, tiles
from ui.inference.places import labels
from ui.shell import frame

STEPS = 7  # number of styles from A to B


def morph_swap(key: str, collection: Collection, a: Imagined, b: Imagined, w: float) -> None:
    """Show morph and swap, for a model whose styles can be exchanged."""
    if not (len(a.own) and len(b.own) and a.model.divides_channels):
        return
    words, views = collection.words, b.subject.w
    with frame.card(f"Two {words.many}"):
        left, right = st.columns([1.25, 1], gap="large")
    with left:
        st.caption(f"Morph: styles between A and B, at the {words.place} shown. Click one.")
        styles, images = morphed(a, b, w, STEPS)
        texts = ["A", *(f"{100 * step / (STEPS - 1):.0f}%" for step in range(1, STEPS - 1)), "B"]
        tiles(
            [
                Tile(str(index), pictures.address(image, 3), f"Style {text}", text=text)
                for index, (image, text) in enumerate(zip(images, texts, strict=True))
            ],
            key=f"{key}.morph",
            label="Styles between A and B",
            layout="strip",
            single=False,
            on_pick=lambda k: dial.restyle(key, None if k == "0" else styles[int(k)].tolist()),
        )
    with right:
        places = labels(collection.track, views)
        index = st.select_slider(
            f"Swap: the style of A at the {words.place} of B",
            range(len(views)),
            len(views) // 3,
            format_func=places.__getitem__,
            key=f"{key}.place_of_b",
            help="The local channels of B with the global channels of A: what B does, done by A.",
        )
        made, like = b.images(views[[index]], a.own)[0], b.subject.images[index]
        shown = {"A": a.subject.thumbnail, f"B at {places[index]}": like, "A like B": made}
        true = collection.swapped(a.subject, b.subject, views[[index]])
        if true is not None:
            shown["truth"] = true[0]
        st.html(pictures.row(*(pictures.framed(image, text) for text, image in shown.items())))
        if true is not None:
            error, copied = mse(made, true[0]), mse(like, true[0])
            st.caption(
                f"The picture made has an error of {error:.4f}; B itself, unchanged, has "
                f"{copied:.4f}.",
                help="Mean squared error of a pixel against the true picture of A where B is.",
            )
