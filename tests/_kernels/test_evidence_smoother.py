"""The smoother: against dense Gaussian-process regression, averaged over the same priors by their exact evidence."""

import numpy as np
import pytest
from scipy import stats

from calibrant._kernels import evidence_smoother as es


def _rows(n=60, seed=0):
    rng = np.random.default_rng(seed)
    x = np.sort(rng.normal(size=n))
    return x, rng.uniform(0.5, 3.0, n), np.sin(x) + rng.normal(size=n)


def _dense(grid, precision, asked, smooth):
    """Mean and covariance at the grid by n x n matrices; the noise of row i has variance 1 / precision."""
    m = len(grid.points)
    B = np.zeros((len(asked), m))
    B[np.arange(len(asked)), grid.low] += 1.0 - grid.share
    B[np.arange(len(asked)), np.minimum(grid.low + 1, m - 1)] += grid.share
    place = np.linspace(0.0, grid.size, m)
    gap = place[:, None] - place
    logs, means, covariances = [], [], []
    for i, c in enumerate(es.CONSTANTS):
        for j, (a, length) in enumerate(es.PROCESSES if smooth else es.PROCESSES[:1]):
            K = c * c + a * a * np.exp(-0.5 * (gap / length) ** 2)
            S = B @ K @ B.T + np.diag(1.0 / precision)
            prior = (0.5 if i == 0 else 0.5 / 3.0) * ((0.5 if j == 0 else 0.5 / 6.0) if smooth else 1.0)
            logs.append(np.log(prior) + stats.multivariate_normal(np.zeros(len(asked)), S).logpdf(asked))
            gain = K @ B.T @ np.linalg.inv(S)
            means.append(gain @ asked)
            covariances.append(K - gain @ B @ K)
    share = np.exp(np.array(logs) - max(logs))
    share /= share.sum()
    mean = share @ np.array(means)
    apart = np.array(means) - mean
    return mean, np.tensordot(share, covariances, axes=1) + (apart.T * share) @ apart


@pytest.mark.parametrize("smooth", [True, False])
def test_it_is_the_average_of_gaussian_processes(smooth):
    x, precision, asked = _rows()
    grid = es.make_grid(x, np.ones(len(x)))
    found = es.posterior(grid, precision, precision * asked, smooth=smooth)
    mean, covariance = _dense(grid, precision, asked, smooth)
    np.testing.assert_allclose(found.values, mean, atol=1e-4)
    np.testing.assert_allclose(found.covariance, covariance, atol=1e-4)
    B = np.array([grid.at_rows(column) for column in np.eye(len(grid.points))]).T
    np.testing.assert_allclose(grid.variance_at_rows(found.covariance), np.einsum("ni,ij,nj->n", B, found.covariance, B))


def test_a_weight_is_so_many_rows_and_no_evidence_is_next_to_nothing():
    x, precision, asked = _rows()
    grid, twice = es.make_grid(x, np.ones(60)), es.make_grid(np.repeat(x, 2), np.ones(120))
    once = es.posterior(grid, 2.0 * precision, 2.0 * precision * asked)
    again = es.posterior(twice, np.repeat(precision, 2), np.repeat(precision * asked, 2))
    np.testing.assert_allclose(once.values, again.values, rtol=1e-9)
    assert np.abs(es.posterior(grid, np.full(60, 1e-3), np.zeros(60)).values).max() == 0.0


def test_one_value_is_one_point_and_a_constant_without_prior_is_the_mean():
    grid = es.make_grid(np.full(5, 3.0), np.ones(5))
    assert grid.points.tolist() == [3.0]
    weight, asked = np.arange(1.0, 6.0), np.arange(5.0)
    assert es.constant_only(grid, weight, weight * asked).values.tolist() == [np.average(asked, weights=weight)]
    assert abs(es.posterior(grid, 1e6 * weight, 1e6 * weight * asked).values[0] - np.average(asked, weights=weight)) < 1e-3
