"""Read bytes, arrays and pictures of any kind safely as a small opaque RGB picture.

Files are recognised by their content. Before Pillow gets a file, metadata that the pixels do not
need is removed (parsing it can take seconds or gigabytes for a small file), the size is checked in
the header, and the number of reads is bounded. Nothing is written to disk.
"""

import io
import math
import re
import struct
from contextlib import suppress

import numpy as np
from PIL import ExifTags, Image, ImageOps, WebPImagePlugin

from fgpvae.errors import UserError, require

# Pillow registers WebP only together with all other plugins
assert WebPImagePlugin.SUPPORTED

ACCEPTED = "PNG, JPEG, WebP, BMP or GIF"
MAX_FILE_BYTES = 32_000_000
MAX_PIXELS = 50_000_000
MAX_DECODED_BYTES = 100_000_000
MAX_SIDE = 2048  # longest side of the result
MIN_SIDE = 8
_DRAFT_SIDE = 960  # minimum side to which a JPEG is reduced while it is decoded

_MAX_PARTS = 20_000  # chunks or segments of one file
_MAX_SCANS = 40  # passes of a progressive JPEG; encoders write about ten
_MAX_READS = 100_000
_MAX_EXIF = 65_536  # bytes, as many as a JPEG can hold


def read_picture(data: bytes, most_pixels: int = MAX_PIXELS) -> Image.Image:
    """Decode an uploaded file to RGB, upright, at most MAX_SIDE pixels on a side."""
    data = bytes(data)
    require(data, "The file is empty.")
    if len(data) > MAX_FILE_BYTES:
        raise UserError(
            f"The file has {len(data) / 1e6:.0f} MB, more than the "
            f"{MAX_FILE_BYTES / 1e6:.0f} MB that are accepted."
        )
    starts = (_KINDS | _REFUSED).items()
    kind = next(kind for kind, start in starts if re.match(start, data[:1024], re.DOTALL))
    require(kind not in _REFUSED, f"The file is {kind}; please use a {ACCEPTED} picture.")
    pixels_only, exif, scans = data, b"", 1
    if kind == "PNG":
        pixels_only, exif = _png_essence(data)
    elif kind == "JPEG":
        pixels_only, exif, scans = _jpeg_essence(data)
    elif kind == "WEBP":
        _check_size(_webp_size(data), min(most_pixels, _most_pixels(kind, "RGB", scans)))

    # Pillow's decoders answer broken files with anything from SyntaxError and struct.error to
    # zlib.error, OverflowError and MemoryError, so this one place catches every Exception.
    try:
        with Image.open(_BoundedReader(pixels_only), formats=[kind]) as image:
            _check_size(image.size, min(most_pixels, _most_pixels(kind, image.mode, scans)))
            image.draft(None, _shrunk(image.size, _DRAFT_SIDE))  # a JPEG is decoded smaller
            image.load()
            opaque = _opaque(_small(image))
            exif = exif or image.info.get("exif", b"")
    except UserError:
        raise
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise UserError("The picture has too many pixels; please make it smaller.") from None
    except Exception as error:
        raise UserError(
            f"The {kind} picture is damaged or incomplete and cannot be read."
        ) from error
    opaque.info.clear()  # only the orientation that was read safely
    with suppress(Exception):  # a damaged directory can raise any error
        read = Image.Exif()
        read.load(exif[:_MAX_EXIF])
        opaque.getexif()[ExifTags.Base.Orientation] = int(read[ExifTags.Base.Orientation])
    return ImageOps.exif_transpose(opaque)


