"""Intervals of jackknife+, CV+ and minmax: the numbers of another library, and what they
promise.
"""

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.linear_model import BayesianRidge, LinearRegression, Ridge
from sklearn.model_selection import KFold, LeaveOneOut, ShuffleSplit
from sklearn.neighbors import KNeighborsRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

import calibrant as cb
from calibrant.errors import InputError, SparseDataWarning
from calibrant.testing import check_guarantee


def _small():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2)).round(3)
    y = (X @ [1.0, -2.0] + rng.normal(size=30) * (1 + abs(X[:, 0]))).round(3)
    return X, y, rng.normal(size=(3, 2)).round(3)


#: ((lower, upper) of 80 % and of 90 %) of three rows by MAPIE 1.6.0,
#: CrossConformalRegressor(LinearRegression(), cv=cv, method=method).
MAPIE = {
    (None, "plus"): [
        [[-5.599049, -6.034787], [-0.598286, 0.377314]],
        [[-0.488185, -1.526441], [4.31869, 4.88566]],
        [[-4.578127, -5.259902], [0.511083, 1.152199]],
    ],
    (None, "minmax"): [
        [[-6.00232, -6.663765], [0.006871, 0.668316]],
        [[-0.864996, -1.526441], [4.655471, 5.316916]],
        [[-4.931903, -5.593348], [0.747985, 1.40943]],
    ],
    (5, "plus"): [
        [[-5.525978, -5.977914], [-0.194959, 0.256978]],
        [[-0.872667, -1.335482], [4.370332, 5.217037]],
        [[-4.615614, -5.172114], [0.610842, 1.0902]],
    ],
    (5, "minmax"): [
        [[-5.80178, -6.253717], [-0.109905, 0.342031]],
        [[-1.170667, -1.622604], [4.782946, 5.234883]],
        [[-4.902492, -5.354429], [0.830071, 1.282007]],
    ],
}


@pytest.mark.parametrize(("folds", "method"), MAPIE)
def test_the_numbers_of_mapie(folds, method):
    X, y, new = _small()
    reg = cb.ConformalRegressor(
        LinearRegression(), method=method, cv=LeaveOneOut() if folds is None else KFold(folds)
    ).fit(X, y)
    ours = np.stack(
        [reg.predict_interval(new, level) for level in (0.8, 0.9)], axis=-1
    )  # (end, row, level)
    np.testing.assert_allclose(np.moveaxis(ours, 0, 1), MAPIE[folds, method], atol=2e-6)
    np.testing.assert_allclose(reg.predict(new), LinearRegression().fit(X, y).predict(new))


def test_plus_is_inside_minmax():
    X, y, new = _small()
    inner, outer = (
        cb.ConformalRegressor(LinearRegression(), method=m, cv=6).fit(X, y).predict_interval(new)
        for m in ("plus", "minmax")
    )
    assert (inner[0] >= outer[0]).all()
    assert (inner[1] <= outer[1]).all()


def test_the_promise_of_each_way():
    X, y, _ = _small()
    said = {
        (method, name): cb.ConformalRegressor(Ridge(), method=method, cv=cv)
        .fit(X, y)
        .guarantee(0.9)
        for method in ("plus", "minmax")
        for name, cv in (("loo", LeaveOneOut()), ("equal", 5), ("unequal", 4))
    }
    assert [g.least for g in said.values()] == pytest.approx(
        [0.8, 0.8 - min(2 * 0.8 / 7, (1 - 1 / 6) / 6), 0.8 - 2 * 0.75 / (30 / 4 + 1), 0.9, 0.9, 0.9]
    )
    assert [g.method for g in said.values()] == [
        "jackknife+",
        "CV+",
        "CV+",
        "jackknife-minmax",
        "CV-minmax",
        "CV-minmax",
    ]
    assert {g.n for g in said.values()} == {30}


@pytest.mark.parametrize("method", ["plus", "minmax"])
@pytest.mark.parametrize("cv", [4, LeaveOneOut()], ids=["cv", "jackknife"])
@pytest.mark.parametrize(
    "model", [LinearRegression(), KNeighborsRegressor(1)], ids=["linear", "neighbour"]
)
def test_promises_are_kept(method, cv, model):
    rng = np.random.default_rng(0)
    reg, level, held = cb.ConformalRegressor(model, method=method, cv=cv), 0.8, []
    for _ in range(40):
        X = rng.normal(size=(24 + 40, 4))
        y = X[:, 0] + (0.3 + np.abs(X[:, 1])) * rng.standard_t(3, 64)
        low, high = reg.fit(X[:24], y[:24]).predict_interval(X[24:], level)
        held.append(np.mean((low <= y[24:]) & (y[24:] <= high)))
    check_guarantee(reg.guarantee(level), held)


