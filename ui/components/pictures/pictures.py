"""Digits as pictures in HTML: small, enlarged smoothly, with every pixel in the address itself."""

import base64
import io
from functools import lru_cache
from html import escape

import numpy as np
from PIL import Image

SMALL = 3 * 32 * 32  # numbers of a picture that is kept once it has been encoded


def address(image: np.ndarray, scale: int = 1) -> str:
    """[H, W] or [3, H, W] in 0..1, or uint8 [H, W] or [H, W, 3 or 4], as the address of a PNG."""
    if image.dtype != np.uint8:
        image = image if image.ndim == 2 else np.moveaxis(image, 0, -1)
        image = np.rint(255 * np.clip(np.nan_to_num(image), 0, 1)).astype(np.uint8)
    if image.size > SMALL:
        return _png(image, scale)
    return _kept_png(image.tobytes(), image.shape, scale)


@lru_cache(maxsize=4096)
def _kept_png(content: bytes, shape: tuple[int, ...], scale: int) -> str:
    return _png(np.frombuffer(content, np.uint8).reshape(shape), scale)


def _png(image: np.ndarray, scale: int) -> str:
    picture = Image.fromarray(image)
    if scale > 1:
        size = (picture.width * scale, picture.height * scale)
        picture = picture.resize(size, Image.Resampling.BICUBIC)
    file = io.BytesIO()
    picture.save(file, "PNG", compress_level=3)
    return "data:image/png;base64," + base64.b64encode(file.getvalue()).decode()


def photo(picture: Image.Image, side: int = 840) -> str:
    """A photograph, at most `side` pixels on a side, as the address of a JPEG."""
    small = picture.copy()
    small.thumbnail((side, side), Image.Resampling.BOX)
    small.info.clear()  # a GIF's comment may be longer than a JPEG's can be
    file = io.BytesIO()
    small.convert("RGB").save(file, "JPEG", quality=82)
    return "data:image/jpeg;base64," + base64.b64encode(file.getvalue()).decode()


def framed(image: np.ndarray, caption: str, scale: int = 3, hint: str = "") -> str:
    """A picture above its caption, for a `row`."""
    return (
        f'<figure class="picture" title="{escape(hint)}"><img src="{address(image, scale)}" '
        f'alt="{escape(caption)}"><figcaption>{escape(caption)}</figcaption></figure>'
    )


def row(*parts: str, size: int = 72, fill: bool = False) -> str:
    """Pictures of a size side by side, or as large as all the room allows; they may wrap."""
    kind = "pictures filling" if fill else "pictures"
    return f'<div class="{kind}" style="--size:{size}px">{"".join(parts)}</div>{STYLE}'


STYLE = """<style>
.pictures { display: flex; flex-wrap: wrap; gap: 12px 10px; align-items: flex-start; }
.pictures.filling {
  display: grid; gap: 10px 8px; grid-template-columns: repeat(auto-fill, minmax(var(--size), 1fr));
}
.picture { margin: 0; width: var(--size); }
.filling .picture { width: auto; }
.picture img {
  display: block; width: 100%; aspect-ratio: 1; object-fit: contain; border-radius: 10px;
  background: #000;
}
.picture figcaption { font-size: 0.8rem; line-height: 1.3; opacity: 0.72; padding-top: 5px; }
</style>"""
