"""Calibration in the large: the shift of the log-odds that makes the mean right."""

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import expit, logit

from calibrant import metrics

intercept = metrics.calibration_in_the_large
RNG = np.random.default_rng(0)
LOGIT = 1.5 * RNG.normal(size=2000)
P = expit(LOGIT)
Y = (RNG.random(2000) < expit(LOGIT - 0.4)).astype(int)


def test_it_makes_the_mean_right():
    shift = intercept(Y, P)
    assert np.mean(expit(LOGIT + shift)) == pytest.approx(Y.mean(), abs=1e-12)
    assert shift == pytest.approx(
        brentq(lambda a: expit(LOGIT + a).mean() - Y.mean(), -3, 3), abs=1e-9
    )


@pytest.mark.parametrize("p", [0.01, 0.5, 0.8])
def test_a_constant_score_by_hand(p):
    # One hit of four: logit(1/4) is what the log-odds should be.
    assert intercept([1, 0, 0, 0], np.full(4, p)) == pytest.approx(
        np.log(1 / 3) - logit(p), abs=1e-9
    )


def test_scores_right_on_the_whole_have_none():
    assert intercept([0, 1], [0.2, 0.8]) == pytest.approx(0.0, abs=1e-9)
    assert intercept([1, 0], [0.2, 0.8]) == pytest.approx(0.0, abs=1e-9)


def test_a_planted_shift_is_inside_its_interval():
    found = intercept.interval(Y, P)
    assert found.method == "analytic"
    assert found.low < -0.4 < found.high < 0.0
    unbiased = intercept.interval((np.random.default_rng(1).random(2000) < P).astype(int), P)
    assert unbiased.low < 0.0 < unbiased.high


def test_the_analytic_interval_is_that_of_the_bootstrap():
    analytic, boot = (
        intercept.interval(Y[:600], P[:600]),
        intercept.interval(Y[:600], P[:600], method="bootstrap", n_resamples=300),
    )
    assert (analytic.low, analytic.high) == pytest.approx((boot.low, boot.high), abs=0.06)


def test_weights_are_repetition():
    weight = RNG.integers(0, 4, 100)
    y, p = Y[:100], P[:100]
    weighted = intercept.interval(y, p, sample_weight=weight)
    repeated = intercept.interval(np.repeat(y, weight), np.repeat(p, weight))
    assert (weighted.value, weighted.low, weighted.high) == pytest.approx(
        (repeated.value, repeated.low, repeated.high), abs=1e-9
    )


def test_the_other_class_has_the_opposite_and_the_top_label_its_own():
    assert intercept(Y, P, target=0) == pytest.approx(-intercept(Y, P), abs=1e-9)
    top, right = np.maximum(P, 1 - P), (P > 0.5) == Y
    assert intercept(Y, P, target="answer") == pytest.approx(
        intercept(right.astype(int), top), abs=1e-9
    )


def test_where_all_outcomes_are_alike_there_is_none():
    for y in ([0, 0], [1, 1]):
        assert np.isnan(intercept(y, [0.2, 0.4]))
        assert np.isnan(intercept.interval(y, [0.2, 0.4]).high)
    assert np.isfinite(intercept([0, 1, 1], [0.0, 1.0, 0.3]))


@pytest.mark.parametrize("key", ["calibration_in_the_large", "calibration_slope"])
def test_equal_outcomes_have_no_interval_with_clusters_or_sampling_weights(key):
    rng = np.random.default_rng(0)
    p, weight, metric = rng.random(60), rng.random(60) + 0.5, getattr(metrics, key)
    sampled = {"sample_weight": weight, "weight_kind": "sampling"}
    pairs = {"cluster": np.arange(60) // 4}
    for y in (np.ones(60, int), np.zeros(60, int)):
        for options in ({"cluster": range(60)}, pairs, sampled, {**sampled, **pairs}):
            assert np.isnan(metric.interval(y, p, **options).value)
