import math

import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import norm
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, ExpSineSquared, Matern
from torch.distributions import MultivariateNormal, Normal, kl_divergence

from fgpvae import gaussian
from fgpvae.errors import UserError
from fgpvae.kernels import ON_A_LINE, Periodic
from fgpvae.posterior import (
    DensePosterior,
    FourierPosterior,
    global_posterior,
    local_posterior,
)

PATHS = [DensePosterior, FourierPosterior]
paths = pytest.mark.parametrize("path", PATHS)


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


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
    """Mean, covariance and log evidence by plain matrices and explicit inverses."""
    noisy = kernel.gram(w, w) + torch.diag(var)
    gain = kernel.gram(at, w) @ torch.linalg.inv(noisy)
    covariance = kernel.gram(at, at) - gain @ kernel.gram(w, at)
    evidence = MultivariateNormal(torch.zeros_like(mu), noisy).log_prob(mu)
    return gain @ mu, covariance, evidence


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


# Each closed form against something independent


@paths
@pytest.mark.parametrize(("amplitude", "length_scale"), [(1.0, 1.0), (1.7, 0.5), (0.1, 3.0)])
def test_local_posterior_agrees_with_scikit_learn(path, amplitude, length_scale):
    case = Case(Q=8, noise=0.05, share=0.7)
    q = path(Periodic(amplitude, length_scale), *case)
    at = torch.cat([case.w, case.at], 1)  # at the views, observed or not, and elsewhere
    mean, var = q.at(at)
    theirs = ConstantKernel(amplitude**2) * ExpSineSquared(length_scale, 2 * math.pi)
    for p, j, w, mu, noise in digits_and_channels(case):
        gp = GaussianProcessRegressor(theirs, alpha=noise.numpy(), optimizer=None)
        gp.fit(w.numpy()[:, None], mu.numpy())
        expected_mean, expected_std = gp.predict(at[p].numpy()[:, None], return_std=True)
        np.testing.assert_allclose(mean[p, :, j], expected_mean, atol=1e-9)
        np.testing.assert_allclose(var[p, :, j], expected_std**2, atol=1e-9)
        evidence = gp.log_marginal_likelihood_value_
        assert float(q.log_evidence[p, j]) == pytest.approx(evidence, abs=1e-9)


@paths
@pytest.mark.parametrize("period", [math.pi, 2 * math.pi])
@pytest.mark.parametrize("amplitude", [0.1, 1.0, 2.5])
def test_local_posterior_agrees_with_plain_matrices(path, period, amplitude):
    kernel = Periodic(amplitude, 0.8, period)
    case = Case(Q=9, share=0.6, seed=1)
    q = path(kernel, *case)
    mean, var = q.at(case.at)
    for p, j, w, mu, noise in digits_and_channels(case):
        expected = naive_posterior(kernel, w, mu, noise, case.at[p])
        torch.testing.assert_close(mean[p, :, j], expected[0], atol=1e-10, rtol=0)
        torch.testing.assert_close(var[p, :, j], expected[1].diagonal(), atol=1e-10, rtol=0)
        torch.testing.assert_close(q.log_evidence[p, j], expected[2], atol=1e-10, rtol=0)


@paths
def test_kl_agrees_with_that_of_the_multivariate_normals(path):
    kernel = Periodic(1.6, 0.9)
    case = Case(Q=5, share=0.7, seed=2)
    _, _, kl = path(kernel, *case).at_views()
    for p, j, w, mu, noise in digits_and_channels(case):
        mean, covariance, _ = naive_posterior(kernel, w, mu, noise, w)
        prior = MultivariateNormal(torch.zeros_like(mu), kernel.gram(w, w))
        posterior = MultivariateNormal(mean, covariance)
        torch.testing.assert_close(kl[p, j], kl_divergence(posterior, prior), atol=1e-8, rtol=0)


def expected_log_density(mean_q, var_q, mean, var):
    """E_{z ~ N(mean_q, var_q)} log N(z | mean, var)."""
    return Normal(mean, var.sqrt()).log_prob(mean_q) - 0.5 * var_q / var


@given(st.integers(1, 12), st.floats(0.3, 3), st.floats(0.1, 3), st.floats(-4, 2), st.integers(0))
@settings(max_examples=30, deadline=None)
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


