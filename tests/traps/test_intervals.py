"""Conformal traps: the quantile at n = 6, whole numbers that rounding pushes up, and ends that
are finite without a right to be.
"""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

import calibrant as cb
from calibrant.errors import SparseDataWarning
from calibrant.testing import all_regression_calibrators


def _conformal(n, scores=None):
    scores = np.arange(1.0, n + 1.0) if scores is None else scores
    return (
        cb.ConformalIntervals(score="absolute")
        .fit(np.zeros(n), scores, std=np.ones(n))
        .predict([0.0], [1.0])
    )


def test_conformal_quantile_at_n_6_has_its_correction():
    """MAPIE #452: the plain 80 % quantile of six scores is the fifth; ceil(7 * 0.8) is the
    sixth.
    """
    assert _conformal(6).interval(0.8)[1][0] == 6.0
    with pytest.warns(SparseDataWarning, match="needs 9 calibration rows; got 6"):
        assert _conformal(6).interval(0.9)[1][0] == np.inf


def test_a_rank_that_is_a_whole_number_is_not_rounded_up():
    """0.82 * 150 = 123 is 123.00000000000001 or so in floats of some pairs; the rank is 123."""
    for n, level in ((149, 0.82), (309, 0.9), (99, 0.57), (99, 0.29)):
        assert _conformal(n).interval(level)[1][0] == round((n + 1) * level)


@pytest.mark.parametrize(
    "cal",
    [
        c
        for c in all_regression_calibrators()
        if c.__class__.__name__ in ("ConformalIntervals", "MondrianIntervals")
    ],
    ids=repr,
)
def test_no_end_is_finite_that_rows_do_not_allow(cal):
    rng = np.random.default_rng(0)
    n = 8 if getattr(cal, "calibrator", None) else 3
    fitted = cal.fit(rng.normal(size=n), rng.normal(size=n), std=np.ones(n))
    with pytest.warns(SparseDataWarning, match="an end is infinite"):
        low, high = fitted.predict(np.zeros(2), np.ones(2)).interval(0.8 if n == 3 else 0.9)
    assert np.isinf([low, high]).all()


def test_no_end_around_a_model_is_finite_that_rows_do_not_allow():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(8, 1)), rng.normal(size=8)
    for method in ("plus", "minmax"):
        reg = cb.ConformalRegressor(LinearRegression(), method=method, cv=4).fit(X, y)
        with pytest.warns(SparseDataWarning, match="needs 9 calibration rows; got 8"):
            assert np.isinf(reg.predict_interval(X[:2], 0.9)).all()
