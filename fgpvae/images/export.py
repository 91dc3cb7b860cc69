"""Write digits as files: every pixel is a square, unless they were `enlarged` smoothly before."""

import io

import numpy as np
from PIL import Image


def enlarged(images: np.ndarray, side: int) -> np.ndarray:
    """[..., H, W] by bicubic interpolation, as on the dial; the longer side gets `side` pixels."""
    height, width = (round(side * n / max(images.shape[-2:])) for n in images.shape[-2:])
    flat = np.asarray(images, dtype=np.float32).reshape(-1, *images.shape[-2:])
    size, smooth = (width, height), Image.Resampling.BICUBIC
    large = [np.asarray(Image.fromarray(image).resize(size, smooth)) for image in flat]
    return np.stack(large).reshape(*images.shape[:-2], height, width)


def picture(image: np.ndarray, scale: int = 1) -> Image.Image:
    """[H, W], or [3, H, W] in colour, in 0..1 -> an image, each pixel a square."""
    levels = np.rint(255 * np.clip(np.nan_to_num(image), 0, 1)).astype(np.uint8)
    levels = levels if levels.ndim == 2 else np.moveaxis(levels, 0, -1)
    return Image.fromarray(levels.repeat(scale, axis=0).repeat(scale, axis=1))


def to_png(image: np.ndarray, scale: int = 8) -> bytes:
    """[H, W], or [3, H, W] in colour, in 0..1 -> PNG."""
    buffer = io.BytesIO()
    picture(image, scale).save(buffer, "PNG")
    return buffer.getvalue()


def to_gif(frames: np.ndarray, scale: int = 8, milliseconds: int = 60) -> bytes:
    """[S, H, W] in 0..1 -> a GIF that loops."""
    pictures = [picture(frame, scale) for frame in frames]
    buffer = io.BytesIO()
    pictures[0].save(
        buffer, "GIF", save_all=True, append_images=pictures[1:], duration=milliseconds, loop=0
    )
    return buffer.getvalue()


def strip(images: np.ndarray, scale: int = 4, gap: int = 4) -> Image.Image:
    """[S, H, W] in 0..1 -> one row, `gap` white pixels between neighbours."""
    parts: list[np.ndarray] = []
    for image in images:
        pixels = np.asarray(picture(image, scale))
        parts += [np.full_like(pixels[:, :1], 255).repeat(gap, axis=1), pixels]
    return Image.fromarray(np.concatenate(parts[1:], axis=1))
