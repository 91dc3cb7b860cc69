"""The angles of several views of one digit, found together.

Encoded at their true angles, all views of a digit have one style; encoded at angles that are all
wrong by the same turn, they still share one. So styles tell the angles of views against each other
far better than any single view tells its own.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from fgpvae import orientation
from fgpvae.models import Model
from fgpvae.orientation import picture_scores
from fgpvae.orientation.picture_scores import PictureScores

# squared distances of styles, as shares of that between two draws of the prior; of training digits
SPREAD = 0.01  # a usual one between two views of a digit
FAR = 0.30  # upper bound: a view may be of another digit
MISFIT = 0.25  # a view that is farther from the others is a misfit
MISTAKEN = 0.05  # share of single views whose posterior is wrong
ROUNDS = 4


@dataclass(frozen=True)
class Placement:
    angles: np.ndarray  # [Q] radians
    belief: np.ndarray | None = None  # [Q, GRID] of each view, given the others
    misfits: tuple[int, ...] = ()  # views that do not fit the others, from 0


@torch.no_grad()
def place(
    model: Model,
    images: Sequence[np.ndarray],
    stated: Sequence[float | None] = (),
    label: int | None = None,
    upright: bool = False,
    scores: Sequence[PictureScores] = (),
) -> Placement:
    """Find the angles of views [H, W] of one digit.

    `stated` are known angles in radians, `label` is the class of the digit, and `upright` applies
    the prior of uploaded pictures to the first view. A model that cannot infer angles takes views
    as upright; one that does not separate a style treats each view alone. `scores` are those of
    the views at the angles of the grid, if they are known.
    """
    known = list(stated) or [None] * len(images)
    fallback = np.array([angle or 0.0 for angle in known])
    if not (model.tells_angle and len(images)):
        return Placement(fallback)
    grid, G = torch.as_tensor(orientation.grid()), orientation.GRID
    prior = orientation.upright_prior() if upright else np.ones(G)
    if not model.separates_style:
        each = [orientation.belief(model, image) for image in images]
        alone = np.stack([belief for belief in each if belief is not None])
        alone[0] *= prior / (alone[0] @ prior)
        best = [orientation.likeliest(found, upright and not q) for q, found in enumerate(alone)]
        return Placement(_with_stated(grid.numpy()[best], known), alone)
    scores = scores or [picture_scores.score(model, image, grid) for image in images]
    beliefs = np.stack([orientation.of_scores(model, score, label) for score in scores])
    if len(images) == 1:
        alone = beliefs * prior / (beliefs @ prior)
        best = [orientation.likeliest(alone[0], upright)]
        return Placement(_with_stated(grid.numpy()[best], known), alone)
    log_belief = torch.as_tensor(np.log((1 - MISTAKEN) * beliefs + MISTAKEN / G))
    for view, angle in enumerate(known):
        if angle is not None:
            log_belief[view] = _only(angle, G)
    apart = _distances(torch.stack([score.styles for score in scores]).float())
    fits = -apart.clamp(max=FAR).double() / SPREAD
    first = torch.zeros_like(log_belief)
    first[0] = torch.as_tensor(np.log(prior))
    at = _best(log_belief + first, fits)
    found = _beliefs(log_belief, at, first[0])
    if upright and all(angle is None for angle in known):  # all turn together to the best angle
        at = (at + orientation.likeliest(found[0].numpy(), upright) - at[0]) % G
    angles = _with_stated(grid[at].numpy(), known)
    return Placement(angles, found.numpy(), _misfits(apart, at))


def _with_stated(angles: np.ndarray, known: Sequence[float | None]) -> np.ndarray:
    """Angles [Q], replaced by the stated ones where there are any."""
    pairs = zip(angles, known, strict=True)
    return np.array([found if angle is None else angle for found, angle in pairs])


def _only(angle: float, count: int) -> Tensor:
    """A log posterior with all mass at the grid angle nearest to one."""
    log_belief = torch.full((count,), -torch.inf, dtype=torch.float64)
    log_belief[round(angle / (2 * np.pi) * count) % count] = 0.0
    return log_belief


def _distances(styles: Tensor) -> Tensor:
    """Of styles [Q, G, S], each against each: [Q, Q, G, G], 1 for two draws of the prior."""
    Q, G, S = styles.shape
    flat = styles.reshape(Q * G, S)
    squared = torch.cdist(flat, flat).square() / (2 * S)
    return squared.view(Q, G, Q, G).transpose(1, 2)


def _score(log_belief: Tensor, fits: Tensor, at: Tensor) -> float:
    """How well views at grid angles [Q] are believed, and fit each other pair by pair."""
    views = torch.arange(len(at))
    own = log_belief[views, at].sum()
    pairs = fits[views[:, None], views, at[:, None], at]  # [Q, Q]
    return float(own + pairs.triu(1).sum())


def _best(log_belief: Tensor, fits: Tensor) -> Tensor:
    """Grid angles [Q] with the best score: each view leads once, then one view at a time moves."""
    found = []
    for leader in range(len(log_belief)):
        # the others where they fit the leader best, for each of its angles
        reply = log_belief[:, None] + fits[leader]  # [Q, G, G]
        best, where = reply.max(-1)
        best[leader] = log_belief[leader]
        at = where[:, best.sum(0).argmax()]
        at[leader] = best.sum(0).argmax()
        at = _improved(log_belief, fits, at)
        found.append((_score(log_belief, fits, at), at))
    return max(found, key=lambda pair: pair[0])[1]


def _improved(log_belief: Tensor, fits: Tensor, at: Tensor) -> Tensor:
    """Move one view at a time, and then all together, to where the score is best."""
    views, G = torch.arange(len(at)), log_belief.shape[1]
    for _ in range(ROUNDS):
        before = at.clone()
        for view in views:
            others = views[views != view]
            pull = fits[others, view, at[others]].sum(0)  # [G]
            at[view] = (log_belief[view] + pull).argmax()
        turns = (at + torch.arange(G)[:, None]) % G  # [G, Q]
        scores = torch.tensor([_score(log_belief, fits, turned) for turned in turns])
        at = turns[scores.argmax()]
        if bool((at == before).all()):
            break
    return at


def _beliefs(log_belief: Tensor, at: Tensor, prior: Tensor) -> Tensor:
    """Beliefs [Q, G] when all views turn together: what they say is averaged, for it is not new.

    The log prior [G] is that of the first view.
    """
    Q, G = log_belief.shape
    turns = (at + torch.arange(G)[:, None]) % G  # [G, Q]
    together = (log_belief[torch.arange(Q), turns].mean(1) + prior[turns[:, 0]]).softmax(0)
    return torch.stack([together.roll(int(index)) for index in at])


def _misfits(apart: Tensor, at: Tensor) -> tuple[int, ...]:
    views = torch.arange(len(at))
    if len(views) < 2:
        return ()
    pairs = apart[views[:, None], views, at[:, None], at]  # [Q, Q]
    pairs = pairs[~torch.eye(len(at), dtype=torch.bool)].view(len(at), -1)
    return tuple(torch.nonzero(pairs.median(-1).values > MISFIT).flatten().tolist())
