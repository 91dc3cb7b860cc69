import gc
import math
import weakref

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from fgpvae.errors import UserError
from fgpvae.networks.paper import UpConv
from fgpvae.networks.standard import (
    VARIANCE_FLOOR,
    AngleEncoder,
    Decoder,
    Encoder,
    NetworkConfig,
    numbers_held,
)
from tests.configs import generator

CEILING = torch.tensor(20.0).exp().item() * (1 + 1e-6)


def images(*shape):
    return torch.rand(*shape, generator=generator())


def layers_of(module, kind):
    return [layer for layer in module.modules() if isinstance(layer, kind)]


def size(module):
    return sum(p.numel() for p in module.parameters())


@pytest.mark.parametrize("same", [True, False])
@pytest.mark.parametrize(("inputs", "outputs"), [(8, 8), (8, 1), (3, 5)])
@pytest.mark.parametrize("side", [(4, 4), (7, 5)])
def test_upconv_is_upsample_then_convolution_then_elu(same, inputs, outputs, side):
    torch.manual_seed(0)
    ours = UpConv(inputs, outputs, same).double()
    x = torch.randn(2, inputs, *side, dtype=torch.float64, requires_grad=True)
    reference = nn.Sequential(
        nn.Upsample(scale_factor=2, mode="nearest"),
        nn.Conv2d(inputs, outputs, 3, padding="same" if same else "valid"),
        nn.ELU(),
    ).double()
    reference[1].load_state_dict(ours.state_dict())  # the same parameters by name and shape
    results = []
    for layer in (ours, reference):
        out = layer(x)
        weights = torch.randn(out.shape, dtype=torch.float64, generator=generator())
        gradients = torch.autograd.grad((weights * out).sum(), (x, *layer.parameters()))
        results.append((out, *gradients))
    for a, b in zip(*results, strict=True):
        torch.testing.assert_close(a, b, atol=1e-12, rtol=1e-12)


def test_the_papers_encoder_computes_what_the_table_says():
    encoder = Encoder(NetworkConfig(), latents=16).double()
    x = images(3, 1, 28, 28).double()
    state = list(encoder.state_dict().values())
    h = x
    sides = []
    for k in range(3):
        h = F.elu(F.conv2d(h, state[2 * k], state[2 * k + 1], stride=2))
        sides.append(h.shape[-1])
    assert sides == [13, 6, 2]
    code = h.flatten(1) @ state[6].mT + state[7]
    mean, var = encoder(x)
    torch.testing.assert_close(mean, code[:, :16])
    torch.testing.assert_close(var, code[:, 16:].exp() + VARIANCE_FLOOR)
    assert len(state) == 8


def test_the_papers_decoder_computes_what_the_table_says():
    decoder = Decoder(NetworkConfig(), 16, local=8).double()
    z = torch.randn(3, 16, dtype=torch.float64, generator=generator())
    state = list(decoder.state_dict().values())
    h = (z @ state[0].mT + state[1]).reshape(3, 8, 4, 4)
    sides = []
    for k, padding in enumerate(("same", "valid", "same")):
        h = F.interpolate(h, scale_factor=2, mode="nearest")
        h = F.elu(F.conv2d(h, state[2 + 2 * k], state[3 + 2 * k], padding=padding))
        sides.append(h.shape[-1])
    assert sides == [8, 14, 28]
    torch.testing.assert_close(decoder(z), h)
    assert len(state) == 8


@pytest.mark.parametrize("kind", ["convolutional", "dense"])
@pytest.mark.parametrize("shape", [(1, 28, 28), (3, 64, 64), (1, 8, 8), (1, 16, 64)])
def test_other_networks_for_images_of_any_shape(kind, shape):
    config = NetworkConfig(kind, filters=(3, 5), hidden=11, widths=(13, 7), shape=shape)
    encoder, decoder = Encoder(config, 6), Decoder(config, 6, local=2)
    mean, var = encoder(images(4, *shape))
    assert mean.shape == var.shape == (4, 6)
    out = decoder(mean)
    assert out.shape == (4, *shape)
    (out.square().sum() + var.sum()).backward()
    for parameter in (*encoder.parameters(), *decoder.parameters()):
        assert parameter.grad.isfinite().all()
        assert parameter.grad.abs().max() > 0


@pytest.mark.parametrize(("latents", "local"), [(6, 2), (5, 0), (5, 5)])
def test_a_gated_decoder_sees_the_products_of_local_and_global_channels(latents, local):
    plain = Decoder(NetworkConfig("convolutional", hidden=7), latents, local)
    gated = Decoder(NetworkConfig("convolutional", hidden=7, gated=True), latents, local)
    products = local * (latents - local)
    assert size(gated) - size(plain) == 7 * products
    z = torch.randn(3, latents, generator=generator())
    seen = [z]
    seen += [z[:, i : i + 1] * z[:, k : k + 1] for i in range(local) for k in range(local, latents)]
    torch.testing.assert_close(gated(z), gated.layers(torch.cat(seen, 1)))


