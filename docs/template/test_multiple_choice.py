"""Tests of what a registered kind of prediction supports."""

import json
from dataclasses import dataclass, replace

import numpy as np
import pytest
from click.testing import CliRunner
from multiple_choice import (
    QUESTIONS,
    QuestionTemperature,
    question_log_loss,
    read_questions,
)

import calibrant as cb
from calibrant import metrics
from calibrant.cli.group import group
from calibrant.core.domain import Record, domain_of, domain_of_input
from calibrant.errors import InputError
from calibrant.testing import calibrator_checks, check_calibrator, check_metric
from calibrant.testing.calibrator_checks import CALIBRATOR_CHECKS
from calibrant.testing.check import Case
from calibrant.testing.containers import CONTAINER_CASES
from calibrant.testing.data import MADE, Made
from calibrant.testing.metric_checks import METRIC_CHECKS
from calibrant.testing.runs import HANDLINGS, Handling


def data(n=400, seed=0, sharper=2.0):
    """Overconfident answers, and the right options."""
    rng = np.random.default_rng(seed)
    y, P = [], []
    for size in rng.integers(2, 6, n):
        names, honest = [f"option {k}" for k in range(size)], rng.dirichlet(np.ones(size))
        y.append(names[rng.choice(size, p=honest)])
        said = honest**sharper / (honest**sharper).sum()
        P.append(list(zip(names, said.tolist(), strict=True)))
    return y, P


def run(*arguments, code=0):
    found = CliRunner().invoke(group, [str(one) for one in arguments])
    assert found.exit_code == code, found.output
    return found.output


