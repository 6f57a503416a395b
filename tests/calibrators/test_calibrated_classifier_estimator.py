"""scikit-learn's own contract, with four calibrators, with one for each fold, and with an
average of models.
"""

import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from calibrant import (
    CalibratedClassifier,
    ConfidenceCalibrator,
    OneVsRest,
    Platt,
    TemperatureScaling,
)
from calibrant.calibrators import Identity

ESTIMATORS = [
    CalibratedClassifier(LogisticRegression(solver="newton-cholesky"), calibrator, cv=3)
    for calibrator in (
        TemperatureScaling(),
        OneVsRest(Platt()),
        ConfidenceCalibrator(),
        Identity(inputs="logit"),
    )
] + [
    CalibratedClassifier(
        LogisticRegression(solver="newton-cholesky"), TemperatureScaling(), cv=3, ensemble=True
    ),
    CalibratedClassifier(
        DecisionTreeClassifier(max_depth=4, random_state=0), TemperatureScaling(), cv=3
    ),
]


@pytest.mark.filterwarnings("ignore::calibrant.errors.CalibrationWarning")
@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_contract(estimator, check):
    check(estimator)
