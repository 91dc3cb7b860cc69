"""What the dial is sent: colours of angles, scenes and decoders."""

import numpy as np
import pytest
import torch
from torch import nn

from fgpvae.browser import export
from fgpvae.data import ANGLES, Views
from fgpvae.errors import UserError
from fgpvae.models import FGPVAE, FGPVAEConfig, Model, build
from tests import decoders
from tests.configs import model_config

DIGIT = decoders.views("paper")[0]


@pytest.mark.parametrize("name", decoders.CONFIGS)
def test_the_series_is_the_posterior(name: str):
    model = decoders.build(name)
    scene, (images, places) = decoders.scene(name, model, [1, 5, 6]), decoders.views(name)
    w = torch.linspace(-1, 1, 50, dtype=torch.float64) * (1 if scene.line else 9)
    posterior = model.infer(
        torch.as_tensor(images)[None],
        torch.as_tensor(places)[None],
        torch.as_tensor(scene.observed)[None],
    )
    with torch.no_grad():
        expected = posterior.mean(w[None])[0].numpy()
        variance = posterior.unknown(w[None])[0].numpy()
    np.testing.assert_allclose(scene.at(w.numpy()), expected, atol=1e-4)
    np.testing.assert_allclose(scene.unknown(w.numpy()), variance, atol=1e-4)
    np.testing.assert_allclose(scene.own, posterior.style()[0][0].numpy(), atol=1e-6)
    style = np.arange(len(scene.own))
    assert scene.at(0.3, style=style)[scene.styles].tolist() == style.tolist()


def tiny(name: str) -> Model:
    """A small model that has seen six digits at the sixteen angles."""
    torch.manual_seed(0)
    model = build(model_config(name=name, latents=6, local=3, digit_rank=2)).eval()
    digits = np.stack([decoders.views("paper", digit)[0] for digit in range(6)])
    known = Views(
        images=torch.as_tensor(digits),
        angles=torch.as_tensor(ANGLES).repeat(6, 1),
        observed=torch.ones(6, 16, dtype=torch.bool),
        ids=torch.arange(6),
        labels=torch.full((6,), 3),
    )
    model.prepare(lambda: known)
    model.condition(lambda: known)
    return model.eval()


@pytest.mark.parametrize("name", ["fgpvae", "cvae", "gpvae", "gpvae-amortised"])
def test_every_model_that_turns_draws_what_it_generates(name: str):
    model = tiny(name)
    views, ids = torch.as_tensor(decoders.views("paper", 4)[0]), torch.tensor([4])
    observed = torch.arange(16) % 3 == 0
    w = torch.as_tensor(ANGLES)[None]
    posterior = model.infer(views[None], w, observed[None], ids)
    scene = export.scene(model, posterior, ANGLES, observed.numpy())
    at = torch.tensor([[0.0, 0.3, 2.7, 5.0]], dtype=torch.float64)
    expected = model.generate(views[None], w, at, observed[None], ids=ids)[0]
    with torch.no_grad():
        drawn = model.decode(torch.as_tensor(scene.at(at[0].numpy())))
    np.testing.assert_allclose(drawn, expected, atol=1e-5)


def test_weights_that_are_not_finite_are_an_error():
    model = decoders.build("paper")
    with torch.no_grad():
        model.encoder.layers[-1].bias.fill_(torch.nan)
    with pytest.raises(UserError, match="finite"):
        decoders.scene("paper", model, [0])


def test_another_period_keeps_its_frequency():
    torch.manual_seed(0)
    model = FGPVAE(FGPVAEConfig(latents=6, local=4, period=np.pi, length_scale=0.7)).eval()
    scene = decoders.scene("paper", model, range(16))
    np.testing.assert_allclose(scene.at(0.4), scene.at(0.4 + np.pi), atol=1e-6)
    posterior = model.infer(
        torch.as_tensor(DIGIT)[None],
        torch.as_tensor(ANGLES)[None],
        torch.ones(1, 16, dtype=torch.bool),
    )
    at = torch.tensor([[0.4, 2.0]], dtype=torch.float64)
    np.testing.assert_allclose(
        scene.at(at[0].numpy()), posterior.mean(at)[0].detach().numpy(), atol=1e-5
    )


def test_unknown_layers_are_named():
    with pytest.raises(UserError, match="GELU"):
        export.pack(nn.Sequential(nn.Linear(3, 4), nn.GELU()), (1, 2, 2))
