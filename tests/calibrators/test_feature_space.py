"""The space of distances: columns by name, on one scale where they are not pictures, and no
number that squares cannot hold.
"""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from calibrant.calibrators.reductions import BLOCK_ROWS, FeatureSpace
from calibrant.errors import CalibrationWarning, InputError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_columns_are_taken_by_name(frame):
    table = frame(dict(zip("abc", X.T, strict=True)))
    space = FeatureSpace()
    space.fit(table)
    np.testing.assert_array_equal(space.transform(table[["c", "a", "b"]]), X)
    np.testing.assert_array_equal(space.transform(X), X)
    with pytest.raises(InputError, match=r"only one of the two has \['c', 'd'\]"):
        space.transform(frame(dict(zip("abd", X.T, strict=True))))
    with pytest.raises(InputError, match="columns of the training data"):
        space.transform(table[["a", "b"]])


def test_columns_named_by_numbers_or_dates_are_taken_by_place():
    dates = pd.date_range("2024-01-01", periods=3)
    space = FeatureSpace()
    space.fit(pd.DataFrame(X, columns=dates))
    assert space.names_ is None
    np.testing.assert_array_equal(space.transform(pd.DataFrame(X, columns=[5, 6, 7])), X)


@pytest.mark.parametrize("stds", [[1e4, 1e4, 1.0], [1.0, 1.0, 1e-3], [1.0, 1e3, 1e6]])
def test_tables_with_columns_of_other_orders_are_standardised(stds):
    space = FeatureSpace()
    with pytest.warns(CalibrationWarning, match="standardised"):
        space.fit(X * stds)
    np.testing.assert_allclose(space.column_scale_, 1.0 / (X * stds).std(axis=0))


def test_flattened_pictures_are_left_alone():
    """Next to all pixels span the whole range, a few at the border next to none of it."""
    pictures = RNG.random((200, 400))
    pictures[:, :15] *= 1e-3
    pictures[:, 15:20] = 0.0
    for same in (pictures, np.round(255 * pictures).astype(np.uint8)):
        space = FeatureSpace()
        space.fit(same)
        assert space.column_scale_ is None


class Tensor:
    """Like a tensor that keeps its gradient: no array until detached."""

    def __init__(self, values):
        self.values = values

    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("call detach first")

    def detach(self):
        return self

    cpu = detach

    @property
    def dtype(self):
        return self.values.dtype

    def numpy(self):
        return self.values


@pytest.mark.parametrize("n", [10, BLOCK_ROWS + 10])
def test_a_network_may_return_tensors(n):
    rows = RNG.normal(size=(n, 2))
    np.testing.assert_array_equal(
        FeatureSpace(lambda part: Tensor(2.0 * part)).fit(rows), 2.0 * rows
    )


@pytest.mark.parametrize("wrong", [lambda part: np.vstack([part, part]), lambda part: part[1:]])
@pytest.mark.parametrize("n", [10, BLOCK_ROWS + 10])
def test_features_of_other_rows_are_refused(wrong, n):
    with pytest.raises(InputError, match=f"one row for each of the {n} rows"):
        FeatureSpace(wrong).fit(RNG.normal(size=(n, 2)))


@pytest.mark.parametrize(
    ("factor", "rule"),
    [(1e155, "at most 1e\\+150"), (1e-160, "smaller than 1e-152"), (np.inf, "finite")],
)
def test_numbers_whose_squares_leave_float64_are_refused(factor, rule):
    with pytest.raises(InputError, match=rule):
        FeatureSpace(scale="none").fit(np.abs(X) * factor)
    narrow = X.astype(np.float32)
    narrow[3, 1] = np.inf
    with pytest.raises(InputError, match="row 3 is not"):
        FeatureSpace().fit(narrow)
    space = FeatureSpace(scale="none")
    space.fit(np.zeros((4, 3)))
    assert space.transform(X * 1e-160).shape == X.shape
