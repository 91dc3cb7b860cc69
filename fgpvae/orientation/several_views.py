"""Infer the angles of several views of one digit together.

Encoded at their true angles, all views of a digit have one style; encoded at angles that are all
wrong by the same turn, they still share one. So styles determine the differences between the angles
much better than single views determine their angles.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from fgpvae.data import rotate
from fgpvae.models import Model
from fgpvae.orientation import one_view, picture_scores
from fgpvae.orientation.picture_scores import PictureScores

# squared distances of styles of training digits, relative to two draws from the prior
SPREAD = 0.01  # typical distance between two views of one digit
FAR = 0.30  # upper bound, as a view may show another digit
MISFIT = 0.25  # distance to the others beyond which a view is a misfit
UNLIKE = 0.05  # the same for pictures turned upright: mean squared difference of a pixel
MISTAKEN = 0.05  # share of single views whose posterior is wrong
ROUNDS = 4


@dataclass(frozen=True)
class Placement:
    angles: np.ndarray  # [Q] radians
    belief: np.ndarray | None = None  # [Q, GRID] of each view, given the others
    misfits: tuple[int, ...] = ()  # indices of views that do not fit the others


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
    if not (model.tells_angle and len(images)):
        angles = np.array([angle or 0.0 for angle in known])
        return Placement(angles, misfits=_unlike_others(images, angles))
    grid, G = torch.as_tensor(one_view.grid()), one_view.GRID
    prior = one_view.upright_prior() if upright else np.ones(G)
    if model.separates_style:
        scores = scores or [picture_scores.score(model, image, grid) for image in images]
        each = [one_view.of_scores(model, score, label) for score in scores]
    else:
        alone = (one_view.belief(model, image) for image in images)
        each = [belief for belief in alone if belief is not None]
    beliefs = np.stack(each)
    if len(images) == 1 or not model.separates_style:
        beliefs[0] = beliefs[0] * prior / (beliefs[0] @ prior)
        best = [one_view.likeliest(found, upright and not q) for q, found in enumerate(beliefs)]
        return Placement(_with_stated(grid.numpy()[best], known), beliefs)
    log_belief = torch.as_tensor(np.log((1 - MISTAKEN) * beliefs + MISTAKEN / G))
    for view, angle in enumerate(known):
        if angle is not None:  # all mass at the nearest angle of the grid
            log_belief[view] = -torch.inf
            log_belief[view, round(angle / (2 * np.pi) * G) % G] = 0.0
    styles = torch.stack([score.styles for score in scores]).float()
    (Q, G, S), flat = styles.shape, styles.flatten(0, 1)
    # pairwise distances of styles [Q, Q, G, G], 1 for two draws from the prior
    apart = (torch.cdist(flat, flat).square() / (2 * S)).view(Q, G, Q, G).transpose(1, 2)
    fits = -apart.clamp(max=FAR).double() / SPREAD
    first = torch.zeros_like(log_belief)
    first[0] = torch.as_tensor(np.log(prior))
    at = _best(log_belief + first, fits)
    found = _beliefs(log_belief, at, first[0])
    if upright and all(angle is None for angle in known):  # rotate all together to the best angle
        at = (at + one_view.likeliest(found[0].numpy(), upright) - at[0]) % G
    angles = _with_stated(grid[at].numpy(), known)
    views = torch.arange(len(at))
    pairs = apart[views[:, None], views, at[:, None], at]  # [Q, Q]
    misfits = _misfits(pairs, MISFIT) or _unlike_others(images, angles)
    return Placement(angles, found.numpy(), misfits)


def _misfits(apart: Tensor, most: float) -> tuple[int, ...]:
    """Indices of views whose distance to the others, in [Q, Q], is typically more than `most`."""
    others = apart[~torch.eye(len(apart), dtype=torch.bool)].view(len(apart), -1)
    return tuple(torch.nonzero(others.median(-1).values > most).flatten().tolist())


def _unlike_others(images: Sequence[np.ndarray], angles: np.ndarray) -> tuple[int, ...]:
    """Indices of views that differ from the others as pictures, each turned back by its angle."""
    if len(images) < 2:
        return ()
    seen = list(map(picture_scores.as_seen, images, angles))
    upright = torch.from_numpy(rotate(seen, -angles[:, None]))[:, 0]  # [Q, H, W]
    return _misfits((upright[:, None] - upright).square().mean((2, 3)), UNLIKE)


def _with_stated(angles: np.ndarray, known: Sequence[float | None]) -> np.ndarray:
    """Angles [Q], replaced by the stated ones."""
    pairs = zip(angles, known, strict=True)
    return np.array([found if angle is None else angle for found, angle in pairs])


def _score(log_belief: Tensor, fits: Tensor, at: Tensor) -> float:
    """Score grid angles [Q] by the views' posteriors and the distances of their styles."""
    views = torch.arange(len(at))
    own = log_belief[views, at].sum()
    pairs = fits[views[:, None], views, at[:, None], at]  # [Q, Q]
    return float(own + pairs.triu(1).sum())


def _best(log_belief: Tensor, fits: Tensor) -> Tensor:
    """Grid angles [Q] with the best score: each view leads once, then single views change."""
    found = []
    for leader in range(len(log_belief)):
        # best angles of the other views for each angle of the first
        best, where = (log_belief[:, None] + fits[leader]).max(-1)  # [Q, G], of [Q, G, G]
        best[leader] = log_belief[leader]
        at = where[:, best.sum(0).argmax()]
        at[leader] = best.sum(0).argmax()
        at = _improved(log_belief, fits, at)
        found.append((_score(log_belief, fits, at), at))
    return max(found, key=lambda pair: pair[0])[1]


def _improved(log_belief: Tensor, fits: Tensor, at: Tensor) -> Tensor:
    """Change the angle of one view at a time, then of all together, while the score improves."""
    views, G = torch.arange(len(at)), log_belief.shape[1]
    for _ in range(ROUNDS):
        before = at.clone()
        for view in views:
            others = views[views != view]
            at[view] = (log_belief[view] + fits[others, view, at[others]].sum(0)).argmax()
        turns = (at + torch.arange(G)[:, None]) % G  # [G, Q]
        scores = torch.tensor([_score(log_belief, fits, turned) for turned in turns])
        at = turns[scores.argmax()]
        if bool((at == before).all()):
            break
    return at


def _beliefs(log_belief: Tensor, at: Tensor, prior: Tensor) -> Tensor:
    """Posteriors [Q, G] when all views rotate together.

    The log densities of the views are averaged, because they are dependent. The log prior [G]
    is that of the first view.
    """
    Q, G = log_belief.shape
    turns = (at + torch.arange(G)[:, None]) % G  # [G, Q]
    together = (log_belief[torch.arange(Q), turns].mean(1) + prior[turns[:, 0]]).softmax(0)
    return torch.stack([together.roll(int(index)) for index in at])
