"""The laboratory as one HTML file: Rotate, Draw and Films without a server.

The page is made of the app's own components, which are read from the repository. Encoder, posterior
and decoder run in the browser. Weights are whole numbers times a scale for each row of a matrix.
"""

import base64
import gzip
import io
import zlib
from collections.abc import Sequence
from copy import deepcopy
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from torch import Tensor, nn

from fgpvae import files
from fgpvae.browser import bundle, colours, export, style_directions
from fgpvae.browser.imagined import imagine
from fgpvae.data.collections import Digits, Films, Subject
from fgpvae.errors import UserError
from fgpvae.evaluation import latents
from fgpvae.gp.mean_functions import MeanOnACircle
from fgpvae.images import picture
from fgpvae.models import FGPVAE, Model
from fgpvae.runs.checkpoints import load_pretrained

COMPONENTS = Path(__file__).parents[2] / "ui" / "components"
APP = "http://localhost:8501"  # where `streamlit run app.py` listens
ENTRY = "site/site.js"
PARTS = {"DIAL": "dial", "SLIDERS": "style_sliders", "CANVAS": "canvas", "TILES": "tiles"}
DIGITS, FILMS = 4, 20  # unseen digits of each class; films
VIEWS = slice(0, 16, 2)  # the views of a digit, every 45 degrees
FITTED = 400  # training digits that the style sliders are fitted to
LEVELS, FEW = 93, 31  # whole numbers on either side of zero; for films
FINE = 2**16  # matrices with fewer weights have two bytes for each weight


def build(out: Path, app: str) -> dict[str, Any]:
    """Write the page, with a link to the app, into a directory; return its path and size."""
    with files.explained(out, "made"):
        out.mkdir(parents=True, exist_ok=True)
    page = html(app).encode()
    files.write(out / "index.html", page)
    sizes = {"bytes": len(page), "gzip": len(gzip.compress(page, 9))}
    return {"page": str(out / "index.html")} | sizes


def html(app: str) -> str:
    """The HTML of the page."""
    if not (COMPONENTS / ENTRY).exists():
        raise UserError("The site is built from the app's components: run this in the repository.")
    best, films = quantised(load_pretrained("best")), quantised(load_pretrained("films"), FEW)
    named = {
        "encoder": network(best.get_submodule("encoder.layers"), (1, 28, 28)),
        "decoder": network(best.get_submodule("decoder"), (1, 28, 28)),
        "films": network(films.get_submodule("decoder"), (1, 32, 32), FEW),
    }
    digits = [each for c in range(10) for each in Digits().subjects(True, c)[:DIGITS]]
    moving = Films().subjects(True)[:FILMS]
    views = Digits().training_views(count=FITTED)
    own = latents.own_styles(best, views)
    styles = style_directions.style_directions(best, views, own)
    lead, likely = "What stays the same when the digit turns.", latents.styles(own)
    doubt = imagine(best, digits[0], [0]).doubt(digits[0].w)  # alike for all digits and views
    assert doubt is not None
    content = {
        "networks": {name: packed for name, (packed, _) in named.items()},
        "rotate": _model(best, digits, VIEWS, [0]),
        "films": _model(films, moving, slice(None), moving[0].first_views),
        "sliders": style_directions.slider_data(
            own.mean(0), "rotate", styles, None, likely, lead, "digit"
        ),
        "doubt": float(doubt.mean()),
        "colours": {"circle": colours.CYCLE, "line": colours.TRACK},
    }
    parts = {name: bundle.shadow(_read, part) for name, part in PARTS.items()}
    parts |= {
        "STYLE": _read("shared/common.css") + _read("shared/page.css"),
        "IMPORTS": bundle.import_map(_read, ENTRY),
        "CONTENT": bundle.script_json(content),
        "WEIGHTS": "".join(
            f'<script type="text/plain" id="{name}-weights">{text}</script>\n'
            for name, (_, text) in named.items()
        ),
        "ENTRY": ENTRY,
        "APP": escape(app),
    }
    return bundle.page(_read("site/site.html"), parts)


