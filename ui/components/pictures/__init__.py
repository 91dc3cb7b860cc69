"""Pictures in HTML with data addresses, small and enlarged smoothly."""

import base64
import io
from collections.abc import Sequence
from functools import lru_cache
from html import escape

import numpy as np
from PIL import Image

from fgpvae.images import picture as to_image
from ui.shell import palette

SMALL = 1024  # numbers of an image that is cached
STYLE = f"""<style>
.pictures {{ display: flex; flex-wrap: wrap; gap: 12px 10px; align-items: flex-start; }}
.pictures.filling {{
  display: grid; gap: 10px 8px; grid-template-columns: repeat(auto-fill, minmax(var(--size), 1fr));
}}
.picture {{ margin: 0; width: var(--size); }}
.filling .picture {{ width: auto; }}
.picture img, .rows img {{
  display: block; width: 100%; height: 100%; aspect-ratio: 1; object-fit: contain;
  border-radius: 10px; background: #000;
}}
.picture figcaption {{ font-size: 0.8rem; line-height: 1.3; opacity: 0.72; padding-top: 5px; }}
.rows {{ overflow-x: auto; padding: 3px; }}
.rows > div {{ display: grid; gap: 5px; align-items: center; }}
.rows .name {{
  font-size: .8rem; opacity: .75; white-space: nowrap; padding-right: .5rem; position: sticky;
  left: 0; background: light-dark(#fff, #171b24); z-index: 1;
}}
.rows img {{ border-radius: 6px; }}
.rows img.marked {{ outline: 2px solid {palette.GLOBAL}; }}
.rows .bar {{ height: 4px; border-radius: 2px; }}
.rows .label {{ text-align: center; font-size: .75rem; overflow: hidden; opacity: .7; }}
.rows .label.marked {{ font-weight: 700; opacity: 1; }}
</style>"""


def address(image: np.ndarray, scale: int = 1) -> str:
    """[H, W] or [3, H, W] in 0..1, or uint8 [H, W] or [H, W, 3 or 4], as the address of a PNG."""
    if image.size > SMALL:
        return _png(image, scale)
    return _small_png(image.tobytes(), image.shape, image.dtype.str, scale)


@lru_cache(maxsize=1024)  # galleries show the same digits again and again
def _small_png(content: bytes, shape: tuple[int, ...], kind: str, scale: int) -> str:
    return _png(np.frombuffer(content, kind).reshape(shape), scale)


def _png(image: np.ndarray, scale: int) -> str:
    picture = Image.fromarray(image) if image.dtype == np.uint8 else to_image(image)
    if scale > 1:
        size = (picture.width * scale, picture.height * scale)
        picture = picture.resize(size, Image.Resampling.BICUBIC)
    return _written(picture, "PNG", compress_level=3)


def photo(picture: Image.Image, side: int = 840) -> str:
    """A photograph, at most `side` pixels on a side, as the address of a JPEG."""
    small = picture.copy()
    small.thumbnail((side, side), Image.Resampling.BOX)
    small.info.clear()  # a GIF's comment may be too long for a JPEG
    return _written(small.convert("RGB"), "JPEG", quality=82)


def _written(picture: Image.Image, kind: str, **options: int) -> str:
    file = io.BytesIO()
    picture.save(file, kind, **options)
    return f"data:image/{kind.lower()};base64,{base64.b64encode(file.getvalue()).decode()}"


def framed(image: np.ndarray, caption: str, scale: int = 3, hint: str = "") -> str:
    """A picture above its caption, for a `row`."""
    return (
        f'<figure class="picture" title="{escape(hint)}"><img src="{address(image, scale)}" '
        f'alt="{escape(caption)}"><figcaption>{escape(caption)}</figcaption></figure>'
    )


def row(*parts: str, size: int = 72, fill: bool = False) -> str:
    """Pictures side by side that may wrap, of a fixed size or filling the width."""
    kind = "pictures filling" if fill else "pictures"
    return f'<div class="{kind}" style="--size:{size}px">{"".join(parts)}</div>{STYLE}'


def grid(
    rows: Sequence[tuple[str, np.ndarray]],
    columns: Sequence[str],
    bars: Sequence[str] | None = None,
    marked: int | None = None,
    alt: str = "pictures",
) -> str:
    """Rows of images [C, H, W], or [C, 3, H, W], with a name each, as HTML.

    Columns have a label and a colour bar. The grid fills the available width; if cells would be
    narrower than 34 pixels, it scrolls sideways inside its card.
    """
    named = any(name for name, _ in rows)
    kind = ["marked" if index == marked else "" for index in range(len(columns))]
    parts = []
    for name, images in rows:
        parts += [f'<div class="name">{escape(name)}</div>'] * named
        parts += [
            f'<img src="{address(image)}" alt="" class="{each}">'
            for image, each in zip(images, kind, strict=True)
        ]
    parts += ["<div></div>"] * named
    for index, text in enumerate(columns):
        bar = f'<div class="bar" style="background:{bars[index]}"></div>' if bars else ""
        label = f'<div class="label {kind[index]}">{escape(text)}</div>'
        parts.append(f'<div style="min-width:0">{bar}{label}</div>')
    widths = f"{'max-content ' * named}repeat({len(columns)}, minmax(34px, 1fr))"
    return (
        f'<div class="rows" role="img" tabindex="0" aria-label="{escape(alt)}">'
        f'<div style="grid-template-columns:{widths}">{"".join(parts)}</div></div>{STYLE}'
    )


__all__ = ["address", "framed", "grid", "photo", "row"]
