"""H6: the order of levels without numbers is stated, never that of their first appearance."""

import itertools

import numpy as np
import pytest

import calibrant as cb
from calibrant.errors import InputError
from calibrant.questions.domain import question_ranked_score

LEVELS = ["low", "mid", "high"]
P = {"low": 0.5, "mid": 0.2, "high": 0.3}


def rows_of(keys):
    probs = {name: P[name] for name in keys}
    return [{"type": "score", "question": "q", "probs": probs, "label": "high"}]


@pytest.mark.parametrize("keys", list(itertools.permutations(LEVELS)))
def test_levels_are_ordered_or_refused(keys):
    with pytest.raises(InputError, match=r"row 0 has .*; pass ordered=.* in ascending order"):
        cb.read_questions(rows_of(keys))
    record = cb.read_questions(rows_of(keys), ordered=LEVELS)
    assert record.option.names[record.option.index].tolist() == LEVELS
    expected = ((0.5**2) + (0.7**2)) / 2
    assert question_ranked_score(None, record) == pytest.approx(expected)


def test_a_list_orders_untyped_rows_and_tables():
    record = cb.read_questions([{"probs": P, "label": "mid"}], ordered=LEVELS)
    assert record.kind.tolist() == [2]
    assert record.right.tolist() == [1]
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"high": [0.3], "low": [0.5], "mid": [0.2]})
    table = cb.read_questions(frame, ["high"], ordered=LEVELS)
    assert table.probability.tolist() == [0.5, 0.2, 0.3]
    assert table.right.tolist() == [2]
    # Numbers ascend, wherever their columns are.
    numbers = cb.read_questions(pandas.DataFrame({10: [0.3], 2: [0.7]}), [10], ordered=True)
    assert numbers.probability.tolist() == [0.7, 0.3]
    assert numbers.right.tolist() == [1]


def test_a_fitted_calibrator_knows_the_order_of_columns():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    values = rng.dirichlet(np.ones(3), 300)
    y = [LEVELS[k] for k in (rng.random((300, 1)) > values.cumsum(axis=1)).sum(axis=1)]
    frame = pandas.DataFrame(values, columns=LEVELS)
    calibrator = cb.QuestionCalibrator(ordered=True).fit(frame, y)
    expected = calibrator.predict(frame)
    moved = calibrator.predict(frame[["high", "low", "mid"]])
    assert moved == pytest.approx(expected[:, [2, 0, 1]])
