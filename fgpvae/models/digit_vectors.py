"""What models with a vector for each digit share: the vectors and a stored training set.

The vectors d_p [m] are free parameters, one for each training digit, or computed by a network from
a digit's views. The model stores the training set as angles, codes and digit vectors.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from fgpvae.data import Views
from fgpvae.errors import require
from fgpvae.gp.kernels import Periodic
from fgpvae.models.base import KernelConfig, Model
from fgpvae.networks.paper import PaperEncoder
from fgpvae.networks.standard import ConvolutionalEncoder
from fgpvae.settings import setting

CHUNK = 64  # digits in a chunk where all are needed


@dataclass(frozen=True, kw_only=True)
class DigitVectorConfig(KernelConfig):
    digit_rank: int = setting(
        8, "Length of the vector that identifies a digit.", "m", "Digit vector", bounds=(1, 64)
    )


class DigitVectorModel(Model):
    """A model that identifies a digit by a vector, and stores the training set."""

    fixed_angles = True
    # d [P, m] of training digits, given as views [P, Q, H, W] with their mask and as rows [P]
    digit_vectors: Callable[[Tensor, Tensor, Tensor], Tensor]

    def __init__(self, config: DigitVectorConfig) -> None:
        super().__init__(config)
        self._allocate(0, 0)
        self.register_load_state_dict_pre_hook(DigitVectorModel._take_sizes)
        self.kernel = Periodic(config.amplitude, config.length_scale, config.period, learnable=True)

    def harmonics(self) -> int:
        return int(self.kernel.harmonics())

    def _take_sizes(self, state: dict[str, Any], prefix: str, *_: object) -> None:
        """Allocate the training set of a saved state; load_state_dict refuses what does not fit."""
        names = ("ids", "angles", "mu", "known_vectors")
        shapes = [state[prefix + name].shape for name in names if prefix + name in state]
        if len(shapes) < 4 or shapes[1] == self.angles.shape or len(shapes[1]) != 2:
            return
        P, Q = shapes[1]
        # allocate nothing larger than the saved state
        if shapes == [(P,), (P, Q), (P, Q, self.config.latents), (P, self.config.digit_rank)]:
            self._allocate(P, Q)

    def _allocate(self, P: int, Q: int) -> None:
        """Allocate P training digits with up to Q views; `ids` ascend."""
        L, m = self.config.latents, self.config.digit_rank
        self.ids = self._zeros(P, kind=torch.int64)
        self.angles = self._zeros(P, Q, kind=torch.float64)
        self.observed = self._zeros(P, Q, kind=torch.bool)
        self.mu = self._zeros(P, Q, L)
        self.var = nn.Buffer(torch.ones_like(self.mu))
        self.known_vectors = self._zeros(P, m)

    def _zeros(self, *shape: int, kind: torch.dtype | None = None) -> nn.Buffer:
        return nn.Buffer(torch.zeros(shape, dtype=kind or self.dtype, device=self.home))

    def rows(self, ids: Tensor) -> tuple[Tensor, Tensor]:
        """Rows [P] of training digits by id, and a mask [P] of the ids that are training digits."""
        if not len(self.ids):
            return torch.zeros_like(ids), torch.zeros_like(ids, dtype=torch.bool)
        rows = torch.searchsorted(self.ids, ids).clamp_max(len(self.ids) - 1)
        return rows, self.ids[rows] == ids

    # Training

    def prepare(self, data: Callable[[], Views]) -> None:
        views = data()
        self._allocate(*views.observed.shape)
        self.ids.copy_(views.ids.sort().values)
        rows, _ = self.rows(views.ids)
        self.angles[rows], self.observed[rows] = views.angles, views.observed
        self.start_vectors(views)

    def start_vectors(self, views: Views) -> None:
        """Initialise the digit vectors, if they are learned."""

    def _training_rows(self, views: Views, context: Tensor | None = None) -> Tensor:
        """Rows [P] of training views; a context [P, Q] that is not all of them is refused."""
        every = context is None or not bool((views.observed & ~context).any())
        require(every, f"The {self.title} has no context dropout: set it to 0.")
        rows, known = self.rows(views.ids)
        require(known.all(), f"The {self.title} is trained on the digits that it was prepared for.")
        same = torch.equal(self.observed[rows], views.observed) and torch.equal(
            self.angles[rows][views.observed], views.angles[views.observed]
        )
        require(same, f"The {self.title} needs the same angles of a digit in every epoch.")
        return rows

    @torch.no_grad()
    def _encode_all(self, views: Views, rows: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Means and variances of the codes [P, Q, L], and digit vectors [P, m], without dropout."""
        training, parts = self.training, []
        self.eval()
        for start in range(0, len(views), CHUNK):
            part = views[start : start + CHUNK]
            d = self.digit_vectors(part.images, part.observed, rows[start : start + CHUNK])
            parts.append((*self.encode(part.images, part.angles, part.observed), d))
        self.train(training)
        mu, var, d = (torch.cat(x) for x in zip(*parts, strict=True))
        return mu, var, d

    # Prediction

    @torch.no_grad()
    def condition(self, data: Callable[[], Views]) -> None:
        views = data()
        rows = self._training_rows(views)
        self.mu[rows], self.var[rows], self.known_vectors[rows] = self._encode_all(views, rows)


