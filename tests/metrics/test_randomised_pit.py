"""Randomised PIT of counts: uniform where calibrated, and between the steps always."""

import numpy as np
import pytest
from scipy import stats

from calibrant import metrics
from calibrant.errors import InputError


def _counts(n=4000, seed=0):
    rng = np.random.default_rng(seed)
    mu = rng.uniform(0.1, 4.0, n)
    return mu, rng.poisson(mu)


def test_it_is_uniform_for_calibrated_counts_where_the_plain_one_is_not():
    mu, y = _counts()
    assert stats.kstest(metrics.randomised_pit(y, stats.poisson(mu)), "uniform").pvalue > 0.01
    assert stats.kstest(stats.poisson(mu).cdf(y), "uniform").pvalue < 1e-6
    assert stats.kstest(metrics.randomised_pit(y, stats.poisson(1.3 * mu)), "uniform").pvalue < 1e-6


def test_equal_rows_are_uniform_too():
    y = np.random.default_rng(0).poisson(0.3, 4000)
    assert stats.kstest(metrics.randomised_pit(y, stats.poisson(0.3)), "uniform").pvalue > 0.01


def test_it_lies_in_its_step_and_does_not_depend_on_row_order():
    mu, y = _counts(200)
    said = stats.poisson(mu)
    found = metrics.randomised_pit(y, said)
    assert ((said.cdf(y - 1) <= found) & (found <= said.cdf(y))).all()
    np.testing.assert_array_equal(metrics.randomised_pit(y, (said.cdf(y - 1), said.cdf(y))), found)
    order = np.random.default_rng(1).permutation(200)
    np.testing.assert_array_equal(
        metrics.randomised_pit(y[order], stats.poisson(mu[order])), found[order]
    )
    assert (metrics.randomised_pit(y, said, random_state=1) != found).any()


@pytest.mark.parametrize(
    ("y", "forecast", "match"),
    [
        ([0.5, 1.0], stats.poisson(1.0), "whole numbers"),
        ([1, 2], stats.norm(0.0, 1.0), "discrete"),
        ([1, 2], stats.poisson([1.0, 2.0, 3.0]), "one distribution a row|broadcast"),
        ([1, 2], ([0.5, 0.5], [0.6, 0.4]), "row 1 has 0.5 and 0.4"),
        ([1, 2], ([0.5], [0.6]), "have the 2 rows"),
    ],
)
def test_what_is_no_forecast_of_counts_is_refused(y, forecast, match):
    with pytest.raises(InputError, match=match):
        metrics.randomised_pit(y, forecast)
