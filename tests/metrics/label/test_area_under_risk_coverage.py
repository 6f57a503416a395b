from dataclasses import replace

import numpy as np
import pytest

from calibrant import metrics
from calibrant._numerics.bootstrap import resample_weights
from calibrant.core.predictions import read

RNG = np.random.default_rng(0)


def sample(n):
    p = 0.5 + 0.5 * RNG.random(n)
    return (RNG.random(n) < p).astype(int), p


def test_the_sum_over_rows_tends_to_the_integral():
    y, p = sample(20_000)
    order = np.argsort(-p)
    wrong = np.cumsum(1 - y[order])
    assert metrics.area_under_risk_coverage(y, p) == pytest.approx(
        np.mean(wrong / np.arange(1, len(y) + 1)), abs=2e-4
    )


def test_by_hand_with_ties():
    # One right row alone, then a run of one right and one wrong: risk (c - 1) / (2 c) at c rows of
    # 3.
    y, p = [1, 1, 0], [0.9, 0.7, 0.7]
    expected = (2.0 / 2 - 0.5 * np.log(3.0)) / 3
    assert metrics.area_under_risk_coverage(y, p) == pytest.approx(expected)


def test_the_area_of_a_perfect_ranking():
    y = np.array([1] * 70 + [0] * 30)
    p = np.append(np.linspace(0.9, 0.8, 70), np.linspace(0.79, 0.6, 30))
    assert metrics.area_under_risk_coverage(y, p) == pytest.approx(0.3 + 0.7 * np.log(0.7))
    assert metrics.area_under_risk_coverage(y, p[::-1]) > 0.35


def test_an_increasing_map_of_the_confidence_changes_nothing():
    y, p = sample(300)
    for metric in (
        metrics.area_under_risk_coverage,
        metrics.excess_area_under_risk_coverage,
        metrics.coverage_at_risk,
    ):
        assert metric(y, p) == pytest.approx(metric(y, 0.5 + 0.5 * (2 * p - 1) ** 3), abs=1e-12)


@pytest.mark.parametrize(
    "name",
    [
        "area_under_risk_coverage",
        "excess_area_under_risk_coverage",
        "coverage_at_risk",
        "confidence_auroc",
    ],
)
def test_a_resample_is_the_value_of_its_rows(name):
    metric, (y, p) = getattr(metrics, name), sample(300)
    record, rng = read(np.round(p, 2), y), np.random.default_rng(3)
    expected = []
    for _ in range(20):
        weight = resample_weights(record.weights, rng)
        expected.append(metric.of(replace(record, weight=weight).take(weight > 0.0)))
    np.testing.assert_allclose(metric.resampled_of(record, 20, 3), expected, rtol=1e-13)


@pytest.mark.parametrize(
    "metric", [metrics.area_under_risk_coverage, metrics.excess_area_under_risk_coverage], ids=repr
)
def test_the_interval_holds_the_area_of_ever_more_rows(metric):
    y, p = sample(400_000)
    rng, truth, held = np.random.default_rng(4), metric(y, p), 0
    for _ in range(400):
        rows = rng.integers(0, len(y), 100)
        found = metric.interval(y[rows], p[rows])
        held += found.low <= truth <= found.high
    assert found.method == "analytic"
    assert held >= 0.925 * 400
