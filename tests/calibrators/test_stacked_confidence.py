"""Several signals at once: better than each, rising in each, and what is refused."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

import calibrant as cb
from calibrant._numerics.thresholds import risk_coverage, risk_coverage_area
from calibrant.errors import InputError
from calibrant.metrics import log_loss


@pytest.fixture(scope="module")
def problem():
    """Four overlapping blobs, one class of which the model is blind to: training, calibration
    and test rows (X, y, P).
    """
    rng = np.random.default_rng(8)
    mean = np.array([[0.0, 0.0], [2.5, 0.0], [0.0, 2.5], [2.5, 2.5]])

    def draw(n):
        y = rng.integers(0, 4, n)
        X = mean[y] + rng.normal(size=(n, 2))
        z = (
            -0.4 * ((X[:, None] - mean) ** 2).sum(axis=2)
            + rng.normal(0.0, 0.7, (n, 4))
            + [0.0, 1.2, 0.0, -0.6]
        )
        P = np.exp(z)
        return X, y, P / P.sum(axis=1, keepdims=True)

    return draw(500), draw(1200), draw(4000)


@pytest.fixture(scope="module")
def fitted(problem):
    (X_train, y_train, _), (X, y, P), _ = problem
    return cb.calibrators.StackedConfidence().fit(P, y, X=X, reference=(X_train, y_train))


def test_it_beats_every_signal_alone(problem, fitted):
    (X_train, y_train, _), (X, y, P), (X_test, y_test, P_test) = problem
    right = (P_test.argmax(axis=1) == y_test).astype(int)
    stack = fitted.predict_confidence(P_test, X=X_test)
    for signal in fitted.signals_:
        uses = signal.tags.uses_features
        for map in (cb.Isotonic(), cb.Platt(scale="probability")):
            given = {"X": X, "reference": (X_train, y_train)} if uses else {}
            alone = cb.ConfidenceCalibrator(signal=signal, map=map).fit(P, y, **given)
            confidence = alone.predict_confidence(P_test, **({"X": X_test} if uses else {}))
            assert log_loss(right, stack) < log_loss(right, confidence) - 0.005, (signal, map)
            assert _area(stack, right) < _area(confidence, right), (signal, map)


def _area(confidence, right):
    return risk_coverage_area(*risk_coverage(confidence, right, np.ones(len(right)))[1:])


def test_the_comparison_compares_with_each_signal_out_of_fold(fitted):
    assert [row["name"] for row in fitted.comparison_] == [
        "all signals",
        "TopProbability",
        "Margin",
        "Entropy",
        "LabelStability",
        "FastSeparation",
    ]
    together = fitted.comparison_[0]["score"]
    assert all(row["score"] > together for row in fitted.comparison_[1:])
    assert all(row["standard_error"] > 0.0 for row in fitted.comparison_[1:])
    assert "1,200 rows, 4 classes" in fitted.explain()
    assert f"{together:.4f}" in fitted.explain()


def test_confidence_never_falls_as_a_signal_rises(problem):
    (X_train, y_train, _), (X, y, P), (X_test, _, P_test) = problem
    # Labels turned round, so that the unconstrained fit would fall in every signal.
    wrong = np.where(P.argmax(axis=1) == y, (y + 1) % 4, P.argmax(axis=1))
    signals = [cb.calibrators.TopProbability(), cb.calibrators.FastSeparation()]
    cal = cb.calibrators.StackedConfidence(signals=signals).fit(
        P, wrong, X=X, reference=(X_train, y_train)
    )
    assert (cal.slopes_ >= 0.0).all()
    normal = cb.calibrators.StackedConfidence(signals=signals).fit(
        P, y, X=X, reference=(X_train, y_train)
    )
    own = P_test.argmax(axis=1) == 0
    top = normal.signals_[0].score(P_test[own])
    same = np.repeat(X_test[own][:1], own.sum(), axis=0)
    confidence = normal.predict_confidence(P_test[own], X=same)[np.argsort(top)]
    assert (np.diff(confidence) >= -1e-15).all()
    assert confidence[-1] - confidence[0] > 0.1


def test_levels_of_classes_are_learned_and_shrunk(problem):
    _, (_, y, P), _ = problem
    cal = cb.calibrators.StackedConfidence().fit(P, y)
    predicted = P.argmax(axis=1)
    assert cal.class_levels_[1] == cal.class_levels_.min()
    few = cb.calibrators.StackedConfidence().fit(P[:40], y[:40])
    assert np.abs(few.class_levels_).max() < np.abs(cal.class_levels_).max()
    gap = [
        cal.predict_confidence(P[predicted == k]).mean() - (y == k)[predicted == k].mean()
        for k in range(4)
    ]
    assert np.abs(gap).max() < 0.02


def test_without_features_it_reads_the_row_and_for_two_classes_its_top(problem):
    _, (_, y, P), _ = problem
    assert len(cb.calibrators.StackedConfidence().fit(P, y).signals_) == 4
    binary = cb.calibrators.StackedConfidence().fit(
        [0.1, 0.4, 0.8, 0.7, 0.9] * 20, [0, 1, 1, 0, 1] * 20
    )
    assert [type(s).__name__ for s in binary.signals_] == ["TopProbability"]


def test_few_rows_choose_no_penalty():
    cal = cb.calibrators.StackedConfidence().fit([[0.9, 0.1], [0.6, 0.4], [0.3, 0.7]], [0, 1, 1])
    assert cal.comparison_ == []
    assert "too few" in cal.explain()
    assert cal.predict_confidence([[0.9, 0.1]]) >= cal.predict_confidence([[0.6, 0.4]])


def test_features_in_a_classifier_and_in_a_saved_file(problem, tmp_path):
    (X_train, y_train, _), (X, y, _), (X_test, y_test, _) = problem
    model = RandomForestClassifier(20, random_state=0).fit(X_train, y_train)
    stack = cb.calibrators.StackedConfidence(
        signals=[cb.calibrators.TopProbability(), cb.calibrators.FastSeparation()]
    )
    wrapped = cb.CalibratedClassifier(model, stack).fit(X, y, reference=(X_train, y_train))
    confidence = wrapped.predict_confidence(X_test)
    assert abs(confidence.mean() - (wrapped.predict(X_test) == y_test).mean()) < 0.05
    cal = cb.calibrators.StackedConfidence().fit(
        model.predict_proba(X), y, X=X, reference=(X_train, y_train)
    )
    again = cb.load(cal.save(tmp_path / "stack.calibrant"))
    P = model.predict_proba(X_test)
    np.testing.assert_array_equal(
        again.predict_confidence(P, X=X_test), cal.predict_confidence(P, X=X_test)
    )


def test_a_fit_forgets_the_features_of_the_one_before(problem, fitted):
    (X_train, y_train, _), (X, y, P), _ = problem
    cal = cb.calibrators.StackedConfidence().fit(P, y, X=X, reference=(X_train, y_train))
    cal.fit(P, y)
    assert len(cal.signals_) == 4
    cal.predict_confidence(P[:3])


def test_what_does_not_fit_together_is_refused(problem, fitted):
    _, (X, y, P), _ = problem
    with pytest.raises(InputError, match="X and reference"):
        cb.calibrators.StackedConfidence().fit(P, y, X=X)
    with pytest.raises(InputError, match="needs X="):
        fitted.predict_confidence(P)
    with pytest.raises(InputError, match="leave it out"):
        cb.calibrators.StackedConfidence().fit(P, y).predict_confidence(P, X=X)
    with pytest.raises(InputError, match="leave it out"):
        cb.calibrators.StackedConfidence(signals=[cb.calibrators.TopProbability()]).fit(P, y, X=X)
    with pytest.raises(InputError, match="reference"):
        cb.calibrators.StackedConfidence(signals=[cb.calibrators.FastSeparation()]).fit(P, y, X=X)
    for signals in ([], [cb.Isotonic()], "auto"):
        with pytest.raises(InputError, match="signals"):
            cb.calibrators.StackedConfidence(signals=signals).fit(P, y)
    with pytest.raises(InputError, match="cv"):
        cb.calibrators.StackedConfidence(cv=1).fit(P, y)