def _read(file: str) -> str:
    return (COMPONENTS / file).read_text(encoding="utf-8")


@torch.no_grad()
def quantised(model: Model, most: int = LEVELS) -> Model:
    """Copy a model, with its weights rounded as on the page."""
    copy = deepcopy(model)
    for part in ("encoder.layers", "decoder"):
        for each in copy.get_submodule(part).modules():
            for tensor in (each.weight, each.bias) if isinstance(each, nn.Linear) else ():
                levels, scale = _levels(tensor, most)
                tensor.copy_(torch.from_numpy(levels * scale).view_as(tensor))
    return copy


def _levels(tensor: Tensor, most: int) -> tuple[NDArray[Any], NDArray[np.float32]]:
    """Whole numbers [R, C] of one or two bytes and a scale [R, 1] whose product is a matrix."""
    rows = tensor.detach().float().numpy().reshape(len(tensor), -1)
    fine = rows.shape[1] > 1 and rows.size < FINE
    scale = np.maximum(np.abs(rows).max(1, keepdims=True), 1e-30)
    scale = scale / np.float32(np.iinfo(np.int16).max if fine else most)
    return np.rint(rows / scale).astype("<i2" if fine else "i1"), scale


@torch.no_grad()
def network(
    module: nn.Module, shape: tuple[int, int, int], most: int = LEVELS
) -> tuple[dict[str, Any], str]:
    """Layers and scales for JSON, and the weights, deflated, in base64."""
    sizes: list[tuple[int, int, int]] = []
    scales, weights = [], []

    def store(tensor: Tensor) -> list[int]:
        levels, scale = _levels(tensor, most)
        offset = sum(rows * columns for rows, columns, _ in sizes)
        sizes.append((*levels.shape, levels.itemsize))
        scales.append(scale.ravel())
        weights.append(levels.tobytes())
        return [offset, levels.size]

    layers = export.layers(module, store)
    header = {"id": "".join(map(str, shape)), "shape": shape, "layers": layers}
    packed = {"header": header, "sizes": sizes, "scales": bundle.packed(np.concatenate(scales))}
    return packed, base64.b64encode(zlib.compress(b"".join(weights), 9)).decode()


@torch.no_grad()
def _model(
    model: Model, subjects: Sequence[Subject], views: slice, first: list[int]
) -> dict[str, Any]:
    """The kernel and mean function of a model, and some subjects.

    A subject is a thumbnail, and means and log variances [Q, 2 L] of its views in half precision.
    """
    assert isinstance(model, FGPVAE)
    kernel, mean = model.kernel, model.mean_function
    series = None
    if isinstance(mean, MeanOnACircle):
        root = mean.coefficients.sqrt()
        series = torch.cat([root, root[1:]])[:, None] * mean.weights  # [2 H + 1, J]
    encoded = []
    for each in subjects:
        images, w = torch.as_tensor(each.images[views])[None], torch.as_tensor(each.w[views])[None]
        mu, var = model.encode(images, w, torch.ones(w.shape, dtype=torch.bool))
        codes = torch.cat([mu[0], var[0].log()], -1).numpy().astype("<f2")
        file, small = io.BytesIO(), picture(each.thumbnail)
        small.resize((56, 56), Image.Resampling.BICUBIC).save(file, "PNG")
        thumbnail = f"data:image/png;base64,{base64.b64encode(file.getvalue()).decode()}"
        views_text = base64.b64encode(codes.tobytes()).decode()
        encoded.append({"id": each.id, "name": each.name, "image": thumbnail, "views": views_text})
    return {
        "kernel": {
            "kind": model.config.kernel,
            "amplitude": float(kernel.amplitude),
            "lengthScale": float(kernel.length_scale),
        },
        "local": model.config.local,
        "latents": model.config.latents,
        "mean": None if series is None else bundle.packed(series.T.numpy()),
        "w": bundle.rounded(subjects[0].w[views]),
        "first": first,
        "subjects": encoded,
    }
