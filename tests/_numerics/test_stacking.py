"""Pools of forecasts: weights by evidence, and logistic regression that rises in every column."""

import numpy as np
import pytest
from scipy.optimize import minimize

from calibrant._numerics.logistic import sigmoid
from calibrant._numerics.pooling import exponential_weights, fit_monotone_additive, stacking_weights

# -- monotone additive --------------------------------------------------------------------------
# The monotone logistic model with group levels, against a general optimiser and its optimality
# conditions.


@pytest.fixture
def problem():
    rng = np.random.default_rng(3)
    design = rng.normal(size=(250, 4))
    design[:, 3] = -design[:, 0]
    group = rng.integers(0, 5, 250)
    group[group == 3] = 4
    target = (
        rng.random(250) < sigmoid(design[:, 0] - 1.5 * design[:, 1] + 0.6 * group - 1.0)
    ).astype(float)
    return design, group, 5, target, rng.random(250) + 0.1


def _objective(theta, design, group, n_groups, target, weight, ridge, group_ridge):
    z = design @ theta[:4] + theta[4] + theta[5:][group]
    return (
        weight @ (np.logaddexp(0.0, z) - target * z)
        + 0.5 * ridge @ theta[:4] ** 2
        + 0.5 * group_ridge * theta[5:] @ theta[5:]
    )


def test_it_is_the_bounded_minimum(problem):
    ridge = np.array([0.5, 0.1, 0.1, 0.2])
    slopes, level, levels, status = fit_monotone_additive(*problem, ridge, 2.0)
    assert status == "converged"
    found = _objective(np.concatenate([slopes, [level], levels]), *problem, ridge, 2.0)
    bounds = [(0.0, None)] * 4 + [(None, None)] * 6
    general = minimize(
        _objective,
        np.zeros(10),
        (*problem, ridge, 2.0),
        method="L-BFGS-B",
        bounds=bounds,
        tol=1e-12,
    )
    assert found <= general.fun + 1e-9
    np.testing.assert_allclose(np.concatenate([slopes, [level], levels]), general.x, atol=2e-3)
    assert slopes[1] == slopes[3] == 0.0
    assert levels[3] == 0.0


def test_order_of_rows_and_repetition_do_not_matter(problem):
    design, group, n_groups, target, _ = problem
    weight = np.arange(250) % 3 + 1.0
    rows = np.random.default_rng(0).permutation(np.repeat(np.arange(250), weight.astype(int)))
    ridge = np.full(4, 0.3)
    weighted = fit_monotone_additive(design, group, n_groups, target, weight, ridge, 1.0)
    repeated = fit_monotone_additive(
        design[rows], group[rows], n_groups, target[rows], np.ones(len(rows)), ridge, 1.0
    )
    for a, b in zip(weighted[:3], repeated[:3], strict=True):
        np.testing.assert_allclose(a, b, atol=1e-7)


def test_certain_rows_and_columns_of_nothing_end_finite():
    design = np.column_stack([np.zeros(20), np.linspace(-1e3, 1e3, 20), np.linspace(-1e3, 1e3, 20)])
    target = (design[:, 1] > 0).astype(float)
    slopes, level, levels, status = fit_monotone_additive(
        design, np.zeros(20, int), 2, target, np.ones(20), np.full(3, 0.01), 1.0
    )
    assert status == "converged"
    assert np.isfinite([*slopes, level, *levels]).all()
    assert slopes[0] == 0.0


# -- pooling ------------------------------------------------------------------------------------
# Pools: stacking weights against a fine search, exponential weights against their law.


@pytest.fixture
def forecasts():
    rng = np.random.default_rng(0)
    truth = rng.dirichlet(np.ones(3), size=400)
    y = (truth.cumsum(axis=1) > rng.uniform(size=(400, 1))).argmax(axis=1)
    sharp = truth**2 / (truth**2).sum(axis=1, keepdims=True)
    noisy = rng.dirichlet(np.ones(3), size=400)
    return np.stack([truth, sharp, noisy]), y, rng.integers(1, 4, 400).astype(float)


def score(objective, w, P, y, weight):
    Q = np.tensordot(w, P, axes=1)
    own = Q[np.arange(len(y)), y]
    loss = -np.log(own) if objective == "log_loss" else (Q**2).sum(axis=1) - 2 * own + 1
    return np.average(loss, weights=weight)


@pytest.mark.parametrize("objective", ["log_loss", "brier"])
def test_no_stack_on_a_fine_grid_does_better(forecasts, objective):
    P, y, weight = forecasts
    own = P[:, np.arange(len(y)), y]
    gram = (
        None
        if objective == "log_loss"
        else np.average(np.einsum("ink,jnk->ijn", P, P), axis=2, weights=weight)
    )
    w = stacking_weights(own, gram, weight)
    assert w.sum() == pytest.approx(1.0)
    assert (w >= 0).all()
    grid = [(a, b, 1 - a - b) for a in np.linspace(0, 1, 21) for b in np.linspace(0, 1 - a, 21)]
    best = min(score(objective, np.array(g), P, y, weight) for g in grid)
    assert score(objective, w, P, y, weight) <= best + 1e-7


def test_equal_losses_share_the_weight_and_constant_gaps_are_weighed_exactly():
    ones = np.ones(50)
    np.testing.assert_allclose(exponential_weights(np.full((4, 50), 0.7), ones, 1.0, 0), 0.25)
    # A gap that is the same in every row is not touched by resampling: odds of exp(rate * 50 *
    # 0.02).
    w = exponential_weights(np.stack([ones * 0.5, ones * 0.52]), ones, 0.5, 0)
    assert w[0] / w[1] == pytest.approx(np.exp(0.5))


def test_a_prior_is_what_the_rows_start_from():
    ones, prior = np.ones(50), np.array([0.5, 0.3, 0.2])
    np.testing.assert_allclose(
        exponential_weights(np.full((3, 50), 0.7), ones, 0.5, 0, prior=prior), prior
    )
    w = exponential_weights(
        np.stack([ones * 0.5, ones * 0.52]), ones, 0.5, 0, prior=np.array([0.2, 0.8])
    )
    assert w[0] / w[1] == pytest.approx(0.25 * np.exp(0.5))


def test_resampling_spreads_the_weight_that_few_rows_decide():
    losses = np.zeros((2, 100))
    losses[0, 0] = 10.0
    w = exponential_weights(losses, np.ones(100), 1.0, 0, n_draws=2000)
    # E 1 / (1 + exp(10 v)) for v = 100 times one share of a Dirichlet, about exponential(1).
    v = np.random.default_rng(1).exponential(size=200_000)
    assert w[0] == pytest.approx((1 / (1 + np.exp(10 * v))).mean(), abs=0.015)
    assert w[0] > 100 * np.exp(-10.0)


def test_a_weighted_row_counts_as_so_many_rows():
    rng = np.random.default_rng(0)
    losses, weight = rng.exponential(size=(3, 60)) / 8, rng.integers(1, 4, 60)
    once = exponential_weights(losses, weight.astype(float), 1.0, 0, n_draws=4000)
    repeated = exponential_weights(
        np.repeat(losses, weight, axis=1), np.ones(weight.sum()), 1.0, 1, n_draws=4000
    )
    np.testing.assert_allclose(once, repeated, atol=0.02)
