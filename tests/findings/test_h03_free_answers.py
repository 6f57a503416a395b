"""H3: a free answer's confidence is that the answer is right, however small it is: no door turns it
into a confident "no", which nobody can use.
"""

import json

import numpy as np
import pytest

import calibrant as cb
from calibrant.monitoring import Lock
from calibrant.questions import (
    AutoQuestionCalibrator,
    IsotonicQuestions,
    QuestionCascade,
    pydantic_cases,
)
from calibrant.questions.domain import (
    question_accuracy,
    question_brier,
    question_gap,
    question_log_loss,
)


def log_of(n=2000, seed=0, model="v1"):
    """Calibrated confidences over all of [0, 1], as many as are right."""
    rng = np.random.default_rng(seed)
    p = np.round(rng.random(n), 4)
    right = rng.random(n) < p
    return [
        {"id": i, "question": "q", "confidence": a, "correct": bool(b), "model": model}
        for i, (a, b) in enumerate(zip(p.tolist(), right, strict=True))
    ]


def columns_of(log):
    return (np.array([row[name] for row in log], float) for name in ("confidence", "correct"))


def test_a_low_confidence_is_no_confident_answer():
    p, right = columns_of(log := log_of())
    record = cb.read_questions(log)
    assert record.confidence == pytest.approx(p)
    assert (record.correct == right).all()
    # Before, the first row was a right answer of confidence .98, and a rule used it.
    one = cb.read_questions([{"id": 1, "question": "q", "confidence": 0.02, "correct": False}])
    assert (one.confidence.tolist(), one.correct.tolist()) == ([0.02], [0.0])


def test_metrics_are_those_of_being_right():
    p, right = columns_of(log := log_of())
    record = cb.read_questions(log)
    assert question_accuracy(None, record) == pytest.approx(right.mean())
    assert question_brier(None, record) == pytest.approx(cb.metrics.event_brier_score(right, p))
    assert question_log_loss(None, record) == pytest.approx(cb.metrics.log_loss(right, p), abs=1e-3)
    gap = (p - right).mean()
    assert question_gap(None, record) == pytest.approx(gap)


@pytest.mark.parametrize("unit", ["question", "log", "item"])
def test_rules_keep_their_promise(unit):
    log, new = log_of(), log_of(20_000, seed=1)
    rules = cb.QuestionRules(risk=0.1, unit=unit, calibrator=cb.QuestionCalibrator()).fit(log)
    used = rules.decide(cb.read_questions(new)) == "answer"
    p, right = columns_of(new)
    assert used.any()
    assert 1.0 - right[used].mean() <= 0.12
    assert p[used].min() > 0.5
    # One that knows nothing of a log with 4 % right answers uses none of them.
    rare = [{**row, "confidence": 0.05, "correct": i % 25 == 0} for i, row in enumerate(log)]
    with pytest.raises(cb.errors.InputError):
        cb.QuestionRules(risk=0.1, unit=unit).fit(rare)


def test_a_cascade_keeps_its_promise():
    rng = np.random.default_rng(3)
    small, new = log_of(4000, seed=3), log_of(20_000, seed=4)
    large = [
        {**row, "confidence": 0.99, "correct": bool(one)}
        for row, one in zip(small, rng.random(4000) < 0.99, strict=True)
    ]
    cascade = QuestionCascade(risk=0.05, confidence=0.9).fit(small, large)
    by_small = cascade.decide(new) == "small"
    _, right = columns_of(new)
    wrong = np.where(by_small, 1.0 - right, rng.random(20_000) > 0.99)
    assert by_small.mean() > 0.0
    assert wrong.mean() <= 0.06


def test_a_lock_and_its_check_count_wrong_answers():
    lock = Lock.of(cb.QuestionRules(risk=0.2, confidence=0.9).fit(log_of()))
    states = [one.state for one in lock.check(log_of(seed=5, model="v2"))]
    assert states == ["holds"]
    worse = [{**row, "correct": False} for row in log_of(seed=5, model="v2")]
    assert [one.state for one in lock.check(worse)] == ["broken"]
    decided = lock.decide([{"question": "q", "confidence": 0.02, "model": "v1"}])
    assert decided.tolist() != ["answer"]


