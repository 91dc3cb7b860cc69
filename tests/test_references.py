"""Answers that need no model."""

import numpy as np
import torch
from scipy.ndimage import rotate as scipy_rotate

from fgpvae import data, references
from fgpvae.data import ANGLES, embedded, shuffled_rows
from fgpvae.data.objects import Track


def test_the_mean_image_is_the_mean_of_the_rotated_digits():
    upright = embedded((3, 8)).images[390:410]
    each = [
        np.mean([scipy_rotate(image.astype(float), d, reshape=False) for image in upright], axis=0)
        for d in (22.5, 157.5)
    ]
    np.testing.assert_allclose(references.mean_image(upright, ANGLES[[1, 7]]), each, atol=1e-6)


def test_views_on_a_circle_are_near_across_its_seam():
    images = torch.arange(6.0).reshape(2, 3, 1, 1)
    angles = torch.tensor([[0.1, 3.0, 6.2], [6.1, 3.1, 0.3]], dtype=torch.float64)
    observed = torch.tensor([[True, True, True], [True, True, False]])
    ids = torch.arange(2)
    views = data.Views(images, angles, observed, ids, ids)
    at = torch.tensor([[6.25, 2.0]] * 2, dtype=torch.float64)
    task = data.Task(views, torch.zeros(2, 2, 1, 1), at)
    circle = Track(period=360.0)
    assert references.nearest_view(task, circle).flatten(1).tolist() == [[2, 1], [3, 4]]
    assert references.mean_view(views, at[0], circle).flatten().tolist() == [2.5, 2.5]


def test_trivial_predictors_have_the_verified_figures():
    """The figures of the benchmark: on digits 0..269, but for PCA on those of the shuffled split.

    (On digits 0..269 in-sample PCA has 0.0261 / 0.0177 / 0.0099.)
    """
    upright = embedded((3,)).images
    train = np.arange(360)
    first = references.trivial_predictors(upright, train, np.arange(270))
    assert round(first["zeros"], 3) == 0.119
    assert round(first["mean_image"], 4) == 0.0551
    assert round(first["mean_of_neighbours"], 4) == 0.0495
    assert round(first["rotated_neighbour"], 4) == 0.0005
    _, test_ids = shuffled_rows(3)
    second = references.trivial_predictors(upright, train, test_ids)
    assert [round(second[f"pca_{C}"], 4) for C in (8, 16, 32)] == [0.0264, 0.0179, 0.0100]


def test_trivial_predictions_are_the_images_they_claim_to_be():
    upright = embedded((3,)).images[:12]
    train, test = np.arange(8), np.array([9, 11])
    predictions, truth = references.trivial_predictions(upright, train, test, components=(1,))

    def view(p, degrees):
        return scipy_rotate(upright[p].astype(float), degrees, reshape=False)

    neighbours = [(view(p, 135) + view(p, 180)) / 2 for p in test]
    expected = {
        "zeros": np.zeros((2, 28, 28)),
        "mean_image": [np.mean([view(p, 157.5) for p in train], axis=0)] * 2,
        "mean_of_neighbours": neighbours,
        "pca_1": [view(p, 157.5) for p in test],  # one component is enough for two images
        "rotated_neighbour": [scipy_rotate(view(p, 135), 22.5, reshape=False) for p in test],
    }
    np.testing.assert_allclose(truth, expected["pca_1"], atol=1e-6)
    assert predictions.keys() == expected.keys()
    for name, images in expected.items():
        np.testing.assert_allclose(predictions[name], images, atol=1e-6, err_msg=name)
