import numpy as np
import pytest

from calibrant._kernels.intervals import (
    minus,
    multinomial_correlation,
    normal_interval,
    sum_limits,
    wilson,
)


def test_of_two_normal_estimates_it_is_the_normal_interval():
    first, second = (3.0, *normal_interval(3.0, 0.4)), (-1.0, *normal_interval(-1.0, 0.9))
    for correlation in (-0.7, 0.0, 0.5):
        variance = 0.4 + 0.9 + 2.0 * correlation * np.sqrt(0.4 * 0.9)
        assert sum_limits(first, second, correlation) == pytest.approx(
            normal_interval(2.0, variance)
        )


def test_a_difference_of_rates_is_newcombes():
    """Newcombe (1998), method 10: 56/70 - 48/80 has the limits 0.0524 and 0.3339."""
    parts = [(k / n, *wilson(np.array(k), np.array(n))) for k, n in ((56, 70), (48, 80))]
    assert sum_limits(parts[0], minus(parts[1])) == pytest.approx((0.0524, 0.3339), abs=5e-5)


def test_correlation_of_shares_of_one_total():
    rng = np.random.default_rng(0)
    drawn = rng.multinomial(50, [0.2, 0.3, 0.5], 20_000)
    assert multinomial_correlation(np.array(0.2), np.array(0.3)) == pytest.approx(
        np.corrcoef(drawn[:, 0], drawn[:, 1])[0, 1], abs=0.02
    )
    assert multinomial_correlation(np.array([0.0, 0.25]), np.array([1.0, 0.75])).tolist() == [
        0.0,
        -1.0,
    ]
