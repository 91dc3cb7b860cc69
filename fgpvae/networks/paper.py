"""The networks of the paper's appendix A."""

import torch.nn.functional as F
from torch import Tensor, nn


class UpConv(nn.Conv2d):
    """Nearest-neighbour upsampling by 2, then a 3x3 convolution and ELU.

    Computed as one transposed convolution: its 4x4 kernel is the 3x3 kernel, spread over the four
    copies of a pixel. Same parameters and same result as the two layers, in less than half the
    time.
    """

    def __init__(self, inputs: int, outputs: int, same: bool) -> None:
        super().__init__(inputs, outputs, 3)
        self.same = same

    def transposed_weight(self) -> Tensor:
        """The weights of the transposed convolution, [inputs, outputs, 4, 4]."""
        flat = self.weight.flip(2, 3).flatten(0, 1)[:, None]  # [O C, 1, 3, 3]
        spread = F.conv2d(flat, flat.new_ones(1, 1, 2, 2), padding=1)
        return spread.view(*self.weight.shape[:2], 4, 4).transpose(0, 1)

    def forward(self, x: Tensor) -> Tensor:
        """[N, C, H, W] -> [N, O, 2 H, 2 W], or [N, O, 2 H - 2, 2 W - 2] if not `same`."""
        padding = 1 if self.same else 2
        return F.elu(
            F.conv_transpose2d(x, self.transposed_weight(), self.bias, stride=2, padding=padding)
        )


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


class PaperDecoder(nn.Sequential):
    def __init__(self, inputs: int) -> None:
        super().__init__(
            nn.Linear(inputs, 128),
            nn.Unflatten(1, (8, 4, 4)),
            UpConv(8, 8, same=True),  # [N, 8, 8, 8]
            UpConv(8, 8, same=False),  # [N, 8, 14, 14]
            UpConv(8, 1, same=True),  # [N, 1, 28, 28]
        )
