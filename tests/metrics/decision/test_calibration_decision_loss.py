import numpy as np
import pytest

from calibrant import metrics
from calibrant._numerics.thresholds import decision_loss

cdl = metrics.calibration_decision_loss


def problem(seed, n=200, levels=6):
    rng = np.random.default_rng(seed)
    p = rng.choice(np.round(rng.random(levels), 2), n)
    return (rng.random(n) < np.clip(p + rng.normal(0, 0.2, n), 0, 1)).astype(int), p


def means(y, p):
    values, index, mass = np.unique(p, return_inverse=True, return_counts=True)
    return values, np.bincount(index, weights=y) / mass, mass / len(y)


@pytest.mark.parametrize("seed", range(10))
def test_equals_the_largest_gain_over_a_fine_grid_of_kinks(seed):
    values, rates, share = means(*problem(seed))
    kinks = np.unique(np.concatenate([np.linspace(0, 1, 20_001), values, rates]))
    between = (np.minimum(values, rates) <= kinks[:, None]) & (
        kinks[:, None] <= np.maximum(values, rates)
    )
    gain = (share * np.abs(rates - kinks[:, None]) * between).sum(axis=1) / np.maximum(
        kinks, 1.0 - kinks
    )
    assert cdl(*problem(seed)) == pytest.approx(gain.max(), abs=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_no_payoff_loses_more_than_twice_as_much(seed):
    """Any actions with payoffs in [0, 1]: best by the score, against best by the rate of that
    score.
    """
    values, rates, share = means(*problem(seed))
    rng, most = np.random.default_rng(seed), 0.0
    for _ in range(3000):
        payoff = rng.beta(0.3, 0.3, (rng.integers(2, 6), 2))
        believed, true = (
            np.outer(payoff[:, 0], 1 - q) + np.outer(payoff[:, 1], q) for q in (values, rates)
        )
        most = max(
            most, share @ (true.max(axis=0) - true[believed.argmax(axis=0), np.arange(len(values))])
        )
    assert most <= 2.0 * cdl(*problem(seed)) + 1e-12


@pytest.mark.parametrize("seed", range(10))
def test_it_lies_between_the_squared_error_and_twice_the_ece(seed):
    values, rates, share = means(*problem(seed))
    found = cdl(*problem(seed))
    assert 0.5 * share @ (values - rates) ** 2 <= found <= 2.0 * share @ np.abs(values - rates)


def test_calibrated_scores_lose_nothing():
    assert cdl(
        [0, 1, 0, 0, 1, 1], [0.5, 0.5, 1 / 4, 1 / 4, 1.0, 1.0], sample_weight=[1, 1, 1, 2, 1, 1]
    ) == pytest.approx(0.25 / 0.75 * 3 / 7)
    assert decision_loss(np.array([0.2, 0.7]), np.array([0.2, 0.7]), np.ones(2)) == 0.0
