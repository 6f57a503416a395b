"""Pulls and curvatures of Student errors, by differences and integrals; degrees by search; whole
fits that are known.
"""

import numpy as np
import pytest
from scipy import optimize, stats

from calibrant._numerics import location_scale as es
from calibrant._numerics import location_scale as kernel
from calibrant._numerics.location_scale import make_grid

E = np.array([-2.3, -0.4, 0.0, 0.7, 3.1])


def law(degrees):
    return stats.norm if np.isinf(degrees) else stats.t(degrees)


def mean_under(function, degrees):
    """Over equally probable quantiles."""
    return float(np.mean(function(law(degrees).ppf((np.arange(40_000) + 0.5) / 40_000))))


def crps(e, degrees):
    """E|X - e| - E|X - X'| / 2 up to a constant: its slope in e is 2 F(e) - 1."""
    return 2.0 * law(degrees).cdf(e) - 1.0


def test_slopes_of_the_log_loss():
    step = 1e-6
    for degrees in (np.inf, 5.0):
        loss = law(degrees).logpdf
        pull, curve = kernel._location_pull(E, degrees, "log")
        np.testing.assert_allclose(pull, -(loss(E + step) - loss(E - step)) / (2 * step), atol=1e-6)
        np.testing.assert_allclose(
            mean_under(lambda e, d=degrees: kernel._location_pull(e, d, "log")[0] ** 2, degrees),
            curve,
            rtol=1e-3,
        )
        pull, curve = kernel._scale_pull(E, degrees, "log")
        shrunk = [law(degrees).logpdf(E * np.exp(-g)) - g for g in (step, -step)]
        np.testing.assert_allclose(pull, (shrunk[0] - shrunk[1]) / (2 * step), atol=1e-6)
        np.testing.assert_allclose(
            mean_under(lambda e, d=degrees: kernel._scale_pull(e, d, "log")[0] ** 2, degrees),
            curve,
            rtol=1e-3,
        )


def test_slopes_of_the_crps_are_in_units_in_which_their_variance_is_the_curvature():
    for degrees in (np.inf, 5.0):
        pull, curve = kernel._location_pull(E, degrees, "crps")
        density = mean_under(law(degrees).pdf, degrees)
        np.testing.assert_allclose(curve, 12.0 * density**2, rtol=1e-4)
        np.testing.assert_allclose(pull, 6.0 * density * crps(E, degrees), rtol=1e-4, atol=1e-12)
        np.testing.assert_allclose(
            mean_under(lambda e, d=degrees: kernel._location_pull(e, d, "crps")[0] ** 2, degrees),
            curve,
            rtol=1e-3,
        )
        scale, bend = kernel._scale_pull(E, degrees, "crps")
        np.testing.assert_allclose(
            mean_under(lambda e, d=degrees: kernel._scale_pull(e, d, "crps")[0], degrees),
            0.0,
            atol=1e-4,
        )
        np.testing.assert_allclose(
            mean_under(lambda e, d=degrees: kernel._scale_pull(e, d, "crps")[0] ** 2, degrees),
            bend,
            rtol=2e-3,
        )
        assert scale[2] < 0.0 < scale[-1]


def test_the_slope_of_the_crps_in_the_factor():
    """For the normal CRPS(s; e) / s = e (2 Phi - 1) + 2 phi - 1 / sqrt(pi) at e / s: its
    derivative in log s at s = 1.
    """

    def loss(g):
        z = E * np.exp(-g)
        return np.exp(g) * (
            z * (2 * stats.norm.cdf(z) - 1) + 2 * stats.norm.pdf(z) - 1 / np.sqrt(np.pi)
        )

    found = kernel._scale_slope(E, np.inf)
    np.testing.assert_allclose(found, (loss(1e-6) - loss(-1e-6)) / 2e-6, atol=1e-4)
    np.testing.assert_allclose(
        mean_under(lambda e: kernel._scale_slope(e, 5.0), 5.0), 0.0, atol=1e-4
    )


def test_the_first_factor_by_hand():
    ones = np.ones(4)
    assert kernel.first_factor(np.zeros(4), ones, False) == 0.0
    np.testing.assert_allclose(
        kernel.first_factor(np.array([3.0, -4.0]), np.array([3.0, 1.0]), False),
        0.5 * np.log((27 + 16) / 4),
    )
    robust = kernel.first_factor(np.array([1.0, -2.0, 100.0, 0.5]), ones, True)
    np.testing.assert_allclose(robust, np.log(1.0 / stats.norm.ppf(0.75)))
    # Half of the rows without an error: the median says nothing.
    np.testing.assert_allclose(
        kernel.first_factor(np.array([0.0, 0.0, 2.0, 2.0]), ones, True), 0.5 * np.log(2.0)
    )


def _loss(g, e, weight, degrees):
    return -(weight @ (law(degrees).logpdf(e * np.exp(-g)) - g))


def test_degrees_of_freedom_are_those_of_least_loss():
    rng = np.random.default_rng(0)
    for true in (3.0, np.inf):
        e, weight = (1.5 * law(true).rvs(size=600, random_state=rng)), rng.uniform(0.5, 1.5, 600)
        degrees, change = kernel._degrees(e, weight, True)
        tried = {}
        for nu in kernel.DEGREES:
            least = optimize.minimize_scalar(
                _loss, bounds=(-2.0, 2.0), args=(e, weight, nu), method="bounded"
            )
            tried[nu] = least.fun + (0.0 if np.isinf(nu) else kernel.NORMAL_FIRST), least.x
        assert degrees == min(tried, key=lambda nu: tried[nu][0])
        np.testing.assert_allclose(change, tried[degrees][1], atol=2e-2)
    assert kernel._degrees(rng.normal(size=50), np.ones(50), False)[1] == 0.0


def rows(score):
    n = len(score)
    grid, ones = make_grid(np.linspace(0.0, 1.0, n), np.ones(n)), np.ones(n)
    return kernel.Rows(score, ones, grid, grid, (ones, ones), ones)


def test_constants_are_the_mean_and_the_root_mean_square():
    score = np.random.default_rng(0).normal(0.7, 1.8, 200)
    found = kernel.fit_parts(rows(score), kernel.Parts("constant", "constant", False, False, "log"))
    assert found.status == "converged"
    np.testing.assert_allclose(found.location, score.mean(), atol=2e-3)
    np.testing.assert_allclose(np.exp(found.scale), score.std(), rtol=1e-2)
    assert (found.unit, found.degrees) == (0, np.inf)
    nothing = kernel.fit_parts(rows(score), kernel.Parts(None, None, False, False, "log"))
    assert (nothing.location == 0.0).all()
    assert (nothing.scale == 0.0).all()


# -- evidence smoother --------------------------------------------------------------------------
# The smoother: against dense Gaussian-process regression, averaged over the same priors by
# their exact evidence.


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
