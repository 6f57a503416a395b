"""Reports, comparisons and audits of question logs."""

import numpy as np
import pandas as pd
import pytest

import calibrant as cb
from calibrant.errors import InputError
from calibrant.questions import QuestionCalibrator, question_gap, read_questions
from calibrant.questions.checks import question_log

pytest.importorskip("jinja2")
pytest.importorskip("matplotlib")

KINDS = ("choice", "score", "yes/no", "yes/no")


def rows(seed=0, parts=3):
    return [
        {**row, "id": (k, row["id"])}
        for k in range(parts)
        for row in question_log(10 * seed + k, KINDS)
    ]


def short(questions, **options):
    options = {"calibrator": QuestionCalibrator(), "n_resamples": 50, **options}
    return cb.report(questions, **options)


def test_the_groups_of_a_log_are_its_types_and_questions():
    log = read_questions(rows())
    told = short(log).to_dict()
    drawn = {row["group"] for row in told["audit"]["drawn"]["levels"]}
    # The types with one question are that question.
    assert drawn == {"type yes/no"} | {f"question q{k}" for k in range(4)}
    assert told["task"] == "questions"
    assert told["data"]["questions"] == 4
    assert told["data"]["clusters"] == 180
    assert told["calibrator"]["evaluation"] == "out-of-fold"
    found = {row["key"]: row["before"]["value"] for row in told["metrics"]}
    assert found["question_accuracy"] == pytest.approx(log.correct.mean())
    assert told["quality"]["confidence"] == pytest.approx(log.confidence.mean())
    assert found["question_log_loss"] > found["question_brier"]


def test_other_columns_may_be_groups_and_other_rows_the_test():
    log, fresh = read_questions(rows()), read_questions(rows(1))
    told = short(log, test=fresh, groups={"half": np.arange(len(fresh)) % 2}).to_dict()
    drawn = {row["group"] for row in told["audit"]["drawn"]["levels"]}
    assert drawn == {"half 0", "half 1"}
    assert told["calibrator"]["evaluation"] == "held-out"
    assert told["quality"]["accuracy"] == pytest.approx(fresh.correct.mean())


def test_rows_without_outcomes_and_groups_of_one_row_are_left_out():
    log = rows()
    for i, row in enumerate(log):
        row["label"] = row["label"] if i % 3 else None
    record = read_questions(log)
    half = np.arange(len(log)) % 2
    told = short(record, calibrator=cb.calibrators.Identity(), groups=half).to_dict()
    assert told["data"]["rows"] == int(record.labelled.sum()) < len(record)
    alone = read_questions([{**row, "question": i, "type": None} for i, row in enumerate(rows())])
    told = short(alone, calibrator=cb.calibrators.Identity()).to_dict()
    drawn = {row["group"] for row in told["audit"]["drawn"]["levels"]}
    assert drawn == {"type yes/no", "type choice"}


def test_shares_of_raters_are_drawn_as_outcomes():
    rng = np.random.default_rng(0)
    p = rng.beta(2.0, 2.0, 3000)
    log = [{"probs": {"no": 1 - a, "yes": a}, "label": {"no": 1 - a, "yes": a}} for a in p]
    record = read_questions(log)
    assert question_gap(None, record) == pytest.approx(0.0, abs=1e-9)
    assert abs(record.judged[0].mean() - record.judged[1].mean()) < 0.03
    assert (
        short(record, calibrator=cb.calibrators.Identity()).to_dict()["verdict"]["model"]
        == "calibrated"
    )


def test_an_audit_needs_no_groups_but_takes_any():
    log = read_questions(rows())
    assert {column for one in cb.audit(log).groups for column in one.where} == {"type", "question"}
    found = cb.audit(log, groups={"model": np.arange(len(log)) % 2})
    assert [one.name for one in found.groups] in (["model 0", "model 1"], ["model 1", "model 0"])
    with pytest.raises(InputError, match='target must be "answer" for questions'):
        cb.audit(log, target="event")


def test_models_are_compared_on_the_same_outcomes():
    log = read_questions(rows())
    better = QuestionCalibrator().fit(read_questions(rows(1))).predict(log)
    found = cb.compare({"raw": log, "calibrated": better})
    assert [row.meaning for row in found.rows] == ["better", "better"]
    assert found.clusters == 180
    page = cb.report({"raw": log, "calibrated": better}, n_resamples=50)
    assert page.to_dict()["verdict"]["action"] == "Use calibrated."
    with pytest.raises(InputError, match="raw and other must have the same outcomes"):
        cb.compare({"raw": log, "other": read_questions(rows(2))})


def test_calibrators_are_compared_and_the_page_has_the_code():
    log = read_questions(rows())
    named = {"as it is": cb.calibrators.Identity(), "by type": QuestionCalibrator(by="type")}
    found = short(log, calibrator=named)
    assert [one["name"] for one in found.to_dict()["alternatives"]] == ["by type", "as it is"]
    code = found.to_dict()["choice"]["code"]
    assert code[1] == "calibrator = cb.QuestionCalibrator(by='type').fit(questions)"
    assert "Compared on the same rows" in found.to_markdown()
    assert found.to_dict()["call"][1].startswith("found = cb.report(questions, calibrator=")


def test_a_table_of_confidences_is_evaluated_by_question():
    log = read_questions(rows())
    question = log.question.names[log.question.index]
    table = pd.DataFrame(
        {"confidence": log.confidence, "label": log.correct.astype(int), "question": question}
    )
    found = cb.evaluate(table, score="confidence", by="question").frame().set_index("question")
    own = question == "q2"
    assert found.loc["q2", "accuracy"] == pytest.approx(log.correct[own].mean())
    assert found.loc["q2", "n"] == own.sum()
