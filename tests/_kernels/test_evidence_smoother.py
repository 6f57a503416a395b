"""The smoother: against dense Gaussian-process regression, averaged over the same priors by
their exact evidence.
"""

import numpy as np
import pytest
from scipy import stats

from calibrant._kernels import location_scale as es


def _rows(n=60, seed=0):
    rng = np.random.default_rng(seed)
    x = np.sort(rng.normal(size=n))
    return x, rng.uniform(0.5, 3.0, n), np.sin(x) + rng.normal(size=n)


def _dense(grid, precision, asked, smooth):
    """Mean and covariance at the grid by n x n matrices; the noise of row i has variance 1 /
    precision.
    """
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
            prior = (0.5 if i == 0 else 0.5 / 3.0) * (
                (0.5 if j == 0 else 0.5 / 6.0) if smooth else 1.0
            )
            logs.append(
                np.log(prior) + stats.multivariate_normal(np.zeros(len(asked)), S).logpdf(asked)
            )
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
    np.testing.assert_allclose(
        grid.variance_at_rows(found.covariance), np.einsum("ni,ij,nj->n", B, found.covariance, B)
    )


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
    assert es.constant_only(grid, weight, weight * asked).values.tolist() == [
        np.average(asked, weights=weight)
    ]
    assert (
        abs(
            es.posterior(grid, 1e6 * weight, 1e6 * weight * asked).values[0]
            - np.average(asked, weights=weight)
        )
        < 1e-3
    )


def spread_of(grid):
    """(n, M): what each row takes from each point."""
    out = np.zeros((len(grid.low), len(grid.points)))
    rows = np.arange(len(grid.low))
    np.add.at(out, (rows, grid.low), 1.0 - grid.share)
    np.add.at(out, (rows, np.minimum(grid.low + 1, len(grid.points) - 1)), grid.share)
    return out


def test_sums_over_rows_are_those_of_their_shares():
    rng = np.random.default_rng(0)
    x, weight, values = rng.normal(size=40), rng.uniform(0.5, 2.0, 40), rng.normal(size=40)
    for grid in (es.make_grid(x, weight), es.make_grid(np.full(40, 3.0), weight)):
        spread, m = spread_of(grid), len(grid.points)
        function, root = rng.normal(size=m), rng.normal(size=(m, m))
        np.testing.assert_allclose(grid.at_rows(function), spread @ function)
        np.testing.assert_allclose(grid.sums(values), spread.T @ values)
        np.testing.assert_allclose(grid.gram(weight), (spread.T * weight) @ spread, atol=1e-12)
        np.testing.assert_allclose(
            grid.variance_at_rows(root @ root.T),
            np.einsum("ni,ij,nj->n", spread, root @ root.T, spread),
        )


def test_the_grid_ends_at_two_and_a_half_deviations_or_at_the_outermost_rows():
    x = np.append(np.tile([-1.0, 1.0], 50), 40.0)
    weight = np.append(np.ones(100), 1e-9)
    grid = es.make_grid(x, weight)
    np.testing.assert_allclose(grid.points[[0, -1]], [-1.0, 2.5], rtol=1e-6)
    assert len(grid.points) == 16
    np.testing.assert_allclose(grid.size, 3.5, rtol=1e-6)
    np.testing.assert_allclose(grid.at_rows(grid.points)[[0, 1, -1]], [-1.0, 1.0, 2.5], rtol=1e-6)
    assert es.make_grid(x, weight, 7.0).size == pytest.approx(0.5)
    assert len(es.make_grid(np.array([1.0, 1.0 + 1e-12]), np.ones(2)).points) == 1
    assert len(es.make_grid(np.array([1.0, 1.0 + 1e-6]), np.ones(2)).points) == 16
    alone = es.make_grid(np.array([2.0, 2.0]), np.ones(2))
    assert (alone.points.tolist(), alone.size) == ([2.0], 0.0)


def test_one_point_has_the_posterior_of_normal_priors_written_out():
    """A constant of std 0, .1, .4 or 2, half of the prior on none; rows that ask for 1 with
    weight 5 in all.
    """
    grid = es.make_grid(np.full(4, 1.0), np.ones(4))
    weight, pull = np.array([1.0, 1.0, 1.0, 2.0]), np.array([1.0, 1.0, 1.0, 2.0])
    sizes, prior = np.array([0.0, 0.1, 0.4, 2.0]) ** 2, np.array([0.5, 1 / 6, 1 / 6, 1 / 6])
    mean, variance = sizes * 5 / (1 + 5 * sizes), sizes / (1 + 5 * sizes)
    evidence = prior / np.sqrt(1 + 5 * sizes) * np.exp(0.5 * mean * 5)
    share = evidence / evidence.sum()
    found = es.posterior(grid, weight, pull)
    np.testing.assert_allclose(found.values, [share @ mean])
    np.testing.assert_allclose(
        found.covariance, [[share @ (variance + mean**2) - (share @ mean) ** 2]]
    )
    np.testing.assert_allclose(found.evidence, np.log(evidence.sum()))
    widest = es.posterior(grid, weight, pull, shrunk=False)
    np.testing.assert_allclose(
        [widest.values[0], widest.evidence], [20 / 21, -0.5 * np.log(21) + 0.5 * 20 / 21 * 5]
    )
    plain = es.constant_only(grid, weight, pull)
    assert (plain.values.tolist(), plain.covariance.tolist(), plain.evidence) == (
        [1.0],
        [[0.2]],
        2.5,
    )
    nothing = es.constant_only(grid, 0 * weight, 0 * pull)
    assert (nothing.values.tolist(), nothing.covariance.tolist(), nothing.evidence) == (
        [0.0],
        [[0.0]],
        0.0,
    )
