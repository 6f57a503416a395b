"""A rule on questions keeps what calibrators keep: order, containers, saving and parameters; and
metrics of questions keep the contract of a metric.
"""

import numpy as np
import pytest

import calibrant as cb
from calibrant.core.domain import Record
from calibrant.questions import QuestionCalibrator, QuestionRules, Questions, read_questions
from calibrant.questions.checks import question_log
from calibrant.testing import metric_checks, parameters
from calibrant.testing.check import saved_copies

METRICS = [
    cb.questions.question_log_loss,
    cb.questions.question_brier,
    cb.questions.question_ranked_score,
    cb.questions.question_accuracy,
    cb.questions.question_gap,
]
KINDS = ("choice", "choice", "yes/no")
NEW = read_questions(question_log(9, KINDS))


def log(seed=0):
    """400 items of three questions, whose names begin anew in each part."""
    parts = [question_log(100 * seed + k, KINDS) for k in range(7)]
    return [{**row, "id": (k, row["id"])} for k, part in enumerate(parts) for row in part]


def rules(**options):
    return QuestionRules(risk=0.4, confidence=0.8, when_uncertain="answer_none", **options)


@pytest.mark.filterwarnings("ignore::calibrant.errors.CalibrationWarning")
@pytest.mark.parametrize("unit", ["question", "log", "item"])
@pytest.mark.parametrize("calibrator", [None, QuestionCalibrator()])
def test_the_order_and_the_container_of_the_rows_change_no_decision(unit, calibrator):
    rows = log()
    fitted = rules(unit=unit, calibrator=calibrator).fit(rows)
    shuffled = [rows[i] for i in np.random.default_rng(0).permutation(len(rows))]
    for other in (shuffled, tuple(rows), read_questions(rows)):
        again = rules(unit=unit, calibrator=calibrator).fit(other)
        assert again.thresholds_ == pytest.approx(fitted.thresholds_, abs=1e-9)
        assert again.decide(NEW).tolist() == fitted.decide(NEW).tolist()
    back = NEW.take(slice(None, None, -1))
    assert fitted.decide(back).tolist() == fitted.decide(NEW).tolist()[::-1]


@pytest.mark.filterwarnings("ignore::calibrant.errors.CalibrationWarning")
def test_a_saved_rule_decides_the_same():
    fitted = rules(calibrator=QuestionCalibrator()).fit(log())
    assert "answer" in fitted.decide(NEW).tolist()
    for how, copy in saved_copies(fitted):
        assert copy.decide(NEW).tolist() == fitted.decide(NEW).tolist(), how
        assert copy.to_dict() == fitted.to_dict(), how


def test_the_order_of_a_log_changes_no_automatic_choice():
    rows = log()
    shuffled = [rows[i] for i in np.random.default_rng(0).permutation(len(rows))]
    found = [
        cb.questions.AutoQuestionCalibrator(cv=3).fit(one).predict(NEW).probability
        for one in (rows, shuffled)
    ]
    np.testing.assert_allclose(*found, atol=1e-6)


def test_rows_of_a_weight_are_merged_and_no_others():
    record = read_questions(log()[:300])
    twice = record.take(np.repeat(np.arange(300), 2))
    assert isinstance(record, Questions)
    assert len(record.merged()) == len(twice.merged()) == 300
    assert twice.merged().weights.tolist() == [2.0] * 300


@pytest.mark.parametrize(
    "check", parameters(c for example in METRICS for c in metric_checks(example))
)
def test_a_metric_of_questions_keeps_the_contract(check):
    check()


def test_the_record_keeps_the_protocol():
    record = read_questions(log()[:30])
    members = [name for name in vars(Record) if not name.startswith("_")]
    assert [name for name in members if not hasattr(record, name)] == []
    assert isinstance(record, Record)
    assert sum(len(block) for block in record.blocks()) == len(record)
    assert record.agrees_with(record.take(np.arange(len(record))))
