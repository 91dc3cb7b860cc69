"""Calibrate the doubt of a model on subjects that it was not trained on.

The confidence of stated bands and angles is the one observed there.
"""

import math
from collections.abc import Sequence
from contextlib import suppress

import numpy as np
import torch
from PIL import Image
from scipy.optimize import minimize
from scipy.special import ndtri
from torch import Tensor

from fgpvae import data
from fgpvae.data import ANGLES, TRAIN_DIGITS, Digits, Task, Views, circular_error, cubes, films
from fgpvae.data.cube_figures import splits, turned_copies
from fgpvae.errors import UserError
from fgpvae.evaluation.protocol import BY_VIEWS, sampled_images, views_task
from fgpvae.images import normalise
from fgpvae.models import Calibration, Model
from fgpvae.networks.angle_classifier import centred
from fgpvae.orientation.picture_scores import score

SAMPLES = 64
DOUBTED = 40  # digits on which the doubt of pictures is fitted
DRAWN = 24  # samples of a picture, as many as the pages draw
PAPER = 140  # pixels of the picture on which a digit is drawn
STEPS = 120  # number of angles at which a posterior is fitted
GRID = torch.arange(STEPS, dtype=torch.float64) * (2 * math.pi / STEPS)
WITHIN = math.radians(15)  # maximum error of an angle that counts as right
SURE = 0.95  # minimum probability that is stated as sure
MARGIN = 0.965  # minimum share of right angles among those stated as sure, on the fitting data
MOST_SCALINGS = 40
AT_ONCE = 8  # subjects whose samples are in memory together
FIGURES_EACH = 8  # every eighth copy of a shape
RISE = 0.05  # minimum relative rise of a stated error that counts
STEEP = 1e-3  # minimum width of a band; narrower ones are background and do not test it
INKED = 0.05  # minimum ink, true or predicted, of pixels that test a band

Weights = tuple[float, float, float]  # of the scores of an angle
Errors = tuple[np.ndarray, np.ndarray]  # with variances over samples
Pictures = tuple[Tensor, Tensor]  # images [P, H, W], or their scores [P, G, 3], and angles [P]


def kept_back(classes: Sequence[int]) -> Digits:
    """Digits 360..399 of each class: of the training file, and never trained on."""
    return data.embedded(classes, slice(TRAIN_DIGITS, None))


def fit(model: Model, digits: Digits) -> Calibration:
    """Fit bands, doubt and, if the model infers angles, their posterior to digits new to it."""
    found = [residuals(model, views_task(digits, views)) for views in BY_VIEWS]
    angle = (0.0, 0.0, 0.0)
    if model.tells_angle:
        scored = []
        for seed in (1, 2):
            # each digit in MNIST's position, and centred like an uploaded picture
            images, true = turned(digits, seed)
            images, true = torch.cat([images, centred(images)]), torch.cat([true, true])
            views = model.given(images[:, None], torch.zeros(len(true), 1))
            scored.append((torch.stack(model.angle_scores(views, GRID), -1), true))
        angle = _fit_weights(*scored)
    return _calibration(model, found, some_views(digits, DOUBTED), BY_VIEWS, angle)


