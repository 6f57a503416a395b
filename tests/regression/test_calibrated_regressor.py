"""A wrapped regressor: what it says, in every way a model can say it."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.ensemble import RandomForestRegressor
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.linear_model import BayesianRidge, LinearRegression
from sklearn.model_selection import TimeSeriesSplit
from sklearn.utils.estimator_checks import parametrize_with_checks

import calibrant as cb
from calibrant import metrics
from calibrant.errors import InputError


def _data(n=600, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(0.0, 1.0, (n, 3))
    return X, X @ [3.0, -2.0, 0.0] + (0.1 + X[:, 2]) * rng.normal(size=n)


class Quantiles(RegressorMixin, BaseEstimator):
    """Says quantiles, three times too narrow."""

    def fit(self, X, y):
        self.model_ = LinearRegression().fit(X, y)
        self.quantiles_ = np.quantile(y - self.model_.predict(X), [0.1, 0.5, 0.9]) / 3.0
        return self

    def predict_distribution(self, X):
        return cb.QuantileForecast(
            [0.1, 0.5, 0.9], self.model_.predict(X)[:, None] + self.quantiles_
        )


class Pair(Quantiles):
    """Says (mean, std)."""

    predict_distribution = property()

    def predict(self, X):
        return self.model_.predict(X), np.full(len(X), 0.01)


class Uncentred(BayesianRidge):
    """Says a std that grows with the features by a few per cent, in each fold by others, as
    scikit-learn 1.6 did.
    """

    def predict(self, X, return_std=False):
        mean = super().predict(X)
        return (
            (mean, np.sqrt(1.0 / self.alpha_ + np.einsum("ij,jk,ik->i", X, self.sigma_, X)))
            if return_std
            else mean
        )


@pytest.mark.parametrize(
    "model", [BayesianRidge(), Uncentred(), LinearRegression(), Quantiles(), Pair()]
)
@pytest.mark.parametrize(
    "calibrator", [None, cb.regression.IntervalCalibration(), cb.ConformalIntervals()]
)
def test_intervals_hold_what_they_say(model, calibrator):
    X, y = _data()
    X_new, y_new = _data(4000, seed=1)
    forecast = cb.CalibratedRegressor(model, calibrator).fit(X, y).predict_distribution(X_new)
    assert metrics.interval_coverage(y_new, forecast, level=0.8) == pytest.approx(0.8, abs=0.07)


def test_a_scale_model_finds_where_the_errors_are_large():
    X, y = _data(3000)
    X_new, y_new = _data(4000, seed=1)
    scale = RandomForestRegressor(30, min_samples_leaf=20, random_state=0)
    plain, scaled = (
        cb.CalibratedRegressor(LinearRegression(), scale_estimator=s).fit(X, y)
        for s in (None, scale)
    )
    a, b = (
        metrics.continuous_ranked_probability_score(y_new, r.predict_distribution(X_new))
        for r in (plain, scaled)
    )
    assert b < 0.97 * a
    assert metrics.coefficient_of_variation(y_new, scaled.predict_distribution(X_new)) > 0.3


def test_a_fitted_model_is_used_as_it_is():
    X, y = _data()
    model = GaussianProcessRegressor(alpha=0.01, optimizer=None).fit(X[:100], y[:100])
    reg = cb.CalibratedRegressor(model, cb.StdScaling()).fit(X[100:], y[100:])
    assert reg.estimator_ is model
    mean, std = model.predict(X[100:], return_std=True)
    assert reg.calibrator_.scale_ == pytest.approx(np.sqrt(np.mean(((y[100:] - mean) / std) ** 2)))
    assert (reg.predict(X[:5], return_std=True)[1] > 0).all()


def test_it_promises_where_the_model_saw_no_calibration_row():
    X, y = _data()
    apart = cb.CalibratedRegressor(
        LinearRegression().fit(X[:100], y[:100]), cb.ConformalIntervals()
    ).fit(X[100:], y[100:])
    assert (apart.guarantee(0.9).n, apart.guarantee(0.9).least) == (500, 0.9)
    folded = cb.CalibratedRegressor(LinearRegression(), cb.ConformalIntervals()).fit(X, y)
    assert folded.guarantee(0.9) is None


def test_the_default_chooses_and_says_why():
    X, y = _data()
    reg = cb.CalibratedRegressor(Quantiles()).fit(X, y)
    assert isinstance(reg.calibrator_, cb.AutoRegressionCalibrator)
    assert reg.calibrator_.status_ == "pooled"
    assert reg.calibrator_.explain().startswith("600 rows: ")


def test_the_std_of_few_plain_means_is_that_of_normal_errors():
    X, y = _data(15)
    reg = cb.CalibratedRegressor(LinearRegression(), cv=3).fit(X, y)
    assert reg.calibrator_.status_ == "identity: too few rows"
    scaled = cb.CalibratedRegressor(LinearRegression(), cb.StdScaling(), cv=3).fit(X, y)
    assert reg.predict(X, return_std=True)[1] == pytest.approx(
        scaled.predict(X, return_std=True)[1], rel=0.3
    )


def test_weights_splitters_groups():
    X, y = _data(200)
    weight = np.ones(200)
    weight[:50] = 0.0
    folds = [np.arange(50 + 30 * k, 80 + 30 * k) for k in range(5)]
    splits = [(np.setdiff1d(np.arange(200), f), f) for f in folds]
    a = cb.CalibratedRegressor(LinearRegression(), cb.StdScaling(), cv=splits).fit(
        X, y, sample_weight=weight
    )
    splits = [(np.setdiff1d(u, np.arange(50)) - 50, v - 50) for u, v in splits]
    b = cb.CalibratedRegressor(LinearRegression(), cb.StdScaling(), cv=splits).fit(X[50:], y[50:])
    assert a.calibrator_.scale_ == pytest.approx(b.calibrator_.scale_)
    cb.CalibratedRegressor(LinearRegression(), cv=TimeSeriesSplit(3)).fit(X, y).predict(X)
    cb.CalibratedRegressor(LinearRegression(), cv=4).fit(X, y, groups=np.arange(200) // 20).predict(
        X
    )
    with pytest.raises(InputError, match="cv"):
        cb.CalibratedRegressor(LinearRegression(), cv="prefit").fit(X, y)


@pytest.mark.filterwarnings("ignore::calibrant.errors.CalibrationWarning")
@pytest.mark.parametrize("outputs", [1, 2])
def test_a_gaussian_process_that_was_not_fitted_is_fitted(outputs):
    """It predicts from its prior before any fit, which scikit-learn takes for fitted."""
    X, y = _data(200)
    y = y if outputs == 1 else np.column_stack([y, -y])
    reg = cb.CalibratedRegressor(GaussianProcessRegressor(alpha=0.1), cb.StdScaling()).fit(X, y)
    mean, std = reg.predict(X, return_std=True)
    assert mean.shape == std.shape == y.shape
    assert np.mean((mean - y) ** 2) < 0.5 * np.var(y)


@pytest.mark.parametrize(
    "scale_estimator",
    [None, RandomForestRegressor(n_estimators=10, min_samples_leaf=20, random_state=0)],
)
@pytest.mark.parametrize("fitted", [False, True])
def test_several_outputs_are_calibrated_each_on_its_own(scale_estimator, fitted):
    X, y = _data()
    both = np.column_stack([y, 10.0 * y])
    model = LinearRegression().fit(X[:300], both[:300]) if fitted else LinearRegression()
    reg = cb.CalibratedRegressor(model, cb.StdScaling(), scale_estimator=scale_estimator).fit(
        X[300:], both[300:]
    )
    forecast = reg.predict_distribution(X[:100])
    assert forecast.shape == reg.predict(X[:100]).shape == (100, 2)
    np.testing.assert_allclose(forecast.mean[:, 1], 10.0 * forecast.mean[:, 0])
    np.testing.assert_allclose(forecast.std[:, 1], 10.0 * forecast.std[:, 0], rtol=0.05)
    alone = cb.CalibratedRegressor(
        LinearRegression().fit(X[:300], y[:300]) if fitted else LinearRegression(), cb.StdScaling()
    )
    if scale_estimator is None:
        np.testing.assert_allclose(
            alone.fit(X[300:], y[300:]).predict_distribution(X[:100]).std, forecast.std[:, 0]
        )


@pytest.mark.parametrize("wrong", [cb.TemperatureScaling(), cb.Isotonic(), "interval"], ids=repr)
def test_a_calibrator_of_classes_is_refused_before_the_model_is_fitted(wrong):
    X, y = _data(50)
    with pytest.raises(
        InputError,
        match=r"calibrator must be a calibrator of forecasts such as StdScaling\(\).*got",
    ):
        cb.CalibratedRegressor(LinearRegression(), wrong).fit(X, y)


@parametrize_with_checks(
    [
        cb.CalibratedRegressor(LinearRegression(), cv=3),
        cb.CalibratedRegressor(LinearRegression(), cb.regression.IntervalCalibration(), cv=3),
        # The default choice weighs errors, which on the sparse rows are rounding alone, and moves
        # means by less than their tiny std.
        cb.CalibratedRegressor(
            LinearRegression(), cb.StdScaling(), scale_estimator=LinearRegression(), cv=3
        ),
    ]
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)
