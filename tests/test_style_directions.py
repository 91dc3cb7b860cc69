"""The directions that style sliders move along, and where they end."""

import numpy as np
import pytest
import torch
from sklearn.linear_model import LinearRegression

import fgpvae
from fgpvae.browser import style_directions
from fgpvae.browser.style_directions import PROPERTIES, Style, properties
from fgpvae.data import Views
from fgpvae.data.collections import Digits, views_of
from fgpvae.evaluation.latents import own_styles
from fgpvae.models import Model


@pytest.fixture(scope="module")
def model() -> Model:
    return fgpvae.load_pretrained("best")


@pytest.fixture(scope="module")
def views() -> Views:
    return Digits((3,)).training_views(count=120)


@pytest.fixture(scope="module")
def found(model: Model, views: Views) -> list[Style]:
    return style_directions.style_directions(model, views, own_styles(model, views))


def test_slant_and_the_others_are_named_first_and_every_channel_follows(model, found):
    assert {style.name for style in found[:4]} == set(PROPERTIES)
    rest = found[4:]
    assert sorted(style.channel for style in rest) == list(range(len(model.styles)))
    assert [style.name for style in rest[:2]] == ["style 1", "style 2"]
    effects = [style.effect for style in rest]
    assert effects == sorted(effects, reverse=True)


@pytest.mark.parametrize("name", PROPERTIES)
def test_a_slider_to_the_right_gives_more_of_what_it_is_called(model, found, name):
    """On digits of the test file, which nothing was fitted to."""
    (style,) = [style for style in found if style.name == name]
    new = views_of(Digits((3,)).subjects(True)[:30])
    with torch.no_grad():
        code = torch.as_tensor(model.infer(new.images, new.angles).mean(new.angles))[:, 0]
        step = torch.zeros(code.shape[-1], dtype=code.dtype)
        step[list(model.styles)] = torch.as_tensor(style.direction, dtype=code.dtype)
        less, same, more = (properties(model.decode(code + s * step)).mean(0) for s in (-1, 0, 1))
    k = PROPERTIES.index(name)
    assert less[k] < same[k] < more[k]


def test_directions_are_those_of_a_regression_by_class():
    random = np.random.default_rng(0)
    labels = np.repeat([1, 7], 100)
    measured = random.normal(size=(200, 4)) * [0.2, 30, 2, 1] + 5 * labels[:, None]
    mixing = random.normal(size=(4, 6))
    own = measured @ mixing / 10 + 0.3 * random.normal(size=(200, 6)) - 2.0 * labels[:, None]
    directions = style_directions._regressed(own, measured, labels)
    dummies = np.column_stack([measured, labels == 7])
    expected = LinearRegression().fit(dummies, own).coef_[:, :4].T  # [4, 6]
    spread = np.concatenate(
        [measured[:100] - measured[:100].mean(0), measured[100:] - measured[100:].mean(0)]
    ).std(0)
    for k, style in enumerate(directions):
        np.testing.assert_allclose(style.direction, expected[k] * spread[k], atol=1e-9)


def test_properties_of_known_shapes():
    y, x = torch.meshgrid(torch.arange(28.0), torch.arange(28.0), indexing="ij")

    def box(height: float, width: float, shear: float = 0.0) -> torch.Tensor:
        axis = 14 - shear * (y - 14)
        return (((y - 14).abs() <= height) & ((x - axis).abs() <= width)).float()

    shapes = torch.stack([box(8, 2), box(8, 4), box(4, 2), box(8, 2, 0.5)])
    slant, ink, width, height = properties(shapes).T
    assert slant[0].abs() < 1e-6
    assert slant[3] == pytest.approx(0.5, abs=0.05)
    assert ink[1] / ink[0] == pytest.approx(9 / 5)
    assert width[1] > 1.5 * width[0]
    assert height[0] > 1.7 * height[2]
    assert width[3] == pytest.approx(float(width[0]), rel=0.1)  # a slant is not width
