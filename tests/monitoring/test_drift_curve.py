"""The numbers by time: what is measured is what the metrics measure, and the intervals hold the
truth.
"""

import numpy as np
import pytest

import calibrant as cb
from calibrant import metrics


def test_the_numbers_of_a_batch_are_those_of_the_metrics():
    rng = np.random.default_rng(0)
    P, y = rng.dirichlet(np.ones(3), 500), rng.integers(0, 3, 500)
    curve = (
        cb.monitoring.CalibrationMonitor().update(P[:300], y[:300]).update(P[300:], y[300:]).curve()
    )
    for i, rows in enumerate((slice(0, 300), slice(300, None))):
        assert curve.ece[i] == pytest.approx(metrics.expected_calibration_error(y[rows], P[rows]))
        assert curve.accuracy[i] == pytest.approx(metrics.accuracy(y[rows], P[rows]))
        assert curve.confidence[i] == pytest.approx(P[rows].max(axis=1).mean())
    assert curve.n.tolist() == [300.0, 200.0]


def test_the_intervals_hold_the_true_error():
    """Nine of ten batches whose confidence is a tenth too high; a calibrated one's reaches down
    to 0.
    """
    rng = np.random.default_rng(1)
    monitor = cb.monitoring.CalibrationMonitor()
    for gap in [0.1] * 30 + [0.0] * 30:
        p = rng.uniform(0.6, 1.0, 400)
        monitor.update(p, (rng.uniform(size=400) < p - gap).astype(int))
    curve = monitor.curve(level=0.9)
    assert np.mean((curve.low[:30] <= 0.1) & (curve.high[:30] >= 0.1)) >= 0.75
    assert np.mean(curve.low[30:] == 0.0) >= 0.8
    assert ((curve.low <= curve.error) & (curve.error <= curve.high)).all()


def test_a_batch_without_rows_says_nothing():
    curve = (
        cb.monitoring.CalibrationMonitor()
        .update_sums(np.zeros((3, 3)))
        .update_sums([[4.0, 2.0, 2.0]] * 3)
        .curve()
    )
    assert np.isnan([curve.error[0], curve.low[0], curve.high[0], curve.accuracy[0]]).all()
    assert np.isfinite(curve.error[1])
    assert curve.log_evidence[0] == pytest.approx(0.0)


def test_the_error_of_a_batch_is_the_mean_gap_of_its_bins():
    """So many rows that noise is nothing: gaps of .3 and .1 in bins of three and one quarters of
    the rows.
    """
    sums = np.array([[3e7, 3e7 * 0.4, 3e7 * 0.1], [1e7, 1e7 * 0.8, 1e7 * 0.9]])
    curve = cb.monitoring.CalibrationMonitor().update_sums(sums).curve()
    assert curve.ece[0] == pytest.approx(0.25)
    np.testing.assert_allclose([curve.error[0], curve.low[0], curve.high[0]], 0.25, atol=2e-3)
    assert curve.low[0] < 0.25 < curve.high[0]
