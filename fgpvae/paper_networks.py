"""The networks of the paper's appendix A, their convolutions as matrix products.

With eight filters a convolution is mostly the moving of numbers. So within these networks the
images of a batch come last, [C, H, W, N]: where the N values of a pixel lie side by side every move
is one of whole rows, and every product one of two long matrices.
"""

from itertools import product
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.autograd.function import once_differentiable


class _Patches(torch.autograd.Function):
    """[C, H, W, N] -> [C size², h w N]: what the kernel sees at each of its h w places."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, size: int, stride: int) -> Tensor:
        ctx.shape, ctx.size, ctx.stride = x.shape, size, stride
        return _gather(x, size, stride)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        return _add_up(grad, ctx.shape, ctx.size, ctx.stride), None, None


class _Fold(torch.autograd.Function):
    """[C size², h w N] -> [C, h + size - 1, w + size - 1, N], where overlapping patches add up."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, size: int, h: int, w: int) -> Tensor:
        ctx.size = size
        shape = (len(x) // size**2, h + size - 1, w + size - 1, x[0].numel() // (h * w))
        return _add_up(x, torch.Size(shape), size, 1)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        return _gather(grad, ctx.size, 1), None, None, None


def _gather(x: Tensor, size: int, stride: int) -> Tensor:
    windows = x.unfold(1, size, stride).unfold(2, size, stride)  # [C, h, w, N, size, size]
    return windows.permute(0, 4, 5, 1, 2, 3).flatten(3).flatten(0, 2)


def _add_up(patches: Tensor, shape: torch.Size, size: int, stride: int) -> Tensor:
    channels, height, width, images = shape
    h, w = (height - size) // stride + 1, (width - size) // stride + 1
    each = patches.view(channels, size, size, h, w, images)
    total = patches.new_zeros(shape)
    for a in range(size):
        for b in range(size):
            rows, columns = slice(a, a + stride * h, stride), slice(b, b + stride * w, stride)
            total[:, rows, columns].add_(each[:, a, b])
    return total


def convolve(layer: nn.Conv2d, x: Tensor) -> Tensor:
    """A square convolution without padding, then ELU: [C, H, W, N] -> [O, h, w, N]."""
    size, stride = layer.kernel_size[0], layer.stride[0]
    h, w = ((side - size) // stride + 1 for side in x.shape[1:3])
    assert layer.bias is not None
    seen = _Patches.apply(x, size, stride)
    y = torch.addmm(layer.bias[:, None], layer.weight.flatten(1), seen)
    return F.elu(y, inplace=True).view(len(y), h, w, x.shape[-1])


class UpConv(nn.Conv2d):
    """Nearest-neighbour upsampling by 2, then a 3x3 convolution and ELU, in one small convolution.

    Each of the four phases of the large image is a 2x2 convolution of the small one with weights
    that are sums of the 3x3 weights, so all four are computed there and interleaved. Same
    parameters and same result as the two layers, at 4/9 of the arithmetic.
    """

    taps: Tensor

    def __init__(self, inputs: int, outputs: int, same: bool) -> None:
        super().__init__(inputs, outputs, 3)
        self.same = same
        # row p of a pair of output rows reads small row (p + t) // 2 through tap t. Made at once:
        # arithmetic on the device `meta` would load torch's compiler
        pairs = list(product(range(2), repeat=2))
        reads = [
            [[float(((p + s) // 2, (q + t) // 2) == place) for place in pairs] for p, q in pairs]
            for s, t in product(range(3), repeat=2)
        ]
        self.register_buffer("taps", torch.tensor(reads), persistent=False)  # [9, phases, places]

    def forward(self, x: Tensor) -> Tensor:
        """[C, H, W, N] -> [O, 2 H, 2 W, N], or [O, 2 H - 2, 2 W - 2, N] if not `same`."""
        assert self.bias is not None
        phases = self.phases(x).add_(self.bias.repeat_interleave(4)[:, None, None, None])
        return self.interleave(F.elu(phases, inplace=True))

    def phases(self, x: Tensor) -> Tensor:
        """The linear part: all four phases of the large image, [4 O, h, w, N]."""
        _, height, width, images = x.shape
        weight = torch.tensordot(self.weight.flatten(2), self.taps, 1)  # [O, C, phases, places]
        if self.same:  # each pixel adds its share to the phases around it, in the opposite order
            shares = weight.permute(0, 2, 3, 1).flip(2).flatten(0, 2) @ x.flatten(1)
            phases: Tensor = _Fold.apply(shares, 2, height, width)
            return phases
        seen = _Patches.apply(x, 2, 1)
        y = weight.transpose(1, 2).reshape(4 * self.out_channels, len(seen)) @ seen
        return y.view(len(y), height - 1, width - 1, images)

    def interleave(self, phases: Tensor) -> Tensor:
        _, h, w, images = phases.shape
        rows = phases.view(self.out_channels, 2, 2, h, w, images).permute(0, 3, 1, 4, 2, 5)
        large = rows.reshape(self.out_channels, 2 * h, 2 * w, images)
        return large[:, 1:-1, 1:-1] if self.same else large


class PaperEncoder(nn.Sequential):
    def __init__(self, outputs: int, inputs: int = 1) -> None:
        super().__init__(
            nn.Conv2d(inputs, 8, 3, stride=2),  # [N, 8, 13, 13]
            nn.ELU(),
            nn.Conv2d(8, 8, 3, stride=2),  # [N, 8, 6, 6]
            nn.ELU(),
            nn.Conv2d(8, 8, 3, stride=2),  # [N, 8, 2, 2]
            nn.ELU(),
            nn.Flatten(),
            nn.Linear(32, outputs),
        )
        self.inputs, self.outputs = inputs, outputs

    def forward(self, images: Tensor) -> Tensor:
        x = images.permute(1, 2, 3, 0).contiguous()  # [C, 28, 28, N]
        for layer in self:
            if isinstance(layer, nn.Conv2d):
                x = convolve(layer, x)
        code: Tensor = self[-1](x.flatten(0, 2).mT)
        return code

    def numbers_held(self) -> int:
        """How many numbers a step holds for one image: its layers, and the patches they see."""
        first = (9 * self.inputs + 8) * 13**2
        return first + (9 * 8 + 8) * (6**2 + 2**2) + self.outputs


class PaperDecoder(nn.Sequential):
    def __init__(self, inputs: int) -> None:
        super().__init__(
            nn.Linear(inputs, 128),
            nn.Unflatten(1, (8, 4, 4)),
            UpConv(8, 8, same=True),  # [N, 8, 8, 8]
            UpConv(8, 8, same=False),  # [N, 8, 14, 14]
            UpConv(8, 1, same=True),  # [N, 1, 28, 28]
        )

    def forward(self, z: Tensor) -> Tensor:
        dense: Any = self[0]
        first, second, third = (layer for layer in self if isinstance(layer, UpConv))
        assert first.bias is not None
        # nothing stands between the first two layers: they are one linear map of the code, whose
        # columns are the first convolution of the dense layer's
        columns = torch.column_stack([dense.weight, dense.bias]).view(8, 4, 4, -1)
        maps = first.interleave(first.phases(columns)).flatten(0, 2)  # [512, L + 1]
        bias = maps[:, -1:] + first.bias.repeat_interleave(64)[:, None]
        x = F.elu(torch.addmm(bias, maps[:, :-1], z.mT), inplace=True)
        images: Tensor = third(second(x.view(8, 8, 8, len(z))))
        return images.permute(3, 0, 1, 2)

    def numbers_held(self) -> int:
        """How many numbers a step holds for one image: its layers, and the patches they see."""
        first, phases = 8 * 8**2, 8 * 14**2
        return first + 3 * phases + 2 * phases + 4 * 15**2 + 28**2
