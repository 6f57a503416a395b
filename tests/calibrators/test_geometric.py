"""Geometric calibration: the two modes, classes, the classifier wrapper, saving."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.ensemble import RandomForestClassifier

import calibrant as cb
from calibrant._numerics.logistic import clipped_logs
from calibrant.calibrators.neighbors import ExactIndex
from calibrant.errors import CalibrationWarning, InputError, SparseDataWarning
from calibrant.metrics import brier_score, log_loss
from calibrant.testing import check_calibrator


@pytest.fixture(scope="module")
def problem():
    """Three overlapping blobs: training, calibration and test rows, and a model whose scores are
    blurred.
    """
    rng = np.random.default_rng(5)
    mean = np.array([[0.0, 0.0], [2.5, 0.0], [0.0, 2.5]])

    def draw(n):
        y = rng.integers(0, 3, n)
        X = mean[y] + rng.normal(size=(n, 2))
        z = -0.3 * ((X[:, None] - mean) ** 2).sum(axis=2) + rng.normal(0.0, 0.6, (n, 3))
        P = np.exp(z)
        return X, y, P / P.sum(axis=1, keepdims=True)

    return draw(600), draw(1500), draw(3000)


def _fitted(problem, *arguments, **options):
    (X_train, y_train, _), (X, y, P), _ = problem
    return cb.calibrators.GeometricCalibrator(*arguments, **options).fit(
        P, y, X=X, reference=(X_train, y_train)
    )


def test_contract():
    check_calibrator(cb.calibrators.GeometricCalibrator())


def test_combined_beats_the_score_alone_and_separation_alone(problem):
    _, (_, y, P), (X_test, y_test, P_test) = problem
    alone = cb.ConfidenceCalibrator(map=cb.Platt()).fit(P, y).predict_confidence(P_test)
    both = _fitted(problem).predict_confidence(P_test, X=X_test)
    geometry = _fitted(problem, "paper").predict_confidence(P_test, X=X_test)
    right = (P_test.argmax(axis=1) == y_test).astype(int)
    losses = [log_loss(right, c) for c in (both, alone, geometry)]
    assert losses[0] < losses[1] - 0.02, losses
    assert losses[0] < losses[2] + 1e-3, losses
    assert brier_score(right, both) < brier_score(right, alone)


@pytest.mark.parametrize("mode", ["combined", "paper"])
def test_points_are_added_by_the_labels_of_the_fit(problem, mode):
    """The classes are not in ascending order, and not 0..K-1: positions would put points in the
    wrong class.
    """
    (X_train, y_train, _), (X, y, P), (X_test, _, P_test) = problem
    names = np.array(["two", "zero", "one"])
    options = {"classes": names}
    whole = cb.calibrators.GeometricCalibrator(mode, **options).fit(
        P, names[y], X=X, reference=(X_train, names[y_train])
    )
    some = cb.calibrators.GeometricCalibrator(mode, **options).fit(
        P, names[y], X=X, reference=(X_train[:-50], names[y_train[:-50]])
    )
    assert some.add(X_train[-50:], names[y_train[-50:]]) is some
    np.testing.assert_allclose(
        some.signal_.score(P_test, X=X_test), whole.signal_.score(P_test, X=X_test), atol=1e-12
    )
    with pytest.raises(InputError, match="only the classes"):
        some.add(X_train[:1], ["three"])
    with pytest.raises(InputError, match="Margin does not"):
        cb.calibrators.GeometricCalibrator(signal=cb.calibrators.Margin()).fit(P, y).add(
            X_train[:1], [0]
        )


def test_the_training_rows_themselves_are_warned_of(problem):
    X, y, P = problem[0]
    with pytest.warns(CalibrationWarning, match="the training rows of reference"):
        cb.calibrators.GeometricCalibrator().fit(P, y, X=X, reference=(X, y))


@pytest.mark.parametrize(
    "wrong",
    [
        {"signal": "fast"},
        {"signal": cb.calibrators.FastSeparation(features=3)},
        {"signal": cb.calibrators.FastSeparation(points=3)},
        {"signal": cb.calibrators.FastSeparation(index=ExactIndex)},
    ],
)
def test_parts_of_the_wrong_kind_are_named(problem, wrong):
    with pytest.raises(InputError, match="must be a"):
        _fitted(problem, **wrong)


def test_rows_of_weight_zero_may_be_of_any_frame(problem):
    (X_train, y_train, _), (X, y, P), _ = problem
    weight = np.ones(len(y))
    weight[::7] = 0.0
    fits = [
        cb.calibrators.GeometricCalibrator()
        .fit(P, y, sample_weight=weight, X=frame(X), reference=(frame(X_train), y_train))
        .coefficients_
        for frame in (np.asarray, pd.DataFrame, pl.DataFrame)
    ]
    assert (fits[0] == fits[1]).all()
    assert (fits[0] == fits[2]).all()


def test_combined_is_the_logistic_it_says(problem):
    X_test, _, P_test = problem[2]
    cal = _fitted(problem)
    low, high = clipped_logs(P_test.max(axis=1), cal.limits_)
    z = (
        np.column_stack([low, -high, cal.signal_.score(P_test, X=X_test), np.ones(len(P_test))])
        @ cal.coefficients_
    )
    np.testing.assert_allclose(
        cal.predict_confidence(P_test, X=X_test), 1.0 / (1.0 + np.exp(-z)), atol=1e-12
    )
    assert (cal.coefficients_[:3] >= 0.0).all()


def test_the_shape_bends_only_where_that_earns_its_parameter():
    """Calibrated scores keep one slope; scores that are right with chance p^6 get two."""
    rng = np.random.default_rng(0)
    p = rng.uniform(0.5, 1.0, 4000)
    P, X = np.column_stack([p, 1.0 - p]), rng.normal(size=(4000, 1))
    for chance, bent in ((p, False), (p**6, True)):
        y = (rng.random(4000) > chance).astype(int)
        a, b, _, _ = (
            cb.calibrators.GeometricCalibrator()
            .fit(P, y, X=X, reference=(X[:50], y[:50]))
            .coefficients_
        )
        assert (a != b) == bent, (a, b)


def test_combined_never_reverses_a_signal(problem):
    (X_train, y_train, _), (X, y, P), _ = problem
    cal = cb.calibrators.GeometricCalibrator().fit(
        P, (y + 1) % 3, X=X, reference=(X_train, y_train)
    )
    assert (cal.coefficients_[:3] >= 0.0).all()


def test_paper_is_isotonic_on_fast_separation(problem):
    (X_train, y_train, _), (X, y, P), (X_test, _, P_test) = problem
    plain = cb.ConfidenceCalibrator(signal=cb.calibrators.FastSeparation()).fit(
        P, y, X=X, reference=(X_train, y_train)
    )
    cal = _fitted(problem, "paper")
    assert (
        cal.predict_confidence(P_test, X=X_test) == plain.predict_confidence(P_test, X=X_test)
    ).all()
    sigmoid = _fitted(problem, "paper", map=cb.Platt(scale="probability"))
    assert (
        np.abs(
            sigmoid.predict_confidence(P_test, X=X_test) - cal.predict_confidence(P_test, X=X_test)
        ).mean()
        < 0.05
    )


def test_unweighted_counts_each_value_once():
    X = np.array([[0.0]] * 8 + [[1.0]] * 2)
    y = np.array([0, 1, 1, 1, 1, 1, 1, 1, 0, 0])
    P = np.tile([0.9, 0.1], (10, 1))
    reference = (np.array([[-1.0], [4.0]]), [0, 1])
    fit = {
        w: cb.calibrators.GeometricCalibrator("paper", unweighted=w).fit(
            P, y, X=X, reference=reference
        )
        for w in (False, True)
    }
    # The nearer value is right 1 in 8, the farther 2 in 2: they pool to 3/10 by rows and to 9/16 by
    # values.
    pooled = {w: cal.predict_confidence(P[:1], X=[[0.0]])[0] for w, cal in fit.items()}
    assert pooled[False] == pytest.approx(0.3)
    assert pooled[True] == pytest.approx((1 / 8 + 1.0) / 2)


def test_per_class_falls_back_to_the_rate(problem):
    (X_train, y_train, _), (X, y, P), (X_test, _, P_test) = problem
    keep = P.argmax(axis=1) != 2
    keep[np.flatnonzero(~keep)[:3]] = True
    with pytest.warns(SparseDataWarning):
        cal = cb.calibrators.GeometricCalibrator(per_class=True).fit(
            P[keep], y[keep], X=X[keep], reference=(X_train, y_train)
        )
    assert np.isnan(cal.coefficients_[2]).all()
    own = P_test.argmax(axis=1) == 2
    assert (cal.predict_confidence(P_test, X=X_test)[own] == cal.rate_[2]).all()


def test_inside_a_classifier_on_raw_features(problem):
    (X_train, y_train, _), (X, y, _), (X_test, y_test, _) = problem
    names = np.array(["a", "b", "c"])
    model = RandomForestClassifier(20, random_state=0).fit(X_train, names[y_train])
    fitted = cb.CalibratedClassifier(model, cb.calibrators.GeometricCalibrator()).fit(
        X, names[y], reference=(X_train, names[y_train])
    )
    by_hand = cb.calibrators.GeometricCalibrator(classes=names).fit(
        model.predict_proba(X), names[y], X=X, reference=(X_train, names[y_train])
    )
    expected = by_hand.predict_confidence(model.predict_proba(X_test), X=X_test)
    np.testing.assert_allclose(fitted.predict_confidence(X_test), expected, atol=1e-12)
    folds = cb.CalibratedClassifier(
        RandomForestClassifier(20, random_state=0), cb.calibrators.GeometricCalibrator(), cv=3
    ).fit(X, names[y])
    assert len(folds.calibrators_) == 3
    assert [len(c.signal_.index_.points_) for c in folds.calibrators_] == [1000, 1000, 1000]
    right = (folds.predict(X_test) == names[y_test]).mean()
    assert abs(folds.predict_confidence(X_test).mean() - right) < 0.04


def test_training_set_is_part_of_the_state(problem, tmp_path):
    cal = _fitted(problem)
    assert cal.nbytes_ >= 600 * 2 * 8
    X_test, _, P_test = problem[2]
    again = cb.load(cal.save(tmp_path / "geometric.calibrant"))
    assert (
        again.predict_confidence(P_test, X=X_test) == cal.predict_confidence(P_test, X=X_test)
    ).all()
    assert again.nbytes_ == cal.nbytes_


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("both",), "mode"),
        (("combined", {"map": cb.Isotonic()}), "map"),
        (("combined", {"unweighted": True}), "unweighted"),
    ],
)
def test_wrong_options_are_refused_by_name(problem, arguments, word):
    with pytest.raises(InputError, match=word):
        _fitted(problem, arguments[0], **(arguments[1] if len(arguments) > 1 else {}))


def test_missing_data_are_refused_by_name(problem):
    (X_train, y_train, _), (X, y, P), _ = problem
    with pytest.raises(InputError, match="reference"):
        cb.calibrators.GeometricCalibrator().fit(P, y, X=X)
    with pytest.raises(InputError, match="X="):
        cb.calibrators.GeometricCalibrator().fit(P, y, reference=(X_train, y_train))
    with pytest.raises(InputError, match="X="):
        _fitted(problem).predict_confidence(P)
    with pytest.raises(InputError, match="2 features"):
        _fitted(problem).predict_confidence(P[:1], X=[[1.0, 2.0, 3.0]])
