"""F33: no error message tells users to damage their data: several labels a row stay several,
names of columns stay with them.
"""

import numpy as np
import pytest

import calibrant as cb
from calibrant.core.predictions import read
from calibrant.errors import InputError

RNG = np.random.default_rng(0)
#: Independent answers to three questions, and what was true of each.
SEVERAL_P = RNG.random((40, 3))
SEVERAL_Y = (RNG.random((40, 3)) < SEVERAL_P).astype(int)
P = RNG.dirichlet(np.ones(3), 40)


def message_of(call):
    with pytest.raises(InputError) as caught:
        call()
    return str(caught.value)


@pytest.mark.parametrize(
    "y", [None, SEVERAL_Y, SEVERAL_Y[:, 0]], ids=["no labels", "several", "one"]
)
def test_f33_answers_to_several_questions_are_not_divided_by_their_sums(y):
    said = message_of(lambda: read(SEVERAL_P, y))
    assert "divide" not in said
    assert (
        "if a row can have several labels or none, calibrate the columns one by one, P[:, k]"
        in said
    )


def test_f33_rounded_rows_still_are():
    assert "divide P by its row sums" in message_of(lambda: read(P.round(2) + 0.01))


@pytest.mark.parametrize("kind", [int, float, bool, object])
def test_f33_rows_of_several_labels_are_not_cut_to_the_first(kind):
    said = message_of(lambda: read(P, SEVERAL_Y.astype(kind)))
    assert "argmax" not in said
    row = int(np.flatnonzero(SEVERAL_Y.sum(axis=1) != 1)[0])
    assert f"row {row} has {SEVERAL_Y[row].sum()} labels" in said
    assert said.endswith("calibrate the columns one by one, y[:, k] with P[:, k].")


def test_f33_metrics_and_regions_of_the_door_say_the_same():
    assert "argmax" not in message_of(lambda: cb.metrics.brier_score(SEVERAL_Y, P))
    assert "divide" not in message_of(lambda: cb.TemperatureScaling().fit(SEVERAL_P, SEVERAL_Y))


def test_f33_one_hot_labels_still_become_labels():
    y = np.eye(3, dtype=int)[RNG.integers(0, 3, 40)]
    assert "pass y.argmax(axis=1)" in message_of(lambda: read(P, y))
    assert "pass y.argmax(axis=1)" in message_of(lambda: read(P[:, 0], y[:, :2] * 0 + [0, 1]))


def test_f33_soft_labels_and_texts_in_columns_are_not_cut():
    assert "argmax" not in message_of(lambda: read(P, P))
    assert "argmax" not in message_of(lambda: read(P, np.full((40, 2), "a")))


@pytest.mark.parametrize("shape", [(40, 1), (1, 40)])
def test_f33_a_column_or_row_of_labels_is_flattened_and_not_swapped(shape):
    y = RNG.integers(0, 2, 40)
    for predictions in (P[:, 0], P):
        assert message_of(lambda P=predictions: read(P, y.reshape(shape))).endswith(
            "pass np.ravel(y)."
        )


def test_f33_columns_of_other_names_are_not_stripped_of_them_blindly():
    pandas = pytest.importorskip("pandas")
    said = message_of(
        lambda: read(pandas.DataFrame(P, columns=["x", "y", "z"]), classes=["a", "b", "c"])
    )
    assert said.endswith("pass P.to_numpy() if its columns are in that order.")


def test_f33_nothing_is_filled_in_or_padded():
    assert "fill" not in message_of(lambda: read(np.ma.masked_less(P, 0.15)))
    assert "pad" not in message_of(lambda: read([[0.1, 0.9], [1.0]], [0, 1]))
