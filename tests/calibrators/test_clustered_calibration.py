"""Regions of the features: found where they differ, the base where they do not."""

import numpy as np
import pytest

import calibrant as cb
from calibrant.calibrators.multiclass import ClusteredCalibration
from calibrant.errors import InputError


def problem(n, size, seed=0):
    rng = np.random.default_rng(seed)
    X, z = rng.normal(size=(n, 3)), rng.normal(size=n)
    truth = 1.0 / (1.0 + np.exp(-z - size * np.sign(X[:, 0] * X[:, 1])))
    return X, 1.0 / (1.0 + np.exp(-z)), (rng.uniform(size=n) < truth).astype(int), truth


def loss(q, y):
    return -np.log(np.where(y == 1, q, 1.0 - q)).mean()


def test_it_finds_regions_that_differ():
    X, p, y, truth = problem(12_000, 1.0)
    cal = ClusteredCalibration().fit(p[:8000], y[:8000], X=X[:8000])
    q = cal.predict_proba(p[8000:], X=X[8000:])[:, 1]
    base, best = loss(p[8000:], y[8000:]), loss(truth[8000:], y[8000:])
    assert base - loss(q, y[8000:]) > 0.6 * (base - best)


def test_where_nothing_differs_it_is_the_base():
    left = 0
    for seed in range(20):
        X, p, y, _ = problem(800, 0.0, seed)
        cal = ClusteredCalibration().fit(p, y, X=X)
        if not cal.offsets_.used:
            left += 1
            np.testing.assert_array_equal(
                cal.predict_proba(p, X=X),
                cb.calibrators.LikelihoodPool().fit(p, y).predict_proba(p),
            )
    assert left >= 17


def test_missing_features_and_wrong_ones():
    X, p, y, _ = problem(1000, 1.0)
    cal = ClusteredCalibration().fit(p, y, X=X)
    with pytest.raises(InputError, match="X must be finite"):
        cal.predict_proba(p[:3], X=np.full((3, 3), np.nan))
    with pytest.raises(InputError, match="X must have 3 features"):
        cal.predict_proba(p[:2], X=X[:2, :2])
    with pytest.raises(InputError, match="depth must be"):
        ClusteredCalibration(depth=0).fit(p, y, X=X)
