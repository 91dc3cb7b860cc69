"""The same subjects through every model: pictures, error maps and errors."""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from fgpvae import images
from fgpvae.evaluation.comparison import Answer
from ui.compare.files import to_csv
from ui.components.pictures import address

SCALE = 3  # enlargement in the file
GAP, HEAD, FOOT = 10, 46, 20  # pixels in the file
STYLE = """<style>
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
.matrix img {
  width: 60px; height: 60px; object-fit: contain; border-radius: 6px; image-rendering: pixelated;
}
.matrix .mse { font-variant-numeric: tabular-nums; }
</style>"""


@dataclass(frozen=True)
class Column:
    name: str
    answer: Answer
    model: bool = True  # or the name of a reference

    def pair(self, p: int) -> tuple[np.ndarray, np.ndarray]:
        """A picture and its error: grey for none, white for too much ink, black for too little."""
        return self.answer.images[p], np.clip(0.5 + 0.5 * self.answer.differences[p], 0, 1)


@dataclass(frozen=True)
class Matrix:
    """One row per subject and one column per model."""

    truth: np.ndarray  # [P, H, W]
    noun: str  # names of the subjects
    numbers: Sequence[int]  # indices of the P subjects
    order: Sequence[int]  # order of the subjects
    columns: Sequence[Column]

    def name(self, p: int) -> str:
        return f"{self.noun} {self.numbers[p]}"

    def html(self, count: int) -> str:
        """The first subjects; the best model of a row is bold."""
        cells = ['<div class="head">truth</div>']
        for column in self.columns:
            cells.append(
                f'<div class="head"><b>{escape(column.name)}</b><br>'
                f'<span class="quiet">mean {column.answer.mse:.4f}</span></div>'
            )
        for p in self.order[:count]:
            name = self.name(p)
            best = min((c.answer.errors[p] for c in self.columns if c.model), default=None)
            cells.append(
                f'<div class="cell first">{_picture(self.truth[p], f"{name}, truth")}'
                f'<div class="quiet">{name}</div></div>'
            )
            for column in self.columns:
                image, error = column.pair(p)
                what, text = f"{name}, {column.name}", f"{column.answer.errors[p]:.4f}"
                if column.model and column.answer.errors[p] == best:
                    text = f"<b>{text}</b>"
                cells.append(
                    f'<div class="cell"><div class="pair">{_picture(image, what)}'
                    f'{_picture(error, f"{what}, error")}</div><div class="mse">{text}</div></div>'
                )
        layout = f"max-content repeat({len(self.columns)}, minmax(128px, 1fr))"
        return (
            f'<div class="scroll"><div class="matrix" style="grid-template-columns:{layout}">'
            f"{''.join(cells)}</div></div>{STYLE}"
        )

    def png(self, count: int) -> bytes:
        """The matrix as a picture, black on white."""
        height, side = (SCALE * size for size in self.truth.shape[-2:])
        pair, down = 2 * side + 4, height + FOOT + GAP
        width = GAP + side + (pair + 2 * GAP) * len(self.columns) + GAP
        few = self.order[:count]
        page = Image.new("RGB", (width, HEAD + down * len(few)), "white")
        pen, font = ImageDraw.Draw(page), ImageFont.load_default(14)
        small = ImageFont.load_default(12)
        pen.text((GAP, 6), "truth", "black", font)
        for row, p in enumerate(few):
            page.paste(images.picture(self.truth[p], SCALE), (GAP, HEAD + row * down))
            pen.text((GAP, HEAD + row * down + height + 3), self.name(p), "#6e6e6e", small)
        for number, column in enumerate(self.columns):
            left = GAP + side + 2 * GAP + number * (pair + 2 * GAP)
            name = column.name
            while len(name) > 1 and pen.textlength(name, font) > pair:
                name = name[:-2] + "…"
            pen.text((left, 6), name, "black", font)
            pen.text((left, 25), f"mean {column.answer.mse:.4f}", "#6e6e6e", small)
            for row, p in enumerate(few):
                top = HEAD + row * down
                image, error = column.pair(p)
                page.paste(images.picture(image, SCALE), (left, top))
                page.paste(images.picture(error, SCALE), (left + side + 4, top))
                pen.text((left, top + height + 3), f"{column.answer.errors[p]:.4f}", "black", small)
        file = io.BytesIO()
        page.save(file, "PNG")
        return file.getvalue()

    def csv(self) -> str:
        """Every subject with its error by each model."""
        heads = [self.noun, *(column.name for column in self.columns)]
        errors = [column.answer.errors for column in self.columns]
        return to_csv(heads, ([self.numbers[p], *(e[p] for e in errors)] for p in self.order))


def _picture(image: np.ndarray, alt: str) -> str:
    return f'<img src="{address(image)}" alt="{escape(alt)}">'
