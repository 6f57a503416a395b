import numpy as np
import pytest
from scipy import stats

from calibrant._kernels.intervals import event_count_limits, poisson_limits, stretched


def test_exact_poisson_limits_are_those_of_chi_squared():
    for count in (0, 1, 3, 12):
        low, high = poisson_limits(count)
        assert low == pytest.approx(stats.chi2.ppf(0.025, 2 * count) / 2 if count else 0.0)
        assert high == pytest.approx(stats.chi2.ppf(0.975, 2 * count + 2) / 2)
    # 12 events where 8 were expected: 1.5 [0.775, 2.620]; none at all: up to 3.689.
    assert np.array(poisson_limits(12)) / 8 == pytest.approx([0.775, 2.620], abs=5e-4)
    assert poisson_limits(0) == (0.0, pytest.approx(3.689, abs=5e-4))


def test_many_events_on_the_log_scale_few_exactly_and_never_more_than_rows():
    factor = np.exp(1.959964 * np.sqrt((1 - 40 / 400) / 40))
    assert event_count_limits(40, 400) == pytest.approx((40 / factor, 40 * factor), rel=1e-6)
    assert np.array(event_count_limits(3, 400)) == pytest.approx(np.array(poisson_limits(3)))
    assert event_count_limits(30, 33) == pytest.approx(
        [33 * q for q in (stats.beta.ppf(0.025, 30, 4), stats.beta.ppf(0.975, 31, 3))]
    )
    count, n = np.meshgrid(np.arange(0, 41), [40.0, 1000.0])
    low, high = event_count_limits(count, n)
    assert (low <= count).all()
    assert (count <= high).all()
    assert (high <= n).all()
    assert (low < high).all()


def test_stretched_limits_are_so_many_times_as_far_in_logarithms():
    limits = np.array([0.0, 5.0, 5.0]), np.array([3.0, 40.0, 40.0])
    low, high = stretched(np.array([0.0, 10.0, 10.0]), limits, np.array([9.0, 0.5, 2.0]))
    np.testing.assert_allclose(low, [0.0, 10.0 / np.sqrt(2.0), 2.5])
    np.testing.assert_allclose(high, [3.0, 20.0, 160.0])