@pytest.mark.parametrize(
    "calibrator",
    [cb.QuestionCalibrator(), IsotonicQuestions(), AutoQuestionCalibrator()],
    ids=lambda one: type(one).__name__,
)
def test_calibrators_map_the_probability_of_being_right(calibrator):
    rng = np.random.default_rng(6)
    p = rng.random(4000)
    right = rng.random(4000) < 0.5 * p  # Overconfident everywhere: twice as sure.
    log = [{"confidence": a, "correct": bool(b)} for a, b in zip(p, right, strict=True)]
    fitted = calibrator.fit(cb.read_questions(log))
    grid = np.array([0.1, 0.3, 0.5, 0.7, 0.9])
    record = cb.read_questions([{"confidence": a} for a in grid])
    found = fitted.predict(record)
    assert found.confidence == pytest.approx(0.5 * grid, abs=0.08)
    assert (np.diff(found.confidence) >= 0.0).all()
    # A list comes back as confidences, which the metrics read as such.
    listed = fitted.predict([{"confidence": a} for a in grid])
    assert [one["confidence"] for one in listed] == pytest.approx(found.confidence.tolist())
    assert question_accuracy([False] * 5, listed) == 0.0


def test_reports_audits_and_comparisons_read_it():
    p, right = columns_of(log := log_of())
    record = cb.read_questions(log)
    summary = cb.report(record).to_dict()
    assert summary["quality"]["confidence"] == pytest.approx(p.mean())
    assert summary["quality"]["accuracy"] == pytest.approx(right.mean())
    other = cb.read_questions(log_of(seed=7))
    row = cb.compare({"a": record, "b": other}).rows[0]
    assert row.first_value == pytest.approx(question_log_loss(None, record))
    assert row.second_value == pytest.approx(question_log_loss(None, other))


def test_other_forms_of_a_free_answer():
    gold = cb.read_questions([{"confidence": 0.3, "correct": False, "label": "Paris"}])
    assert gold.correct.tolist() == [0.0]
    signals = cb.read_questions([{"signals": {"a": 0.1}, "correct": False}], signals=["a"])
    assert signals.correct.tolist() == [0.0]
    typed = cb.read_questions([{"type": "choice", "confidence": 0.2, "correct": False}])
    assert (typed.confidence.tolist(), typed.correct.tolist()) == ([0.2], [0.0])
    cases = [{"name": "a", "output": {"confidence": 0.1}, "assertions": {"ok": {"value": False}}}]
    record = cb.read_questions(pydantic_cases({"name": "r", "cases": cases}))
    assert (record.confidence.tolist(), record.correct.tolist()) == ([0.1], [0.0])
    # The probability of a yes/no question is still that of the event.
    event = cb.read_questions([{"type": "noul", "probs": 0.02, "label": False}])
    assert (event.confidence.tolist(), event.correct.tolist()) == ([0.98], [1.0])


def test_the_command_agrees_with_a_table(run_in, tmp_path):
    log = log_of()
    p, right = columns_of(log)
    lines = "\n".join(map(json.dumps, log))
    (tmp_path / "log.jsonl").write_text(lines + "\n", encoding="utf-8")
    rows = [f"{a!r},{int(b)}" for a, b in zip(p.tolist(), right, strict=True)]
    (tmp_path / "log.csv").write_text("\n".join(["said,right", *rows]) + "\n", encoding="utf-8")
    answers = run_in("evaluate", "log.jsonl")
    assert f"accuracy of questions     {right.mean():.4f}" in answers
    brier = float(cb.metrics.event_brier_score(right, p))
    assert f"{brier:.4f}" in answers
    assert f"{brier:.4f}" in run_in("evaluate", "log.csv", "--risk", "said", "--label", "right")
    run_in("fit", "log.jsonl", "--method", "question", "--max-error", "0.1", "-o", "lock.json")
    run_in("decide", "lock.json", "log.jsonl", "-o", "decided.jsonl")
    decided = map(json.loads, (tmp_path / "decided.jsonl").read_text("utf-8").splitlines())
    used = np.array([row["decision"] == "answer" for row in decided])
    assert used.any()
    assert p[used].min() > 0.5
    assert 1.0 - right[used].mean() <= 0.1
    # A calibrated log is read again as it was written.
    run_in("fit", "log.jsonl", "--method", "question", "-o", "m.calibrant")
    run_in("apply", "m.calibrant", "log.jsonl", "-o", "better.jsonl")
    better = cb.read_questions(tmp_path / "better.jsonl")
    assert better.confidence == pytest.approx(p, abs=0.1)


@pytest.fixture
def run_in(tmp_path, monkeypatch):
    pytest.importorskip("rich")
    runner = pytest.importorskip("click.testing").CliRunner()
    from calibrant.cli.group import group

    monkeypatch.chdir(tmp_path)

    def invoke(*arguments):
        result = runner.invoke(group, list(arguments))
        assert result.exit_code == 0, result.output
        return result.output

    return invoke
