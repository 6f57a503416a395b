"""H4: names of a log become texts at the door: 1, 1.0 and "1" are one item, one question and one
option; None and "" are none.
"""

import warnings

import numpy as np
import pytest

import calibrant as cb
from calibrant.errors import InputError

PROBS = {"a": 0.7, "b": 0.3}
SURE = {"a": 0.99, "b": 0.01}


@pytest.mark.parametrize("field", ["id", "question", "type", "model"])
def test_numbers_and_texts_are_one_name(field):
    rows = [{"probs": PROBS, field: name} for name in (1, "1", 1.0, np.int64(1), None, "")]
    record = cb.read_questions(rows)
    column = getattr(record, {"id": "item"}.get(field, field))
    names = column.names[column.index].tolist()
    assert names[:4] == ["1"] * 4
    assert len(set(column.index[:4].tolist())) == 1
    # Rows without an id are items of their own, and without another name they share none.
    assert len(set(names[4:])) == (2 if field == "id" else 1)


def test_items_of_one_name_are_one_item():
    rows = [{"id": name, "probs": PROBS, "label": "a"} for name in (1, "1", 2, "2")]
    record = cb.read_questions(rows)
    assert record.cluster.tolist() == [0, 0, 1, 1]
    assert record.item_number.max() == 1


def test_a_question_has_one_rule_whatever_its_type():
    rng = np.random.default_rng(0)
    log = [
        {"id": i, "question": (1, "1")[i % 2], "probs": SURE, "label": "a" if ok else "b"}
        for i, ok in enumerate(rng.random(600) < np.where(np.arange(600) % 2, 0.99, 0.7))
    ]
    # As questions of two numbers, one of them passed and its rule was used for both.
    rules = cb.QuestionRules(risk=0.05, confidence=0.9, when_uncertain="answer_none")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cb.errors.CalibrationWarning)
        rules.fit(log)
    assert set(rules.thresholds_) == {"1"}
    assert not (rules.decide(log) == "answer").any()


def test_labels_and_options_are_texts():
    record = cb.read_questions(
        [
            {"probs": {1: 0.2, 2: 0.8}, "label": "2", "type": "choice"},
            {"probs": {"1": 0.2, "2": 0.8}, "label": 2.0, "type": "choice"},
            {"probs": {"1000000": 0.2, "1234567": 0.8}, "label": 1234567.0},
        ]
    )
    assert record.of_right.tolist() == [0.8] * 3
    with pytest.raises(InputError, match="'probs' of row 0 must have options of different names"):
        cb.read_questions([{"probs": {1: 0.5, "1": 0.5}}])
