"""F11: one calibrator for each fold, where a fold is one or two rows, was fitted without a word
and tripled the log loss.
"""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold, LeaveOneOut
from sklearn.naive_bayes import GaussianNB

import calibrant as cb
from calibrant import metrics
from calibrant.errors import CalibrationWarning, InputError

X, Y = make_classification(360, 5, random_state=0, flip_y=0.1)
TRAIN, TEST = slice(60), slice(60, None)
ONE_AND_SEVERAL = [cb.OneVsRest(cb.Isotonic()), cb.OneVsRest(cb.Platt()), cb.TemperatureScaling()]


@pytest.mark.parametrize("cv", [LeaveOneOut(), 60, 30, KFold(40)])
@pytest.mark.parametrize("calibrator", ONE_AND_SEVERAL)
def test_f11_folds_too_small_for_a_calibrator_are_refused(cv, calibrator):
    clf = cb.CalibratedClassifier(GaussianNB(), calibrator, cv=cv, ensemble=True)
    with pytest.raises(
        InputError,
        match=(
            r"at least 3 held-out rows for a calibrator of its own; the smallest of the \d+ folds"
            r" has \d; pass ensemble=False"
        ),
    ):
        clf.fit(X[TRAIN], Y[TRAIN])


def test_f11_folds_with_few_rows_are_told_of():
    with pytest.warns(
        CalibrationWarning,
        match="should have at least 10 .* the smallest of the 7 folds has 8; pass ensemble=False",
    ):
        cb.CalibratedClassifier(GaussianNB(), cb.TemperatureScaling(), cv=7, ensemble=True).fit(
            X[TRAIN], Y[TRAIN]
        )


def test_f11_rows_of_weight_zero_do_not_fill_a_fold():
    weight = np.zeros(60)
    weight[:10] = 1.0
    clf = cb.CalibratedClassifier(GaussianNB(), cb.TemperatureScaling(), cv=5, ensemble=True)
    clf.fit(X[TRAIN], Y[TRAIN])
    with pytest.raises(InputError, match="at least 3"):
        clf.fit(X[TRAIN], Y[TRAIN], sample_weight=weight)


def test_f11_a_calibrator_on_the_training_data_has_one_for_each_fold_too():
    clf = cb.CalibratedClassifier(GaussianNB(), cb.calibrators.GeometricCalibrator(), cv=30)
    with pytest.raises(InputError, match=r"pass fewer folds\.$"):
        clf.fit(X[TRAIN], Y[TRAIN])


@pytest.mark.parametrize("calibrator", ONE_AND_SEVERAL)
def test_f11_the_remedies_work(calibrator):
    five, one_out = (
        cb.CalibratedClassifier(GaussianNB(), calibrator, cv=cv, ensemble=False)
        .fit(X[TRAIN], Y[TRAIN])
        .predict_proba(X[TEST])
        for cv in (5, LeaveOneOut())
    )
    assert metrics.log_loss(Y[TEST], one_out) == pytest.approx(
        metrics.log_loss(Y[TEST], five), rel=0.15
    )


def test_f11_a_regressor_has_one_calibrator_for_all_rows():
    rng = np.random.default_rng(0)
    outcome = X[:, 0] + rng.normal(size=len(X))
    stds = [
        cb.CalibratedRegressor(LinearRegression(), cb.StdScaling(), cv=cv)
        .fit(X[TRAIN], outcome[TRAIN])
        .predict(X[TEST], return_std=True)[1]
        for cv in (5, LeaveOneOut())
    ]
    np.testing.assert_allclose(*stds, rtol=0.05)
