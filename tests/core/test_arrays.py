"""Turning what users hold into checked arrays."""

import numpy as np
import pytest

from calibrant.core import arrays
from calibrant.errors import InputError


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_floats_keep_their_dtype_and_their_memory(dtype):
    values = np.array([0.25, 0.75], dtype=dtype)
    assert arrays.to_array(values, "P") is values


@pytest.mark.parametrize(
    "values",
    [
        [1, 0],
        np.array([1, 0], np.uint8),
        np.array([True, False]),
        np.array([1.0, 0.0], np.longdouble),
    ],
)
def test_other_numbers_become_float64(values):
    out = arrays.to_array(values, "P")
    assert out.dtype == np.float64
    assert out.tolist() == [1.0, 0.0]


def test_sparse_matrices_are_made_dense():
    sparse = pytest.importorskip("scipy.sparse")
    assert arrays.to_array(sparse.csr_array(np.eye(2)), "P").tolist() == [[1.0, 0.0], [0.0, 1.0]]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([["a", 1]], "must hold numbers"),
        ({1, 2}, "must hold numbers; got {1, 2} in it"),
        ([[1], [1, 2]], "must be a rectangular array"),
        (
            np.array(["2020-01-01"], dtype="M8[D]"),
            "must hold numbers; got an array of dtype datetime64",
        ),
    ],
)
def test_what_is_no_number_is_named(values, message):
    with pytest.raises(InputError, match=message):
        arrays.to_array(values, "P")


def test_weights():
    assert arrays.weights(None, 3) == (None, None)
    weight, kept = arrays.weights([1, 2, 3], 3)
    assert weight.dtype == np.float64
    assert kept is None
    weight, kept = arrays.weights([1, 0, 3], 3)
    assert weight.tolist() == [1.0, 3.0]
    assert kept.tolist() == [True, False, True]


@pytest.mark.parametrize(
    ("score", "domain", "message"),
    [
        ([[0.1]], "real", r"score must be \(n,\); got shape \(1, 1\)"),
        ([], "real", "score has no rows"),
        ([0.1, np.nan], "real", r"score must be finite; row 1 is nan \(1 in all\)"),
        ([0.1, -0.1, 1.2], "unit", r"score must be in \[0, 1\]; row 1 is -0.1 \(2 in all\)"),
    ],
)
def test_bad_scores(score, domain, message):
    with pytest.raises(InputError, match=message):
        arrays.scores(score, domain=domain)


def test_a_score_one_rounding_above_1_is_1():
    assert arrays.scores([1.0 + 2e-16], domain="unit").tolist() == [1.0]


@pytest.mark.parametrize(
    ("correct", "message"),
    [
        ([1, 0], "one outcome for each of the 3 scores"),
        ([0, 1, 2], "correct must be 0 or 1 .* row 2 is 2.0"),
        ([0, 1, np.nan], "row 2 is nan"),
    ],
)
def test_bad_outcomes(correct, message):
    with pytest.raises(InputError, match=message):
        arrays.binary_outcomes(correct, 3)


def test_features_need_the_rows_of_the_predictions():
    X = [[1.0], [2.0]]
    assert arrays.rows_named(X, "X", 2).shape == (2, 1)
    assert arrays.rows_named(None, "X", 2) is None
    with pytest.raises(InputError, match="X must have 3 rows"):
        arrays.rows_named(X, "X", 3)
