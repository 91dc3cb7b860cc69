"""Files that people, programs and attackers may upload: generated, each with a name."""

import io
import random
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator

import numpy as np
from PIL import Image, ImageDraw

from tests.test_images import (
    BMP,
    FRAME,
    GIF,
    JPEG,
    NOT_A_DIGIT,
    WEBP,
    chunk,
    drawn,
    encoded,
    pixel,
    png,
)

GIF_BODY = 13 + 3 * 2 ** ((GIF[10] & 7) + 1)  # header and palette before it
PROGRESSIVE = encoded(drawn(), "JPEG", progressive=True)
LAST_SCAN = PROGRESSIVE[PROGRESSIVE.rindex(b"\xff\xda") : -2]
SMALL = drawn(canvas=(48, 48), height=36, width=4)
FILES = {
    "PNG": encoded(SMALL),
    "palette PNG": encoded(pixel("P").resize((48, 48))),
    "16 bit PNG": encoded(pixel("I;16").resize((48, 48))),
    "JPEG": encoded(SMALL, "JPEG"),
    "progressive JPEG": encoded(SMALL.convert("RGB"), "JPEG", progressive=True),
    "WebP": encoded(SMALL, "WEBP"),
    "animated WebP": encoded(
        SMALL.convert("RGBA"),
        "WEBP",
        lossless=True,
        save_all=True,
        append_images=[Image.new("RGBA", (48, 48))],
    ),
    "BMP": encoded(SMALL, "BMP"),
    "GIF": encoded(SMALL, "GIF"),
}
File = tuple[str, bytes]


def every(mutations: int, seed: int = 0) -> Iterator[File]:
    """All kinds; `mutations` of them are valid files with random damage."""
    yield from truncated()
    yield from mutated(mutations, seed)
    yield from spliced()
    yield from bombs()
    yield from within_limits()
    yield from endless()
    yield from modes()
    yield from animated()
    yield from metadata()
    yield from foreign()
    yield from polyglots()
    yield from awkward_pictures()


def truncated(cuts: int = 40) -> Iterator[File]:
    for name, content in FILES.items():
        for size in np.unique(np.linspace(0, len(content) - 1, cuts).astype(int)):
            yield f"{name} cut at {size}", content[:size]


def mutated(count: int, seed: int) -> Iterator[File]:
    """Bytes set, deleted, inserted and repeated, half of them in the header."""
    stream = random.Random(seed)
    names = sorted(FILES)
    for number in range(count):
        name = stream.choice(names)
        content = bytearray(FILES[name])
        for _ in range(stream.randint(1, 8)):
            at = stream.randrange(max(1, len(content)))
            at = at % 64 if stream.random() < 0.5 else at
            match stream.randrange(5):
                case 0:
                    content[at : at + 1] = stream.randbytes(stream.randint(1, 4))
                case 1:
                    del content[at : at + stream.randint(1, 50)]
                case 2:
                    content[at:at] = stream.randbytes(stream.randint(0, 20))
                case 3:
                    content[at:at] = content[at : at + stream.randint(1, 200)]
                case 4:  # the numbers that sizes are made of
                    extreme = stream.choice([b"\0" * 4, b"\xff" * 4, b"\x7f\xff\xff\xff", b"\x80"])
                    content[at : at + len(extreme)] = extreme
        yield f"{name}, mutation {number}", bytes(content)


def spliced() -> Iterator[File]:
    """The head of one kind on the body of another."""
    for first, head in FILES.items():
        for second, body in FILES.items():
            if first != second:
                yield f"head of {first}, body of {second}", head[:40] + body[40:]


