"""IROvA-TS: each class its own map, no zero rows."""

import numpy as np
from sklearn.isotonic import IsotonicRegression

import calibrant as cb
from calibrant._numerics.logistic import softmax


def _data(n=3000, seed=0):
    rng = np.random.default_rng(seed)
    P = softmax(rng.normal(size=(n, 3)) * 2)
    shifted = P * [0.5, 1.0, 2.0]
    shifted /= shifted.sum(axis=1, keepdims=True)
    return P, (shifted.cumsum(axis=1) > rng.random((n, 1))).argmax(axis=1), shifted


def test_each_column_is_isotonic_regression_away_from_the_ends():
    P, y, _ = _data()
    Z = cb.TemperatureScaling().fit(P, y).predict_proba(P)
    cal = cb.calibrators.IsotonicOneVsRest().fit(P, y)
    for k in range(3):
        expected = IsotonicRegression(out_of_bounds="clip").fit(Z[:, k], y == k).predict(Z[:, k])
        ours = np.interp(Z[:, k], cal.score_[k], cal.value_[k])
        inner = (expected > 0) & (expected < 1)
        assert inner.mean() > 0.8
        np.testing.assert_allclose(ours[inner], expected[inner], atol=0.02)


def test_repairs_errors_that_differ_between_classes():
    P, y, truth = _data(20_000)
    Q = cb.calibrators.IsotonicOneVsRest().fit(P, y).predict_proba(P)
    assert np.abs(Q - truth).mean() < 0.3 * np.abs(P - truth).mean()


def test_a_row_that_no_class_claims_is_still_a_distribution():
    P = np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8], [0.34, 0.33, 0.33]])
    for temperature in (True, False):
        Q = (
            cb.calibrators.IsotonicOneVsRest(temperature=temperature)
            .fit(P[:3].repeat(20, axis=0), np.arange(3).repeat(20))
            .predict_proba(P)
        )
        np.testing.assert_allclose(Q.sum(axis=1), 1.0, atol=1e-12)
        assert (Q > 0).all()
