"""Rankings of rows that several maps calibrated: compared among the rows of each."""

import numpy as np
import pytest

import calibrant as cb
from calibrant import metrics
from calibrant.core.predictions import read
from calibrant.reporting.calibrate import compare
from calibrant.reporting.compared_scores import Measure, score_table


def drawn(seed, n=400, slope=2.0):
    """(y, p): outcomes, and overconfident risks of them."""
    rng = np.random.default_rng(seed)
    z = rng.normal(-1.0, 1.3, n)
    return (rng.random(n) < 1 / (1 + np.exp(-z))).astype(int), 1 / (1 + np.exp(-slope * z))


def test_a_ranking_changes_by_its_mean_change_within_folds():
    """Steps make ties: the change is that of the folds, by their pairs of rows."""
    y, p = drawn(2)
    found = compare(read(p, y), cb.OneVsRest(cb.Isotonic()))
    measure = [Measure(metrics.event_auroc, 200, analytic=True)]
    (row,) = score_table(found.before, found.after, measure, folds=found.folds)
    after, folds = found.after.probabilities[:, 1], found.folds
    pairs, change = [], []
    for k in np.unique(folds):
        own = folds == k
        pairs.append(y[own].sum() * (1 - y[own]).sum())
        change.append(metrics.event_auroc(y[own], after[own]) - metrics.event_auroc(y[own], p[own]))
    assert row.change.value == pytest.approx(np.average(change, weights=pairs), abs=1e-12)
    assert row.change.low < row.change.value < row.change.high
    assert row.after.value == pytest.approx(row.before.value + row.change.value, abs=1e-12)
    assert row.after.low < row.after.value < row.after.high


def test_its_interval_holds_the_change_of_one_fit():
    """Of scores that a second score improves, the change within folds is that of the whole."""
    inside, changes = 0, []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        a, b = rng.normal(0, 1, (2, 300))
        y = (rng.random(300) < 1 / (1 + np.exp(-a - b))).astype(int)
        first, second = (read(1 / (1 + np.exp(-z)), y) for z in (a, a + 0.5 * b))
        measure = [Measure(metrics.event_auroc, 200, analytic=True)]
        (row,) = score_table(first, second, measure, folds=np.arange(300) % 5)
        changes.append(row.change.value)
        # The AUROC of a and of a + b / 2 under this law, from ten million rows.
        inside += row.change.low <= 0.0763 <= row.change.high
    assert np.mean(changes) == pytest.approx(0.0763, abs=0.005)
    assert 90 <= inside <= 100


@pytest.mark.parametrize(
    "metric",
    [
        metrics.event_auroc,
        metrics.confidence_auroc,
        metrics.area_under_risk_coverage,
        metrics.excess_area_under_risk_coverage,
        metrics.coverage_at_risk,
        metrics.log_loss,
        metrics.expected_calibration_error,
        metrics.confidence_spread,
    ],
    ids=lambda one: one.key,
)
def test_metrics_that_rank_say_so(metric):
    """Those, and only those, that an increasing map leaves as they are."""
    y, p = drawn(3)
    before = read(p, y).as_pair(1)
    after = read(p**2, y).as_pair(1)
    assert metric.ranks == (metric.of(before) == metric.of(after))
