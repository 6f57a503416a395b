"""The radial kernel on a lattice: the kernel itself, its products, and rows that do not depend
on their neighbours.
"""

import numpy as np
import pytest

from calibrant._kernels.gaussian_process import (
    PERIOD,
    function_values,
    lattice_features,
    row_products,
)


def kernel(scores, length):
    return np.exp(-0.5 * ((scores[..., :, None] - scores[..., None, :]) / length) ** 2)


@pytest.mark.parametrize("length", [0.001, 0.3, 5.0, 1e3])
def test_the_lattice_gives_the_kernel(length):
    scores = np.random.default_rng(0).normal(size=(4, 9)) * 3.0
    values = np.random.default_rng(1).normal(size=(4, 9))
    features = function_values(scores.ravel(), length, np.eye(PERIOD)).reshape(4, 9, PERIOD)
    near = np.abs(scores[:, :, None] - scores[:, None, :]) < 1_000 * length
    np.testing.assert_allclose(
        (features @ features.transpose(0, 2, 1))[near], kernel(scores, length)[near], atol=1e-10
    )
    if near.all():
        np.testing.assert_allclose(
            row_products(scores, values, length),
            (kernel(scores, length) @ values[..., None])[..., 0],
            atol=1e-9,
        )


def test_a_row_does_not_depend_on_the_rows_beside_it():
    scores = np.random.default_rng(0).normal(size=(5, 4))
    values = np.random.default_rng(1).normal(size=(5, 4))
    far = np.concatenate([scores, [[-700.0, 0.0, 30.0, 90.0]]])
    together = row_products(far, np.concatenate([values, values[:1]]), 0.7)[:5]
    np.testing.assert_array_equal(together, row_products(scores, values, 0.7))
    np.testing.assert_array_equal(together[2:3], row_products(scores[2:3], values[2:3], 0.7))


def test_scores_however_far_out_are_finite():
    scores = np.array([[-1e300, 0.0, 1e300, 1e300]])
    assert np.isfinite(function_values(scores.ravel(), 1e-3, np.ones((PERIOD, 1)))).all()
    np.testing.assert_allclose(
        row_products(scores, np.array([[1.0, 2.0, 3.0, 4.0]]), 1e-3),
        [[1.0, 2.0, 7.0, 7.0]],
        atol=1e-9,
    )


@pytest.mark.parametrize("length", [0.02, 0.1, 5.0])
def test_features_give_the_kernel_and_its_slope(length):
    points = np.linspace(-1.0, 3.0, 81)
    features, slopes = lattice_features(points, length)
    np.testing.assert_allclose(features @ features.T, kernel(points, length), atol=1e-9)
    ends = [kernel(points, length * np.exp(s * 1e-5)) for s in (1.0, -1.0)]
    half = features @ slopes.T
    np.testing.assert_allclose(half + half.T, (ends[0] - ends[1]) / 2e-5, atol=1e-8)


def test_a_length_far_below_a_cell_costs_no_more_nodes():
    features, _ = lattice_features(np.linspace(0.0, 1e3, 51), 1e-3)
    assert features.shape[1] < 1_000
    np.testing.assert_allclose(features @ features.T, np.eye(51), atol=1e-7)
