"""The smooth change of scores: exact derivatives, increasing everywhere, and nothing where
nothing is seen.
"""

import numpy as np
from scipy import optimize

from calibrant._kernels import normal_scores as ss


def test_slopes_are_those_of_the_features():
    t = np.linspace(-5.0, 5.0, 41)
    step = 1e-6
    numeric = (ss._features(t + step)[0] - ss._features(t - step)[0]) / (2.0 * step)
    np.testing.assert_allclose(ss._features(t)[1], numeric, atol=1e-7)


def test_the_mode_is_the_least_of_its_loss():
    t = np.random.default_rng(0).exponential(size=300) - 1.0
    (features, slopes), guard = ss._features(t), ss._features(ss.GUARD)[1]
    c, status, value, _ = ss._mode(
        t, np.ones(300), features, slopes, guard, 0.4, np.zeros(ss.N_FEATURES)
    )

    def loss(c):
        u, slope, kept = t + features @ c, 1.0 + slopes @ c, 1.0 + guard @ c
        if min(slope.min(), kept.min()) <= 0.0:
            return 1e10
        return (
            (0.5 * u * u - np.log(slope)).sum()
            - ss.GUARDS / len(kept) * np.log(kept).sum()
            + 0.5 * c @ c / 0.16
        )

    assert status == "converged"
    assert abs(value - loss(c)) < 1e-8 * abs(value)
    assert (
        optimize.minimize(loss, c, method="Nelder-Mead", options={"maxfev": 2000}).fun
        > value - 1e-5
    )


def test_it_increases_everywhere_and_is_no_change_where_scores_are_normal():
    t = np.random.default_rng(0).exponential(size=2000) - 1.0
    found, status = ss.fit_shape(t, np.ones(2000))
    assert status == "converged"
    assert (np.diff(ss.shape_values(found, np.linspace(-40.0, 40.0, 4001))) > 0.0).all()
    assert abs(np.mean(np.square(ss.shape_values(found, t))) - 1.0) < 0.05
    normal, _ = ss.fit_shape(np.random.default_rng(1).normal(size=200), np.ones(200))
    assert np.abs(ss.shape_values(normal, ss.GUARD) - ss.GUARD)[10:-10].max() < 0.1
