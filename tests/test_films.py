"""Films: what is drawn, what no training film has, networks that shift, and scores."""

import copy
import math
import sys
from functools import partial

import numpy as np
import pytest
import torch

from fgpvae import models
from fgpvae.browser.strip import rotate
from fgpvae.data import films, trainable
from fgpvae.errors import UserError
from fgpvae.evaluation import film_scores
from fgpvae.evaluation.calibration import doubt
from fgpvae.experiments import EXPERIMENTS, Experiment, report
from fgpvae.models import FGPVAEConfig
from fgpvae.models.fgpvae import FactorizedPosterior
from fgpvae.networks.moving import MARGIN, Shift, centre_of_mass
from fgpvae.networks.standard import NetworkConfig
from fgpvae.runs.checkpoints import load_model, load_pretrained, save_model
from fgpvae.training.batches import FreshFilms
from fgpvae.training.presets import preset
from fgpvae.training.trainer import Trainer
from tests.test_experiments import train_here

NETWORK = NetworkConfig("dense", widths=(24, 16), moving=True, shape=(1, 32, 32))


def tiny(**settings) -> models.FGPVAE:
    torch.manual_seed(0)
    values = {"latents": 6, "local": 2, "kernel": "squared-exponential", "length_scale": 0.4}
    return models.build(FGPVAEConfig(**values | settings, network=NETWORK)).eval()


def test_a_film_is_determined_by_its_number_and_split():
    for split in films.SPLITS:
        one, again, other = (films.film(n, split) for n in (12, 12, 22))
        assert one.label == other.label == 2
        assert np.array_equal(one.images, again.images)
        assert not torch.equal(one.path.weights, other.path.weights)
    with pytest.raises(UserError, match="no films 'test'"):
        films.film(0, "test")


def test_no_training_film_has_a_look_or_a_path_of_another_split():
    digits = trainable(films.split_digits("training"))
    assert len(digits) == 3600
    source = FreshFilms(digits, 64, 3, seed=0)
    looks = {image.tobytes() for image in digits.images}
    for split in ("validation", "unseen"):
        own = films.split_digits(split)
        assert len(trainable(own)) == 0
        assert not looks & {image.tobytes() for image in own.images}
    # paths are draws of 40 normal numbers: equal ones would mean that seeds are shared
    weights = [films.films(50, split)[1].weights for split in films.SPLITS]
    drawn = films.random_paths((50,), torch.Generator().manual_seed(0)).weights
    every = torch.cat([*weights, drawn]).flatten(1)
    assert len(every.unique(dim=0)) == len(every)
    assert torch.equal(source.batch(5).images, source.batch(5).images)
    assert not torch.equal(source.batch(5).images, source.batch(6).images)


def test_paths_are_draws_of_the_gaussian_process():
    t = torch.linspace(-1.2, 1.2, 97, dtype=torch.float64)
    gram = torch.exp(-0.5 * ((t[:, None] - t) / films.LENGTH_SCALE).square())
    phi = films.features(t)
    assert torch.allclose(phi @ phi.mT, gram, atol=1e-10)
    path = films.random_paths((4000,), torch.Generator().manual_seed(0))
    f = phi[::24] @ path.weights.mT  # [4000, 5, 2]
    covariance = torch.einsum("nsi,nti->st", f, f) / 8000
    assert torch.allclose(covariance, gram[::24, ::24], atol=0.07)
    assert torch.allclose(path(t[::24]), 16 + 8 * torch.tanh(0.9 * f))


def test_drawing_is_the_mean_over_the_area_of_a_pixel():
    look = torch.rand(28, 28, generator=torch.Generator().manual_seed(0))
    x, y = 15.3, 18.85
    fine = torch.zeros(32 * 20, 32 * 20)  # twentieths of a pixel
    for i in range(28):
        for j in range(28):
            top, left = round((y - 7 + i / 2) * 20), round((x - 7 + j / 2) * 20)
            fine[top : top + 10, left : left + 10] = look[i, j]
    expected = fine.reshape(32, 20, 32, 20).mean((1, 3))
    drawn = films.draw(look, torch.tensor([[x, y]]) + films.centre(look))[0]
    assert torch.allclose(drawn, expected, atol=1e-5)
    assert float(drawn.sum()) == pytest.approx(float(look.sum()) / 4, rel=1e-5)


