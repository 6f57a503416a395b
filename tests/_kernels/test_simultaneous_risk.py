import numpy as np

from calibrant._kernels.certificates import simultaneous_limits
from calibrant._kernels.thresholds import risk_coverage


def error_above(t):
    return 1.0 - 0.8 * (1.0 - t**5) / (1.0 - t**4)


def test_the_whole_curve_is_inside_as_often_as_it_says():
    rng, outside = np.random.default_rng(0), []
    for _ in range(400):
        score = rng.beta(4, 1, 400)
        found, covered, wrong = risk_coverage(
            score, (rng.random(400) < score).astype(float), np.ones(400)
        )
        low, high = simultaneous_limits(covered, wrong, 0.9)
        true = error_above(np.append(found[1:], 0.0))
        outside.append(((true < low) | (true > high)).any())
    assert np.mean(outside) <= 0.1 + 3 * np.sqrt(0.1 * 0.9 / 400)
    assert np.mean(outside) > 0.0


def test_it_rises_holds_the_curve_s_end_and_keeps_ties_together():
    rng = np.random.default_rng(1)
    score = rng.beta(4, 1, 500).round(1)
    _, covered, wrong = risk_coverage(score, (rng.random(500) < score).astype(float), np.ones(500))
    low, high = simultaneous_limits(covered, wrong, 0.95)
    assert (np.diff(low) >= 0.0).all()
    assert (np.diff(high) >= 0.0).all()
    assert low[-1] < wrong[-1] / covered[-1] < high[-1]
