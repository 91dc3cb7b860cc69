import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import norm
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ExpSineSquared, Matern
from torch.distributions import Normal, kl_divergence

from fgpvae.errors import UserError
from fgpvae.gp import gaussian
from fgpvae.gp.kernels import ON_A_LINE, Periodic
from fgpvae.gp.posterior import DensePosterior, FourierPosterior, global_posterior
from tests.configs import generator

PATHS = [DensePosterior, FourierPosterior]
paths = pytest.mark.parametrize("path", PATHS)


class Case:
    """Random angles [P, Q], encodings [P, Q, J] and a mask with at least one view a digit."""

    def __init__(self, P=3, Q=6, J=2, noise=0.1, seed=0, share=1.0):
        g = generator(seed)
        self.w = 2 * math.pi * torch.rand(P, Q, dtype=torch.float64, generator=g)
        self.mu = torch.randn(P, Q, J, dtype=torch.float64, generator=g)
        self.var = noise * torch.randn(P, Q, J, dtype=torch.float64, generator=g).mul(0.7).exp()
        self.observed = torch.rand(P, Q, generator=g) <= share
        if Q:
            self.observed[:, 0] = True
        self.at = 2 * math.pi * torch.rand(P, 5, dtype=torch.float64, generator=g)

    def __iter__(self):
        return iter((self.w, self.mu, self.var, self.observed))


def digits_and_channels(case):
    """Each digit and channel with only its observed views: p, j, w [n], mu [n], var [n]."""
    for p in range(case.mu.shape[0]):
        seen = case.observed[p]
        for j in range(case.mu.shape[2]):
            yield p, j, case.w[p, seen], case.mu[p, seen, j], case.var[p, seen, j]


def naive_posterior(kernel, w, mu, var, at):
    """Mean and covariance by plain matrices and explicit inverses."""
    gain = kernel.gram(at, w) @ torch.linalg.inv(kernel.gram(w, w) + torch.diag(var))
    return gain @ mu, kernel.gram(at, at) - gain @ kernel.gram(w, at)


def everything(path, kernel, case, at=None):
    """All that a posterior says, by name."""
    q = path(kernel, *case)
    mean, var = q.at(case.at if at is None else at)
    views_mean, views_var, kl = q.at_views()
    return {
        "mean": mean,
        "var": var,
        "log_evidence": q.log_evidence,
        "views_mean": views_mean,
        "views_var": views_var,
        "kl": kl,
    }


def assert_same(ours, theirs, atol, rtol=0.0):
    for name in ours:
        torch.testing.assert_close(
            ours[name], theirs[name], atol=atol, rtol=rtol, msg=lambda m, n=name: f"{n}: {m}"
        )