@pytest.mark.parametrize("seed", range(3))
def test_global_evidence_is_the_integral_and_the_papers_formula(seed):
    case = Case(P=2, Q=4, J=2, noise=0.5, seed=seed, share=0.7)
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


@given(st.integers(1, 20), st.floats(-5, 2), st.integers(0))
@settings(max_examples=30, deadline=None)
def test_global_kl_is_the_expected_log_density_minus_the_log_evidence(Q, log_noise, seed):
    case = Case(Q=Q, noise=10**log_noise, seed=seed % 2**31, share=0.6)
    mean, var, log_evidence = global_posterior(*list(case)[1:])
    each = expected_log_density(mean[:, None], var[:, None], case.mu, case.var)
    elbo = torch.where(case.observed[..., None], each, 0.0).sum(1) - log_evidence
    expected = kl_divergence(Normal(mean, var.sqrt()), Normal(0.0, 1.0))
    torch.testing.assert_close(elbo, expected, atol=1e-8, rtol=1e-8)


def test_a_global_channel_is_a_local_one_that_never_changes():
    case = Case(Q=6, share=0.7)
    mean, var, log_evidence = global_posterior(*list(case)[1:])
    q = DensePosterior(Periodic(1.0, 1e6), *case)
    local_mean, local_var = q.at(case.at)
    torch.testing.assert_close(local_mean[:, 0], mean, atol=1e-9, rtol=0)
    torch.testing.assert_close(local_var[:, 0], var, atol=1e-9, rtol=0)
    torch.testing.assert_close(q.log_evidence, log_evidence, atol=1e-8, rtol=0)


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


# Dense and Fourier are the same thing


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
@settings(max_examples=60, deadline=None)
def test_dense_and_fourier_agree(Q, P, J, r, amplitude, log_noise, seed, share):
    case = Case(P, Q, J, 10**log_noise, seed, share)
    case.var.clamp_min_(1e-3)
    kernel = Periodic(amplitude, r)
    dense, fourier = (everything(path, kernel, case) for path in PATHS)
    assert_same(dense, fourier, atol=1e-8, rtol=1e-8)


@given(st.integers(2, 64), st.floats(0.3, 3), st.integers(0, 2**31))
@settings(max_examples=30, deadline=None)
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


@given(st.integers(1, 64), st.floats(0.3, 3), st.floats(-3, 1), st.integers(0, 2**31))
@settings(max_examples=20, deadline=None)
def test_dense_and_fourier_have_the_same_gradients(Q, r, log_noise, seed):
    case = Case(2, Q, 2, 10**log_noise, seed, share=0.8)
    case.var.clamp_min_(1e-4)
    gradients = []
    for path in PATHS:
        inputs = case.mu.clone().requires_grad_(), case.var.clone().requires_grad_()
        kernel = Periodic(1.2, r, learnable=True)
        case.mu, case.var = inputs
        outputs = everything(path, kernel, case)
        weights = {k: torch.randn(v.shape, generator=generator(1)) for k, v in outputs.items()}
        total = sum((weights[name] * outputs[name]).sum() for name in outputs)
        parameters = (kernel.log_amplitude, kernel.log_length_scale)
        gradients.append(torch.autograd.grad(total, (*inputs, *parameters)))
        case.mu, case.var = (x.detach() for x in inputs)
    for ours, theirs in zip(*gradients, strict=True):
        size = 1 + float(ours.abs().max())
        assert float((ours - theirs).abs().max()) < 1e-8 * size


