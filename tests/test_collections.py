"""Subjects and collections: one contract for all, and what a model makes of a subject."""

import numpy as np
import pytest
import scipy.ndimage
import torch
from hypothesis import given
from hypothesis import strategies as st

import fgpvae
from fgpvae.browser.imagined import imagine, morphed, prior, remembered
from fgpvae.data import ANGLES
from fgpvae.data.collections import Cubes, Digits, Films, Own, views_of
from fgpvae.errors import UserError
from tests import small_runs


def own(period: float = 0.0) -> Own:
    objects = small_runs.bars()
    return Own(objects, objects.track(period), 0)


COLLECTIONS = {
    "digits": Digits((3, 8)),
    "cubes": Cubes(),
    "films": Films(),
    "own": own(),
    "own on a circle": own(8.0),
}


@pytest.mark.parametrize("name", COLLECTIONS)
def test_every_collection_keeps_the_contract(name):
    collection = COLLECTIONS[name]
    subject = collection.first()
    assert collection.find(subject.id) == subject
    assert collection.find("no such thing!") is None
    assert subject.new
    assert subject in collection.subjects(True)
    assert subject not in collection.subjects(False)
    Q = len(subject.w)
    assert subject.images.shape[0] == Q
    assert subject.images.dtype == np.float32
    assert set(subject.order) == set(range(Q)) - set(subject.held_out)
    assert set(subject.first_views) <= set(subject.order)
    assert subject.thumbnail.ndim in (2, 3)
    places = collection.track.grid(5)
    observed = np.isin(np.arange(Q), subject.first_views)
    for images in collection.references(subject, observed, places).values():
        assert images.shape == (5, *subject.images.shape[1:])
    truth = subject.truth_at(subject.w)
    assert truth is None or np.allclose(truth, subject.images, atol=0.02)  # cubes are 8 bits
    train = collection.training_views(subject.label, 6)
    assert train.images.shape[2:] == subject.images.shape[1:]
    assert 1 <= len(train) <= 6


def test_a_digit_turns_as_scipy_turns_it():
    digit = Digits().find("new-7-3")
    expected = scipy.ndimage.rotate(digit.thumbnail.astype(float), 33, reshape=False)
    assert np.allclose(digit.truth_at(np.deg2rad([33.0]))[0], expected, atol=1e-5)
    turned = Digits().references(digit, np.arange(16) == 0, np.deg2rad([33.0]))
    assert np.allclose(turned["geometric rotation"][0], expected, atol=1e-5)


@given(st.integers(0, 9), st.integers(0, 49))
def test_names_of_digits_go_into_links_and_back(label, number):
    for text in (f"new-{label}-{number}", f"{label}-{number}"):
        assert Digits().find(text).id == text


def test_a_film_of_a_drawn_path_goes_where_it_was_drawn():
    places = np.stack([np.linspace(10, 22, 24), 16 + 5 * np.sin(np.linspace(0, 3, 24))], 1)
    film = Films().make(Digits().first().thumbnail, places)
    assert np.abs(film.path(film.w).numpy() - places).max() < 0.05
    swap = Films().swapped(film, Films().first(), film.w[:2])
    assert swap.shape == (2, 32, 32)


def test_a_drawn_path_is_a_draw_of_the_process_and_near_the_line_between_frames_too():
    t, fine = np.linspace(0, 1, 24), np.linspace(0, 1, 400)
    corner = (
        np.interp(3 * t, range(4), (10, 10, 22, 22)),
        np.interp(3 * t, range(4), (10, 22, 22, 10)),
    )
    wave = 9 + 14 * t, 16 + 6 * np.sin(2 * np.pi * t)
    for x, y in (corner, wave):
        film = Films().make(Digits().first().thumbnail, np.stack([x, y], 1))
        line = np.stack([np.interp(fine, t, x), np.interp(fine, t, y)], 1)
        path = film.path(2 * fine - 1).numpy()
        apart = np.linalg.norm(path[:, None] - line, axis=-1).min(1)
        assert apart.max() < 0.6
        assert float(film.path.weights.square().mean().sqrt()) < 3  # standard normal numbers


@pytest.fixture(scope="module")
def seen():
    model = fgpvae.load_pretrained("paper")
    return imagine(model, Digits((3,)).find("new-3-2"), [0, 4, 8, 12])


def test_images_are_those_of_the_model(seen):
    at = np.array([0.3, 2.0])
    views = views_of([seen.subject])
    made = seen.model.generate(
        views.images, views.angles, at[None], torch.as_tensor(seen.observed)[None]
    )
    assert np.allclose(seen.images(at), np.asarray(made[0]), atol=1e-4)


def test_samples_are_of_the_posterior(seen):
    at, drawn = np.array([0.0, 1.0]), seen.sampled_codes([0.0, 1.0], 400)
    mean, sd = seen.channels(at)
    assert np.abs(drawn.mean(0) - mean).max() < 6 * sd.max() / 20
    assert np.allclose(drawn.std(0), sd, rtol=0.25, atol=0.01)
    assert np.array_equal(seen.samples(at, 2, seed=1), seen.samples(at, 2, seed=1))


def test_doubt_falls_with_every_view(seen):
    few, many = (imagine(seen.model, seen.subject, views) for views in ([0], seen.subject.order))
    assert few.doubt(ANGLES).mean() > many.doubt(ANGLES).mean()


def test_morph_and_swap_exchange_global_channels(seen):
    other = imagine(seen.model, Digits((3,)).find("new-3-9"), [0, 4, 8, 12])
    styles, images = morphed(seen, other, 0.5, 3)
    assert np.allclose(styles[[0, -1]], [seen.own, other.own])
    assert np.allclose(images[0], seen.images([0.5])[0], atol=1e-5)
    local = other.channels([0.5])[0][0]
    local[seen.model.styles] = seen.own
    assert np.allclose(other.images([0.5], seen.own)[0], seen.decode(local[None])[0], atol=1e-4)


def test_trails_of_a_film_go_where_the_model_draws_it():
    model = fgpvae.load_pretrained("films")
    film = Films().find("3")
    seen = imagine(model, film, film.order)
    trails = seen.trails(film.w, 4)
    assert trails.shape == (5, 24, 2)
    assert (
        np.abs(32 * trails[0] - film.path(film.w).numpy()).mean() < 2
    )  # a centre of mass, not of a look
    few = imagine(model, film, film.first_views).trails(film.w, 30)
    spread = few[1:].std(0).sum(-1)
    assert spread[film.first_views].max() < 0.2 * spread.max()


def test_what_is_drawn_from_the_prior_depends_on_its_seed_alone():
    model = fgpvae.load_pretrained("best")
    (one, style), (same, again), (_, other) = (prior(model, seed) for seed in (1, 1, 2))
    assert style == again != other
    assert np.array_equal(one.images([0.1], style), same.images([0.1], again))
    with pytest.raises(UserError, match="no style"):
        prior(fgpvae.load_pretrained("gpvae"), 1)


def test_a_joint_gp_remembers_the_views_of_its_training_digits():
    model = fgpvae.load_pretrained("gpvae")
    digits = Digits((3,))
    assert remembered(model, digits.find("new-3-1")) is None
    views = remembered(model, digits.find("3-1"))
    assert views
    assert 7 not in views
    assert imagine(model, digits.find("3-1"), views).images([0.0]).shape == (1, 28, 28)