def as_picture(picture: bytes | Image.Image | np.ndarray) -> Image.Image:
    """Convert a picture that is already in memory."""
    if isinstance(picture, bytes | bytearray | memoryview):
        return read_picture(bytes(picture))
    if isinstance(picture, np.ndarray):
        if picture.ndim in (2, 3):
            _check_size((picture.shape[1], picture.shape[0]), MAX_DECODED_BYTES // 4)
        picture = _from_array(picture)
    if not isinstance(picture, Image.Image):
        raise UserError("A picture is a file's bytes, a PIL image or an array.")
    _check_size(picture.size, MAX_PIXELS)
    if picture.mode in ("I", "F"):
        picture = _from_array(np.asarray(picture))
    return _opaque(_small(picture))


class _BoundedReader(io.BytesIO):
    """Bounds the number of reads, so that no loop of a parser runs for long."""

    reads = 0

    def read(self, size: int | None = -1, /) -> bytes:
        self.reads += 1
        if self.reads > _MAX_READS:
            raise OSError("too many parts")
        return super().read(size)


_KINDS = {  # how files begin
    "PNG": rb"\x89PNG\r\n\x1a\n",
    "JPEG": rb"\xff\xd8\xff",
    "GIF": rb"GIF8[79]a",
    "WEBP": rb"RIFF....WEBP",
    "BMP": rb"BM",
}
_REFUSED = {
    "a PDF document": rb"[\xef\xbb\xbf \t\r\n]*%PDF",
    "a TIFF picture, which is not accepted": rb"II\*\0|MM\0\*",
    "a HEIC or AVIF photo or a video, which is not accepted": rb"....ftyp",
    "an SVG drawing": rb"(?i:.*<svg)",
    "not a known picture": rb"",
}


def _png_essence(data: bytes) -> tuple[bytes, bytes]:
    """The chunks of the still picture, and the EXIF chunk."""
    parts, exif, at = [data[:8]], b"", 8
    for _ in range(_MAX_PARTS):
        if at + 8 > len(data):
            break
        length, name = struct.unpack_from(">I4s", data, at)
        end = at + 12 + length
        if name in (b"IHDR", b"PLTE", b"tRNS", b"IDAT", b"IEND"):
            parts.append(data[at:end])
        elif name == b"eXIf":
            exif = data[at + 8 : end - 4]
        if name == b"IEND":
            break
        at = end
    else:
        raise UserError("The PNG picture is damaged: it has too many parts.")
    return b"".join(parts), exif


_JPEG_MARKER = re.compile(rb"\xff([\x01-\xcf\xd8-\xfe])")  # not a stuffed byte, restart or fill


def _jpeg_essence(data: bytes) -> tuple[bytes, bytes, int]:
    """The segments of the picture, the EXIF segment, and the number of scans."""
    parts, exif, scans, at = [b"\xff\xd8"], b"", 0, 2
    for _ in range(_MAX_PARTS):
        found = _JPEG_MARKER.search(data, at)
        if found is None:
            break
        marker, start = found[1][0], found.start()
        if marker == 0xD9:  # end of image; what phones append after it is dropped
            parts.append(b"\xff\xd9")
            break
        if marker in (0x01, 0xD8):
            at = start + 2
            continue
        at = start + 2 + int.from_bytes(data[start + 2 : start + 4])
        if marker == 0xDA:
            scans += 1
            following = _JPEG_MARKER.search(data, at)
            at = following.start() if following else len(data)
        application_data = 0xE1 <= marker <= 0xEF and marker != 0xEE  # 0xEE: colour transform
        if application_data or marker == 0xFE:
            if marker == 0xE1 and not exif and data[start + 4 : start + 10] == b"Exif\0\0":
                exif = data[start + 4 : at]
            continue
        parts.append(data[start:at])
    else:
        raise UserError("The JPEG picture is damaged: it has too many parts.")
    require(scans <= _MAX_SCANS, "The JPEG picture is damaged: it has too many scans.")
    return b"".join(parts), exif, max(scans, 1)


def _webp_size(data: bytes) -> tuple[int, int]:
    """Canvas size from the header; Pillow allocates the canvas as soon as it opens the file."""
    name, body = data[12:16], data[20:30].ljust(10, b"\0")
    if name == b"VP8X":
        return int.from_bytes(body[4:7], "little") + 1, int.from_bytes(body[7:10], "little") + 1
    if name == b"VP8L":
        bits = int.from_bytes(body[1:5], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    width, height = struct.unpack_from("<HH", body, 6)
    return width & 0x3FFF, height & 0x3FFF


def _most_pixels(kind: str, mode: str, scans: int) -> int:
    """Maximum number of pixels of this kind, for bounded memory and time."""
    if kind == "JPEG":  # decoded at reduced size, but several scans hold every coefficient
        return min(MAX_PIXELS, MAX_DECODED_BYTES // (4 if scans > 1 else 2), 300_000_000 // scans)
    # WebP holds 16 bytes a pixel for an instant: two canvases, a frame and the picture
    held = 10 if kind == "WEBP" else {"1": 1, "L": 1, "P": 1, "I;16": 3}.get(mode, 4)
    return min(MAX_PIXELS, MAX_DECODED_BYTES // held)


def _check_size(size: tuple[int, int], most_pixels: int) -> None:
    if size[0] * size[1] > most_pixels:
        raise UserError(
            f"The picture has {math.ceil(size[0] * size[1] / 1e6)} megapixels, more than the "
            f"{most_pixels // 1_000_000} that are accepted; please make it smaller."
        )
    if min(size) < MIN_SIDE:
        raise UserError(
            f"The picture is only {size[0]} x {size[1]} pixels, too small to show a digit."
        )


def _shrunk(size: tuple[int, int], side: int) -> tuple[int, int]:
    factor = min(1.0, side / max(size))
    return max(1, round(size[0] * factor)), max(1, round(size[1] * factor))


def _small(image: Image.Image) -> Image.Image:
    """RGB or RGBA, at most MAX_SIDE on a side; by bands, so that no second full copy is made."""
    white = _white(np.array(image.getextrema())) if image.mode.startswith("I;16") else 255.0
    factor = -(-max(image.size) // MAX_SIDE)
    if factor == 1:
        return _plain(image, white)
    width, height = image.size
    band = factor * max(1, 1_000_000 // (width * factor))
    bands = []
    for top in range(0, height, band):
        part = _plain(image.crop((0, top, width, min(height, top + band))), white)
        if part.mode == "RGBA":  # transparent pixels must not colour their neighbours
            part = part.convert("RGBa").reduce(factor).convert("RGBA")
        else:
            part = part.reduce(factor)
        bands.append(np.asarray(part))
    return Image.fromarray(np.concatenate(bands))


def _plain(image: Image.Image, white: float) -> Image.Image:
    """Any mode of Pillow -> RGB, or RGBA where something may be transparent."""
    if image.mode.startswith("I;16"):
        return _from_array(np.asarray(image), white).convert("RGB")
    if "transparency" in image.info or image.mode in ("LA", "La", "PA", "RGBA", "RGBa"):
        return image.convert("RGBA")
    return image.convert("RGB")


def _from_array(array: np.ndarray, white: float | None = None) -> Image.Image:
    """[H, W] or [H, W, 1..4], boolean, integer or float -> an 8 bit picture."""
    if array.ndim == 3 and array.shape[2] == 1:
        array = array[:, :, 0]
    if array.ndim not in (2, 3) or (array.ndim == 3 and array.shape[2] not in (2, 3, 4)):
        raise UserError(f"An array of shape {array.shape} is not a picture.")
    if array.dtype == bool:
        array = array.astype(np.uint8) * 255
    elif array.dtype != np.uint8:
        require(array.dtype.kind in "uif", f"An array of {array.dtype} is not a picture.")
        require(np.isfinite(array).all(), "The picture has pixels that are not numbers.")
        scale = 255 / (white or _white(array))
        array = np.rint(np.clip(np.multiply(array, scale, dtype=np.float64), 0, 255))
    return Image.fromarray(np.ascontiguousarray(array, dtype=np.uint8))


def _white(array: np.ndarray) -> float:
    """The value of white: the smallest usual maximum not below the brightest pixel."""
    top = float(array.max())
    if array.dtype.kind == "f" and top <= 1.5:  # splines overshoot 1 a little
        return 1.0
    return next((white for white in (255.0, 1023.0, 4095.0, 65535.0) if top <= white), top)


def _opaque(image: Image.Image) -> Image.Image:
    """Put a transparent picture on a background on which its ink is visible."""
    if image.mode != "RGBA":
        return image
    sample = np.asarray(image.resize(_shrunk(image.size, 256), Image.Resampling.NEAREST))
    solid = sample[sample[:, :, 3] > 127][:, :3]  # [n, 3]
    if len(solid) == 0:
        solid = sample.reshape(-1, 4)[:, :3]
    low, middle, high = np.percentile(solid.mean(axis=1), [5, 50, 95])
    if len(solid) > sample.size / 8 and high - low > 64:  # ink and paper are both there
        ground = tuple(int(level) for level in np.median(solid, axis=0))
    else:  # only ink is there
        ground = (255, 255, 255) if middle < 128 else (0, 0, 0)
    return Image.alpha_composite(Image.new("RGBA", image.size, ground), image).convert("RGB")