@pytest.mark.parametrize("r", [0.5, 1.0, 2.0])
def test_dense_and_fourier_agree_with_512_views_of_some_digits(r):
    """With gradients; the digits have from a handful to all of the views."""
    case = Case(P=3, Q=512, J=2, noise=0.05, seed=5)
    case.observed = torch.arange(512) < torch.tensor([[7], [300], [512]])
    case.observed = case.observed[:, torch.randperm(512, generator=generator(1))]
    case.var.clamp_min_(1e-3)
    found = []
    for path in PATHS:
        kernel = Periodic(1.2, r, learnable=True)
        case.mu, case.var = (x.detach().requires_grad_() for x in (case.mu, case.var))
        said = everything(path, kernel, case)
        weights = {k: torch.randn(v.shape, generator=generator(2)) for k, v in said.items()}
        total = sum((weights[name] * said[name]).sum() for name in said)
        learned = (case.mu, case.var, kernel.log_amplitude, kernel.log_length_scale)
        gradients = torch.autograd.grad(total, learned)
        found.append((said, gradients))
    (dense, by_dense), (fourier, by_fourier) = found
    assert_same(dense, fourier, atol=1e-8, rtol=1e-8)
    for ours, theirs in zip(by_dense, by_fourier, strict=True):
        assert float((ours - theirs).abs().max()) < 1e-8 * (1 + float(ours.abs().max()))
    assert isinstance(local_posterior(kernel, *case), FourierPosterior)


def test_the_cheaper_path_is_taken():
    kernel = Periodic()
    few, many = Case(P=1, Q=16), Case(P=1, Q=256)
    assert isinstance(local_posterior(kernel, *few), DensePosterior)
    assert isinstance(local_posterior(kernel, *many), FourierPosterior)
    assert isinstance(local_posterior(Periodic(1.0, 0.01), *many), DensePosterior)


# Masks, batches, order


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
@pytest.mark.parametrize("junk", [0.0, -3.0, 1e30, math.nan, math.inf, -math.inf])
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
def test_masked_views_are_as_if_they_did_not_exist(path):
    case = Case(P=1, Q=9, J=3, share=0.5, seed=4)
    seen = case.observed[0]
    short = Case()
    short.w, short.mu, short.var = case.w[:, seen], case.mu[:, seen], case.var[:, seen]
    short.observed, short.at = torch.ones(1, int(seen.sum()), dtype=torch.bool), case.at
    kernel = Periodic(1.3, 0.7)
    ours, theirs = everything(path, kernel, case), everything(path, kernel, short)
    ours["views_mean"], ours["views_var"] = ours["views_mean"][:, seen], ours["views_var"][:, seen]
    assert_same(ours, theirs, atol=1e-10)
    mine, other = (global_posterior(*list(c)[1:]) for c in (case, short))
    for a, b in zip(mine, other, strict=True):
        torch.testing.assert_close(a, b, atol=1e-10, rtol=0)


@paths
def test_the_posterior_reaches_views_that_are_not_observed(path):
    case = Case(Q=6, share=0.5, seed=3)
    q = path(Periodic(), *case)
    mean, var, _ = q.at_views()
    expected_mean, expected_var = q.at(case.w.clone())
    torch.testing.assert_close(mean, expected_mean, atol=1e-12, rtol=0)
    torch.testing.assert_close(var, expected_var, atol=1e-12, rtol=0)


@paths
def test_a_batch_equals_its_singles(path):
    case = Case(P=4, Q=6, J=3, share=0.7)
    kernel = Periodic(1.3, 0.7)
    batch = everything(path, kernel, case)
    for p in range(4):
        for j in range(3):
            single = Case()
            single.w, single.observed, single.at = (
                x[p : p + 1] for x in (case.w, case.observed, case.at)
            )
            single.mu, single.var = (x[p : p + 1, :, j : j + 1] for x in (case.mu, case.var))
            alone = everything(path, kernel, single)
            assert_same({k: v[p : p + 1, ..., j : j + 1] for k, v in batch.items()}, alone, 1e-11)
    means, variances, evidence = global_posterior(*list(case)[1:])
    for p in range(4):
        alone = global_posterior(*(x[p : p + 1] for x in list(case)[1:]))
        for ours, theirs in zip(alone, (means, variances, evidence), strict=True):
            torch.testing.assert_close(ours[0], theirs[p], atol=1e-12, rtol=0)


@paths
def test_the_order_of_the_views_does_not_matter(path):
    case = Case(Q=8, share=0.7)
    order = torch.randperm(8, generator=generator())
    turned = Case()
    turned.w, turned.mu, turned.var = case.w[:, order], case.mu[:, order], case.var[:, order]
    turned.observed, turned.at = case.observed[:, order], case.at
    kernel = Periodic(0.9, 1.1)
    ours, theirs = everything(path, kernel, case), everything(path, kernel, turned)
    for name in ("views_mean", "views_var"):
        ours[name] = ours[name][:, order]
    assert_same(ours, theirs, atol=1e-10)


