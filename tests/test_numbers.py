"""Numbers at their limits: every result is finite, or one sentence says why there is none."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from fgpvae import models
from fgpvae.data import Views
from fgpvae.errors import UserError
from fgpvae.gp.kernels import SHORTEST, Periodic
from fgpvae.gp.posterior import (
    TINY,
    DensePosterior,
    FourierPosterior,
    global_posterior,
    local_posterior,
)
from fgpvae.models import MODELS
from fgpvae.networks.standard import NetworkConfig
from tests.configs import model_config

PROPERTY = settings(max_examples=60)
DENSE = NetworkConfig("dense", widths=(8,))
EXTREMES = [0.0, 5e-324, 1e-300, 1e-40, 1e-12, 1e-6, 1.0, 1e6, 1e38, 1e300, math.inf]
MEANS = [0.0, 1.0, -3.0, 1e-30, 1e6, -1e30, 1e150, -1e200, 1e300, math.inf, math.nan]
SCALES = [0.01, 0.1, 1.0, 10.0, 100.0]


def one_sentence(error: UserError) -> None:
    assert str(error).endswith(".")
    assert "\n" not in str(error)
    assert len(str(error)) < 300


@st.composite
def encodings(draw: st.DrawFn) -> tuple[torch.Tensor, ...]:
    """Angles, means, variances and a mask of a few digits, some of them absurd."""
    P, Q, J = draw(st.integers(1, 2)), draw(st.sampled_from([1, 2, 3, 7, 40])), 2
    kind = draw(st.sampled_from([torch.float32, torch.float64]))
    same = draw(st.booleans())
    angle = st.floats(-1e6, 1e6) if draw(st.booleans()) else st.sampled_from([0.0, math.pi])
    if same:
        angles = torch.full((P, Q), draw(angle), dtype=kind)
    else:
        angles = torch.tensor(
            draw(st.lists(angle, min_size=P * Q, max_size=P * Q)), dtype=kind
        ).view(P, Q)

    def filled(values: list[float], usual: float) -> torch.Tensor:
        # most are usual, a few are not
        tensor = torch.full((P, Q, J), usual, dtype=torch.float64)
        for _ in range(draw(st.integers(0, 3))):
            at = tuple(draw(st.integers(0, side - 1)) for side in tensor.shape)
            tensor[at] = draw(st.sampled_from(values))
        return tensor.to(kind)

    if draw(st.integers(0, 4)) == 0:
        observed = torch.tensor(draw(st.lists(st.booleans(), min_size=P * Q, max_size=P * Q))).view(
            P, Q
        )
    else:
        observed = torch.ones(P, Q, dtype=torch.bool)
    return angles, filled(MEANS, 0.5), filled(EXTREMES, 0.1), observed


@given(encodings(), st.sampled_from(SCALES), st.sampled_from([1e-3, 1.0, 1e3]))
@PROPERTY
def test_a_local_posterior_is_finite_or_says_why_not(given_, length_scale, amplitude) -> None:
    angles, mu, var, observed = given_
    kernel = Periodic(amplitude, length_scale)
    paths = [DensePosterior]
    if kernel.rank() < 200:  # the features of short length scales are many
        paths.append(FourierPosterior)
    for path in paths:
        try:
            posterior = path(kernel, angles, mu, var, observed)
            mean, spread, kl = posterior.at_views()
            new_mean, new_spread = posterior.at(torch.linspace(0, 7, 5).expand(len(angles), 5))
            evidence = posterior.log_evidence
        except UserError as error:
            one_sentence(error)
            continue
        for result in (mean, spread, kl, new_mean, new_spread, evidence):
            assert result.isfinite().all()
        assert (spread > 0).all()
        assert (spread <= amplitude**2 * (1 + 1e-6)).all()
        assert (new_spread > 0).all()


@given(encodings())
@PROPERTY
def test_a_global_posterior_is_finite_or_says_why_not(given_) -> None:
    _, mu, var, observed = given_
    try:
        results = global_posterior(mu, var, observed)
    except UserError as error:
        one_sentence(error)
        return
    assert all(result.isfinite().all() for result in results)
    assert (results[1] >= 0).all()
    assert (results[1] <= 1).all()


@pytest.mark.parametrize("mean", [1e200, -1e200])
def test_means_whose_squares_are_not_finite_are_named(mean: float) -> None:
    mu, var = torch.full((1, 3, 2), mean, dtype=torch.float64), torch.full((1, 3, 2), 0.1)
    observed = torch.ones(1, 3, dtype=torch.bool)
    for compute in (
        lambda: local_posterior(Periodic(), torch.rand(1, 3), mu, var, observed),
        lambda: global_posterior(mu, var, observed),
    ):
        with pytest.raises(UserError, match="the means are too large"):
            compute()


def test_a_variance_that_rounds_to_nothing_is_positive_and_has_no_gradient() -> None:
    angles, mu = torch.rand(2, 5, dtype=torch.float64), torch.zeros(2, 5, 1, dtype=torch.float64)
    var = torch.full_like(mu, 1e-60).requires_grad_()
    posterior = DensePosterior(Periodic(), angles, mu, var, torch.ones(2, 5, dtype=torch.bool))
    spread = posterior.at(angles)[1]
    assert (spread == TINY).any()
    assert (spread >= TINY).all()
    (gradient,) = torch.autograd.grad(spread[spread == TINY].sqrt().sum(), var)
    assert (gradient == 0).all()


def model_of(name: str, **changes) -> models.Model:
    torch.manual_seed(0)
    model = models.build(model_config(name, latents=4, local=2, network=DENSE, **changes))
    views = some_views(3, 4)
    model.prepare(lambda: views)
    model.eval().condition(lambda: views)
    return model


def some_views(P: int, Q: int) -> Views:
    angles = torch.arange(Q, dtype=torch.float64).expand(P, Q).clone() * (2 * math.pi / Q)
    observed = torch.ones(P, Q, dtype=torch.bool)
    return Views(torch.rand(P, Q, 28, 28), angles, observed, torch.arange(P), torch.full((P,), 3))


MODEL = {name: model_of(name) for name in MODELS}
PIXELS = [0.0, 1.0, -1.0, 1e6, -1e20, 3e38, math.inf, -math.inf, math.nan]


@given(
    st.sampled_from(sorted(MODELS)),
    st.sampled_from([1, 2, 16]),
    st.lists(st.sampled_from(PIXELS), min_size=1, max_size=3),
    st.sampled_from([torch.float32, torch.float64]),
    st.booleans(),
    st.booleans(),
)
@PROPERTY
def test_any_pixels_give_finite_images_or_a_sentence(
    name, Q, pixels, kind, same_angles, sample
) -> None:
    views = torch.rand(1, Q, 28, 28, dtype=kind)
    for index, value in enumerate(pixels):
        views[0, -1, index] = value
    angles = torch.zeros(1, Q, dtype=kind) if same_angles else torch.rand(1, Q, dtype=kind)
    try:
        images = MODEL[name].generate(
            views, angles, torch.rand(1, 3, dtype=kind), ids=torch.zeros(1).long(), sample=sample
        )
    except UserError as error:
        one_sentence(error)
        assert any(not math.isfinite(value) or abs(value) > 1 for value in pixels)
        return
    assert all(math.isfinite(value) for value in pixels)
    assert images.isfinite().all()


@pytest.mark.parametrize("log", [-1e300, -700.0, -50.0, math.log(SHORTEST / 2)])
def test_a_length_scale_that_was_learned_or_loaded_too_short_is_a_sentence(log: float) -> None:
    kernel = Periodic()
    with torch.no_grad():
        kernel.log_length_scale.fill_(log)
    with pytest.raises(UserError, match=r"The length scale of a kernel is .* shorter than 0\.001"):
        kernel.rank()
