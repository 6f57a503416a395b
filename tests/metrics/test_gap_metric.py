"""Intervals of regression's calibration errors hold the truth, and sketches come near the sorted
value.
"""

import numpy as np
import pytest

from calibrant import metrics
from calibrant._numerics.bins import level_counts, level_gaps, redrawn_counts
from calibrant._numerics.bootstrap import resampled_sums

ERRORS = [
    metrics.expected_normalized_calibration_error,
    metrics.uncertainty_calibration_error,
    metrics.quantile_calibration_error,
    metrics.interval_calibration_error,
]
MODELS = {
    "calibrated": lambda s, z: s * z,
    "narrow": lambda s, z: 1.3 * s * z,
    "power": lambda s, z: 1.1 * s**1.4 * z,
}


def _draw(model, n, seed):
    rng = np.random.default_rng(seed)
    std = np.exp(0.5 * rng.normal(size=n))
    return MODELS[model](std, rng.normal(size=n)), np.zeros(n), std


def _held(metric, model, n, repeats):
    """Share of intervals that hold the truth, mean error of their value, and of the plain
    number.
    """
    truth = 0.0 if model == "calibrated" else metric(*_draw(model, 200_000, 999))
    found = [
        metric.interval(*_draw(model, n, seed), n_resamples=100, random_state=seed)
        for seed in range(repeats)
    ]
    held = [i.low <= truth + 1e-12 and truth <= i.high for i in found]
    return (
        np.mean(held),
        np.mean([i.value for i in found]) - truth,
        np.mean([i.plain for i in found]) - truth,
    )


@pytest.mark.parametrize("metric", ERRORS, ids=lambda m: m.name)
@pytest.mark.parametrize("model", MODELS)
def test_intervals_hold_the_truth(metric, model):
    held, bias, plain = _held(metric, model, 4000, 20)
    assert held >= 0.8
    if model == "calibrated":
        assert bias < 0.75 * plain


@pytest.mark.slow
@pytest.mark.parametrize("metric", ERRORS, ids=lambda m: m.name)
@pytest.mark.parametrize("model", MODELS)
def test_intervals_hold_the_truth_over_many_repeats(metric, model):
    assert 0.91 <= _held(metric, model, 5000, 400)[0] <= (1.0 if model == "calibrated" else 0.98)


def test_a_bootstrap_of_the_plain_error_would_not():
    metric = metrics.expected_normalized_calibration_error
    low = [
        metric.interval(*_draw("calibrated", 1500, seed), method="bootstrap", n_resamples=50).low
        for seed in range(10)
    ]
    assert min(low) > 0.0


@pytest.mark.parametrize("metric", ERRORS[1:3], ids=lambda m: m.name)
def test_the_sketch_is_near_the_sorted_value(metric):
    data = _draw("power", 50_000, 0)
    assert metric(*data, cells=256) == pytest.approx(metric(*data), rel=0.01)
    parts = [metric.state(*(column[k::3] for column in data), cells=256) for k in range(3)]
    assert sum(parts).finalise() == pytest.approx(metric(*data, cells=256), rel=1e-12)


def test_counts_by_hand():
    counts = level_counts(
        np.array([-2.0, -1.0, 0.5, 3.0]), np.array([-1.0, 1.0]), np.array([0, 0, 1, 1]), 2
    )
    assert counts.tolist() == [[2.0, 0.0, 0.0], [0.0, 1.0, 1.0]]
    weight, gap = level_gaps(counts, np.array([0.25, 0.5]))
    assert weight.tolist() == [2.0, 2.0]
    assert gap.tolist() == [[1.5, -0.5], [1.0, 0.0]]


def test_redrawn_counts_vary_as_resampled_rows_do():
    rng = np.random.default_rng(1)
    score, index, reach, levels = (
        rng.normal(size=900),
        np.repeat([0, 1, 2], 300),
        np.array([-1.0, 0.0, 1.0]),
        np.array([0.16, 0.5, 0.84]),
    )
    weight = rng.integers(1, 4, 900).astype(float)
    quick = redrawn_counts(level_counts(score, reach, index, 3, weight), levels, 4000, 0)
    cell = np.searchsorted(reach, score) + 4 * index
    rows = resampled_sums([(cell, [])], 12, weight, 4000, 1)[:, 0, :, 0].reshape(-1, 3, 4)
    np.testing.assert_allclose(quick.mean(axis=0), rows.mean(axis=0), rtol=0.03)
    np.testing.assert_allclose(quick.std(axis=0), rows.std(axis=0), rtol=0.08)


def test_the_interval_of_the_coefficient_of_variation_is_the_bootstraps_but_for_a_row_not_seen():
    rng = np.random.default_rng(2)
    std = np.exp(0.5 * rng.normal(size=3000))
    found = metrics.coefficient_of_variation.interval(0.0 * std, 0.0 * std, std)
    other = metrics.coefficient_of_variation.interval(0.0 * std, 0.0 * std, std, method="bootstrap")
    assert found.method == "analytic"
    assert found.low == pytest.approx(other.low, abs=0.006)
    assert other.high < found.high < other.high + 0.02
    # Nearly constant: the higher moments of the sums are rounding, those of a normal distribution
    # stand in.
    near = metrics.coefficient_of_variation.interval(
        0.0 * std, 0.0 * std, 1.0 + 1e-5 * rng.normal(size=3000)
    )
    assert 1.0 < (near.high - near.low) / (2 * 1.96 * near.value / np.sqrt(2 * 3000)) < 1.06
    assert metrics.coefficient_of_variation.interval([0.0], [0.0], [2.0]).high == np.inf
    # None: from 0 to what a row of twice the size would make, less of it the more rows there are.
    same = [
        metrics.coefficient_of_variation.interval(np.zeros(n), np.zeros(n), np.ones(n))
        for n in (50, 5000)
    ]
    assert [one.low for one in same] == [0.0, 0.0]
    assert 0.3 > same[0].high > same[1].high > 0.0
