"""The same digits or figures through every model: pictures, error maps and errors."""

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from html import escape

import numpy as np
import streamlit as st
from PIL import Image, ImageDraw, ImageFont

from fgpvae.comparison import Answer
from ui.compare.files import download
from ui.compare.tables import to_csv
from ui.components.pictures import address
from ui.shell import frame

SCALE = 3  # of a pixel in the file
GAP, HEAD, FOOT = 10, 46, 20  # pixels in the file
STYLE = """
.scroll { overflow-x: auto; }
.quiet { opacity: 0.7; font-weight: 400; }
.matrix { display: grid; gap: 0.75rem 1rem; font-size: 0.8rem; padding-bottom: 0.4rem; }
.matrix > div { text-align: center; }
.matrix .head { line-height: 1.35; overflow: hidden; text-overflow: ellipsis; align-self: end; }
.matrix .first, .matrix .head:first-child {
  position: sticky; left: 0; z-index: 1; padding-right: 0.5rem;
  background: light-dark(#ffffff, #171b24);
}
.matrix .pair { display: flex; gap: 4px; justify-content: center; }
.matrix img { width: 60px; height: 60px; border-radius: 6px; image-rendering: pixelated; }
.matrix .mse { font-variant-numeric: tabular-nums; }
"""


@dataclass(frozen=True)
class Column:
    name: str
    answer: Answer
    model: bool = True  # or a reference, which needs none


def columns(found: Mapping[str, Answer | str]) -> list[Column]:
    """The models that have an answer."""
    return [Column(name, each) for name, each in found.items() if isinstance(each, Answer)]


def reasons(found: Mapping[str, Answer | str]) -> None:
    """Why the other models have none."""
    for name, reason in found.items():
        if isinstance(reason, str):
            st.caption(frame.plain(f"{name}: {reason}"))


def save(
    truth: np.ndarray,
    numbers: Sequence[int],
    order: Sequence[int],
    count: int,
    columns: Sequence[Column],
    noun: str = "digit",
) -> None:
    """Buttons for all errors as a table, and for the first pictures."""
    download(partial(csv, numbers, order, columns, noun), f"{noun}s.csv")
    picture = partial(png, truth, numbers, order[:count], columns, noun)
    download(picture, f"{noun}s.png", "image/png")


def error_map(difference: np.ndarray) -> np.ndarray:
    """Grey where the image is right, white where it has ink too much, black where it lacks ink."""
    return np.clip(0.5 + 0.5 * difference, 0, 1)


def html(
    truth: np.ndarray,
    numbers: Sequence[int],
    order: Sequence[int],
    columns: Sequence[Column],
    noun: str = "digit",
) -> str:
    """The digits of `order`, one in a row; the best model of a row is bold."""
    head = ['<div class="head">truth</div>']
    for column in columns:
        head.append(
            f'<div class="head"><b>{escape(column.name)}</b><br>'
            f'<span class="quiet">mean {column.answer.mse:.4f}</span></div>'
        )
    cells = []
    for p in order:
        best = min((c.answer.errors[p] for c in columns if c.model), default=None)
        cells.append(
            f'<div class="cell first">{_picture(truth[p], f"{noun} {numbers[p]}, truth")}'
            f'<div class="quiet">{noun} {numbers[p]}</div></div>'
        )
        for column in columns:
            error = column.answer.errors[p]
            text = f"{error:.4f}"
            if column.model and error == best:
                text = f"<b>{text}</b>"
            what = f"{noun} {numbers[p]}, {column.name}"
            cells.append(
                f'<div class="cell"><div class="pair">{_picture(column.answer.images[p], what)}'
                f"{_picture(error_map(column.answer.differences[p]), what + ', error')}</div>"
                f'<div class="mse">{text}</div></div>'
            )
    layout = f"grid-template-columns:max-content repeat({len(columns)}, minmax(128px, 1fr))"
    return (
        f'<div class="scroll"><div class="matrix" style="{layout}">{"".join(head)}'
        f"{''.join(cells)}</div></div>"
    )


def _picture(image: np.ndarray, alt: str) -> str:
    return f'<img src="{address(image)}" alt="{escape(alt)}">'


def png(
    truth: np.ndarray,
    numbers: Sequence[int],
    order: Sequence[int],
    columns: Sequence[Column],
    noun: str = "digit",
) -> bytes:
    """The same as a picture, black on white."""
    side = SCALE * truth.shape[-1]
    pair = 2 * side + 4
    width = GAP + side + (pair + 2 * GAP) * len(columns) + GAP
    height = HEAD + (side + FOOT + GAP) * len(order)
    page = Image.new("L", (width, height), 255)
    pen, font, small = ImageDraw.Draw(page), ImageFont.load_default(14), ImageFont.load_default(12)
    pen.text((GAP, 6), "truth", 0, font)
    for c, column in enumerate(columns):
        left = _left(c, side, pair)
        pen.text((left, 6), _fitting(pen, column.name, font, pair), 0, font)
        pen.text((left, 25), f"mean {column.answer.mse:.4f}", 110, small)
    for row, p in enumerate(order):
        top = HEAD + row * (side + FOOT + GAP)
        page.paste(_enlarged(truth[p]), (GAP, top))
        pen.text((GAP, top + side + 3), f"{noun} {numbers[p]}", 110, small)
        for c, column in enumerate(columns):
            left, answer = _left(c, side, pair), column.answer
            page.paste(_enlarged(answer.images[p]), (left, top))
            page.paste(_enlarged(error_map(answer.differences[p])), (left + side + 4, top))
            pen.text((left, top + side + 3), f"{answer.errors[p]:.4f}", 0, small)
    file = io.BytesIO()
    page.save(file, "PNG")
    return file.getvalue()


def _left(column: int, side: int, pair: int) -> int:
    return GAP + side + 2 * GAP + column * (pair + 2 * GAP)


def _fitting(
    pen: ImageDraw.ImageDraw,
    text: str,
    font: ImageFont.ImageFont | ImageFont.FreeTypeFont,
    width: int,
) -> str:
    while len(text) > 1 and pen.textlength(text, font) > width:
        text = text[:-2] + "…"
    return text


def _enlarged(image: np.ndarray) -> Image.Image:
    levels = np.rint(255 * np.clip(np.nan_to_num(image), 0, 1)).astype(np.uint8)
    return Image.fromarray(levels.repeat(SCALE, axis=0).repeat(SCALE, axis=1))


def csv(
    numbers: Sequence[int], order: Sequence[int], columns: Sequence[Column], noun: str = "digit"
) -> str:
    """Every digit in this order with its error by each model."""
    return to_csv(
        [noun, *(column.name for column in columns)],
        ([numbers[p], *(column.answer.errors[p] for column in columns)] for p in order),
    )
