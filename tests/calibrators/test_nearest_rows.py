"""The nearest training rows of a row, by hand and by all distances."""

import numpy as np
import pytest

import calibrant as cb
from calibrant.core.predictions import read
from calibrant.errors import CalibrationWarning, InputError


@pytest.fixture(scope="module")
def rows():
    """Training rows of three classes in no order of class, and queries with predictions."""
    rng = np.random.default_rng(3)
    y_train, y = rng.integers(0, 3, 60), rng.integers(0, 3, 40)
    X_train, X = (rng.normal(size=(len(one), 2)) + one[:, None] for one in (y_train, y))
    return X_train, y_train, X, y, rng.dirichlet(np.ones(3), 40)


def _by_all_distances(X, predicted, X_train, y_train):
    """(distance to the predicted class, its row, distance to another, its row)."""
    every = np.linalg.norm(X[:, None] - X_train, axis=2)
    own = y_train == predicted[:, None]
    same, other = np.where(own, every, np.inf), np.where(own, np.inf, every)
    return same.min(axis=1), same.argmin(axis=1), other.min(axis=1), other.argmin(axis=1)


def _explained(signal, P, X):
    return signal.explain_record(read(P, classes=signal.classes_, X=X))


SIGNALS = (
    cb.calibrators.FastSeparation(scale="none"),
    cb.calibrators.PairwiseSeparation(scale="none"),
    cb.calibrators.MaximalZone(scale="none"),
)


@pytest.mark.parametrize("signal", SIGNALS, ids=lambda one: type(one).__name__)
def test_rows_and_distances_are_those_of_all_training_rows(signal, rows):
    X_train, y_train, X, y, P = rows
    signal.fit(P, y, X=X, reference=(X_train, y_train))
    found, predicted = _explained(signal, P, X), P.argmax(axis=1)
    same, same_row, other, other_row = _by_all_distances(X, predicted, X_train, y_train)
    np.testing.assert_allclose(found.same_distance, same, rtol=1e-12)
    np.testing.assert_allclose(found.other_distance, other, rtol=1e-12)
    assert found.same_row.tolist() == same_row.tolist()
    assert found.other_row.tolist() == other_row.tolist()
    assert found.other_class.tolist() == y_train[other_row].tolist()
    np.testing.assert_array_equal(found.separation, signal.score(P, X=X))
    assert (found.zone == "safe").tolist() == (found.separation > 0.0).tolist()
    assert {"safe", "dangerous"} == set(found.zone)


def test_rows_added_later_are_counted_after_the_others(rows):
    X_train, y_train, X, y, P = rows
    whole = cb.calibrators.FastSeparation(scale="none").fit(P, y, X=X, reference=(X_train, y_train))
    grown = cb.calibrators.FastSeparation(scale="none")
    grown.fit(P, y, X=X, reference=(X_train[:25], y_train[:25]))
    grown.add(X_train[25:40], y_train[25:40]).add(X_train[40:], y_train[40:])
    for name, values in vars(_explained(whole, P, X)).items():
        np.testing.assert_array_equal(getattr(_explained(grown, P, X), name), values)


def test_without_a_row_of_a_side_there_is_none():
    signal = cb.calibrators.FastSeparation(classes=["a", "b"], scale="none")
    signal.fit([[0.9, 0.1]], ["a"], X=[[0.0]], reference=([[1.0], [3.0]], ["a", "a"]))
    found = _explained(signal, [[0.9, 0.1], [0.1, 0.9]], [[0.0], [0.0]])
    assert found.other_row.tolist() == [-1, 0]
    assert found.other_class.tolist() == [None, "a"]
    assert found.same_row.tolist() == [0, -1]
    assert found.same_distance.tolist() == [1.0, np.inf]
    assert found.zone.tolist() == ["safe", "dangerous"]


@pytest.mark.parametrize("mode", ["combined", "paper"])
def test_a_calibrator_explains_its_own_confidence_also_after_saving(mode, rows, tmp_path):
    X_train, y_train, X, y, P = rows
    cal = cb.calibrators.GeometricCalibrator(mode).fit(P, y, X=X, reference=(X_train, y_train))
    cal.save(tmp_path / "m.calibrant")
    found = cb.load(tmp_path / "m.calibrant").explain_rows(P, X=X)
    np.testing.assert_array_equal(found.confidence, cal.predict_confidence(P, X=X))
    np.testing.assert_array_equal(found.separation, cal.signal_.score(P, X=X))
    assert list(found.frame().columns) == list(vars(found))


def test_another_signal_has_no_training_rows(rows):
    *_, y, P = rows
    cal = cb.calibrators.GeometricCalibrator(signal=cb.calibrators.TopProbability()).fit(P, y)
    with pytest.raises(InputError, match="TopProbability has none"):
        cal.explain_rows(P, X=None)


@pytest.mark.parametrize("as_frame", [False, True])
def test_training_rows_are_found_out_in_any_container(as_frame, rows):
    pandas = pytest.importorskip("pandas")
    X_train, y_train, X, y, P = rows
    shown = pandas.DataFrame if as_frame else np.asarray
    with pytest.warns(CalibrationWarning, match="each at distance 0 from itself"):
        cb.calibrators.GeometricCalibrator().fit(
            P, y_train[:40], X=shown(X_train[:40]), reference=(shown(X_train), y_train)
        )
    cb.calibrators.GeometricCalibrator().fit(P, y, X=shown(X), reference=(shown(X_train), y_train))
