"""What a model says of a person's picture of a digit, as if it were seen at each angle.

MNIST puts the centre of mass of a digit half a pixel beside the point about which views are turned,
and so does `images.normalise` with any picture, however the digit is turned. Taken as it is, each
picture would look upright by its place alone. So it is moved, for each angle, to where a digit of
MNIST lies that was turned to that angle: where it lies then says nothing about the angle.
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import grid_sample

from fgpvae import gaussian
from fgpvae.models import Model
from fgpvae.recogniser import centred

BESIDE = 0.5  # pixels of MNIST's centre of mass to the right of and below the middle


@dataclass(frozen=True)
class PictureScores:
    """Of one picture at each of some angles [G]."""

    angles: Tensor  # [G]
    styles: Tensor  # [G, S]
    error: Tensor  # [G] root of the squared error of the picture, encoded and decoded there
    divergence: Tensor  # [G] KL of its style from the prior
    seen_alone: Tensor  # [G] what the picture says of its angle without being decoded, log density

    def stacked(self) -> Tensor:
        """What speaks for each angle, [G, 3]."""
        return torch.stack([-self.error, -self.divergence, self.seen_alone], -1).double()


@torch.no_grad()
def score(model: Model, image: Any, w: Tensor) -> PictureScores:
    """Score a picture [H, W] at angles [G], by a model that tells angles and keeps a style."""
    pictures = lying(torch.as_tensor(image).to(model.dtype), w)[:, None]  # [G, 1, H, W]
    mean, var = model.infer(pictures, w[:, None]).style()
    made = model.generate(pictures, w[:, None], w[:, None])
    divergence = gaussian.kl(mean, var, torch.zeros_like(mean), torch.ones_like(var)).sum(-1)
    alone = model.given(centred(torch.as_tensor(image))[None, None], torch.zeros(1, 1))
    return PictureScores(
        angles=w,
        styles=mean,
        error=(made - pictures).square().flatten(1).sum(-1).sqrt().double(),
        divergence=divergence.double(),
        seen_alone=model.seen_alone(alone, w)[0],
    )


def lying(image: Tensor, w: Tensor) -> Tensor:
    """A picture [H, W] where a digit of MNIST would lie, turned to each of some angles: [G, H, W].

    Angles are counter-clockwise.
    """
    height, width = image.shape
    right = BESIDE * (w.cos() + w.sin())
    down = BESIDE * (w.cos() - w.sin())
    x = torch.linspace(-1, 1, width, dtype=torch.float64) - 2 / (width - 1) * right[:, None]
    y = torch.linspace(-1, 1, height, dtype=torch.float64) - 2 / (height - 1) * down[:, None]
    whole = (len(w), height, width)
    places = torch.stack([x[:, None].expand(whole), y[..., None].expand(whole)], -1).to(image)
    middle = centred(image).expand(len(w), 1, height, width)
    return grid_sample(middle, places, mode="bicubic", align_corners=True)[:, 0]
