"""H9: frames of predictions and of outcomes are matched by the names of their columns."""

import numpy as np
import pytest

import calibrant as cb
from calibrant.errors import InputError
from calibrant.questions import AutoQuestionCalibrator, IsotonicQuestions

pandas = pytest.importorskip("pandas")
NAMES = ["common", "rare", "odd"]


def frames(n=400, seed=0):
    rng = np.random.default_rng(seed)
    p = rng.beta(1.0, 3.0, (n, 3)) * [0.9, 0.05, 0.5]
    P = pandas.DataFrame(p, columns=NAMES)
    return P, pandas.DataFrame((rng.random((n, 3)) < p).astype(int), columns=NAMES)


def probabilities(calibrator, P):
    found = calibrator.predict(P)
    return found if isinstance(found, np.ndarray) else found.probability


@pytest.mark.parametrize(
    "calibrator",
    [
        cb.QuestionCalibrator(),
        cb.QuestionCalibrator(by="type"),
        IsotonicQuestions(),
        AutoQuestionCalibrator(),
    ],
    ids=["by question", "by type", "isotonic", "automatic"],
)
def test_outcomes_in_another_order_of_columns(calibrator):
    P, Y = frames()
    expected = probabilities(calibrator.fit(P, Y), P)
    other = probabilities(calibrator.fit(P, Y[["odd", "common", "rare"]]), P)
    assert (other == expected).all()
    with pytest.raises(InputError, match=r"the columns of P and y must have the same names; 'odd'"):
        calibrator.fit(P, Y.rename(columns={"odd": "even"}))


def test_every_other_door():
    P, Y = frames()
    moved = Y[["rare", "odd", "common"]]
    record, other = cb.read_questions(P, Y), cb.read_questions(P, moved)
    assert (record.right == other.right).all()
    rules = cb.QuestionRules(risk=0.3, confidence=0.8)
    assert rules.fit(P, Y).thresholds_ == rules.fit(P, moved).thresholds_
    assert cb.questions.question_log_loss(Y, P) == cb.questions.question_log_loss(moved, P)


def test_predictions_in_another_order_of_columns():
    P, Y = frames()
    calibrator = cb.QuestionCalibrator().fit(P, Y)
    found = calibrator.predict(P[["odd", "rare", "common"]])
    assert found == pytest.approx(calibrator.predict(P)[:, [2, 1, 0]], abs=0)