def test_a_metric_has_values_intervals_weights_and_clusters():
    y, P = data()
    losses = np.array([-np.log(dict(one)[k]) for one, k in zip(P, y, strict=True)])
    assert question_log_loss(y, P) == pytest.approx(losses.mean())
    weight = np.arange(400) % 3
    assert question_log_loss(y, P, sample_weight=weight) == pytest.approx(
        np.average(losses, weights=weight)
    )
    found = question_log_loss.interval(y, P)
    assert found.low < found.value < found.high
    clustered = question_log_loss.interval(y, P, cluster=np.arange(400) // 4)
    assert clustered.value == found.value != clustered.low
    assert metrics.compute([question_log_loss], y, P) == {"question_log_loss": found.value}


def test_a_record_says_its_domain_and_keeps_the_protocol():
    y, P = data(5)
    record = read_questions(y, P)
    assert isinstance(record, Record)
    assert domain_of(record) is domain_of_input(P) is QUESTIONS
    told = [dict(one) for one in record.take([3, 1]).told()]
    assert told == [pytest.approx(dict(P[3])), pytest.approx(dict(P[1]))]
    with pytest.raises(InputError, match=r"every answer must sum to 1; one sums to 0\.4"):
        read_questions(["a"], [[("a", 0.4)]])


def test_parts_are_gathered_by_rows_in_any_order():
    record = read_questions(*data(7))
    rows = [np.array([5, 0, 3]), np.array([6, 1, 4, 2])]
    parts = [record.take(own).probability for own in rows]
    assert record.gathered(parts, rows).tolist() == record.probability.tolist()


def test_models_are_compared_in_pairs():
    y, P = data()
    better = QuestionTemperature().fit(P, y).predict(P)
    found = metrics.compare(y, {"model": P, "calibrated": better}, metrics=[question_log_loss])
    (row,) = found.rows
    assert (row.second, row.meaning) == ("calibrated", "better")
    assert found.rows == metrics.compare(y, {"model": P, "calibrated": better}).rows


def test_a_report_is_made_before_and_after_calibration(tmp_path):
    y, P = data()
    found = cb.report(y, P, groups=[len(one) for one in P], n_resamples=100)
    told = found.to_dict()
    assert told["task"] == told["target"] == "multiple choice"
    assert told["calibrator"]["evaluation"] == "out-of-fold"
    rows = {row["key"]: row for row in told["metrics"]}
    assert rows["question_log_loss"]["change"]["meaning"] == "better"
    assert rows["ece"]["after"]["value"] < rows["ece"]["before"]["value"]
    assert told["verdict"]["model"] == "overconfident"
    assert told["verdict"]["state"] == "calibrate"
    assert {row["group"] for row in told["groups"]} == {"2", "3", "4", "5"}
    assert "QuestionTemperature().fit(P, y)" in found.to_html()
    assert "| log loss of questions |" in found.to_markdown()


def test_calibrators_are_compared_on_a_page_and_with_held_out_rows():
    y, P = data()
    named = {"as it is": cb.calibrators.Identity(), "temperature": QuestionTemperature()}
    found = cb.report(y, P, calibrator=named, n_resamples=100)
    assert [row["name"] for row in found.to_dict()["alternatives"]] == ["temperature", "as it is"]
    assert "Compared on the same rows" in found.to_markdown()
    assert "Change of log loss of questions" in found.to_html()
    held_out = cb.report(y, P, test=data(seed=1), n_resamples=100).to_dict()
    assert held_out["calibrator"]["evaluation"] == "held-out"
    assert held_out["data"]["rows"] == 400


def test_what_a_kind_does_not_have_is_said():
    y, P = data(20)
    with pytest.raises(
        InputError,
        match="target must be None unless predictions are of classes; got 'event' with multiple",
    ):
        cb.report(y, P, target="event")
    with pytest.raises(TypeError, match="report has no option 'inputs'"):
        cb.report(y, P, inputs="logit")


@dataclass(frozen=True)
class Problem:
    """A synthetic problem for the contract suite."""

    name: str
    P: list
    y: np.ndarray
    weight: np.ndarray
    P_test: list

    @property
    def said(self):
        return (self.P,)

    def __len__(self):
        return len(self.y)

    def take(self, rows):
        rows = np.arange(len(self))[rows]
        P = [self.P[i] for i in rows]
        return replace(self, P=P, y=self.y[rows], weight=self.weight[rows])

    def only(self, rows):
        return replace(self, P_test=[self.P_test[i] for i in np.arange(len(self.P_test))[rows]])


def problems():
    y, P = data(120)
    weight = np.random.default_rng(1).integers(0, 4, 120).astype(np.float64)
    return [Problem("ragged questions", P, np.array(y), weight, data(40, seed=2)[1])]


def padded(answers, _=None):
    """(n, 5) probabilities, because the laws compare rows."""
    return np.array([[*(p for _, p in one), *[0.0] * (5 - len(one))] for one in answers])


def sums_to_one(fresh, out, problem):
    assert out.shape == (len(problem.P_test), 5)
    assert np.allclose(out.sum(axis=1), 1.0)


def as_tuples(answer):
    """Case of a tuple of answers, which must be read like a list."""
    problem = problems()[0]

    def right(found):
        assert found == answer(problem.P)

    yield Case("answers", "a tuple", "P", lambda: answer(tuple(problem.P)), right)


@pytest.fixture
def suite(monkeypatch):
    """Register the kind with the contract suite."""
    MADE.register(QUESTIONS, lambda: Made("question metric", lambda metric: problems()))
    METRIC_CHECKS.register(QUESTIONS, lambda: lambda metric: [check_certain_is_best])
    CALIBRATOR_CHECKS.register(QUESTIONS, lambda: lambda calibrator: [])
    handling = Handling(
        "question calibrator",
        ("predict",),
        lambda part: problems(),
        lambda part, problem: {"P": problem.P, "y": problem.y, "P_test": problem.P_test},
        sums_to_one,
        {},
        numbers=padded,
    )
    monkeypatch.setitem(HANDLINGS, QuestionTemperature, handling)
    cases = {
        "question metric": lambda metric: as_tuples(lambda P: metric(problems()[0].y, P)),
        "question calibrator": lambda part: as_tuples(
            lambda P: part.__class__().fit(P, problems()[0].y).predict(P)
        ),
    }
    for kind, make in cases.items():
        monkeypatch.setitem(CONTAINER_CASES, kind, make)


def check_certain_is_best(metric):
    """Check that certain and right predictions have the best value."""
    assert metric(["a"], [[("a", 1.0), ("b", 0.0)]]) == metric.range[0]


def test_metric_and_calibrator_pass_the_contract_suite(suite):
    check_metric(question_log_loss)
    check_calibrator(QuestionTemperature())


def test_the_contract_suite_finds_what_is_broken(suite):
    class Doubled(type(question_log_loss), name="doubled", key="doubled", range=(5.0, 6.0)):
        pass

    with pytest.raises(AssertionError, match="breaks the contract 'value_is_valid'"):
        check_metric(Doubled())

    class Forgetful(QuestionTemperature):
        def fit_record(self, record):
            return super().fit_record(replace(record, weight=None))

    checks = {check.name: check for check in calibrator_checks(Forgetful())}
    with pytest.raises(AssertionError, match="weights against repetition on ragged questions"):
        checks["weights_are_repetition"]()


@pytest.fixture
def log(tmp_path):
    y, P = data()
    lines = [
        {"options": p, "label": label, "topic": f"t{i % 3}"}
        for i, (label, p) in enumerate(zip(y, P, strict=True))
    ]
    path = tmp_path / "log.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return path


def test_the_command_line_evaluates_a_log(log):
    found = json.loads(run("evaluate", log, "--json"))
    assert found["task"] == "multiple choice"
    rows = {row["key"]: row["before"]["value"] for row in found["metrics"]}
    assert rows["question_log_loss"] == question_log_loss(*data())
    assert "which is > 1" in run("evaluate", log, "--fail-if", "question_log_loss>1", code=3)
    told = run("evaluate", log, "--method", "multiple_choice:question-temperature")
    assert "log loss of questions" in told
    assert "after: question temperature, out-of-fold" in told
    assert "and the log loss of questions falls by " in told
    assert "Use the calibrated confidences." in told


def test_the_command_line_fits_compares_and_reports_on_a_log(log, tmp_path):
    page, saved = tmp_path / "page.html", tmp_path / "model.calibrant"
    run("report", log, "-o", page, "--groups", "topic")
    assert "log loss of questions" in page.read_text(encoding="utf-8")
    assert "question temperature fitted on 400 rows" in run("fit", log, "-o", saved)
    assert cb.load(saved).temperature_ > 1.0
    assert "in-sample" in run("evaluate", log, "--calibrator", saved)
    second = tmp_path / "second.jsonl"
    second.write_text(log.read_text(encoding="utf-8"), encoding="utf-8")
    assert "question_log_loss" in run("compare", log, second)
    assert "How sure are multiple-choice answers?" in run("methods", "--task", "multiple choice")


def test_the_command_line_says_what_a_kind_does_not_have(log):
    assert "--target needs predictions of classes" in run("evaluate", log, "--target", "a", code=2)
    assert "multiple-choice answers" in run("evaluate", log, "--method", "isotonic", code=2)
    assert "'words' is not one of 'classification'" in run(
        "evaluate", log, "--task", "words", code=2
    )
    assert "--risk and --task multiple choice exclude each other" in run(
        "evaluate", log, "--task", "multiple choice", "--risk", "p", code=2
    )