def test_a_film_is_played_from_end_to_end_and_no_farther(tmp_path):
    """Beyond its ends a path is no draw of the process: there is no truth to score."""
    out = tmp_path / "strip.png"
    assert rotate("12", "films", "3,20", "1,12.5,24", out)["views"] == [3, 20]
    for given, to in ((None, "30"), (None, "0.5"), ("25", "all")):
        with pytest.raises(UserError, match="not all from 1 to 24"):
            rotate("12", "films", given, to, out)


def test_a_shift_is_a_phase_of_each_fourier_coefficient():
    shift = Shift(32, 0)
    signal = torch.rand(32, generator=torch.Generator().manual_seed(0))
    assert torch.allclose(shift(torch.tensor(1.0)) @ signal, signal.roll(1), atol=1e-5)
    spectrum = torch.fft.rfft(signal.double())
    spectrum[-1] = 0  # Nyquist's frequency has a phase of 0 or π alone
    smooth = torch.fft.irfft(spectrum, 32)
    phase = torch.exp(-2j * math.pi / 32 * torch.arange(17) * 3.7)
    expected = torch.fft.irfft(spectrum * phase, 32).float()
    assert torch.allclose(shift(torch.tensor(3.7)) @ smooth.float(), expected, atol=1e-5)
    middle = Shift(32, MARGIN)(torch.tensor(2.2))
    assert torch.allclose(middle, shift(torch.tensor(2.2))[:, MARGIN:-MARGIN])


def test_a_look_is_read_the_same_wherever_it_is():
    places = torch.tensor([[13.0, 17.0], [18.0, 15.0], [9.5, 21.25]])
    images = films.draw(films.film(3).look, places)[:, None]
    encoder = tiny().encoder.layers
    assert torch.allclose(centre_of_mass(images) + 16, places, atol=0.05)
    codes = encoder(images)[:, 2:6]
    assert torch.allclose(codes[0], codes[1], atol=1e-4)  # a whole number of pixels apart
    assert torch.allclose(codes[0], codes[2], atol=0.02)
    empty = encoder(torch.zeros(1, 1, 32, 32))
    assert empty.isfinite().all()


def test_a_place_is_drawn_where_it_was_read():
    model = tiny()
    place = model.decoder.layers.place
    assert model.encoder.layers.place is place
    twin = copy.deepcopy(model)
    assert twin.encoder.layers.place is twin.decoder.layers.place is not place
    z = torch.linspace(-2, 2, 5).repeat(2, 1).mT.contiguous().requires_grad_()
    p = place(z)
    again, log_var = place.inverse(p, torch.zeros(2))
    assert torch.allclose(again, z, atol=1e-4)
    (slope,) = torch.autograd.grad(p.sum(), z)  # of one channel each
    assert torch.allclose(log_var, -2 * slope.log(), atol=1e-3)
    assert place.inverse(torch.full((2,), 99.0), torch.zeros(2))[0].isfinite().all()


def test_the_decoder_moves_one_look():
    model = tiny()
    z = torch.randn(3, 4, 6, generator=torch.Generator().manual_seed(0))
    z[..., 2:] = z[:, :1, 2:]
    together = model.decode(z, one_style=True)
    assert together.shape == (3, 4, 32, 32)
    assert torch.allclose(together, model.decode(z), atol=1e-5)


def test_style_dropout_leaves_the_path_alone():
    """Hidden from the global channels alone, a view still says where the thing is."""
    views = FreshFilms(films.split_digits("training"), 4, 5, seed=0).batch(0)
    model = tiny(style_dropout=True)
    first = torch.zeros_like(views.observed)
    first[:, 0] = True
    mu, var = model.encode(views.images, views.angles, views.observed)
    part = FactorizedPosterior(model, mu, var, views.angles, views.observed, first)
    whole = model.posterior(mu, var, views.angles, views.observed)
    alone = model.posterior(mu, var, views.angles, first)
    assert torch.equal(part.local.at_views()[0], whole.local.at_views()[0])
    assert torch.equal(part.style()[0], alone.style()[0])
    generator = torch.Generator().manual_seed(0)
    assert torch.allclose(model.terms(views, first, generator).kl, part.draw()[1])