@given(*[st.floats(-5, 5), st.floats(0.01, 10)] * 2)
@settings(max_examples=50)
def test_density_and_kl_are_those_of_torch(mean_q, var_q, mean, var):
    given = [torch.tensor(x, dtype=torch.float64) for x in (mean_q, var_q, mean, var)]
    mean_q, var_q, mean, var = given
    q, p = Normal(mean_q, var_q.sqrt()), Normal(mean, var.sqrt())
    density = gaussian.log_density(mean_q, mean, var)
    torch.testing.assert_close(density, p.log_prob(mean_q), rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(gaussian.kl(*given), kl_divergence(q, p), rtol=1e-12, atol=1e-12)


def test_sample_is_reparametrised():
    mean = torch.tensor([1.0], dtype=torch.float64, requires_grad=True)
    var = torch.tensor([4.0], dtype=torch.float64, requires_grad=True)
    drawn = gaussian.sample(mean, var, torch.Generator().manual_seed(3))
    drawn.sum().backward()
    noise = torch.randn(1, dtype=torch.float64, generator=torch.Generator().manual_seed(3))
    torch.testing.assert_close(drawn.detach(), 1 + 2 * noise)
    assert float(mean.grad) == 1
    torch.testing.assert_close(var.grad, noise / 4)


KERNELS = {
    "periodic": (Periodic(1.7, 0.5), ExpSineSquared(0.5, 2 * math.pi)),
    "period π": (Periodic(1.7, 3.0, math.pi), ExpSineSquared(3.0, math.pi)),
    "squared-exponential": (ON_A_LINE["squared-exponential"](1.7, 0.6), RBF(0.6)),
    "matern32": (ON_A_LINE["matern32"](1.7, 0.6), Matern(0.6, nu=1.5)),
    "matern52": (ON_A_LINE["matern52"](1.7, 0.6), Matern(0.6, nu=2.5)),
}
# on a line there are no features: the dense path alone
kernels_and_paths = pytest.mark.parametrize(
    ("name", "path"),
    [(name, path) for name in KERNELS for path in PATHS[: 2 if name.startswith("period") else 1]],
)


@kernels_and_paths
def test_local_posterior_agrees_with_scikit_learn(name, path):
    kernel, theirs = KERNELS[name]
    case = Case(Q=8, noise=0.05, share=0.7)
    q = path(kernel, *case)
    at = torch.cat([case.w, case.at], 1)  # at the views, observed or not, and elsewhere
    mean, var = q.at(at)
    for ours, expected in zip(q.at_views()[:2], (mean[:, :8], var[:, :8]), strict=True):
        torch.testing.assert_close(ours, expected, atol=1e-12, rtol=0)
    for p, j, w, mu, noise in digits_and_channels(case):
        gp = GaussianProcessRegressor(1.7**2 * theirs, alpha=noise.numpy(), optimizer=None)
        gp.fit(w.numpy()[:, None], mu.numpy())
        expected_mean, expected_std = gp.predict(at[p].numpy()[:, None], return_std=True)
        np.testing.assert_allclose(mean[p, :, j], expected_mean, atol=1e-9)
        np.testing.assert_allclose(var[p, :, j], expected_std**2, atol=1e-9)
        evidence = gp.log_marginal_likelihood_value_
        assert float(q.log_evidence[p, j]) == pytest.approx(evidence, abs=1e-9)


def expected_log_density(mean_q, var_q, mean, var):
    """E_{z ~ N(mean_q, var_q)} log N(z | mean, var)."""
    return Normal(mean, var.sqrt()).log_prob(mean_q) - 0.5 * var_q / var


@given(st.integers(1, 12), st.floats(0.3, 3), st.floats(0.1, 3), st.floats(-4, 2), st.integers(0))
@settings(max_examples=30)
def test_kl_is_the_expected_log_density_minus_the_log_evidence(Q, r, amplitude, log_noise, seed):
    case = Case(Q=Q, noise=10**log_noise, seed=seed % 2**31, share=0.7)
    for path in PATHS:
        q = path(Periodic(amplitude, r), *case)
        mean, var, kl = q.at_views()
        # E_q Σ_observed log N(z_q | μ_q, s_q²) - log Z
        each = expected_log_density(mean, var, case.mu, case.var)
        expected = torch.where(case.observed[..., None], each, 0.0).sum(1) - q.log_evidence
        torch.testing.assert_close(kl, expected, atol=1e-8, rtol=1e-8)
        assert (kl >= -1e-10).all()


def test_global_evidence_is_the_integral_and_the_papers_formula():
    case = Case(P=2, Q=4, J=2, noise=0.5, share=0.7)
    mean, var, log_evidence = global_posterior(*list(case)[1:])
    for p, j, _, mu, noise in digits_and_channels(case):
        m, s = mu.numpy(), noise.sqrt().numpy()

        def joint(z, m=m, s=s):
            return np.exp(norm.logpdf(z) + norm.logpdf(z, m, s).sum())

        limits = {"limit": 200, "epsabs": 0, "epsrel": 1e-11}
        centre, spread = float(mean[p, j]), float(var[p, j]) ** 0.5
        span = (centre - 12 * spread, centre + 12 * spread)
        z0, _ = quad(joint, *span, **limits)
        assert float(log_evidence[p, j]) == pytest.approx(math.log(z0), abs=1e-9)
        z1, _ = quad(lambda z: z * joint(z) / z0, *span, limit=200)  # noqa: B023
        z2, _ = quad(lambda z: (z - centre) ** 2 * joint(z) / z0, *span, limit=200)  # noqa: B023
        assert centre == pytest.approx(z1, abs=1e-9)
        assert spread**2 == pytest.approx(z2, abs=1e-9)
        # N(0|0,1) Π N(0|μ_q,s_q²) / N(0|μ̄,σ̄²), as printed
        printed = norm.logpdf(0) + norm.logpdf(0, m, s).sum() - norm.logpdf(0, centre, spread)
        assert float(log_evidence[p, j]) == pytest.approx(printed, abs=1e-10)


@paths
def test_without_any_view_the_posterior_is_the_prior(path):
    for case in (Case(Q=0), Case(Q=3)):
        case.observed[:] = False
        q = path(Periodic(1.5, 1.0), *case)
        mean, var = q.at(case.at)
        assert mean.abs().max() == 0
        torch.testing.assert_close(var, torch.full_like(var, 1.5**2))
        assert q.log_evidence.abs().max() == 0
        assert q.at_views()[2].abs().max() < 1e-12
        mean, var, log_evidence = global_posterior(*list(case)[1:])
        assert (mean == 0).all()
        assert (var == 1).all()
        assert (log_evidence == 0).all()


@given(
    Q=st.integers(1, 64),
    P=st.integers(1, 3),
    J=st.integers(1, 3),
    r=st.floats(0.3, 3),
    amplitude=st.floats(0.1, 2),
    log_noise=st.floats(-3, 1),
    seed=st.integers(0, 2**31),
    share=st.floats(0.3, 1),
)
@settings(max_examples=60)
def test_dense_and_fourier_agree(Q, P, J, r, amplitude, log_noise, seed, share):
    case = Case(P, Q, J, 10**log_noise, seed, share)
    case.var.clamp_min_(1e-3)
    kernel = Periodic(amplitude, r)
    dense, fourier = (everything(path, kernel, case) for path in PATHS)
    assert_same(dense, fourier, atol=1e-8, rtol=1e-8)


@given(st.integers(2, 64), st.floats(0.3, 3), st.integers(0, 2**31))
@settings(max_examples=30)
def test_dense_and_fourier_agree_at_the_smallest_noise(Q, r, seed):
    """At the floor of the encoder's variances, for μ that the prior could have given.

    The entries of K are rounded at 1e-16. With noise s² that moves α, which is as large as 1/s²
    where the views contradict each other, and the mean in gaps between views, by 1e-16/s² times
    a few hundred: 1e-8 holds at the views and for the evidence, and 1e-6 holds everywhere.
    """
    case = Case(2, Q, 1, noise=1e-6, seed=seed)
    case.var.clamp_min_(1e-6)
    kernel = Periodic(1.0, r)
    draw = torch.randn(kernel.rank(), 1, dtype=torch.float64, generator=generator(seed))
    case.mu = kernel.features(case.w) @ draw + case.var.sqrt() * case.mu
    dense, fourier = (everything(path, kernel, case) for path in PATHS)
    elsewhere = {name: dense.pop(name) for name in ("mean", "var")}
    assert_same(dense, fourier, atol=1e-8, rtol=1e-8)
    assert_same(elsewhere, fourier, atol=1e-6)


def hidden(case, junk):
    """The same case with other values in every entry that is not observed."""
    other = Case()
    other.at, other.observed = case.at, case.observed
    mask = case.observed[..., None]
    other.mu = torch.where(mask, case.mu, junk)
    other.var = torch.where(mask, case.var, junk)
    other.w = torch.where(case.observed, case.w, junk)
    return other


@paths
@pytest.mark.parametrize("junk", [1e30, math.nan, -math.inf])
def test_what_is_not_observed_may_be_anything(path, junk):
    case = Case(Q=7, J=3, share=0.5, seed=3)
    assert not case.observed.all()
    results = []
    for given_case in (case, hidden(case, junk)):
        mu, var = given_case.mu.clone().requires_grad_(), given_case.var.clone().requires_grad_()
        kernel = Periodic(1.2, 0.8, learnable=True)
        q = path(kernel, given_case.w, mu, var, given_case.observed)
        g = global_posterior(mu, var, given_case.observed)
        outputs = [*q.at(case.at), q.log_evidence, *g, q.sample(case.at, generator())]
        inputs = (mu, var, *kernel.parameters())
        total = sum(x.square().sum() for x in outputs)
        results.append([*outputs, *torch.autograd.grad(total, inputs)])
    for ours, theirs in zip(*results, strict=True):
        assert ours.isfinite().all()
        torch.testing.assert_close(ours, theirs, atol=1e-10, rtol=1e-10)
    by_mu, by_var = results[1][-4:-2]
    assert by_mu[~case.observed].abs().max() == 0
    assert by_var[~case.observed].abs().max() == 0


@paths
def test_gradients_are_those_of_finite_differences(path):
    case = Case(P=2, Q=4, J=2, share=0.6, seed=5)
    kernel = Periodic(1.3, 0.8)

    def value(mu, var, log_amplitude, log_length_scale):
        del kernel.log_amplitude, kernel.log_length_scale
        kernel.log_amplitude, kernel.log_length_scale = log_amplitude, log_length_scale
        q = path(kernel, case.w, mu, var, case.observed)
        style = global_posterior(mu, var, case.observed)
        return (*q.at(case.at), *q.at_views(), q.log_evidence, *style)

    logs = [torch.tensor(x).double().log() for x in (1.3, 0.8)]
    inputs = [x.requires_grad_() for x in (case.mu, case.var, *logs)]
    assert torch.autograd.gradcheck(value, inputs)


@kernels_and_paths
def test_samples_have_the_joint_moments_of_the_posterior(name, path):
    """Over angles, channels and digits: the last two are independent of each other."""
    kernel, (P, J, count) = KERNELS[name][0], (2, 2, 2000)
    case = Case(P, Q=5, J=J, noise=0.2, share=0.7)
    at = torch.cat([case.at, case.at[:, :1]], 1)  # an angle may be asked for twice
    many = [x.repeat_interleave(count, 0) for x in (*case, at)]
    drawn = path(kernel, *many[:4]).sample(many[4], generator()).unflatten(0, (P, count))
    torch.testing.assert_close(drawn[:, :, 0], drawn[:, :, -1], atol=1e-6, rtol=0)
    drawn = drawn[:, :, :-1].permute(1, 0, 3, 2).flatten(1)  # [count, P J S]
    known = [
        naive_posterior(kernel, w, mu, noise, case.at[p])
        for p, _, w, mu, noise in digits_and_channels(case)
    ]
    mean, covariance = torch.cat([x[0] for x in known]), torch.block_diag(*(x[1] for x in known))
    std = covariance.diagonal().sqrt()
    assert ((drawn.mean(0) - mean).abs() < 5 * std / count**0.5).all()
    error = ((drawn.mT.cov() - covariance) / torch.outer(std, std)).abs()
    assert float(error.max()) < 5 * (2 / count) ** 0.5


@paths
def test_the_generator_decides_the_function_whatever_the_angles(path):
    case = Case(P=2, Q=4, share=0.7)
    q = path(Periodic(), *case)
    together = q.sample(case.at, generator(7))
    for s in range(case.at.shape[1]):
        alone = q.sample(case.at[:, s : s + 1], generator(7))
        torch.testing.assert_close(alone[:, 0], together[:, s], atol=1e-12, rtol=0)
    assert not torch.allclose(together, q.sample(case.at, generator(8)))
    assert not together.requires_grad


def test_a_factorisation_that_fails_is_an_error_not_a_number():
    case = Case(P=1, Q=40, J=1)
    case.var[:] = 1e-13
    with pytest.raises(UserError, match="variances too small"):
        DensePosterior(Periodic(1e3, 100.0), *case)