@pytest.mark.parametrize("kind", ["paper", "convolutional", "dense"])
@pytest.mark.parametrize("bias", [-1e30, 1e30])
def test_variances_are_bounded_whatever_the_network_says(kind, bias):
    encoder = Encoder(NetworkConfig(kind), latents=5)
    last = layers_of(encoder, nn.Linear)[-1]
    last.bias.data[5:] = bias
    mean, var = encoder(images(3, 1, 28, 28))
    assert mean.isfinite().all()
    assert (var >= VARIANCE_FLOOR).all()
    assert (var <= CEILING).all()
    (mean.sum() + var.sum()).backward()
    assert all(p.grad.isfinite().all() for p in encoder.parameters())


@pytest.mark.parametrize(
    "bad",
    [
        {"kind": "paper", "shape": (3, 28, 28)},
        {"kind": "convolutional", "shape": (2, 28, 28)},
        {"kind": "convolutional", "shape": (1, 30, 28)},
        {"kind": "convolutional", "shape": (1, 128, 128)},
        {"kind": "dense", "harmonics": 4, "widths": (9,)},
        {"kind": "dense", "product": True, "gated": True},
    ],
)
def test_impossible_networks_are_refused(bad):
    with pytest.raises(UserError):
        NetworkConfig(**bad)


TOLD = {
    "dense": NetworkConfig("dense", widths=(24, 10), harmonics=5),
    "one layer": NetworkConfig("dense", widths=(24,), harmonics=5),
    "convolutional": NetworkConfig("convolutional", (4, 6), 24, harmonics=5),
    "colour": NetworkConfig("convolutional", (4, 6), 24, harmonics=5, shape=(3, 16, 16)),
}


@pytest.mark.parametrize("name", TOLD)
def test_global_channels_are_told_the_angle_and_local_ones_are_not(name):
    torch.manual_seed(0)
    config = TOLD[name]
    encoder = Encoder(config, 7, local=3)
    images = torch.rand(4, *config.shape)
    phase = torch.tensor([0.0, 0.4, 2.0, 5.0], dtype=torch.float64)
    mean, var = encoder(images, phase)
    other_mean, other_var = encoder(images, phase + 1.0)
    torch.testing.assert_close(mean[:, :3], other_mean[:, :3])
    torch.testing.assert_close(var[:, :3], other_var[:, :3])
    assert (mean[:, 3:] - other_mean[:, 3:]).abs().min() > 0
    assert (var[:, 3:] - other_var[:, 3:]).abs().min() > 0
    around, _ = encoder(images, phase + 2 * math.pi)
    torch.testing.assert_close(mean, around, rtol=1e-4, atol=1e-4)


def test_the_product_undoes_the_turn_of_circular_harmonics():
    """Features that are circular harmonics of a picture do not change when both are turned."""
    config = NetworkConfig("dense", widths=(8, 6), harmonics=4, shape=(1, 9, 9))
    encoder = Encoder(config, 5, local=1).double()
    layers = encoder.layers
    assert isinstance(layers, AngleEncoder)
    y, x = torch.meshgrid(*[torch.linspace(-1, 1, 9, dtype=torch.float64)] * 2, indexing="ij")
    radius, angle = (x.square() + y.square()).sqrt().flatten(), torch.atan2(-y, x).flatten()
    # a picture f(angle) = Σ_m a_m cos(m angle) radius, turned by w: f(angle - w)
    modes = torch.arange(4, dtype=torch.float64)[:, None]
    basis = radius * torch.exp(-1j * modes * angle)  # picks exp(i m angle) out of a picture
    linear = layers.first[1]
    with torch.no_grad():
        linear.weight.copy_(torch.cat([basis.real, basis.imag]))
        linear.bias.zero_()

    def picture(w: float) -> torch.Tensor:
        amounts = torch.tensor([0.3, 1.0, -0.6, 0.4], dtype=torch.float64)[:, None]
        return (radius * amounts * torch.cos(modes * (angle - w))).sum(0).view(1, 1, 9, 9)

    quarter = math.pi / 2  # a turn that takes the grid of pixels to itself
    upright, _ = encoder(picture(0.0), torch.tensor([0.0]))
    for turns in (1, 2, 3):
        w = turns * quarter
        turned, _ = encoder(picture(w), torch.tensor([w], dtype=torch.float64))
        torch.testing.assert_close(turned[:, 1:], upright[:, 1:])
    wrong, _ = encoder(picture(quarter), torch.tensor([0.0]))
    assert (wrong[:, 1:] - upright[:, 1:]).abs().max() > 1e-3


def test_counting_what_a_step_holds_frees_the_network():
    network = nn.Sequential(nn.Linear(4, 4), nn.Tanh())  # a tanh saves its own output
    assert numbers_held(network, torch.zeros(1, 4)) == 8
    weight = weakref.ref(network[0].weight)
    del network
    gc.collect()
    assert weight() is None
