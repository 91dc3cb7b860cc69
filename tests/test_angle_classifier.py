import math

import numpy as np
import pytest
import torch

from fgpvae import FGPVAEConfig, NetworkConfig, UserError, data
from fgpvae.models import FGPVAE
from fgpvae.networks.angle_classifier import NODES, Recogniser, centred, softened

SMALL = NetworkConfig("dense", widths=(32, 16), gated=True, harmonics=4, recogniser=4)


def recogniser(shape=(1, 28, 28)) -> Recogniser:
    torch.manual_seed(0)
    return Recogniser(NetworkConfig("dense", recogniser=4, shape=shape))


@pytest.mark.parametrize("shape", [(1, 28, 28), (3, 17, 30)])
def test_a_log_density_is_a_softmax_at_its_nodes_and_linear_between_them(shape):
    network, images = recogniser(shape), torch.rand(2, *shape)
    with torch.no_grad():
        share = network.layers(softened(images)).softmax(-1).numpy()
        angles = np.linspace(-4, 11, 301)
        found = network.log_density(images, torch.as_tensor(angles).expand(2, -1)).numpy()
    nodes = np.arange(NODES) * (2 * math.pi / NODES)
    for each, log_density in zip(share, found, strict=True):
        density = np.log(each * NODES / (2 * math.pi))
        expected = np.interp(angles, nodes, density, period=2 * math.pi)
        np.testing.assert_allclose(log_density, expected, atol=1e-5)


def test_centring_moves_the_mass_to_the_middle_and_forgets_where_a_digit_lay():
    digits = data.unseen((1, 3, 8)).images[::5]
    moved = np.pad(digits, ((0, 0), (2, 0), (0, 1)))[:, :28, :28]
    found, again = (centred(torch.from_numpy(each)).numpy() for each in (digits, moved))
    line = np.arange(28)
    for pictures in (found, again):
        ink = pictures.clip(min=0)
        total = ink.sum((1, 2))
        np.testing.assert_allclose(ink.sum(2) @ line / total, 13.5, atol=0.06)
        np.testing.assert_allclose(ink.sum(1) @ line / total, 13.5, atol=0.06)
    assert np.square(found - again).mean() < 1e-3 < np.square(digits - moved).mean()


def test_what_it_says_is_the_third_score_of_an_angle():
    torch.manual_seed(0)
    model = FGPVAE(FGPVAEConfig(latents=6, local=2, mean_function=True, network=SMALL)).eval()
    digits = torch.from_numpy(data.unseen((3,)).images[:2])
    grid = torch.tensor([0.0, 1.0, 4.0], dtype=torch.float64)
    scores = model.angle_scores(model.given(digits[:, None], torch.zeros(2, 1)), grid)
    expected = model.recogniser.log_density(digits[:, None], grid.expand(2, 3)).double()
    torch.testing.assert_close(scores[2], expected.detach())


@pytest.mark.parametrize(
    "wrong", [{"kernel": "matern32", "mean_function": True}, {"mean_function": False}]
)
def test_only_an_angle_that_is_tied_to_an_orientation_can_be_recognised(wrong):
    with pytest.raises(UserError, match="recognised"):
        FGPVAEConfig(network=SMALL, **wrong)
