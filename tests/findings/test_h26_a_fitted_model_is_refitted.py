"""H26: ``CalibratedClassifier(fitted, cv=5)`` discarded the model's fit without a word."""

import warnings

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import calibrant as cb

RNG = np.random.default_rng(0)
X = RNG.normal(size=(600, 3))
Y = (RNG.random(600) < 1.0 / (1.0 + np.exp(-X @ [1.0, -1.0, 0.5]))).astype(int)
TRAIN, HELD_OUT = slice(0, 400), slice(400, None)


def fitted():
    return LogisticRegression().fit(X[TRAIN], Y[TRAIN])


def heard(model, **options):
    """What is warned of while the wrapper is fitted on rows that the model has not seen."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        cb.CalibratedClassifier(model, cb.Platt(), **options).fit(X[HELD_OUT], Y[HELD_OUT])
    return [str(one.message) for one in told]


@pytest.mark.parametrize("cv", [5, 2])
def test_h26_folds_of_a_fitted_model_are_told(cv):
    told = [one for one in heard(fitted(), cv=cv) if "fitted already" in one]
    assert len(told) == 1
    assert f"cv={cv}" in told[0]
    assert "200 rows" in told[0]
    assert "leave cv out" in told[0]


def test_h26_without_folds_or_without_a_fit_there_is_nothing_to_tell():
    for model, options in ((fitted(), {}), (LogisticRegression(), {"cv": 5})):
        assert not [one for one in heard(model, **options) if "fitted already" in one]
