"""The pieces of a curve over one signal."""

import numpy as np
import pytest

from calibrant.calibrators.stacked_confidence import SignalCurve


@pytest.mark.parametrize("domain", ["unit", "real"])
def test_columns_rise_and_steps_stay_in_the_unit_interval(domain):
    score = np.random.default_rng(0).beta(3.0, 1.0, 200)
    curve = SignalCurve.learn(score, (score > 0.6).astype(float), np.ones(200), domain)
    columns = curve.columns(np.sort(np.append(score, [0.0, 1.0])))
    assert columns.shape == (202, 9)
    assert (np.diff(columns, axis=0) >= -1e-15).all()
    assert columns[:, 1:].min() == 0.0
    assert columns[:, 1:].max() == pytest.approx(1.0)
    own = curve.columns(score)[:, 0]
    assert own.mean() == pytest.approx(0.0, abs=1e-12)
    assert own.std() == pytest.approx(1.0)


def test_exact_ends_are_read_as_beyond_what_was_seen():
    curve = SignalCurve.learn(
        np.array([0.0, 0.2, 0.8, 1.0]), np.array([0.0, 1.0, 0.0, 1.0]), np.ones(4), "unit"
    )
    columns = curve.columns(np.array([0.0, 1e-9, 1.0 - 1e-9, 1.0]))
    assert np.isfinite(columns).all()
    assert columns[0, 0] == columns[1, 0]
    assert columns[2, 0] == columns[3, 0]


def test_a_signal_of_one_value_says_nothing():
    curve = SignalCurve.learn(np.full(30, 0.7), np.ones(30), np.ones(30), "unit")
    np.testing.assert_array_equal(curve.columns(np.array([0.1, 0.7, 0.9])), np.zeros((3, 1)))
