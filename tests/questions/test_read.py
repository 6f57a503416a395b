"""Tests of the forms of logs that are read, and of the errors."""

import gzip
import json

import numpy as np
import pytest

from calibrant.core.domain import Record, domain_of, domain_of_input
from calibrant.errors import CalibrationWarning, InputError
from calibrant.questions import Questions, read_questions
from calibrant.questions.domain import QUESTIONS
from calibrant.questions.log import words_of
from calibrant.questions.read import as_questions
from calibrant.questions.tables import decimals_of

LOG = [
    {"id": 1, "question": "topic", "probs": {"art": 0.7, "war": 0.2, "law": 0.1}, "label": "art"},
    {"id": 1, "question": "safe", "probs": {"yes": 0.9, "no": 0.1}, "label": True},
    {"id": 2, "question": "topic", "probs": {"war": 0.6, "art": 0.4}, "label": None},
]


def test_a_log_becomes_flat_arrays():
    record = read_questions(LOG)
    assert isinstance(record, Record)
    assert domain_of(record) is domain_of_input(record) is QUESTIONS
    assert record.start.tolist() == [0, 3, 5, 7]
    assert record.probability == pytest.approx([0.7, 0.2, 0.1, 0.1, 0.9, 0.6, 0.4])
    assert record.right.tolist() == [0, 1, -1]
    assert record.outcomes() == ["art", "yes", None]
    assert record.kind.tolist() == [1, 0, 1]
    assert record.decimals == 1
    assert record.cluster.tolist() == [0, 0, 1]
    assert record.answers()[2] == {"war": 0.6, "art": 0.4}
    assert record.confidence.tolist() == [0.7, 0.9, 0.6]
    assert record.correct[:2].tolist() == [1.0, 1.0]
    taken = record.take([2, 0])
    assert taken.answers() == [record.answers()[2], record.answers()[0]]
    assert taken.right.tolist() == [-1, 0]


def test_files_frames_and_iterables_give_one_record(tmp_path):
    polars, pandas = pytest.importorskip("polars"), pytest.importorskip("pandas")
    lines = "\n".join(map(json.dumps, LOG)) + "\n\n"
    plain, packed, listed = (tmp_path / name for name in ("a.jsonl", "a.jsonl.gz", "a.json"))
    plain.write_text(lines, encoding="utf-8")
    packed.write_bytes(gzip.compress(lines.encode()))
    listed.write_text(json.dumps(LOG), encoding="utf-8")
    ours = read_questions(LOG)
    frame = pandas.DataFrame(LOG)
    for source in (plain, str(packed), listed, iter(LOG), frame):
        found = read_questions(source)
        assert found.agrees_with(ours)
        assert found.right.tolist() == ours.right.tolist()
    texts = [{**one, "label": None if one["label"] is None else str(one["label"])} for one in LOG]
    struct = read_questions(polars.DataFrame(texts))
    assert struct.answers() == ours.answers()
    assert struct.outcomes() == ours.outcomes()


def test_a_frame_may_have_a_column_for_each_option():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [0.25, 0.5], "b": [0.75, 0.5], "label": ["b", "a"]})
    record = read_questions(frame, probs=["a", "b"])
    assert record.of_right.tolist() == [0.75, 0.5]
    with pytest.raises(InputError, match="no column 'c'"):
        read_questions(frame, probs=["a", "c"])


def test_nested_logs_log_probabilities_confidences_and_samples():
    nested = {"id": 3, "model": "m1", "decisions": {"q": LOG[0], "r": {"confidence": 0.25}}}
    record = read_questions([nested])
    assert record.question.names[record.question.index].tolist() == ["topic", "r"]
    assert set(record.model.names[record.model.index]) == {"m1"}
    assert record.probability[3:].tolist() == [0.75, 0.25]
    logs = read_questions([{"logprobs": {"A": -1.0, "B": -2.0}, "label": "B"}])
    assert logs.of_right[0] == pytest.approx(np.exp(-2.0) / (np.exp(-1.0) + np.exp(-2.0)))
    votes = read_questions([{"samples": ["x", "x", "y"], "label": "z"}])
    assert votes.answers()[0] == pytest.approx({"x": 2.5 / 4.5, "y": 1.5 / 4.5, "(other)": 1 / 9})
    assert votes.outcomes() == ["(other)"]
    signals = read_questions(
        [{"signals": {"logprob": -1.5}, "correct": 1}], signals=["logprob", "judge"]
    )
    assert signals.signals.shape == (1, 2)
    assert np.isnan(signals.signals[0, 1])
    assert signals.right.tolist() == [1]


def test_scores_ascend_and_yes_follows_no():
    rows = [
        {"probs": {"10": 0.1, "2": 0.3, "1": 0.6}, "label": 2},
        {"probs": {"True": 0.8, "False": 0.2}, "label": "no"},
    ]
    record = read_questions(rows, ordered=True)
    assert record.kind.tolist() == [2, 0]
    assert record.option.names[record.option.index].tolist() == ["1", "2", "10", "False", "True"]
    assert record.right.tolist() == [1, 0]
    typed = read_questions([{**rows[0], "type": "score"}])
    assert typed.kind.tolist() == [2]


