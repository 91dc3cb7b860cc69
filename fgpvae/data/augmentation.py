"""New digits from old: smooth deformations that turn with the digit."""

from dataclasses import replace

import torch
import torch.nn.functional as F

from fgpvae.data.views import Views
from fgpvae.gp.randomness import normal

AFFINE = 0.10  # standard deviation of shear, stretch and size at strength 1
ELASTIC = 0.06  # standard deviation of the displacement at strength 1, in half image widths
KNOTS = 4  # knots per side of the smooth displacement


def warp(views: Views, strength: float, generator: torch.Generator) -> Views:
    """Deform each digit at random, all of its views in the same way.

    A deformation is a small symmetric linear map (stretch and shear without rotation) and a smooth
    displacement of the upright digit. A view at angle w is deformed by the same map turned by w, so
    the views stay views of one digit, at their angles.
    """
    P, Q, height, width = views.images.shape
    drawn = normal((P, 2, 2), generator=generator)
    # the symmetric part only, because the antisymmetric part rotates the digit
    linear = torch.eye(2) + strength * AFFINE * (drawn + drawn.mT) / 2
    knots = strength * ELASTIC * normal((P, 2, KNOTS, KNOTS), generator=generator)
    y, x = torch.meshgrid(
        torch.linspace(-1, 1, height), torch.linspace(-1, 1, width), indexing="ij"
    )
    grid = torch.stack([x, y], -1).reshape(-1, 2)  # [K, 2]
    # to the upright frame with Rᵀ (x right, y down), deformed there, and back with R
    cos, sin = views.angles.cos(), views.angles.sin()
    turn = torch.stack([cos, -sin, sin, cos], -1).unflatten(-1, (2, 2)).float()  # [P, Q, 2, 2]
    upright = torch.einsum("pqij,kj->pqki", turn, grid)
    moved = torch.einsum("pij,pqkj->pqki", linear, upright)
    shift = F.grid_sample(knots, upright, mode="bicubic", padding_mode="border", align_corners=True)
    moved = moved + shift.permute(0, 2, 3, 1)
    back = torch.einsum("pqji,pqkj->pqki", turn, moved)
    images = F.grid_sample(
        views.images.reshape(P * Q, 1, height, width),
        back.reshape(P * Q, height, width, 2),
        mode="bicubic",
        align_corners=True,
    ).reshape(P, Q, height, width)
    images = torch.where(views.observed[..., None, None], images, 0.0)
    return replace(views, images=images)