class FreeVectors(DigitVectorModel):
    """A free vector for each training digit; other digits are refused."""

    takes_new_digits = False

    def _allocate(self, P: int, Q: int) -> None:
        super()._allocate(P, Q)
        self.vectors = nn.Parameter(self.known_vectors.clone())

    def start_vectors(self, views: Views) -> None:
        rows = self._training_rows(views)
        with torch.no_grad():
            self.vectors[rows] = leading_scores(upright(views), self.config.digit_rank)

    def digit_vectors(self, images: Tensor, observed: Tensor, rows: Tensor) -> Tensor:
        return self.vectors[rows]

    def known_rows(self, views: Views) -> Tensor:
        """Rows [P] of training digits; another digit is refused."""
        rows, known = self.rows(views.ids)
        require(
            known.all(),
            f"The {self.title} cannot take new digits: it has a vector for each digit that it was "
            "trained on, found by its id, and no way to find one for another.",
        )
        return rows

    def stored_views(self, ids: Tensor) -> tuple[Tensor, Tensor] | None:
        rows, known = self.rows(ids)
        return (self.angles[rows], self.observed[rows]) if bool(known.all()) else None


class RepresentedVectors(DigitVectorModel):
    """Appendix C of the paper: d_p is the mean of a representation network over a digit's views."""

    def __init__(self, config: DigitVectorConfig) -> None:
        super().__init__(config)
        network, m = config.network, config.digit_rank
        small = network.kind == "paper"
        kind = PaperEncoder if small else partial(ConvolutionalEncoder, network)
        self.representation = kind(m, network.shape[0])

    def represent(self, images: Tensor, observed: Tensor, *_: Tensor) -> Tensor:
        """Views [P, Q, H, W] -> d [P, m], 0 for a digit without views."""
        seen = images[observed].reshape(-1, *self.config.network.shape).to(self.dtype)
        each = self.representation(seen).to(self.dtype)
        total = each.new_zeros(len(images), self.config.digit_rank)
        total = total.index_add(0, observed.nonzero()[:, 0], each)
        return total / observed.sum(-1, keepdim=True).clamp_min(1)

    digit_vectors = represent


def upright(views: Views) -> Tensor:
    """The view nearest to upright of each digit [P, pixels]."""
    tilt = torch.where(views.observed, 1 - views.angles.cos(), torch.inf)
    return views.images[torch.arange(len(views)), tilt.argmin(-1)].flatten(1)


def leading_scores(x: Tensor, m: int) -> Tensor:
    """U_m S_m of rows [P, pixels] = U S Vᵀ, scaled to mean squared length 1; not centred."""
    u, s, _ = torch.linalg.svd(x.double(), full_matrices=False)
    scores = torch.zeros(len(x), m, dtype=torch.float64)
    scores[:, : len(s)] = (u * s)[:, :m]
    return (scores / scores.square().sum(-1).mean().sqrt().clamp_min(1e-12)).float()


def masked(values: Tensor, observed: Tensor) -> Tensor:
    """Values [P, Q, ...] in float64, 0 where not observed."""
    return torch.where(observed[..., None], values, 0.0).double()