def test_shares_of_raters_are_kept():
    record = read_questions([{"probs": {"a": 0.6, "b": 0.4}, "label": {"a": 1, "b": 3}}])
    assert record.mass.tolist() == [0.25, 0.75]
    assert record.right.tolist() == [1]
    assert record.correct.tolist() == [0.25]
    with pytest.raises(InputError, match="of the row's options"):
        read_questions([{"probs": {"a": 0.6, "b": 0.4}, "label": {"c": 1}}])


def test_missing_confidences_are_counted():
    rows = [*LOG, {"id": 9, "probs": None}]
    with pytest.raises(InputError, match="1 of 4 rows have none, the first is row 3"):
        read_questions(rows)
    with pytest.warns(CalibrationWarning, match="1 of 4 rows have no probabilities"):
        record = read_questions(rows, missing="skip")
    assert record.kept.tolist() == [True, True, True, False]


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([{"probs": {"a": 0.7, "b": 0.7}}], "sum to 1; those of row 0 sum to 1.4"),
        ([{"probs": {"a": 1.2, "b": -0.2}}], "at least 0; got -0.2"),
        ([{"probs": {"a": 0.5, "b": 0.5}, "label": "c"}], "label 'c' of row 0 must be one"),
        ([{"probs": {"a": 1.0}}], "two options or more"),
        ([{"probs": {"a": 0.5, "b": 0.5}, "type": "yes_no"}], "be yes and no"),
        ([], "no rows with probabilities"),
        (["x"], "every row must be a mapping"),
        ([3], "P must hold probabilities from 0 to 1"),
        (3, "got a int"),
    ],
)
def test_errors_name_the_row_and_the_remedy(rows, words):
    with pytest.raises(InputError, match=words):
        read_questions(rows)


def test_a_damaged_line_is_named(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text('{"probs": {"a": 0.5, "b": 0.5}}\n{"probs": \n', encoding="utf-8")
    with pytest.raises(InputError, match="line 2 is not JSON"):
        read_questions(path)


def test_rounding_is_detected_and_limits_the_loss():
    record = read_questions([{"probs": {"a": 0.7514, "b": 0.2486, "c": 0.0}, "label": "a"}])
    assert record.decimals == 4
    value, low, high = record.loss_limits()
    assert (value, low, high) == pytest.approx(
        (-np.log(0.7514), -np.log(0.75145), -np.log(0.75135))
    )
    never = read_questions([{"probs": {"a": 0.7514, "b": 0.2486, "c": 0.0}, "label": "c"}])
    assert never.loss_limits()[2] == np.inf
    assert never.loss_limits()[0] == pytest.approx(-np.log(5e-5))
    assert decimals_of(np.random.default_rng(0).random(50)) is None
    assert decimals_of(np.array([0.0, 1.0])) is None
    wide = {f"o{k}": round(1 / 255, 4) for k in range(255)}
    assert len(read_questions([{"probs": wide}]).probability) == 255


def test_arrays_are_yes_no_questions_or_levels():
    P, Y = np.array([[0.2, 0.9], [0.4, 0.5]]), np.array([[0, 1], [1, 0]])
    record = read_questions(P, Y)
    assert record.probability[1::2].tolist() == [0.2, 0.9, 0.4, 0.5]
    assert record.right.tolist() == [0, 1, 1, 0]
    assert record.cluster.tolist() == [0, 0, 1, 1]
    levels = read_questions(np.array([[0.2, 0.5, 0.3]]), [2], ordered=True)
    assert levels.kind.tolist() == [2]
    assert levels.of_right.tolist() == [0.3]
    with pytest.raises(InputError, match="pass ordered=True"):
        read_questions(P, [0, 1])


def test_answers_with_outcomes_and_weights():
    record = as_questions([{"a": 0.5, "b": 0.5}] * 3, ["a", "b", "a"], [1.0, 0.0, 2.0])
    assert record.kept.tolist() == [True, False, True]
    assert record.weights.tolist() == [1.0, 2.0]
    again = as_questions(record, ["b", "b"])
    assert isinstance(again, Questions)
    assert again.right.tolist() == [1, 1]
    assert [words_of(one) for one in ("Yes", "false", "maybe")] == [1, 0, -1]
    assert record.digest != again.digest


def test_a_named_field_that_no_row_has_is_refused():
    fields = ("id", "question", "probs", "label", "type", "model", "weight", "confidence")
    for name in fields:
        with pytest.raises(InputError, match=rf"{name} must be a field of some row, \['id'.*'zz'"):
            read_questions(LOG, **{name: "zz"})
    with pytest.raises(InputError, match="id must be left out of a table"):
        read_questions(np.full((3, 2), 0.5), id="zz")
    nested = [
        {"id": 1, "questions": [{"q": "a", "probs": 0.5, "truth": 1}, {"q": "b", "probs": 0.5}]}
    ]
    record = read_questions(nested, question="q", label="truth")
    assert record.outcomes() == ["yes", None]
    assert record.question.names.tolist() == ["a", "b"]


def test_a_label_that_is_true_or_false_agrees_with_correct():
    for label, correct in ((False, 1), (np.False_, "yes"), (True, 0), (True, False)):
        with pytest.raises(InputError, match="'correct' of row 0 must agree with 'label'"):
            read_questions([{"confidence": 0.7, "label": label, "correct": correct}])
    # The expected answer of a sum may be the number 0.
    for label in (0, "no", True):
        rows = [{"confidence": 0.7, "label": label, "correct": True}]
        assert read_questions(rows).outcomes() == ["yes"]
