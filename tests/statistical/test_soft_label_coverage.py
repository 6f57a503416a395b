"""Intervals of soft labels hold the truth as often as they say, however many raters there are.

Small and seeded here, over many repeats in the slow run.
"""

from collections import Counter

import numpy as np
import pytest
from scipy.special import expit, logit

from calibrant import metrics
from calibrant.core.labels import SoftLabels

METRICS = [
    metrics.log_loss,
    metrics.brier_score,
    metrics.calibration_bias,
    metrics.observed_expected_ratio,
]


def draw(rng, n, n_raters, slope, agreeing):
    """(true risks, predicted ones, shares); raters who agree share more of a row than its risk."""
    true = rng.beta(2.0, 3.0, n)
    seen = rng.beta(2.0 * true, 2.0 * (1.0 - true)) if agreeing else true
    return true, expit(slope * logit(true)), rng.binomial(n_raters, seen) / n_raters


def truths(slope):
    """The values on ever more rows."""
    true, p, _ = draw(np.random.default_rng(99), 1_000_000, 1, slope, agreeing=False)
    return {
        "log_loss": -np.mean(true * np.log(p) + (1.0 - true) * np.log1p(-p)),
        "brier_score": 2.0 * np.mean(true * (1.0 - p) ** 2 + (1.0 - true) * p**2),
        "calibration_bias": np.mean(p - true),
    }


def covered(slope, n_raters, repeats, *, agreeing=False, soft=True, n=300):
    """({metric: share of intervals that hold the truth}, {metric: mean width})."""
    known, held, width = truths(slope), Counter(), Counter()
    rng = np.random.default_rng([n_raters, int(2 * slope), agreeing])
    for _ in range(repeats):
        true, p, shares = draw(rng, n, n_raters, slope, agreeing)
        # O/E takes the predictions as given.
        truth = known | {"observed_expected_ratio": true.sum() / p.sum()}
        for metric in METRICS:
            found = metric.interval(SoftLabels(shares) if soft else shares.astype(int), p)
            held[metric.key] += found.low <= truth[metric.key] <= found.high
            width[metric.key] += (found.high - found.low) / repeats
    return {key: count / repeats for key, count in held.items()}, width


@pytest.mark.parametrize("n_raters", [1, 3, 10])
@pytest.mark.parametrize("slope", [1.0, 2.0], ids=["calibrated", "too bold"])
def test_intervals_cover(slope, n_raters):
    held, width = covered(slope, n_raters, 200)
    assert min(held.values()) >= 0.93, held
    one = covered(slope, 1, 20)[1]
    for key in held:
        assert n_raters == 1 or width[key] < 0.8 * one[key]


def test_one_rater_covers_as_labels_do():
    soft, hard = (covered(2.0, 1, 200, soft=soft)[0] for soft in (True, False))
    assert all(abs(soft[key] - hard[key]) <= 0.02 for key in soft), (soft, hard)


def test_raters_who_agree_are_worth_fewer():
    held, width = covered(1.0, 10, 200, agreeing=True)
    assert min(held.values()) >= 0.93, held
    assert width["log_loss"] > 1.4 * covered(1.0, 10, 20)[1]["log_loss"]


@pytest.mark.slow
@pytest.mark.parametrize("agreeing", [False, True])
@pytest.mark.parametrize("n_raters", [1, 3, 10])
@pytest.mark.parametrize("slope", [1.0, 2.0], ids=["calibrated", "too bold"])
def test_intervals_cover_over_many_repeats(slope, n_raters, agreeing):
    held, _ = covered(slope, n_raters, 2000, agreeing=agreeing)
    assert min(held.values()) >= 0.93, held


@pytest.mark.slow
@pytest.mark.parametrize("n_raters", [1, 3, 10])
@pytest.mark.parametrize("slope", [1.0, 1.5], ids=["calibrated", "too bold"])
def test_binned_errors_and_curves_cover_over_many_repeats(slope, n_raters):
    true, p, _ = draw(np.random.default_rng(99), 1_000_000, 1, slope, agreeing=False)
    place = np.minimum((p * 15).astype(int), 14)
    n = np.bincount(place, minlength=15)
    gaps, rates = (np.bincount(place, one, 15) / np.maximum(n, 1) for one in (p - true, true))
    truth, of_error, of_bins = n @ np.abs(gaps) / n.sum(), [], []
    rng = np.random.default_rng(n_raters)
    for _ in range(500):
        _, p, shares = draw(rng, 500, n_raters, slope, agreeing=False)
        y = SoftLabels(shares)
        found = metrics.positive_class_calibration_error.interval(y, p, n_resamples=200)
        of_error.append(found.low <= truth + 1e-3 and truth <= found.high)
        curve = metrics.reliability_curve(y, p, target="event")
        rate = rates[np.round(curve.lower * 15).astype(int)]
        of_bins += ((curve.low <= rate) & (rate <= curve.high))[curve.n >= 10].tolist()
    assert np.mean(of_error) >= 0.92
    assert np.mean(of_bins) >= 0.94
