import re

import numpy as np
import pytest

from calibrant import metrics
from calibrant.errors import InputError

debiased = metrics.debiased_calibration_error


def sample(n, seed, slope=1.0):
    rng = np.random.default_rng(seed)
    logit = 1.5 * rng.normal(size=n)
    return (rng.random(n) < 1 / (1 + np.exp(-slope * logit))).astype(int), 1 / (1 + np.exp(-logit))


def test_norm_2_by_its_formula():
    y, p = sample(300, 0, 0.5)
    index = np.minimum((p * 10).astype(int), 9)
    total = 0.0
    for b in range(10):
        rows = index == b
        n, accuracy = rows.sum(), y[rows].mean()
        total += n / 300 * ((p[rows].mean() - accuracy) ** 2 - accuracy * (1 - accuracy) / (n - 1))
    assert debiased(y, p, n_bins=10, strategy="width", target="event") == pytest.approx(
        np.sqrt(total)
    )


def test_norm_1_equals_its_resampling():
    y, p = sample(300, 1, 0.7)
    index = np.minimum((p * 10).astype(int), 9)
    n = np.bincount(index, minlength=10)
    confidence, accuracy = np.bincount(index, p) / n, np.bincount(index, y) / n
    drawn = np.random.default_rng(0).normal(
        accuracy, np.sqrt(accuracy * (1 - accuracy) / n), (40_000, 10)
    )
    plain, expected = (
        n @ np.abs(confidence - accuracy) / 300,
        np.mean(np.abs(confidence - drawn) @ n) / 300,
    )
    got = debiased(y, p, n_bins=10, strategy="width", target="event", norm=1)
    assert got == pytest.approx(2 * plain - expected, abs=5e-4)


@pytest.mark.parametrize("norm", [1, 2])
def test_it_is_nearer_the_truth_than_the_plain_error(norm):
    plain = metrics.positive_class_calibration_error
    truth = plain(*sample(400_000, 99, 0.7), norm=norm)
    runs = [sample(300, seed, 0.7) for seed in range(60)]
    off_plain = np.mean([plain(y, p, norm=norm, strategy="mass") for y, p in runs]) - truth
    off = np.mean([debiased(y, p, norm=norm, target="event") for y, p in runs]) - truth
    assert off_plain > 0.03
    assert abs(off) < 0.4 * off_plain


def test_the_interval_keeps_the_metrics_own_value():
    y, p = sample(2000, 5, 0.5)
    got = debiased.interval(y, p, target="event")
    assert got.value == got.plain == debiased(y, p, target="event")
    assert got.low < got.value < got.high


def test_refuses_the_largest_gap():
    with pytest.raises(InputError, match="norm must be 1 or 2"):
        debiased([0], [0.5], norm="max")


@pytest.mark.parametrize("norm", [3, 1.5, "max"])
def test_a_norm_without_a_known_bias_is_refused(norm):
    with pytest.raises(InputError, match=re.escape(f"norm must be 1 or 2; got {norm!r}.")):
        debiased([0, 1, 1], [0.1, 0.9, 0.6], norm=norm)
