"""What a kind of prediction gets once it is registered, and that nothing else asks for it."""

import numpy as np
import pytest
from multiple_choice import (
    QUESTIONS,
    QuestionTemperature,
    question_log_loss,
    read_questions,
)

import calibrant as cb
from calibrant import metrics
from calibrant.contracts.domain import domain_of, domain_of_input
from calibrant.contracts.record import Record
from calibrant.errors import InputError


def data(n=400, seed=0, sharper=2.0):
    """Answers that are too sure, and the options that were right."""
    rng = np.random.default_rng(seed)
    y, P = [], []
    for size in rng.integers(2, 6, n):
        names, honest = [f"option {k}" for k in range(size)], rng.dirichlet(np.ones(size))
        y.append(names[rng.choice(size, p=honest)])
        said = honest**sharper / (honest**sharper).sum()
        P.append(dict(zip(names, said.tolist(), strict=True)))
    return y, P


def test_a_metric_has_values_intervals_weights_and_clusters():
    y, P = data()
    losses = np.array([-np.log(one[k]) for one, k in zip(P, y, strict=True)])
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
    assert record.take([3, 1]).told() == [pytest.approx(P[3]), pytest.approx(P[1])]
    with pytest.raises(InputError, match=r"every answer must sum to 1; one sums to 0\.4"):
        read_questions(["a"], [{"a": 0.4}])


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
    assert told["task"] == told["target"] == "questions"
    assert told["calibrator"]["evaluation"] == "out-of-fold"
    rows = {row["key"]: row for row in told["metrics"]}
    assert rows["question_log_loss"]["change"]["meaning"] == "better"
    assert rows["ece"]["after"]["value"] < rows["ece"]["before"]["value"]
    assert told["verdict"]["model"] == "overconfident"
    assert told["verdict"]["state"] == "calibrate before use"
    assert {row["group"] for row in told["groups"]} == {"2", "3", "4", "5"}
    assert "QuestionTemperature().fit(P, y)" in found.to_html()
    assert "| log loss of questions |" in found.to_markdown()


def test_calibrators_are_compared_on_a_page_and_with_held_out_rows():
    y, P = data()
    named = {"as it is": cb.scalings.Identity(), "temperature": QuestionTemperature()}
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
        InputError, match="target asks a question about classes; got 'event' with answers"
    ):
        cb.report(y, P, target="event")
    with pytest.raises(TypeError, match="report has no option 'inputs'"):
        cb.report(y, P, inputs="logit")