def large_png(width: int, height: int, bits: int = 8, colour: int = 0, value: int = 0) -> bytes:
    """A true PNG of one value; a few KB, whatever its size."""
    samples = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[colour]
    row = b"\0" + bytes([value]) * -(-width * bits * samples // 8)
    packer = zlib.compressobj(9)
    body = b"".join(packer.compress(row * 64) for _ in range(height // 64))
    body += packer.compress(row * (height % 64)) + packer.flush()
    header = struct.pack(">IIBBBBB", width, height, bits, colour, 0, 0, 0)
    palette = chunk(b"PLTE", bytes(768)) if colour == 3 else b""
    parts = (chunk(b"IHDR", header), palette, chunk(b"IDAT", body), chunk(b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def bombs() -> Iterator[File]:
    """Pictures of hundreds of megapixels, and headers that announce more than there is."""
    yield "PNG of 400 megapixels, all there", large_png(20_000, 20_000)
    yield "PNG of 225 megapixels of 1 bit", large_png(15_000, 15_000, bits=1)
    yield "RGBA PNG of 16 bit, 144 megapixels", large_png(12_000, 12_000, 16, 6)
    for side in (7_100, 30_000, 65_535, 2**20, 2**31 - 1):
        yield f"PNG that says {side} x {side}", png(side, side)
    yield "PNG that says 2**32 - 1", png(1, 1)[:16] + b"\xff" * 8 + png(1, 1)[24:]
    for width, height in ((65_535, 65_535), (65_535, 8), (8_000, 9_000), (0, 0), (1, 65_535)):
        size = struct.pack(">HH", height, width)
        yield f"JPEG that says {width} x {height}", JPEG[:FRAME] + size + JPEG[FRAME + 4 :]
    for side in (b"\xff\xff", b"\0\0", b"\1\0"):
        yield f"GIF that says {side!r}", GIF[:6] + side * 2 + GIF[10:]
    for width, height in ((60_000, 60_000), (-200, 200), (200, -(2**31)), (2**31 - 1, 1), (0, 0)):
        header = struct.pack("<ii", width, height)
        yield f"BMP that says {width} x {height}", BMP[:18] + header + BMP[26:]
    for size in (b"\xff\x3f\0\xff\x3f\0", b"\xff" * 6, b"\0" * 6):
        yield f"WebP that says {size!r}", WEBP[:24] + size + WEBP[30:]
    plain = encoded(drawn(), "WEBP")
    yield "plain WebP that says 16383 x 16383", plain[:26] + b"\xff\x3f\xff\x3f" + plain[30:]


def plain(kind: str, side: int, mode: str = "L", **options: object) -> bytes:
    return encoded(Image.new(mode, (side, side), "silver"), kind, **options)


def grainy(kind: str, **options: object) -> bytes:
    pixels = np.random.default_rng(0).integers(0, 256, (2_700, 3_500, 3), np.uint8)
    return encoded(Image.fromarray(pixels), kind, **options)


LIMITS: dict[str, Callable[[], bytes]] = {
    "PNG of 49 megapixels": lambda: large_png(7_000, 7_000),
    "PNG of 49 megapixels of 1 bit": lambda: large_png(7_000, 7_000, bits=1, value=0x55),
    "palette PNG of 49 megapixels": lambda: large_png(7_000, 7_000, colour=3),
    "16 bit PNG of 33 megapixels": lambda: large_png(5_770, 5_770, bits=16, value=7),
    "RGB PNG of 24 megapixels": lambda: large_png(4_900, 4_900, colour=2, value=200),
    "RGBA PNG of 24 megapixels": lambda: large_png(4_900, 4_900, colour=6, value=100),
    "strip of 8 x 3,000,000": lambda: large_png(8, 3_000_000),
    "strip of 3,000,000 x 8": lambda: large_png(3_000_000, 8),
    "JPEG of 49 megapixels": lambda: plain("JPEG", 7_000, quality=10),
    "GIF of 49 megapixels": lambda: plain("GIF", 7_000),
    "progressive JPEG of 24 megapixels": lambda: plain("JPEG", 4_900, quality=10, progressive=True),
    "RGB JPEG of 24 megapixels": lambda: plain("JPEG", 4_900, "RGB", quality=10),
    "WebP of 9 megapixels": lambda: plain("WEBP", 3_160, quality=5, method=0),
    "WebP of 16 megapixels": lambda: plain("WEBP", 4_000, quality=5, method=0),
    "lossless WebP of 9 megapixels": lambda: plain("WEBP", 3_160, lossless=True, method=0),
    "BMP of 31 MB": lambda: encoded(Image.new("L", (6_200, 5_000), 9), "BMP"),
    "noise, a PNG of 28 MB": lambda: grainy("PNG", compress_level=1),
    "noise, a JPEG of 9 megapixels": lambda: grainy("JPEG", quality=95),
    "a digit of 49 megapixels": lambda: encoded(
        drawn(height=5_000, canvas=(7_000, 7_000), width=500), "PNG", compress_level=1
    ),
}


def within_limits(*starts: str) -> Iterator[File]:
    """The most that is accepted, which must not be too much; those that begin so, or all."""
    for name, make in LIMITS.items():
        if not starts or name.startswith(starts):
            yield name, make()


def endless() -> Iterator[File]:
    """Small parts by the hundred thousand."""
    yield "PNG of 100,000 texts", png(50, 50, chunk(b"tEXt", b"") * 100_000)
    yield "PNG of 100,000 empty IDAT", png(50, 50, chunk(b"IDAT", b"") * 100_000)
    yield "JPEG of 100,000 comments", JPEG[:2] + b"\xff\xfe\0\2" * 100_000 + JPEG[2:]
    yield "JPEG of 10 MB of fill bytes", JPEG[:2] + b"\xff" * 10_000_000 + JPEG[2:]
    yield "JPEG of 10 MB of restarts", JPEG[:-2] + b"\xff\xd0" * 5_000_000 + JPEG[-2:]
    yield "JPEG of 1,000 scans", PROGRESSIVE[:-2] + LAST_SCAN * 1_000 + b"\xff\xd9"
    yield "JPEG of 100,000 tables", JPEG[:2] + b"\xff\xdb\0\2" * 100_000 + JPEG[2:]
    yield "GIF of 100,000 comments", GIF[:GIF_BODY] + b"!\xfe\x01a\0" * 100_000 + GIF[GIF_BODY:]
    comment = b"!\xfe" + (b"\xff" + bytes(255)) * 40_000 + b"\0"
    yield "GIF of 10 MB of comment", GIF[:GIF_BODY] + comment + GIF[GIF_BODY:]
    yield "GIF of 10 MB without an end", GIF[:-2] + b"\xff" * 10_000_000
    yield "WebP of 100,000 parts", WEBP[:30] + b"JUNK\0\0\0\0" * 100_000 + WEBP[30:]
    runs = b"\x01\x05" * 400 * 400
    header = struct.pack("<IHHI", 0, 0, 0, 1078)
    header += struct.pack("<IiiHHIIiiII", 40, 400, 400, 1, 8, 1, 0, 0, 0, 256, 0)
    yield "BMP of runs of one pixel", b"BM" + header + bytes(1024) + runs
    yield "33 MB of zeros", bytes(33_000_000)
    yield "PNG of 31 MB of garbage", png(50, 50) + random.Random(2).randbytes(31_000_000)


def modes() -> Iterator[File]:
    """Every way to write a pixel."""
    for mode in ("1", "L", "LA", "P", "RGB", "RGBA", "I;16"):
        yield f"PNG {mode}", encoded(pixel(mode))
    for name, value in (("zeros", 0), ("ones", 1), ("the largest", 65_535), ("a half", 32_768)):
        flat = Image.fromarray(np.full((60, 60), value, np.uint16))
        yield f"16 bit PNG of {name}", encoded(flat)
    one = np.zeros((60, 60), np.uint16)
    one[30, 30] = 65_535
    yield "16 bit PNG with one bright pixel", encoded(Image.fromarray(one))
    cmyk = drawn().convert("RGB").convert("CMYK")
    yield "CMYK JPEG", encoded(cmyk, "JPEG")
    yield "CMYK JPEG of an old program", encoded(cmyk, "JPEG").replace(b"Adobe", b"Nobody"[:5])
    yield "YCbCr JPEG", encoded(drawn().convert("YCbCr"), "JPEG")
    for bits in (1, 2, 4, 16):
        yield f"PNG of {bits} bit", large_png(64, 64, bits, value=0x5A)
    yield "palette PNG without a palette", large_png(64, 64, 8, 3).replace(b"PLTE", b"pLTE")
    yield "PNG of 3 bit", png(50, 50).replace(b"\0\0\0\x32\x08\0", b"\0\0\0\x32\x03\0", 1)
    yield "transparent", encoded(Image.new("RGBA", (90, 90), (0, 0, 0, 0)))
    yield "almost transparent", encoded(Image.new("RGBA", (90, 90), (9, 9, 9, 1)))
    ramp = np.tile(np.arange(256, dtype=np.uint8), (256, 1))
    pair = Image.merge("LA", [drawn(canvas=(256, 256)), Image.fromarray(ramp)])
    yield "alpha ramp", encoded(pair)
    yield "interlaced PNG", png(64, 64).replace(b"\x08\0\0\0\0", b"\x08\0\0\0\1", 1)
    for size in ((1, 1), (7, 7), (8, 8), (8, 2_000), (2_000, 8), (9, 60_000)):
        yield f"PNG of {size}", encoded(Image.new("L", size, 99))


def animated() -> Iterator[File]:
    frames = [drawn(digit, canvas=(64, 64), height=48, width=6) for digit in "02345700"]
    for kind in ("GIF", "WEBP", "PNG"):
        yield f"animated {kind}", encoded(frames[0], kind, save_all=True, append_images=frames)
    many = [Image.new("P", (64, 64), index % 250) for index in range(1_500)]
    yield "GIF of 1,500 frames", encoded(frames[0], "GIF", save_all=True, append_images=many)
    options = {"save_all": True, "append_images": many[:300], "method": 0}
    yield "WebP of 300 frames", encoded(frames[0].convert("RGB"), "WEBP", **options)
    corner = encoded(drawn(), "GIF")
    at = corner.index(b",", GIF_BODY)
    for place in (b"\xff\xff", b"\xc8\0"):
        yield f"GIF with a frame at {place!r}", corner[: at + 1] + place * 2 + corner[at + 5 :]


def marked(marker: int, body: bytes) -> bytes:
    """A JPEG with a part of this kind."""
    return JPEG[:2] + struct.pack(">BBH", 0xFF, marker, len(body) + 2) + body + JPEG[2:]


def metadata() -> Iterator[File]:
    """Huge, endless and lying EXIF, profiles and texts."""
    exif = b"Exif\0\0II*\0\x08\0\0\0"
    segment = b"\xff\xe1\xff\xff" + exif + bytes(65_533 - len(exif))
    yield "20 MB of EXIF", JPEG[:2] + segment * 300 + JPEG[2:]
    for orientation in (0, 9, 255, 65_535):
        tag = struct.pack("<HHHII", 1, 0x112, 3, 1, orientation)
        yield f"EXIF orientation {orientation}", marked(0xE1, exif + tag)
    for at in (0, 8, 0xFFFFFFFF, 0x7FFFFFFF):
        body = b"Exif\0\0MM\0*" + struct.pack(">I", at) + b"\xff\xff" * 20
        yield f"EXIF that begins at {at}", marked(0xE1, body)
        yield f"PNG EXIF that begins at {at}", png(50, 50, chunk(b"eXIf", body[6:]))
    bomb = zlib.compress(bytes(100_000_000))
    for name in (b"zTXt", b"iCCP", b"iTXt"):
        inside = b"a\0\0" + bomb if name != b"iTXt" else b"a\0\1\0\0\0" + bomb
        yield f"PNG {name.decode()} of 100 MB, packed", png(50, 50, chunk(name, inside))
    for name, body in (
        (b"gAMA", bytes(4)),
        (b"pHYs", b"\xff" * 9),
        (b"tRNS", b"\xff" * 300),
        (b"PLTE", b"\xff" * 3_000),
        (b"\0\0\0\0", b""),
    ):
        yield f"PNG with {name!r} of {body[:4]!r}", png(50, 50, chunk(name, body))
    profile = b"\xff\xe2\xff\xffICC_PROFILE\0\1\xff" + bytes(65_519)
    yield "JPEG with 255 parts of a profile", JPEG[:2] + profile * 255 + JPEG[2:]
    photoshop = b"\xff\xed\0\x20Photoshop 3.0\x008BIM\x04\x04\0\0\xff\xff\xff\xff\0\0"
    yield "JPEG with a Photoshop part that lies", JPEG[:2] + photoshop + JPEG[2:]
    body = b"MPF\0II*\0\x08\0\0\0\xff\xff" + b"\xff" * 200
    yield "JPEG with a directory of pictures that lies", marked(0xE2, body)


SVG = (
    b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script>'
    b'<image href="file:///etc/passwd"/></svg>'
)
ENTITIES = (
    b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">'
    + b"".join(b'<!ENTITY %c "%s">' % (98 + i, b"&%c;" % (97 + i) * 10) for i in range(10))
    + b"]><svg>&k;</svg>"
)


FOREIGN = ["TIFF", "PPM", "ICO", "TGA", "PCX", "SGI", "JPEG2000", "DDS", "ICNS", "EPS"]


def foreign() -> Iterator[File]:
    """What is no picture at all, or none that is taken, whatever its name says."""
    yield "nothing", b""
    yield "SVG with a script", SVG
    yield "SVG of a billion laughs", ENTITIES
    yield "HTML", b"<!DOCTYPE html><script>alert(document.cookie)</script>"
    yield "PDF", b"%PDF-1.7\n1 0 obj << /OpenAction << /S /JavaScript >> >> endobj"
    yield "text", b"three\n" * 1_000
    yield "an ELF program", b"\x7fELF\x02\x01\x01" + bytes(200)
    yield "a pickle", b"cos\nsystem\n(S'touch /bait'\ntR."
    yield "a HEIC photo", b"\0\0\0\x18ftypheic" + bytes(300)
    yield "an MP4 video", b"\0\0\0\x1cftypisom" + bytes(300)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("../../three.png", bytes(10_000_000))
    yield "a zip bomb", stream.getvalue()
    yield "gzip", b"\x1f\x8b\x08" + bytes(100)
    for kind in (*FOREIGN, "PDF"):
        try:
            yield f"a {kind} picture", encoded(drawn(canvas=(64, 64), height=48), kind)
        except (OSError, KeyError, ValueError):
            continue  # Pillow was built without it
    for value in (np.nan, np.inf, -np.inf, 1e38, 1e-45):
        floats = Image.fromarray(np.full((40, 40), value, np.float32))
        yield f"a TIFF picture of {value}", encoded(floats, "TIFF")
    ps = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n(%pipe%id) (w) file\n"
    yield "PostScript that runs a program", ps


def polyglots() -> Iterator[File]:
    """Two kinds in one file."""
    page = b"<html><script>alert(1)</script></html>"
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("x.py", "import os")
    for name, content in FILES.items():
        yield f"{name} and HTML", content + page
        yield f"{name} and zip", content + stream.getvalue()
        yield f"{name} and PDF", content + b"%PDF-1.4"
        yield f"HTML and {name}", page + content
        yield f"{name} twice", content + content
        yield f"{name} backwards", content[::-1]
        yield f"blanks and {name}", b"\r\n " + content
        yield f"BOM and {name}", b"\xef\xbb\xbf" + content
    yield "GIF that is JavaScript", b"GIF89a/*" + GIF[8:] + b"*/=1;alert(1)"
    yield "JPEG with a script in a comment", JPEG[:2] + b"\xff\xfe\0\x12<?php exit(); " + JPEG[2:]
    yield "PNG with a script for a text", png(50, 50, chunk(b"tEXt", b"a\0" + page))
    yield "BMP that is a program", b"BM" + b"\x90" * 20 + BMP[22:]


def awkward_pictures() -> Iterator[File]:
    """True pictures that are hard to find a digit in, at the size that everything is reduced to."""
    for name, picture in NOT_A_DIGIT.items():
        yield f"not a digit: {name}", encoded(picture)
    rng = np.random.default_rng(3)
    side = 2_048
    rows, columns = np.indices((side, side))
    centre = np.hypot(rows - side / 2, columns - side / 2)
    planes = {
        "noise": rng.integers(0, 256, (side, side)),
        "sparse dots": 255 * (rng.random((side, side)) > 0.001),
        "checkerboard": 255 * ((rows + columns) % 2),
        "wide lines": 255 * (rows // 16 % 2),
        "rings": 127 * (1 + np.sin(centre / 3)),
        "comb": 255 * ((columns % 6 > 2) & (rows > 40)),
        "ramp": rows * 255 // side,
        "one dark pixel": np.where(rows + columns == 0, 0, 255),
        "frame": 255 * ((rows > 3) & (columns > 3) & (rows < side - 4) & (columns < side - 4)),
    }
    for name, plane in planes.items():
        content = encoded(Image.fromarray(np.uint8(plane)), compress_level=1)
        yield f"{side} x {side} of {name}", content
    for seed in range(40):
        rng = np.random.default_rng(seed)
        size = tuple(int(length) for length in rng.integers(8, 900, 2))
        picture = Image.new("L", size, int(rng.integers(256)))
        pen = ImageDraw.Draw(picture)
        for _ in range(int(rng.integers(1, 60))):
            ends = [tuple(end) for end in rng.uniform(-0.2, 1.2, (4, 2)) * size]
            pen.line(ends, int(rng.integers(256)), int(rng.integers(1, 40)))
        yield f"scribble {seed}", encoded(picture)
