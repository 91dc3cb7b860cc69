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

from fgpvae import orientation, picture_scores
from fgpvae.models import Model

# squared distances of styles, as shares of that between two draws of the prior; of training digits
SPREAD = 0.01  # a usual one between two views of a digit
FAR = 0.30  # a larger one counts no more than this: a view may be of another digit
MISFIT = 0.25  # a view that is farther from the others does not fit them
MISTAKEN = 0.05  # share of the beliefs of single views that are wrong altogether
ROUNDS = 4


@dataclass(frozen=True)
class Placement:
    angles: np.ndarray  # [Q] radians
    belief: np.ndarray  # [Q, GRID] of each view, given the others
    misfits: tuple[int, ...]  # views that do not fit the others, from 0


@torch.no_grad()
def place(
    model: Model,
    images: Sequence[np.ndarray],
    said: Sequence[float | None] = (),
    label: int | None = None,
) -> Placement | None:
    """Place views [H, W] of one digit; None if the model cannot tell angles from styles.

    `said` are angles in radians that are known, `label` says which digit it is.
    """
    if not (model.tells_angle and model.separates_style and len(images)):
        return None
    grid = torch.as_tensor(orientation.grid())
    scores = [picture_scores.score(model, image, grid) for image in images]
    beliefs = np.stack([orientation.of_scores(model, each, label) for each in scores])
    G = orientation.GRID
    log_belief = torch.as_tensor(np.log((1 - MISTAKEN) * beliefs + MISTAKEN / G))
    known = list(said) or [None] * len(images)
    for view, angle in enumerate(known):
        if angle is not None:
            log_belief[view] = _only(angle, G)
    apart = _distances(torch.stack([each.styles for each in scores]).float())
    fits = -apart.clamp(max=FAR).double() / SPREAD
    at = _best(log_belief, fits)
    angles = grid[at].numpy()
    for view, angle in enumerate(known):
        angles[view] = angles[view] if angle is None else angle
    found = _beliefs(log_belief, at) if len(images) > 1 else log_belief.softmax(-1)
    if len(images) == 1 and known[0] is None:
        found = torch.as_tensor(beliefs)
    return Placement(angles, found.numpy(), _misfits(apart, at))


def _only(angle: float, count: int) -> Tensor:
    """A log belief that is sure of the angle of the grid next to one."""
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


def _beliefs(log_belief: Tensor, at: Tensor) -> Tensor:
    """Beliefs [Q, G] when all views turn together: what they say is averaged, for it is not new."""
    Q, G = log_belief.shape
    turns = (at + torch.arange(G)[:, None]) % G  # [G, Q]
    together = log_belief[torch.arange(Q), turns].mean(1).softmax(0)
    return torch.stack([together.roll(int(index)) for index in at])


def _misfits(apart: Tensor, at: Tensor) -> tuple[int, ...]:
    views = torch.arange(len(at))
    if len(views) < 2:
        return ()
    pairs = apart[views[:, None], views, at[:, None], at]  # [Q, Q]
    pairs = pairs[~torch.eye(len(at), dtype=torch.bool)].view(len(at), -1)
    return tuple(torch.nonzero(pairs.median(-1).values > MISFIT).flatten().tolist())