@paths
def test_a_full_turn_changes_nothing(path):
    case, turned = Case(), Case()
    turned.w, turned.at = case.w + 2 * math.pi, case.at - 4 * math.pi
    kernel = Periodic()
    assert_same(everything(path, kernel, case), everything(path, kernel, turned), atol=1e-10)


# Gradients


@paths
@pytest.mark.parametrize("share", [1.0, 0.6])
def test_gradients_by_the_encodings(path, share):
    case = Case(P=2, Q=4, J=2, share=share, seed=5)
    kernel = Periodic(1.3, 0.8)

    def value(mu, var):
        q = path(kernel, case.w, mu, var, case.observed)
        return (*q.at(case.at), *q.at_views(), q.log_evidence)

    assert torch.autograd.gradcheck(value, (case.mu.requires_grad_(), case.var.requires_grad_()))


@paths
def test_gradients_by_the_kernel(path):
    case = Case(P=2, Q=4, J=2, share=0.7, seed=6)
    names = ["amplitude", "length_scale"]

    def outputs(*parameters):
        kernel = Periodic(1.3, 0.8, learnable=True)
        kernel.log_amplitude.data, kernel.log_length_scale.data = (x.log() for x in parameters)
        q = path(kernel, *case)
        return kernel, (*q.at(case.at), *q.at_views(), q.log_evidence)

    start = [torch.tensor(1.3).double(), torch.tensor(0.8).double()]
    kernel, values = outputs(*start)
    weights = [torch.randn(v.shape, generator=generator(1)) for v in values]
    total = sum((w * v).sum() for w, v in zip(weights, values, strict=True))
    total.backward()
    for i, name in enumerate(names):
        ends = []
        for sign in (1, -1):
            moved = [x.clone() for x in start]
            moved[i] *= math.exp(sign * 1e-5)
            _, values = outputs(*moved)
            ends.append(sum((w * v).sum() for w, v in zip(weights, values, strict=True)))
        slope = float((ends[0] - ends[1]).detach() / 2e-5)
        assert float(getattr(kernel, f"log_{name}").grad) == pytest.approx(slope, rel=1e-6)


def test_gradients_of_the_global_posterior():
    case = Case(P=2, Q=4, J=2, share=0.7)
    inputs = case.mu.requires_grad_(), case.var.requires_grad_()
    assert torch.autograd.gradcheck(lambda *x: global_posterior(*x, case.observed), inputs)


# Samples


def draws(path, kernel, case, at, count):
    """Many samples of each digit [P, count, S, J], drawn as one batch of copies of the digits."""
    many = [x.repeat_interleave(count, 0) for x in (*case, at)]
    drawn = path(kernel, *many[:4]).sample(many[4], generator())
    return drawn.unflatten(0, (-1, count))


@paths
def test_samples_have_the_joint_moments_of_the_posterior(path):
    kernel = Periodic(1.3, 0.8)
    case = Case(P=2, Q=5, J=2, noise=0.2, share=0.7)
    count = 4000
    many = draws(path, kernel, case, case.at, count)
    for p, j, w, mu, noise in digits_and_channels(case):
        mean, covariance, _ = naive_posterior(kernel, w, mu, noise, case.at[p])
        ours = many[p, :, :, j]  # [count, S]
        std = covariance.diagonal().sqrt()
        assert ((ours.mean(0) - mean).abs() < 5 * std / count**0.5).all()
        error = ((ours.mT.cov() - covariance) / torch.outer(std, std)).abs()
        assert float(error.max()) < 5 * (2 / count) ** 0.5


@paths
def test_samples_of_different_digits_and_channels_are_independent(path):
    case, count = Case(P=2, Q=3, J=2), 4000
    many = draws(path, Periodic(), case, case.at[:, :1], count).movedim(1, -1)  # [P, 1, J, count]
    correlation = many.flatten(0, -2).corrcoef() - torch.eye(4)
    assert float(correlation.abs().max()) < 5 / count**0.5


