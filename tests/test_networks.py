import math

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from fgpvae.errors import UserError
from fgpvae.networks import (
    VARIANCE_FLOOR,
    AngleEncoder,
    Decoder,
    Encoder,
    NetworkConfig,
)
from fgpvae.paper_networks import UpConv

CEILING = torch.tensor(20.0).exp().item() * (1 + 1e-6)


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def images(*shape):
    return torch.rand(*shape, generator=generator())


def layers_of(module, kind):
    return [layer for layer in module.modules() if isinstance(layer, kind)]


def size(module):
    return sum(p.numel() for p in module.parameters())


# Upsampling and convolution in one


@pytest.mark.parametrize("same", [True, False])
@pytest.mark.parametrize(("inputs", "outputs"), [(8, 8), (8, 1), (3, 5)])
@pytest.mark.parametrize("side", [(4, 4), (8, 8), (7, 5)])
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
    for layer, images_last in ((ours, True), (reference, False)):
        out = layer(x.permute(1, 2, 3, 0)).permute(3, 0, 1, 2) if images_last else layer(x)
        weights = torch.randn(out.shape, dtype=torch.float64, generator=generator())
        gradients = torch.autograd.grad((weights * out).sum(), (x, *layer.parameters()))
        results.append((out, *gradients))
    for a, b in zip(*results, strict=True):
        torch.testing.assert_close(a, b, atol=1e-12, rtol=1e-12)


# The paper's networks, to the letter


def test_the_papers_encoder():
    encoder = Encoder(NetworkConfig(), latents=16)
    convolutions = layers_of(encoder, nn.Conv2d)
    assert [(c.in_channels, c.out_channels) for c in convolutions] == [(1, 8), (8, 8), (8, 8)]
    for c in convolutions:
        assert (c.kernel_size, c.stride, c.padding) == ((3, 3), (2, 2), (0, 0))
    dense = layers_of(encoder, nn.Linear)
    assert [(d.in_features, d.out_features) for d in dense] == [(32, 32)]
    assert len(layers_of(encoder, nn.ELU)) == 3
    # 3x3 weights and biases of the convolutions, then 32 -> 2L
    assert size(encoder) == (9 * 8 + 8) + 2 * (9 * 64 + 8) + (32 * 32 + 32)


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


@pytest.mark.parametrize("latents", [1, 16, 40])
def test_the_papers_decoder(latents):
    decoder = Decoder(NetworkConfig(), latents, local=min(8, latents))
    dense = layers_of(decoder, nn.Linear)
    assert [(d.in_features, d.out_features) for d in dense] == [(latents, 128)]
    convolutions = layers_of(decoder, UpConv)
    assert [(c.in_channels, c.out_channels, c.same) for c in convolutions] == [
        (8, 8, True),
        (8, 8, False),
        (8, 1, True),
    ]
    assert size(decoder) == (latents * 128 + 128) + 2 * (9 * 64 + 8) + (9 * 8 + 1)


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


def test_the_papers_networks_take_no_images():
    encoder, decoder = Encoder(NetworkConfig(), latents=16), Decoder(NetworkConfig(), 16, local=8)
    mean, var = encoder(torch.zeros(0, 1, 28, 28))
    out = decoder(mean)
    assert (mean.shape, var.shape, out.shape) == ((0, 16), (0, 16), (0, 1, 28, 28))
    (out.sum() + var.sum()).backward()
    for parameter in (*encoder.parameters(), *decoder.parameters()):
        assert not parameter.grad.any()


# Networks of other sizes


@pytest.mark.parametrize("kind", ["convolutional", "dense"])
@pytest.mark.parametrize(
    "shape", [(1, 28, 28), (3, 64, 64), (1, 8, 8), (3, 32, 32), (1, 16, 64), (1, 64, 8)]
)
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


def test_the_wide_network_is_the_one_of_the_benchmark():
    config = NetworkConfig("convolutional")
    encoder, decoder = Encoder(config, 16), Decoder(config, 16, local=8)
    strided = layers_of(encoder, nn.Conv2d)
    assert [(c.out_channels, c.kernel_size, c.stride) for c in strided] == [
        (16, (4, 4), (2, 2)),
        (32, (4, 4), (2, 2)),
    ]
    mirrored = layers_of(decoder, nn.ConvTranspose2d)
    assert [(c.in_channels, c.out_channels) for c in mirrored] == [(32, 16), (16, 1)]
    assert 0.8e6 < size(encoder) + size(decoder) < 0.9e6


def test_extra_planes_are_inputs_of_the_encoder():
    for kind in ("paper", "convolutional", "dense"):
        encoder = Encoder(NetworkConfig(kind), 4, extra=2)
        a = images(2, 3, 28, 28)
        b = a.clone()
        b[:, 1:] += 1
        assert not torch.allclose(encoder(a)[0], encoder(b)[0])


