import numpy as np
import pytest
from scipy import stats

from calibrant._kernels.clusters import between_variance, pooled_mean, rubin


def test_the_restricted_likelihood_is_the_density_of_the_contrasts():
    """Its greatest value by another road: the density of an orthonormal set of contrasts of the
    estimates.
    """
    rng = np.random.default_rng(0)
    for _ in range(5):
        variance = rng.uniform(0.01, 0.5, 6)
        estimate = rng.normal(1.0, np.sqrt(variance + 0.3))
        contrasts = np.linalg.svd(np.ones((1, 6)))[2][1:]
        grid, seen = np.linspace(0.0, 3.0, 601), contrasts @ estimate
        laws = (
            stats.multivariate_normal(np.zeros(5), contrasts @ np.diag(variance + t) @ contrasts.T)
            for t in grid
        )
        density = [law.logpdf(seen) for law in laws]
        assert between_variance(estimate, variance, "reml") == pytest.approx(
            grid[np.argmax(density)], abs=5.1e-3
        )


def test_one_far_site_of_no_weight_leaves_the_mean():
    mean, square = pooled_mean(
        np.array([1.0, 1.2, 0.8, 50.0]), np.array([0.01, 0.01, 0.01, 1e12]), 0.0
    )
    assert mean == pytest.approx(1.0)
    assert square == pytest.approx((0.04 + 0.04) / 0.01 / (3 * 300), rel=1e-6)


def test_without_a_sample_size_the_degrees_of_freedom_are_rubins():
    _, total, freedom, share = rubin(np.array([0.0, 2.0]), np.array([1.0, 1.0]), np.inf)
    assert (total, share, freedom) == pytest.approx((4.0, 0.75, 1 / 0.75**2))


def test_imputations_without_any_difference_have_the_degrees_of_freedom_of_the_rows():
    mean, total, freedom, share = rubin(np.array([3.0, 3.0, 3.0]), np.array([0.2, 0.2, 0.2]), 49.0)
    assert (mean, total, share) == (3.0, pytest.approx(0.2), 0.0)
    assert freedom == pytest.approx(50 / 52 * 49)
    assert rubin(np.array([3.0, 3.0]), np.array([0.2, 0.2]), np.inf)[2] == np.inf