def some(digits: Digits, count: int) -> Digits:
    """About `count` of them, evenly spread."""
    return digits[:: max(len(digits) // count, 1)]


def some_views(digits: Digits, count: int) -> Views:
    """About `count` of them, at all angles."""
    return data.task(some(digits, count), ANGLES, ANGLES[:1]).context


def fit_pictures(model: Model, digits: Digits, taken: Pictures) -> Weights:
    """Fit the angle posterior of uploaded pictures to upright digits new to a model.

    Its confidence is also lowered as needed on `taken`: photographs and drawings [P, H, W] and
    their angles [P].
    """
    # every other digit, because reading a picture is slow
    halves = [pictures(digits[seed - 1 :: 2], seed) for seed in (1, 2)]
    first, *again = (
        (torch.stack([score(model, image, GRID).stacked() for image in images]), true)
        for images, true in (*halves, taken)
    )
    scores, true = map(torch.cat, zip(*again, strict=True))
    return _fit_weights(first, (scores, true))


def fit_cubes(model: Model) -> Calibration:
    """Fit bands to figures of the validation shapes."""
    copies = turned_copies(splits().validation)[::FIGURES_EACH]
    images = cubes.views_of(copies, model.config.network.shape[1])
    found = [cube_residuals(model, images, given) for given in cubes.GIVEN]
    return _calibration(model, found, cubes.task(images, cubes.ANGLES).context, cubes.GIVEN)


def fit_films(model: Model) -> Calibration:
    """Fit bands and doubt to films of validation digits."""
    looks, path = films.films(DOUBTED, "validation")
    images = films.draw(looks, path(films.times()))
    found = [residuals(model, films.task(images, given)) for given in films.GIVEN]
    return _calibration(model, found, films.task(images, films.FRAMES).context, films.GIVEN)


def fit_doubt(model: Model, views: Views, counts: Sequence[int]) -> tuple[float, float]:
    """Slope and floor of the squared error of a picture over its variance; see `Calibration`.

    Minimises the Gamma deviance Σ log m + e/m of errors e with means m = slope v̄ + floor, with
    equal weight for each number of views: small errors count as much as large ones.
    """
    found = [picture_doubt(model, views, count) for count in counts]
    scale = np.mean([np.nanmean(error) for _, error in found])

    def deviance(logs: np.ndarray) -> float:
        slope, floor = np.exp(logs)
        means = [(slope * variance + scale * floor, error) for variance, error in found]
        return sum(float(np.nanmean(np.log(mean) + error / mean)) for mean, error in means)

    slope, floor = np.exp(minimize(deviance, [0.0, 0.0], method="Nelder-Mead").x)
    return float(slope), float(scale * floor)


@torch.no_grad()
def picture_doubt(model: Model, views: Views, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Variance over samples and squared error of pictures, means over their pixels, [P, Q] each.

    The first `count` views of each subject in a random order of its own are given, so smaller sets
    are subsets of larger ones. NaN where a view is given or missing.
    """
    generator = torch.Generator().manual_seed(0)
    order = torch.rand(views.observed.shape, generator=generator).masked_fill(~views.observed, 2.0)
    rank = order.argsort(-1).argsort(-1)  # [P, Q]
    found = []
    for rows in torch.arange(len(views)).split(AT_ONCE):
        part, mine = views[rows], rank[rows]
        w, asked = part.angles, part.observed & (mine >= count)
        posterior = model.infer(part.images, w, part.observed & (mine < count))
        drawn = sampled_images(model, posterior, w, DRAWN, generator)
        error = (model.decode(posterior.mean(w), model.divides_channels) - part.images).square()
        both = torch.stack([drawn.var(0), error]).flatten(3).mean(-1).double()  # [2, p, Q]
        found.append(both.masked_fill(~asked, math.nan))
    variance, squares = torch.cat(found, 1).numpy()
    return variance, squares


def doubt(model: Model, views: Views, counts: Sequence[int]) -> dict[int, dict[str, float]]:
    """Stated and actual root mean squared error of pictures, by number of views.

    `rises`: the share of pictures whose stated error is higher than from fewer of these views, by
    more than RISE. Empty for a model without a calibration.
    """
    known, found, before = model.calibration, {}, None
    if known is None:
        return {}
    for count in counts:
        variance, error = picture_doubt(model, views, count)
        stated = known.picture_sd(variance)  # [P, Q], NaN where a view is given
        found[count] = {
            "stated": float(np.sqrt(np.nanmean(stated**2))),
            "actual": float(np.sqrt(np.nanmean(error))),
        }
        if before is not None:
            asked = np.isfinite(stated)
            found[count]["rises"] = float((stated > (1 + RISE) * before)[asked].mean())
        before = stated
    return found


def coverage(model: Model, residuals: Errors, views: int) -> dict[str, float]:
    """Share of true pixels inside the central 50 % and 90 % bands, by number of views.

    Residuals are the errors of pixels and their variance over posterior samples. `latent` bands
    come from these samples alone; `calibrated` ones are those on the pages, for a calibrated model.
    """
    (error, variance), known, bands = residuals, model.calibration, {}
    for level in (50, 90):
        # |e| <= Phi^-1((1 + level) / 2) s
        normal = float(ndtri((1 + level / 100) / 2))
        bands[f"latent_coverage_{level}"] = normal * np.maximum(np.sqrt(variance), STEEP)
        if known is not None:
            sd = np.sqrt(variance + known.pixel_variance)
            bands[f"calibrated_coverage_{level}"] = known.band(level, views) * sd
    return {name: float((np.abs(error) <= band).mean()) for name, band in bands.items()}


def cube_residuals(model: Model, images: Tensor, given: int) -> Errors:
    """`residuals` of figures [P, 24, H, W] from some of their views, some first at 0, 15 or 30."""
    parts = enumerate(images.split(AT_ONCE))
    found = [residuals(model, cubes.task(part, given, k % 3), seed=k) for k, part in parts]
    error, variance = map(np.concatenate, zip(*found, strict=True))
    return error, variance


def _calibration(
    model: Model,
    found: list[Errors],
    views: Views,
    counts: tuple[int, ...],
    angle: Weights = (0.0, 0.0, 0.0),
) -> Calibration:
    """Bands from the residuals at each number of views, and the doubt of pictures of `views`."""
    # noise of a pixel beyond its variance over samples, from many views
    error, variance = found[-1]
    noise = max(float((error**2 - variance).mean()), 1e-6)
    scaled = [np.abs(error) / np.sqrt(variance + noise) for error, variance in found]
    half, most = (tuple(float(np.quantile(e, level)) for e in scaled) for level in (0.5, 0.9))
    return Calibration(noise, counts, half, most, angle, fit_doubt(model, views, counts))


def residuals(model: Model, task: Task, seed: int = 0) -> Errors:
    """Error and variance over posterior samples of every pixel that has ink, [N] each."""
    generator = torch.Generator().manual_seed(seed)
    context = task.context
    posterior = model.infer(context.images, context.angles, context.observed)
    drawn = sampled_images(model, posterior, task.at, SAMPLES, generator)
    centre, variance = drawn.mean(0), drawn.var(0)
    inked = (task.targets.abs() > INKED) | (centre.abs() > INKED)
    return (task.targets - centre)[inked].double().numpy(), variance[inked].double().numpy()


def turned(digits: Digits, seed: int) -> Pictures:
    """Rotate each digit by its own angle: images [P, H, W] and angles [P]."""
    generator = torch.Generator().manual_seed(seed)
    true = 2 * math.pi * torch.rand(len(digits), 1, dtype=torch.float64, generator=generator)
    return torch.from_numpy(data.rotate(digits.images, true.numpy()))[:, 0], true[:, 0]


def stated(belief: Tensor, grid: Tensor, true: Tensor) -> tuple[Tensor, Tensor]:
    """The share of each belief [P, G] within 15 degrees of its peak, and whether that is right."""
    peak = grid[belief.argmax(-1)]
    near = circular_error(grid.numpy()[None], peak.numpy()[:, None]) <= WITHIN
    right = circular_error(peak.numpy(), true.numpy()) <= WITHIN
    return (belief * torch.as_tensor(near)).sum(-1), torch.as_tensor(right)


def pictures(digits: Digits, seed: int) -> Pictures:
    """Each digit as an uploaded picture: rotated, and read by `images.normalise`.

    Images [P, H, W] and angles [P]; pictures that are refused are left out.
    """
    turns = 2 * math.pi * np.random.default_rng(seed).random(len(digits))
    read, angles = [], []
    smooth = Image.Resampling.BICUBIC
    for image, angle in zip(digits.images, turns, strict=True):
        sheet = Image.fromarray(np.uint8(255 - 255 * image)).resize((PAPER, PAPER), smooth)
        with suppress(UserError):
            picture = normalise(sheet.rotate(math.degrees(angle), smooth, fillcolor=255))
            read.append(torch.from_numpy(picture.digit))
            angles.append(angle)
    return torch.stack(read), torch.tensor(angles, dtype=torch.float64)


def _fit_weights(first: Pictures, again: Pictures) -> Weights:
    """Fit the weights of three scores to maximise the likelihood of the true angles.

    Then scale them down until 95 % of the angles stated as sure are right on the same digits at new
    angles.
    """
    scores, true = first
    scores = scores - scores.max(1, keepdim=True).values
    nearest = (true / (2 * math.pi) * STEPS).round().long() % STEPS
    log_weights = torch.tensor([1.0, -2.0, -2.0], dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.LBFGS([log_weights], max_iter=200, line_search_fn="strong_wolfe")

    def loss() -> Tensor:
        optimizer.zero_grad()
        value = torch.nn.functional.cross_entropy(scores @ log_weights.exp(), nearest)
        value.backward()
        return value

    optimizer.step(loss)
    weights = log_weights.detach().exp()
    for _ in range(MOST_SCALINGS):
        share, right = stated((again[0] @ weights).softmax(-1), GRID, again[1])
        right = right[share >= SURE]
        # Laplace's rule of succession, because a few right ones are weak evidence
        if not len(right) or (int(right.sum()) + 1) / (len(right) + 2) >= MARGIN:
            break
        weights = 0.95 * weights
    a, b, c = weights.tolist()
    return a, b, c
