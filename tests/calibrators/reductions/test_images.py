"""Image reductions against plain loops, and on sizes that t does not divide."""

import numpy as np
import pytest
from sklearn.base import clone

from calibrant.calibrators.reductions import AveragePool, BilinearResize, Grayscale, MaxPool
from calibrant.errors import InputError


@pytest.fixture
def images():
    return np.random.default_rng(0).integers(0, 256, (5, 8, 12)).astype(np.uint8)


@pytest.mark.parametrize("t", [2, 4])
@pytest.mark.parametrize(("pool", "function"), [(AveragePool, np.mean), (MaxPool, np.max)])
def test_pools_are_tile_by_tile(images, pool, function, t):
    expected = [
        [function(image[r : r + t, c : c + t]) for r in range(0, 8, t) for c in range(0, 12, t)]
        for image in images.astype(float)
    ]
    np.testing.assert_allclose(pool(t).fit_transform(images), expected, rtol=1e-6)
    flat = pool(t, shape=(8, 12)).fit_transform(images.reshape(5, -1))
    np.testing.assert_allclose(flat, expected, rtol=1e-6)


@pytest.mark.parametrize("reduction", [AveragePool, MaxPool, BilinearResize])
def test_a_size_that_t_does_not_divide_and_colours(reduction):
    X = np.full((2, 7, 5, 3), 9.0)
    out = reduction(3).fit_transform(X)
    assert out.shape[0] == 2
    np.testing.assert_allclose(out, 9.0)
    assert (clone(reduction(3)).fit(X).transform(X) == out).all()
    np.testing.assert_array_equal(reduction(1).fit_transform(X), X.reshape(2, -1))


def test_bilinear_by_two_is_average_pooling_and_by_four_reads_the_middle(images):
    np.testing.assert_allclose(
        BilinearResize(2).fit_transform(images), AveragePool(2).fit_transform(images), rtol=1e-5
    )
    middle = (
        images.reshape(5, 2, 4, 3, 4)[:, :, 1:3, :, 1:3]
        .astype(float)
        .mean(axis=(2, 4))
        .reshape(5, -1)
    )
    np.testing.assert_allclose(BilinearResize(4).fit_transform(images), middle, rtol=1e-5)


def test_grey_is_the_weighted_sum():
    X = np.random.default_rng(1).random((3, 4, 4, 3))
    np.testing.assert_allclose(
        Grayscale().fit_transform(X), 0.299 * X[..., 0] + 0.587 * X[..., 1] + 0.114 * X[..., 2]
    )


def test_shapes_that_cannot_be_are_refused():
    with pytest.raises(InputError, match="shape"):
        AveragePool(2).fit_transform(np.zeros((2, 6)))
    with pytest.raises(InputError, match="shape"):
        AveragePool(2, shape=(3, 3)).fit_transform(np.zeros((2, 8)))
    with pytest.raises(InputError, match="three colours"):
        Grayscale().fit_transform(np.zeros((2, 4, 4)))
    with pytest.raises(InputError, match="t must"):
        MaxPool(0).fit(np.zeros((2, 4)))
