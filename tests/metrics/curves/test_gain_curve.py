import numpy as np
import pytest

from calibrant import metrics
from calibrant.errors import InputError


def test_tied_rows_are_one_block_and_the_last_row_is_all():
    curve = metrics.gain_curve([1, 0, 1, 0, 0], [0.9, 0.5, 0.5, 0.5, 0.1])
    assert curve.threshold.tolist() == [0.9, 0.5, 0.1]
    assert curve.flagged.tolist() == [0.2, 0.8, 1.0]
    assert curve.found.tolist() == [0.5, 1.0, 1.0]
    assert curve.lift.tolist() == pytest.approx([2.5, 1.25, 1.0])
    assert (curve.low[-1], curve.high[-1]) == (1.0, 1.0)
    assert (curve.low[:-1] < curve.found[:-1]).all()


def test_weights_are_repetition():
    rng = np.random.default_rng(0)
    y, p, weight = rng.integers(0, 2, 90), rng.integers(0, 9, 90) / 9, rng.integers(0, 3, 90)
    rows = np.repeat(np.arange(90), weight)
    weighted, repeated = (
        metrics.gain_curve(y, p, sample_weight=weight),
        metrics.gain_curve(y[rows], p[rows]),
    )
    for name, column in weighted.to_dict().items():
        np.testing.assert_allclose(column, getattr(repeated, name), rtol=1e-12)


def test_it_is_the_threshold_table_by_share():
    rng = np.random.default_rng(0)
    p = rng.random(200)
    y = (rng.random(200) < p).astype(int)
    curve = metrics.gain_curve(y, p)
    table = metrics.threshold_table(y, p, thresholds=curve.threshold)
    np.testing.assert_allclose(table.flagged, curve.flagged, rtol=1e-12)
    np.testing.assert_allclose(table.sensitivity, curve.found, rtol=1e-12)
    np.testing.assert_allclose(table.ppv / y.mean(), curve.lift, rtol=1e-12)


def test_no_event_is_refused():
    with pytest.raises(InputError, match="must contain the event"):
        metrics.gain_curve([0, 0], [0.2, 0.3])