@pytest.mark.parametrize("changes", [(), ("model.local=6",), ("model.local=0",)])
def test_films_are_learned_and_saved(changes, tmp_path):
    settings = ["model.latents=6", "model.network.widths=[24,16]", "training.epochs=1", *changes]
    config = preset("films-quick", settings)
    digits = films.split_digits("training")[:96]
    trainer = Trainer(config, FreshFilms(digits, 48, 4, seed=0))
    assert [step.step for step in trainer.steps()] == [1, 2]
    model = trainer.result()
    save_model(model, tmp_path / "model.safetensors", half=True)
    again = load_model(tmp_path / "model.safetensors")
    film = films.film(0)
    images, t = film.images[None], films.times()[None]
    made = again.generate(images, t, torch.tensor([[0.123]]))
    assert np.allclose(made, model.generate(images, t, torch.tensor([[0.123]])), atol=1e-2)


def test_a_posterior_that_is_true_is_found_true(monkeypatch):
    """Coverage is near 90 % and the spread as large as the error."""
    path = films.films(200, "validation")[1]
    t = films.times().expand(200, -1)
    noise = torch.Generator().manual_seed(3)
    centre = path(t) + torch.randn(200, 24, 2, dtype=torch.float64, generator=noise)

    class Known:
        def mean(self, at):
            return centre

        def variance(self, at):
            return torch.ones_like(centre)

    monkeypatch.setattr(film_scores, "_features", lambda model, codes: codes)
    eye = torch.eye(2, dtype=torch.float64)
    found = film_scores._paths(tiny(), eye, 1e-4 * eye, Known(), t, path(t))
    assert found["coverage"] == pytest.approx(0.9, abs=0.02)
    assert found["spread"] == pytest.approx(found["path_error"], rel=0.05)


def test_scores_say_what_the_process_adds_and_where_copying_is_better():
    scores = film_scores.film_scores(tiny(), count=6, samples=2)
    assert 0 <= scores["gp_share"] <= 1
    known, errors = scores["references"], scores["mse"]["8"]
    assert errors["predictive_mean"] > known["mean_image"]["8"]
    assert f"({errors['predictive_mean']:.4f}) than" in scores["verdict"]
    shipped = film_scores.film_scores(load_pretrained("films"), count=6, samples=8)
    assert shipped["gp_share"] > 0.5
    assert shipped["verdict"] is None
    looks, path = films.films(6)
    images = films.draw(looks, path(films.times()))
    train = torch.stack([torch.from_numpy(films.film(n, "training").images) for n in range(40)])
    mean = train.flatten(0, 1).mean(0)
    asked = ~torch.isin(torch.arange(24), films.given_frames(4))
    expected = (images[:, asked] - mean).square().mean()
    assert known["mean_image"]["4"] == pytest.approx(float(expected), rel=1e-4)


def test_the_shipped_model_states_its_error():
    looks, path = films.films(24)
    images = films.draw(looks, path(films.times()))
    given = films.task(images, films.FRAMES).context
    for n, each in doubt(load_pretrained("films"), given, (2, 4, 8)).items():
        assert each["stated"] == pytest.approx(each["actual"], rel=0.25), n


def test_experiments_write_their_tables(tmp_path, monkeypatch):
    train_here(monkeypatch)
    few = partial(film_scores.film_scores, count=4, samples=2)
    module = sys.modules["fgpvae.experiments.subjects"]
    monkeypatch.setattr(module, "film_scores", few)
    changes = ("training.epochs=1", "training.batch=400", "model.network.widths=[8]")
    where = {"seeds": 1, "runs": tmp_path / "runs", "results": tmp_path}
    result = EXPERIMENTS["films"](
        Experiment(**where, models=("films-quick", "cvae"), changes=changes)
    )
    assert [row["preset"] for row in result["rows"]] == ["films-quick", "cvae", "films"]
    assert "coverage" in result["rows"][0]
    assert "coverage" not in result["rows"][1]
    report.write(result, tmp_path)
    assert "straight line" in (tmp_path / "films.md").read_text()
    result = EXPERIMENTS["ball"](Experiment(**where, changes=("training.epochs=1",)))
    report.write(result, tmp_path)
    assert "encoder alone" in (tmp_path / "ball.md").read_text()
    with pytest.raises(UserError, match="only setting"):
        EXPERIMENTS["ball"](Experiment(**where, changes=("model.latents=3",)))
