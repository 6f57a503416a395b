import numpy as np
import pytest
from scipy import stats

from calibrant._kernels.certificates import (
    allowed_errors,
    binomial_p_value,
    fewest_rows,
    rows_for_rate,
)
from calibrant._kernels.intervals import clopper_pearson


def test_the_p_value_is_the_binomial_tail():
    n, e = np.array([1, 59, 200, 1000, 1000]), np.array([0, 0, 4, 38, 1000])
    assert binomial_p_value(e, n, 0.05) == pytest.approx(stats.binom.cdf(e, n, 0.05), rel=1e-12)


def test_the_bound_is_the_rate_at_which_the_tail_is_delta():
    for errors, n in ((0, 59), (4, 200), (38, 1000)):
        assert float(
            binomial_p_value(errors, n, float(clopper_pearson(errors, n, 0.9)[1]))
        ) == pytest.approx(0.05, rel=1e-9)
    assert float(clopper_pearson(7, 7, 0.9)[1]) == 1.0


def test_the_most_errors_that_certify():
    """Those of the table that everybody recomputes: 59 rows without an error, 1 of 100, 4 of
    200, 16 of 500, 38 of 1,000.
    """
    assert fewest_rows(0.05, 0.05) == 59
    for n, most in ((59, 0), (100, 1), (200, 4), (500, 16), (1000, 38)):
        assert allowed_errors(n, 0.05, 0.05) == most
        assert (
            float(binomial_p_value(most, n, 0.05))
            <= 0.05
            < float(binomial_p_value(most + 1, n, 0.05))
        )


@pytest.mark.parametrize("rate", [0.0, 0.01, 0.02, 0.03, 0.035])
def test_the_rows_needed_are_the_first_that_pass(rate):
    m = np.arange(1, 3000)
    first = m[binomial_p_value(np.floor(rate * m + 1e-9), m, 0.05) <= 0.05][0]
    assert rows_for_rate(rate, 0.05, 0.05) == first


def test_a_rate_next_to_the_risk_takes_very_many_rows_and_no_time():
    assert 1e5 < rows_for_rate(0.0495, 0.05, 0.05) < 1e6
    assert rows_for_rate(0.04999999, 0.05, 0.05) > 1e12
    assert rows_for_rate(0.06, 0.05, 0.05) == np.inf
    # Without an error it is exact however many they are.
    assert rows_for_rate(0.0, 1e-6, 0.05) == fewest_rows(1e-6, 0.05)
