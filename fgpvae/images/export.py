"""Write digits as files: every pixel is a square, unless they were `enlarged` smoothly before."""

import io

import numpy as np
from PIL import Image


def enlarged(images: np.ndarray, side: int) -> np.ndarray:
    """[..., n, n] -> [..., side, side] by bicubic interpolation, as on the dial."""
    flat = np.asarray(images, dtype=np.float32).reshape(-1, *images.shape[-2:])
    large = [
        np.asarray(Image.fromarray(image).resize((side, side), Image.Resampling.BICUBIC))
        for image in flat
    ]
    return np.stack(large).reshape(*images.shape[:-2], side, side)


def to_png(image: np.ndarray, scale: int = 8) -> bytes:
    """[H, W] in 0..1 -> PNG."""
    buffer = io.BytesIO()
    _picture(image, scale).save(buffer, "PNG")
    return buffer.getvalue()


def to_gif(frames: np.ndarray, scale: int = 8, milliseconds: int = 60) -> bytes:
    """[S, H, W] in 0..1 -> a GIF that loops."""
    pictures = [_picture(frame, scale) for frame in frames]
    buffer = io.BytesIO()
    pictures[0].save(
        buffer, "GIF", save_all=True, append_images=pictures[1:], duration=milliseconds, loop=0
    )
    return buffer.getvalue()


def strip(images: np.ndarray, scale: int = 4, gap: int = 4) -> Image.Image:
    """[S, H, W] in 0..1 -> one row, `gap` white pixels between neighbours."""
    pictures = [_picture(image, scale) for image in images]
    width = sum(picture.width for picture in pictures) + gap * (len(pictures) - 1)
    row = Image.new("L", (width, pictures[0].height), 255)
    left = 0
    for picture in pictures:
        row.paste(picture, (left, 0))
        left += picture.width + gap
    return row


def _picture(image: np.ndarray, scale: int) -> Image.Image:
    levels = np.rint(255 * np.clip(np.nan_to_num(image), 0, 1)).astype(np.uint8)
    return Image.fromarray(levels.repeat(scale, axis=0).repeat(scale, axis=1))