@paths
def test_samples_are_smooth_and_close_around_the_circle(path):
    case = Case(P=1, Q=4, J=3, noise=0.3)
    q = path(Periodic(), *case)
    jumps = []
    for count in (100, 1000):
        at = torch.linspace(0, 2 * math.pi, count + 1).double()[None]
        drawn = q.sample(at, generator())
        assert float(drawn.std()) > 0.1
        torch.testing.assert_close(drawn[:, 0], drawn[:, -1], atol=1e-5, rtol=0)
        jumps.append(float(drawn.diff(dim=1).abs().max()))
    assert jumps[1] < 0.15 * jumps[0]  # ten times as many steps, each a tenth as large


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


@paths
def test_samples_pass_through_views_without_noise(path):
    case = Case(P=2, Q=4, noise=1e-6)
    case.var[:] = 1e-6
    drawn = path(Periodic(), *case).sample(case.w, generator())
    torch.testing.assert_close(drawn, case.mu, atol=0.01, rtol=0)


# Kernels on a line have no features: the dense path alone

LINES = {
    "squared-exponential": RBF(0.6),
    "matern32": Matern(0.6, nu=1.5),
    "matern52": Matern(0.6, nu=2.5),
}


@pytest.mark.parametrize("name", LINES)
def test_the_posterior_on_a_line_agrees_with_scikit_learn_for_ragged_views(name):
    case = Case(P=4, Q=30, noise=0.05, share=0.5)
    q = local_posterior(ON_A_LINE[name](1.3, 0.6), *case)
    assert isinstance(q, DensePosterior)
    mean, var = q.at(case.at)
    _, _, kl = q.at_views()
    assert (kl > 0).all()
    for p, j, w, mu, noise in digits_and_channels(case):
        gp = GaussianProcessRegressor(1.69 * LINES[name], alpha=noise.numpy(), optimizer=None)
        gp.fit(w.numpy()[:, None], mu.numpy())
        expected_mean, expected_std = gp.predict(case.at[p].numpy()[:, None], return_std=True)
        np.testing.assert_allclose(mean[p, :, j], expected_mean, atol=1e-9)
        np.testing.assert_allclose(var[p, :, j], expected_std**2, atol=1e-9)
        evidence = gp.log_marginal_likelihood_value_
        assert float(q.log_evidence[p, j]) == pytest.approx(evidence, abs=1e-9)


@pytest.mark.parametrize("name", LINES)
def test_samples_on_a_line_have_the_joint_moments_of_the_posterior(name):
    kernel = ON_A_LINE[name](1.3, 0.8)
    case, count = Case(P=2, Q=5, J=2, noise=0.2, share=0.7), 4000
    at = torch.cat([case.at, case.at[:, :1]], 1)  # an angle may be asked for twice
    many = draws(DensePosterior, kernel, case, at, count)
    torch.testing.assert_close(many[:, :, 0], many[:, :, -1], atol=1e-6, rtol=0)
    for p, j, w, mu, noise in digits_and_channels(case):
        mean, covariance, _ = naive_posterior(kernel, w, mu, noise, case.at[p])
        ours = many[p, :, :-1, j]
        std = covariance.diagonal().sqrt()
        assert ((ours.mean(0) - mean).abs() < 5 * std / count**0.5).all()
        error = ((ours.mT.cov() - covariance) / torch.outer(std, std)).abs()
        assert float(error.max()) < 5 * (2 / count) ** 0.5


# Numbers at the edge


@st.composite
def extremes(draw):
    Q = draw(st.sampled_from([1, 2, 16, 500]))
    case = Case(1, Q, 2, 1.0, draw(st.integers(0, 1000)))
    case.var[:] = draw(st.sampled_from([1e-6, 1.0, 4.9e8]))  # the encoder's bounds
    if draw(st.booleans()):
        case.var[:, ::2] = draw(st.sampled_from([1e-6, 4.9e8]))
    if draw(st.booleans()):
        case.w[:] = 0.7
    if draw(st.booleans()):
        for name in ("w", "mu", "var"):
            setattr(case, name, getattr(case, name).float())
    case.mu *= draw(st.sampled_from([1.0, 1e3]))
    return case


