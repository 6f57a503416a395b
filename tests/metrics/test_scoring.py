import pickle

import numpy as np
import pytest
from sklearn.linear_model import BayesianRidge, LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score

from calibrant import CalibratedRegressor, StdScaling, metrics
from calibrant.errors import InputError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 3))
Y = np.array(["no", "yes"])[(X[:, 0] + RNG.normal(size=300) > 0).astype(int)]


def test_equals_scikit_learns_scorers():
    model = LogisticRegression()
    assert cross_val_score(model, X, Y, scoring=metrics.scorer(metrics.log_loss)) == pytest.approx(
        cross_val_score(model, X, Y, scoring="neg_log_loss"), abs=1e-12
    )
    assert cross_val_score(model, X, Y, scoring=metrics.scorer(metrics.accuracy)) == pytest.approx(
        cross_val_score(model, X, Y, scoring="accuracy")
    )


def test_it_selects_in_a_grid():
    score = metrics.scorer(metrics.brier_score, scale_by_half=True)
    search = GridSearchCV(LogisticRegression(), {"C": [1e-6, 1.0]}, scoring=score).fit(X, Y)
    assert search.best_params_ == {"C": 1.0}


@pytest.mark.parametrize(
    "metric",
    [
        metrics.expected_calibration_error,
        metrics.smooth_calibration_error,
        metrics.calibration_slope,
    ],
)
def test_what_must_not_select_is_refused(metric):
    with pytest.raises(InputError, match="must be one that may select"):
        metrics.scorer(metric)


def test_reporting_beside_a_proper_score_is_allowed():
    report = metrics.scorer(metrics.expected_calibration_error, allow_improper=True, n_bins=5)
    value = report(LogisticRegression().fit(X, Y), X, Y)
    assert -1.0 <= value <= 0.0
    with pytest.raises(InputError, match="must have a direction"):
        metrics.scorer(metrics.calibration_slope, allow_improper=True)


def test_it_pickles_takes_weights_and_says_what_it_is():
    score = pickle.loads(pickle.dumps(metrics.scorer(metrics.log_loss)))
    model = LogisticRegression().fit(X, Y)
    weight = np.arange(300) % 3
    assert score(model, X, Y, sample_weight=weight) == pytest.approx(
        score(model, np.repeat(X, weight, axis=0), np.repeat(Y, weight))
    )
    assert "LogLoss" in repr(score)


def _regression():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 3))
    return X, X @ [1.0, 2.0, 0.0] + rng.normal(size=200)


def test_regressors_are_scored_by_their_forecasts():
    X, y = _regression()
    model = BayesianRidge().fit(X, y)
    mean, std = model.predict(X, return_std=True)
    for metric in (
        metrics.negative_log_likelihood,
        metrics.continuous_ranked_probability_score,
        metrics.pinball_loss,
    ):
        assert metrics.scorer(metric)(model, X, y) == -metric(y, mean, std)
    wrapped = CalibratedRegressor(LinearRegression(), StdScaling()).fit(X, y)
    forecast = wrapped.predict_distribution(X)
    assert metrics.scorer(metrics.negative_log_likelihood)(
        wrapped, X, y
    ) == -metrics.negative_log_likelihood(y, forecast)


def test_plain_regressors_are_scored_as_scikit_learn_does():
    X, y = _regression()
    for metric, name in (
        (metrics.mean_absolute_error, "mean_absolute_error"),
        (metrics.root_mean_squared_error, "root_mean_squared_error"),
    ):
        ours = cross_val_score(LinearRegression(), X, y, scoring=metrics.scorer(metric))
        assert ours == pytest.approx(
            cross_val_score(LinearRegression(), X, y, scoring=f"neg_{name}")
        )
    with pytest.raises(InputError, match="standard deviations"):
        metrics.scorer(metrics.negative_log_likelihood)(LinearRegression().fit(X, y), X, y)


def test_a_calibration_error_of_regression_must_not_select():
    with pytest.raises(
        InputError, match="use negative_log_likelihood or continuous_ranked_probability_score"
    ):
        metrics.scorer(metrics.expected_normalized_calibration_error)
