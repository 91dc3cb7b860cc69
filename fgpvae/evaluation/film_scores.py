"""Scores of a model of films: pictures, paths, doubt, swaps, and references without a model."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from fgpvae.data import Task, films
from fgpvae.data.collections import Films
from fgpvae.data.objects import EXTRAPOLATION, ONE_VIEW
from fgpvae.evaluation.calibration import doubt
from fgpvae.evaluation.latents import gp_share
from fgpvae.evaluation.protocol import verdict
from fgpvae.gp.kernels import SquaredExponential
from fgpvae.models import Model, Posterior
from fgpvae.networks.moving import MovingDecoder

FILMS = 200
SAMPLES = 64  # sampled films of which the predictive mean is taken
PLACES = 256  # sampled places that determine the 90 % region
REGION = 0.9
STATED = 40  # films on which the stated error is compared with the actual one
FITTED = 300  # films on which the map from local channels to places is fitted
GIVEN = (*films.GIVEN, films.FRAMES)


def place_map(model: Model) -> tuple[Tensor, Tensor]:
    """Least-squares map [F, 2] from features to places, and its residuals' covariance [2, 2].

    Fitted to validation films, of digits that no model learns from, with all frames given.
    """
    looks, path = films.films(FITTED, "validation")
    t = films.times().expand(FITTED, -1)
    known = _features(model, model.infer(films.draw(looks, path(t)), t).mean(t)).flatten(0, 1)
    places = path(t).flatten(0, 1)
    weights = torch.linalg.lstsq(known, places).solution
    left = places - known @ weights
    return weights, left.mT @ left / len(left)


def _features(model: Model, codes: Tensor) -> Tensor:
    """Features for the places: the local channels, and the decoder's places of them."""
    local = codes[..., model.blocks["local"]]
    parts = [local, torch.ones_like(local[..., :1])]
    if isinstance(layers := model.decoder.layers, MovingDecoder):
        parts.append(layers.place(local[..., :2].to(model.dtype)).to(local))
    return torch.cat(parts, -1).double()


@torch.no_grad()
def film_scores(
    model: Model,
    count: int = FILMS,
    samples: int = SAMPLES,
    progress: Callable[[float], None] = lambda share: None,
) -> dict[str, Any]:
    """Score a model on films of digits that it has not seen, by the number of frames given.

    `mse`: squared error at the frames not given (at all frames if all are given) of the film at
    the posterior mean, of the mean of so many sampled films, and of the samples themselves. In
    pixels at the same frames: `path_error`, of the posterior mean, root mean square of a
    coordinate; `spread`, the standard deviation of sampled places; `coverage`, the share of true
    places inside the ellipse that holds 90 % of the sampled ones. `swap`: the error of the look of
    B on the path of A over that of B's own film. `gp_share` is that from eight frames.
    """
    started = time.perf_counter()
    looks, path = films.films(count)
    places = path(films.times())
    images = films.draw(looks, places)
    fitted = place_map(model) if "local" in model.blocks else None
    scores: dict[str, Any] = {}
    for done, given in enumerate(GIVEN, start=1):
        task = films.task(images, given)
        posterior = model.infer(task.context.images, task.context.angles)
        found: dict[str, Any] = {"mse": _errors(model, posterior, task, samples)}
        if fitted:
            asked = torch.isin(films.times(), task.at[0])
            found |= _paths(model, *fitted, posterior, task.at, places[:, asked])
        if model.divides_channels and given >= films.GIVEN[-1]:
            found["swap"] = _swap(model, posterior, looks, places)
        for name, value in found.items():
            scores.setdefault(name, {})[str(given)] = value
        progress(done / len(GIVEN))
    if fitted and isinstance(model.kernel, SquaredExponential):
        scores["length_scale"] = float(model.kernel.length_scale)
        scores["amplitude"] = float(model.kernel.amplitude)
    known = references(looks, places)
    share = gp_share(model, films.task(images, films.GIVEN[-1]).context)
    compared: dict[str, Any] = {"gp_share": share, "references": {}}
    for name, n in ((EXTRAPOLATION, str(films.GIVEN[-1])), (ONE_VIEW, "1")):
        compared[name] = scores["mse"][n]["predictive_mean"]
        simple = {"nearest_view": known["nearest_frame"][n], "mean_image": known["mean_image"][n]}
        compared["references"][name] = simple
    return scores | {
        "gp_share": share,
        "verdict": verdict(compared),
        "doubt": doubt(model, films.task(images[:STATED], films.FRAMES).context, films.GIVEN),
        "split": "unseen",
        "films": count,
        "samples": samples,
        "references": known,
        "parameters": sum(p.numel() for p in model.parameters()),
        "seconds": time.perf_counter() - started,
    }


