"""Tests of the pooling of groups against the normal model's closed forms."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from calibrant._numerics.pooling import Pooled, Shares, best_spreads, pooled_step


def model(estimate, precision):
    """Groups with one estimate each, of a mean 0 at the start."""
    G = len(estimate)
    shares = Shares(np.ones((G, 1, 1)), np.array([-1]), np.array([0]))
    gradient, information = (precision * estimate)[:, None], precision[:, None, None]
    return shares, Pooled.around(gradient, information, shares, np.zeros(1), np.zeros((G, 1)))


def test_the_mean_and_the_groups_are_those_of_the_normal_model():
    rng = np.random.default_rng(0)
    estimate, precision, t = rng.normal(0.4, 0.8, 12), rng.uniform(1.0, 30.0, 12), 0.7
    shares, pooled = model(estimate, precision)
    shared, own, _ = pooled_step(pooled, *shares.scales(np.array([t])))
    weight = 1.0 / (1.0 / precision + t * t)
    mean = weight @ estimate / (weight.sum() + 1.0)
    assert shared == pytest.approx([mean])
    shrunk = t * t / (t * t + 1.0 / precision)
    assert own[:, 0] == pytest.approx(shrunk * (estimate - mean))


def test_the_marginal_likelihood_is_that_of_the_normal_model_up_to_a_constant():
    rng = np.random.default_rng(1)
    estimate, precision = rng.normal(0.4, 0.8, 6), rng.uniform(1.0, 30.0, 6)
    shares, pooled = model(estimate, precision)

    def exact(t):
        cover = np.diag(1.0 / precision + t * t) + 1.0
        return multivariate_normal.logpdf(estimate, np.zeros(6), cover)

    def ours(t):
        return pooled_step(pooled, *shares.scales(np.array([t])))[2]

    assert ours(0.9) - ours(0.2) == pytest.approx(exact(0.9) - exact(0.2))
    assert np.isfinite(ours(0.0))


def test_spreads_are_found():
    rng = np.random.default_rng(2)
    precision = np.full(400, 50.0)
    for t in (0.4, 0.0):
        estimate = rng.normal(0.3, np.sqrt(t * t + 1.0 / precision))
        shares, pooled = model(estimate, precision)
        (found,) = best_spreads(pooled, shares, np.array([0.2]), [0])
        assert found == pytest.approx(t, abs=0.05)
