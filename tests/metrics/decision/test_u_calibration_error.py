import numpy as np
import pytest

from calibrant import metrics

ucal = metrics.u_calibration_error


def problem(seed, n=60):
    rng = np.random.default_rng(seed)
    p = np.round(rng.random(n), 2)
    return (rng.random(n) < rng.choice([p, 1 - p, 0.3 * p], p=[0.4, 0.3, 0.3])).astype(int), p


@pytest.mark.parametrize("seed", range(10))
def test_equals_the_largest_regret_over_kinks(seed):
    y, p = problem(seed)
    regret = [0.0]
    for kink in np.linspace(0, 1, 101):
        for tie in (-1e-9, 1e-9):  # a score at the kink either way
            gain = np.sum(np.sign(p - kink + tie) * (y - kink))
            regret.append((abs(np.sum(y - kink)) - gain) / (2 * max(kink, 1 - kink) * len(y)))
    assert ucal(y, p) == pytest.approx(max(regret), abs=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_no_payoff_loses_more_than_twice_as_much(seed):
    y, p = problem(seed)
    rng, most = np.random.default_rng(seed), 0.0
    for _ in range(3000):
        payoff = rng.beta(0.3, 0.3, (rng.integers(2, 6), 2))
        action = (np.outer(payoff[:, 0], 1 - p) + np.outer(payoff[:, 1], p)).argmax(axis=0)
        constant = (payoff[:, 0] * (1 - y.mean()) + payoff[:, 1] * y.mean()).max()
        most = max(most, constant - payoff[action, y].mean())
    assert most <= 2.0 * ucal(y, p) + 1e-12


def test_the_grid_reaches_the_exact_value_for_scores_on_it():
    y, p = problem(3)
    p = np.round(p * 16) / 16
    assert ucal(y, p, cells=16) <= ucal(y, p) + 1e-12
    assert ucal(y, np.clip(p, 0, 15 / 16), cells=1024) <= ucal(y, np.clip(p, 0, 15 / 16))