@given(extremes(), st.sampled_from([0.01, 1.0, 100.0]), st.sampled_from([1e-3, 1.0, 10.0]))
@settings(max_examples=60, deadline=None)
def test_extreme_numbers_give_finite_results(case, r, amplitude):
    mu, var = case.mu.requires_grad_(), case.var.requires_grad_()
    kernel = Periodic(amplitude, r)
    q = local_posterior(kernel, *case)
    mean, spread = q.at(case.at)
    outputs = [mean, spread, *q.at_views(), q.log_evidence]
    outputs += [*global_posterior(mu, var, case.observed)]
    drawn = gaussian.sample(mean, spread, generator())
    for x in (*outputs, drawn, q.sample(case.at, generator())):
        assert x.isfinite().all()
        assert x.dtype == torch.float64
    assert (spread >= 0).all()
    assert (spread <= amplitude**2 * (1 + 1e-9)).all()
    total = sum(x.sum() for x in outputs) + drawn.sum()
    for gradient in torch.autograd.grad(total, (mu, var)):
        assert gradient.isfinite().all()


@paths
def test_identical_angles_average_as_one_view(path):
    """n equal views with noise s² are one view of their mean with noise s²/n."""
    case = Case(P=1, Q=10, J=1)
    case.w[:], case.var[:] = 0.7, 1e-3
    one = Case(P=1, Q=1, J=1)
    one.w[:], one.var[:], one.mu = 0.7, 1e-4, case.mu.mean(1, keepdim=True)
    kernel = Periodic()
    for ours, theirs in zip(
        path(kernel, *case).at(case.at), path(kernel, *one).at(case.at), strict=True
    ):
        torch.testing.assert_close(ours, theirs, atol=1e-9, rtol=0)


@paths
def test_single_precision_encodings_are_used_in_double(path):
    case, single = Case(), Case()
    single.mu, single.var = case.mu.float(), case.var.float()
    case.mu, case.var = single.mu.double(), single.var.double()
    kernel = Periodic()
    assert_same(everything(path, kernel, case), everything(path, kernel, single), atol=0)


@pytest.mark.parametrize("bad", [0.0, -1.0, math.inf, math.nan])
@pytest.mark.parametrize("where", [DensePosterior, FourierPosterior, "global"])
def test_a_variance_that_is_none_is_named(where, bad):
    case = Case()
    case.var[1, 2, 0] = bad
    with pytest.raises(UserError, match="variance is not a positive, finite number"):
        run(where, case)


@pytest.mark.parametrize("bad", [math.inf, math.nan])
@pytest.mark.parametrize("where", [DensePosterior, FourierPosterior, "global"])
def test_a_mean_that_is_none_is_named(where, bad):
    case = Case()
    case.mu[1, 2, 0] = bad
    with pytest.raises(UserError, match="mean is not a finite number"):
        run(where, case)


def run(where, case):
    if where == "global":
        return global_posterior(*list(case)[1:])
    return where(Periodic(), *case)


@paths
@pytest.mark.parametrize("bad", [math.inf, math.nan])
def test_an_angle_that_is_none_is_named(path, bad):
    case = Case()
    case.w[1, 2] = bad
    with pytest.raises(UserError, match="angle or a kernel parameter is not a finite number"):
        path(Periodic(), *case)


@paths
def test_a_kernel_parameter_that_is_none_is_named(path):
    kernel = Periodic()
    kernel.log_amplitude.data.fill_(math.nan)
    with pytest.raises(UserError, match="angle or a kernel parameter is not a finite number"):
        path(kernel, *Case())


def test_a_factorisation_that_fails_is_an_error_not_a_number():
    case = Case(P=1, Q=40, J=1)
    case.var[:] = 1e-13
    with pytest.raises(UserError, match="variances too small"):
        DensePosterior(Periodic(1e3, 100.0), *case)


@given(st.integers(1, 500), st.floats(0.01, 100), st.integers(0, 2**31))
@settings(max_examples=25, deadline=None)
def test_any_variances_give_finite_results_or_a_clear_error(Q, r, seed):
    case = Case(1, Q, 1, seed=seed)
    exponents = 40 * torch.rand(1, Q, 1, dtype=torch.float64, generator=generator(seed)) - 20
    case.var = 10**exponents
    try:
        outputs = everything(local_posterior, Periodic(1.0, r), case)
    except UserError:
        assume(float(case.var.min()) > 1e-10)  # only such precision may be too much
        raise
    for x in outputs.values():
        assert x.isfinite().all()
