"""F8: a masked array with nothing masked is its data, ``np.matrix`` the array of its numbers,
and a masked entry one clear error.
"""

import warnings

import numpy as np
import pytest

import calibrant as cb
from calibrant import metrics
from calibrant.errors import InputError
from calibrant.testing import problems


def _matrix(values):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PendingDeprecationWarning)
        return np.asmatrix(values)


@pytest.mark.parametrize("wrap", [np.ma.array, _matrix], ids=["nothing masked", "matrix"])
@pytest.mark.parametrize(
    "calibrator",
    [
        cb.calibrators.HokiCalibrator(),
        cb.calibrators.IntraOrderPreserving(),
        cb.calibrators.VectorScaling(),
    ],
    ids=repr,
)
def test_f08_calibrators_read_the_numbers(calibrator, wrap):
    data = problems()[1]
    plain = calibrator.fit(data.P, data.y).predict_proba(data.P_test)
    wrapped = calibrator.fit(wrap(data.P), data.y).predict_proba(wrap(data.P_test))
    assert type(wrapped) is np.ndarray
    assert np.array_equal(plain, wrapped)


@pytest.mark.parametrize("wrap", [np.ma.array, _matrix], ids=["nothing masked", "matrix"])
def test_f08_metrics_read_the_numbers(wrap):
    data = problems()[1]
    for metric in (
        metrics.full_calibration_error,
        metrics.log_loss,
        metrics.expected_calibration_error,
    ):
        assert metric(data.y, wrap(data.P)) == metric(data.y, data.P)


def test_f08_weights_labels_features_and_forecasts_with_nothing_masked():
    data = problems()[1]
    weight, mask = data.weight + 1.0, np.ma.array
    assert metrics.log_loss(mask(data.y), data.P, sample_weight=mask(weight)) == metrics.log_loss(
        data.y, data.P, sample_weight=weight
    )
    plain = cb.calibrators.FastSeparation().fit(data.P, data.y, X=data.X, reference=data.reference)
    masked = cb.calibrators.FastSeparation().fit(
        data.P, data.y, X=mask(data.X), reference=tuple(map(mask, data.reference))
    )
    assert np.array_equal(plain.score(data.P, X=data.X), masked.score(data.P, X=_matrix(data.X)))
    mean, std = data.X[:, 0], np.ones(len(data.X))
    assert metrics.root_mean_squared_error(
        mask(mean + 1.0), mask(mean), mask(std)
    ) == pytest.approx(1.0)


def test_f08_a_masked_entry_is_one_clear_error():
    data = problems()[1]
    P, X, y = np.ma.array(data.P), np.ma.array(data.X), np.ma.array(data.y)
    P[2, 1] = X[2, 1] = y[2] = np.ma.masked
    rule = "is a masked array with masked entries; repair or drop those rows first"
    with pytest.raises(InputError, match=f"P {rule}"):
        cb.calibrators.Identity().fit(P, data.y)
    with pytest.raises(InputError, match=f"y {rule}"):
        cb.calibrators.Identity().fit(data.P, y)
    with pytest.raises(InputError, match=f"X {rule}"):
        cb.calibrators.FastSeparation().fit(data.P, data.y, X=X, reference=data.reference)
    with pytest.raises(InputError, match=f"std {rule}"):
        metrics.negative_log_likelihood(
            data.X[:, 0], data.X[:, 0], np.ma.masked_less(np.arange(len(data.X)) + 0.5, 1.0)
        )