def test_dropout_works_in_training_alone():
    config = NetworkConfig("convolutional", dropout=0.5)
    encoder, decoder = Encoder(config, 4), Decoder(config, 4, local=2)
    x, z = images(2, 1, 28, 28), torch.randn(2, 4, generator=generator())
    assert not torch.allclose(encoder(x)[0], encoder(x)[0])
    assert not torch.allclose(decoder(z), decoder(z))
    encoder.eval()
    decoder.eval()
    assert torch.equal(encoder(x)[0], encoder(x)[0])
    assert torch.equal(decoder(z), decoder(z))


# The gated decoder


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


# Numbers


@pytest.mark.parametrize("kind", ["paper", "convolutional", "dense"])
@pytest.mark.parametrize("bias", [-1e30, -100.0, 0.0, 100.0, 1e30])
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


def test_memory_layout_of_the_images_does_not_matter():
    encoder = Encoder(NetworkConfig("convolutional", shape=(3, 32, 32)), 4)
    x = images(2, 3, 32, 32)
    swapped = x.permute(0, 2, 3, 1).contiguous().permute(0, 3, 1, 2)
    torch.testing.assert_close(encoder(x)[0], encoder(swapped)[0])


def test_one_image_is_encoded_as_in_a_batch():
    for kind in ("paper", "convolutional", "dense"):
        config = NetworkConfig(kind)
        encoder, decoder = Encoder(config, 4), Decoder(config, 4, local=2)
        x = images(5, 1, 28, 28)
        mean, _ = encoder(x)
        torch.testing.assert_close(encoder(x[2:3])[0], mean[2:3], atol=1e-5, rtol=1e-5)
        torch.testing.assert_close(decoder(mean[2:3]), decoder(mean)[2:3], atol=1e-5, rtol=1e-5)


# Configuration


def test_lists_from_a_file_are_as_good_as_tuples():
    config = NetworkConfig("dense", filters=[4, 8], widths=[16], shape=[3, 32, 32])
    assert config == NetworkConfig("dense", filters=(4, 8), widths=(16,), shape=(3, 32, 32))
    assert hash(config) == hash(NetworkConfig("dense", (4, 8), widths=(16,), shape=(3, 32, 32)))


@pytest.mark.parametrize(
    "bad",
    [
        {"kind": "huge"},
        {"kind": "paper", "shape": (3, 28, 28)},
        {"kind": "paper", "shape": (1, 32, 32)},
        {"kind": "convolutional", "shape": (2, 28, 28)},
        {"kind": "convolutional", "shape": (1, 30, 28)},
        {"kind": "convolutional", "shape": (1, 4, 28)},
        {"kind": "convolutional", "shape": (1, 128, 128)},
        {"kind": "convolutional", "filters": (0, 8)},
        {"kind": "convolutional", "filters": (8, 1000)},
        {"kind": "convolutional", "hidden": 0},
        {"kind": "convolutional", "hidden": 100_000},
        {"kind": "dense", "widths": ()},
        {"kind": "dense", "widths": (0,)},
        {"dropout": 1.0},
        {"dropout": -0.1},
        {"dropout": float("nan")},
    ],
)
def test_impossible_networks_are_refused(bad):
    with pytest.raises(UserError):
        NetworkConfig(**bad)


# --- an encoder that is told the angle, and a decoder that multiplies ---

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


def test_a_product_decoder_computes_a_style_once():
    torch.manual_seed(0)
    decoder = Decoder(NetworkConfig("dense", widths=(20, 6), product=True), 9, local=4)
    local, style = torch.randn(3, 5, 4), torch.randn(3, 1, 5).expand(-1, 5, -1)
    z = torch.cat([local, style], -1)
    torch.testing.assert_close(decoder(z), decoder(z.flatten(0, 1)))
    layers = decoder.layers
    naive = torch.complex(*layers.style(style).chunk(2, -1))
    naive = naive * torch.complex(*layers.turn(local).chunk(2, -1))
    expected = layers.image(torch.cat([naive.real, naive.imag], -1).flatten(0, 1))
    torch.testing.assert_close(decoder(z), expected)


@pytest.mark.parametrize(
    ("settings", "what"),
    [
        ({"kind": "dense", "harmonics": 65}, "harmonics"),
        ({"kind": "dense", "harmonics": 4, "widths": (9,)}, "even"),
        ({"kind": "dense", "product": True, "gated": True}, "not both"),
    ],
)
def test_what_cannot_be_multiplied_is_refused(settings, what):
    with pytest.raises(UserError, match=what):
        NetworkConfig(**settings)
