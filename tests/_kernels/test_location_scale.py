"""Pulls and curvatures of Student errors, by differences and integrals; degrees by search; whole
fits that are known.
"""

import numpy as np
from scipy import optimize, stats

from calibrant._kernels import location_scale as kernel
from calibrant._kernels.location_scale import make_grid

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
