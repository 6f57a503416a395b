"""The share of an average that is used."""

import numpy as np
import pytest

import calibrant as cb
from calibrant.calibrators.trust import (
    ERRORS,
    ERRORS_OF_FEW,
    MOST_UNKNOWN,
    beside_nothing,
    score_difference,
    trusted_share,
    with_one_row_more,
)


def test_half_where_the_gain_is_what_this_many_rows_ask_for():
    assert trusted_share(0.1 * ERRORS, 1.0, 100.0, 10.0) == pytest.approx(0.5)
    assert trusted_share(0.1 * ERRORS / 2.0, 1.0, 400.0, 10.0) == pytest.approx(0.5)
    assert trusted_share(0.1 * ERRORS_OF_FEW, 1.0, 100.0, 9.0) == pytest.approx(0.5)


def test_no_gain_no_share_and_no_error_all_of_it():
    assert trusted_share(-0.1, 0.0, 50.0, 9.0) == trusted_share(0.0, 1.0, 50.0, 9.0) == 0.0
    assert trusted_share(0.1, 0.0, 50.0, 9.0) == trusted_share(np.inf, 0.0, 50.0, 9.0) == 1.0


def test_the_share_rises_with_gain_and_rows():
    gains = [trusted_share(g, 1.0, 100.0, 50.0) for g in (0.5, 1.0, 2.0, 4.0, 8.0)]
    rows = [trusted_share(1.0, 1.0, n, 10.0) for n in (20.0, 50.0, 100.0, 1000.0)]
    assert gains == sorted(gains)
    assert rows == sorted(rows)


def test_the_rest_of_the_pool_goes_to_nothing():
    members, weights = beside_nothing([0, 2], np.array([0.25, 0.75]), 0.8, 0.01)
    assert members == [0, 2]
    np.testing.assert_allclose(weights, [0.4, 0.6])
    assert beside_nothing([2], np.ones(1), 1.0 - 1e-9, 0.01)[0] == [2]
    assert beside_nothing([1, 2], np.array([0.5, 0.5]), 0.009, 0.01)[0] == [0]


def test_one_class_only_weighs_the_class_rates():
    p = np.random.default_rng(0).uniform(0.5, 0.99, 80)
    cal = cb.AutoCalibrator().fit(p, np.zeros(80, int))
    rates = 0.5 / 81.0
    assert cal.status_ == "pooled"
    assert cal.predict_proba([0.9])[0, 1] == pytest.approx(rates, abs=0.05)
    # The model was as sure and right: the rates, which know less, move it by a little.
    sure = cb.AutoCalibrator().fit(0.01 * p, np.zeros(80, int))
    assert sure.predict_proba([0.008])[0, 1] == pytest.approx(0.008, abs=0.003)


@pytest.mark.slow
def test_calibrated_predictions_of_100_rows_are_rarely_made_worse():
    """Of 200 sets of calibrated rows at most 13, the 0.99 quantile at 3 %, are made worse in
    expectation by half a percent.
    """
    rng, worse = np.random.default_rng(0), 0
    grid = np.linspace(0.005, 0.995, 200)
    before = -(grid * np.log(grid) + (1 - grid) * np.log1p(-grid)).mean()
    for _ in range(200):
        p = rng.uniform(size=100)
        q = (
            cb.AutoCalibrator(max_cost=15.0)
            .fit(p, rng.uniform(size=100) < p)
            .predict_proba(grid)[:, 1]
        )
        worse += -(grid * np.log(q) + (1 - grid) * np.log1p(-q)).mean() > 1.005 * before
    assert worse <= 13


def test_a_row_that_nobody_saw_is_as_unsure_as_it_is_large_up_to_a_bound():
    assert with_one_row_more(0.03, 0.04, 0.0, 10.0) == (0.03, 0.04)
    assert with_one_row_more(0.0, 0.04, 0.3, 10.0) == (pytest.approx(0.03), pytest.approx(0.05))
    assert with_one_row_more(0.0, 0.0, -8.0, 10.0) == (
        pytest.approx(-0.8),
        pytest.approx(0.1 * MOST_UNKNOWN),
    )
    assert with_one_row_more(np.inf, 0.0, 0.1, 1.0) == (np.inf, 0.1)


def test_a_gain_by_the_row_of_unknown_class_alone_earns_little():
    # Without its own error such a gain is many standard errors.
    assert trusted_share(0.02, 0.0007, 100.0, 0.0) > 0.99
    assert trusted_share(*with_one_row_more(0.0, 0.0007, 2.0, 100.0), 100.0, 0.0) < 0.15


def test_a_model_that_is_nearly_always_right_and_calibrated_is_left_nearly_alone():
    # Two normal classes with known posteriors, 98.7 % right: all ten were made worse before, by 2
    # to 11 %; now two, by at most 2 %.
    worse = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        y = rng.integers(0, 2, 4_100)
        p = 1.0 / (1.0 + np.exp(-(10.0 * (2 * y - 1) + rng.normal(size=4_100) * np.sqrt(20.0))))
        p = np.clip(p, 1e-12, 1.0 - 1e-12)
        q = np.clip(
            cb.AutoCalibrator().fit(p[:100], y[:100]).predict_proba(p[100:])[:, 1],
            1e-12,
            1.0 - 1e-12,
        )
        # Under the model's own probabilities, which are the truth.
        loss, least = (
            -(p[100:] * np.log(r) + (1.0 - p[100:]) * np.log1p(-r)).mean() for r in (q, p[100:])
        )
        worse.append(loss > 1.005 * least)
    assert sum(worse) <= 2


def test_clustered_rows_have_the_error_of_their_clusters():
    rng = np.random.default_rng(0)
    gap, cluster = np.repeat(rng.normal(0.1, 1.0, 50), 8), np.repeat(np.arange(50), 8)
    before, weight = gap.copy(), np.ones(400)
    mean, error = score_difference(before, np.zeros(400), weight, cluster)
    once = score_difference(before[::8], np.zeros(50), np.ones(50))
    assert (mean, error) == pytest.approx(once)
    assert score_difference(before, np.zeros(400), weight)[1] == pytest.approx(
        error / 8**0.5, rel=0.02
    )
