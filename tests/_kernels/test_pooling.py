"""Pools: stacking weights against a fine search, exponential weights against their law."""

import numpy as np
import pytest

from calibrant._kernels.stacking import exponential_weights, stacking_weights


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
