"""Each test of calibration rejects a calibrated model as often as it says, and an overconfident
one often; seeded simulations.
"""

import numpy as np
import pytest

from calibrant import metrics

#: (test, options, n, power asked for at the planted error)
TESTS = [
    pytest.param(metrics.spiegelhalter_test, {}, 300, 0.9, id="Spiegelhalter"),
    pytest.param(metrics.hosmer_lemeshow_test, {}, 300, 0.6, id="Hosmer-Lemeshow"),
    pytest.param(metrics.cumulative_test, {"n_draws": 199}, 300, 0.6, id="Kuiper"),
    pytest.param(metrics.cumulative_test, {"n_draws": 199, "statistic": "ks"}, 300, 0.6, id="KS"),
]


def p_values(test, options, n, slope, repeats, seed=0):
    out = []
    for r in range(repeats):
        rng = np.random.default_rng([seed, r])
        logit = rng.normal(size=n) * 2.0
        p, truth = 1.0 / (1.0 + np.exp(-logit)), 1.0 / (1.0 + np.exp(-slope * logit))
        out.append(test((rng.random(n) < truth).astype(int), p, **options).p_value)
    return np.array(out)


@pytest.mark.parametrize(("test", "options", "n", "power"), TESTS)
def test_size_and_power(test, options, n, power):
    calibrated = p_values(test, options, n, 1.0, 150)
    # 5 % of 150, with a margin of 2.5 standard errors.
    assert np.mean(calibrated <= 0.05) <= 0.095
    assert 0.4 < calibrated.mean() < 0.6
    assert np.mean(p_values(test, options, n, 0.5, 40) <= 0.05) >= power


@pytest.mark.slow
@pytest.mark.parametrize(("test", "options", "n", "power"), TESTS)
def test_size_over_many_repeats(test, options, n, power):
    p = p_values(test, options, n, 1.0, 2000, seed=1)
    for level in (0.01, 0.05, 0.1):
        assert np.mean(p <= level) == pytest.approx(
            level, abs=4 * np.sqrt(level * (1 - level) / 2000) + 0.004
        )


def test_the_test_of_whole_vectors_sees_what_the_top_label_hides():
    """The top label is right as often as it says; the second and third classes are swapped."""
    rng = np.random.default_rng(3)
    P = np.tile([0.6, 0.35, 0.05], (400, 1))
    y = (rng.random((400, 1)) > np.cumsum([0.6, 0.05])).sum(axis=1)
    whole, top = (
        metrics.calibration_error_test(error, y, P, n_draws=99).p_value
        for error in (metrics.full_calibration_error, metrics.expected_calibration_error)
    )
    assert whole <= 0.02
    assert top > 0.05