def _errors(model: Model, posterior: Posterior, task: Task, samples: int) -> dict[str, float]:
    generator, shares = torch.Generator().manual_seed(0), model.divides_channels
    total, sampled = torch.zeros_like(task.targets), 0.0
    mean, sd = posterior.mean(task.at), posterior.variance(task.at).sqrt()  # [P, S, L]
    for _ in range(samples):
        # scores are per frame, so marginal samples suffice
        film = model.decode(mean + sd * torch.randn(mean.shape, generator=generator), shares)
        total += film
        sampled += _mse(film, task.targets) / samples
    return {
        "posterior_mean": _mse(model.decode(mean, shares), task.targets),
        "predictive_mean": _mse(total / samples, task.targets),
        "sample": sampled,
    }


def _paths(
    model: Model, weights: Tensor, residual: Tensor, posterior: Posterior, at: Tensor, true: Tensor
) -> dict[str, float]:
    """Errors and doubt about places [P, S, 2]."""
    generator = torch.Generator().manual_seed(1)
    local = model.blocks["local"]  # the first channels; the map uses no others
    mean, sd = posterior.mean(at)[..., local], posterior.variance(at)[..., local].sqrt()
    codes = mean + sd * torch.randn(PLACES, *mean.shape, generator=generator)
    drawn = _features(model, codes) @ weights
    root = torch.linalg.cholesky(residual)
    drawn = drawn + torch.randn(drawn.shape, dtype=drawn.dtype, generator=generator) @ root.mT
    centre = drawn.mean(0)  # [P, S, 2]
    apart = drawn - centre
    inverse = torch.linalg.inv(torch.einsum("npsi,npsj->psij", apart, apart) / PLACES)

    def distance(x: Tensor) -> Tensor:
        return torch.einsum("...psi,psij,...psj->...ps", x, inverse, x)

    inside = distance(true - centre) <= distance(apart).quantile(REGION, dim=0)
    error = (_features(model, mean) @ weights - true).square().mean(-1)  # [P, S]
    spread = apart.square().mean((0, -1))
    return {
        "path_error": float(error.mean().sqrt()),
        "spread": float(spread.mean().sqrt()),
        "coverage": float(inside.double().mean()),
    }


def _swap(model: Model, posterior: Posterior, looks: Tensor, places: Tensor) -> dict[str, float]:
    """Give each film the look of the next one; errors over all 24 frames."""
    t = films.times().expand(len(looks), -1)
    codes, local = posterior.mean(t), model.blocks["local"]
    swapped = codes.roll(-1, 0)
    swapped[..., local] = codes[..., local]
    own = _mse(model.decode(codes, True), films.draw(looks, places))
    other = _mse(model.decode(swapped, True), films.draw(looks.roll(-1, 0), places))
    return {"own": own, "swapped": other, "ratio": other / own}


def references(looks: Tensor, places: Tensor) -> dict[str, dict[str, float]]:
    """Errors of predictions without a model, by number of given frames.

    `mean_image` is the mean frame of training films; `blend` that of the two frames around a time
    by their distance; `straight_line` the true look along straight lines between true places.
    """
    images = films.draw(looks, places)
    mean = torch.from_numpy(Films().mean_at(films.times().numpy()).copy())  # [24, H, W]
    found: dict[str, dict[str, float]] = {}
    for given in films.GIVEN:
        frames = films.given_frames(given)
        asked = ~torch.isin(torch.arange(films.FRAMES), frames)
        nearest = frames[(torch.arange(films.FRAMES)[:, None] - frames).abs().argmin(1)]
        # of linear interpolation between frames, [24, G]; constant beyond the outer ones
        curves = [np.interp(np.arange(films.FRAMES), frames, row) for row in np.eye(len(frames))]
        weights = torch.from_numpy(np.stack(curves, -1))
        film = {
            "mean_image": mean.expand_as(images),
            "nearest_frame": images[:, nearest],
            "blend": torch.einsum("sg,pghw->pshw", weights.to(images), images[:, frames]),
            "straight_line": films.draw(looks, weights @ places[:, frames]),
        }
        for name, made in film.items():
            found.setdefault(name, {})[str(given)] = _mse(made[:, asked], images[:, asked])
    return found


def _mse(a: Tensor, b: Tensor) -> float:
    return float((a - b).square().mean())