def test_groups_are_held_out_together_and_count_as_one():
    rng = np.random.default_rng(0)
    level, held = 0.8, []
    reg = cb.ConformalRegressor(LinearRegression(), cv=15)
    for _ in range(60):
        size = rng.choice([1, 30], 15)
        group = np.repeat(np.arange(15), size)
        spread = np.where(size == 30, 0.3, 1.0)
        X = rng.normal(size=(size.sum(), 1))
        y = X[:, 0] + (spread * rng.normal(size=15))[group] + 0.1 * rng.normal(size=size.sum())
        low, high = reg.fit(X, y, groups=group.astype(str)).predict_interval(
            np.zeros((1, 1)), level
        )
        new = rng.choice([0.3, 1.0], 400) * rng.normal(size=400) + 0.1 * rng.normal(size=400)
        held.append(np.mean((low <= new) & (new <= high)))
    said = reg.guarantee(level)
    assert (said.n, said.unit, said.method, said.least) == (
        15,
        "clusters",
        "jackknife+",
        pytest.approx(0.6),
    )
    check_guarantee(said, held)
    assert np.mean(held) == pytest.approx(level, abs=0.07)


class Quantiles(RegressorMixin, BaseEstimator):
    def fit(self, X, y):
        self.mean_ = LinearRegression().fit(X, y)
        return self

    def predict_distribution(self, X):
        std = 0.5 * np.exp(np.asarray(X)[:, 1])
        return cb.QuantileForecast(
            [0.1, 0.5, 0.9], self.mean_.predict(X)[:, None] + std[:, None] * [-1.0, 0.0, 2.0]
        )


@pytest.mark.parametrize(
    ("model", "score"),
    [(Quantiles(), "distributional"), (Quantiles(), "scaled"), (BayesianRidge(), "scaled")],
)
def test_a_models_own_spread(model, score):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 2))
    y = X[:, 0] + np.exp(X[:, 1]) * rng.normal(size=2000)
    reg = cb.ConformalRegressor(model, conformity=score, cv=5).fit(X[:400], y[:400])
    low, high = reg.predict_interval(X[400:], 0.8)
    assert np.mean((low <= y[400:]) & (y[400:] <= high)) == pytest.approx(0.8, abs=0.05)
    assert (np.ptp(high - low) > 1.0) == isinstance(model, Quantiles)
    np.testing.assert_array_equal(reg.predict(X).shape, (2000,))


def test_a_weight_of_two_is_the_row_twice_in_its_fold_and_promises_nothing():
    X, y, new = _small()
    fold, weight = np.arange(30) % 3, np.where(np.arange(30) % 2, 2.0, 1.0)
    twice = np.repeat(np.arange(30), weight.astype(int))
    splits = [
        [(np.flatnonzero(f != k), np.flatnonzero(f == k)) for k in range(3)]
        for f in (fold, fold[twice])
    ]
    weighted = cb.ConformalRegressor(LinearRegression(), cv=splits[0]).fit(
        X, y, sample_weight=weight
    )
    repeated = cb.ConformalRegressor(LinearRegression(), cv=splits[1]).fit(X[twice], y[twice])
    for level in (0.5, 0.9):
        np.testing.assert_allclose(
            weighted.predict_interval(new, level), repeated.predict_interval(new, level)
        )
    assert weighted.guarantee(0.9) is None
    assert "weights other than 0 and 1" in weighted.explain()


def test_parallel_fits_frames_few_rows_and_bounds():
    X, y, new = _small()
    one = cb.ConformalRegressor(Ridge(), random_state=1).fit(pd.DataFrame(X, columns=["a", "b"]), y)
    with parallel_config(backend="threading"):
        two = cb.ConformalRegressor(Ridge(), random_state=1, n_jobs=2).fit(X, y)
    np.testing.assert_allclose(
        one.predict_interval(pd.DataFrame(new, columns=["a", "b"])),
        two.predict_interval(new),
        rtol=1e-12,
    )
    with pytest.warns(SparseDataWarning, match=r"level 0\.99 needs 99 calibration rows; got 30"):
        assert np.isinf(two.predict_interval(new, 0.99)).all()
    bounded = cb.ConformalRegressor(Ridge(), bounds=(-50.0, 50.0)).fit(X, y)
    assert bounded.predict_interval(new, 0.99)[1].tolist() == [50.0] * 3


def test_what_cannot_work_is_refused():
    X, y, _ = _small()
    for reg, match in (
        (cb.ConformalRegressor(LinearRegression().fit(X, y)), "model must be unfitted"),
        (cb.ConformalRegressor(LinearRegression(), cv=ShuffleSplit(3)), "every row out once"),
        (
            cb.ConformalRegressor(LinearRegression(), conformity="scaled"),
            "needs a model with predict_distribution",
        ),
        (cb.ConformalRegressor(LinearRegression(), method="base"), "method"),
        (cb.ConformalRegressor(LinearRegression(), bounds=(0.0, 1.0)), "outcomes must lie within"),
    ):
        with pytest.raises(InputError, match=match):
            reg.fit(X, y)
    with pytest.raises(InputError, match="one outcome a row"):
        cb.ConformalRegressor(LinearRegression()).fit(X, np.stack([y, y], 1))


@parametrize_with_checks([cb.ConformalRegressor(LinearRegression(), cv=3)])
def test_scikit_learn_contract(estimator, check):
    check(estimator)
