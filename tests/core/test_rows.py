import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from calibrant.core.groups import n_rows, take_optional, take_rows

X = np.arange(12.0).reshape(4, 3)
ROWS = np.array([2, 0])


@pytest.mark.parametrize(
    "same",
    [
        X,
        pd.DataFrame(X, index=[7, 7, 8, 9]),
        pl.DataFrame(X),
        sparse.csr_array(X),
        sparse.coo_matrix(X),
        X.tolist(),
    ],
    ids=lambda s: type(s).__name__,
)
def test_rows_by_position_of_whatever_holds_them(same):
    taken = take_rows(same, ROWS)
    plain = taken.toarray() if sparse.issparse(taken) else np.asarray(taken)
    assert isinstance(taken, sparse.csr_array | sparse.csr_matrix) or type(taken) is type(same)
    np.testing.assert_array_equal(plain, X[ROWS])
    assert n_rows(same) == 4


def test_fit_arguments_are_cut_only_when_they_have_one_entry_a_row():
    given = {
        "margin": np.arange(4.0),
        "names": ["a", "b"],
        "text": "four",
        "table": {"a": 1, "b": 2, "c": 3, "d": 4},
        "flag": True,
        "none": None,
    }
    cut = take_optional(given, ROWS, 4)
    np.testing.assert_array_equal(cut.pop("margin"), [2.0, 0.0])
    assert cut == {k: v for k, v in given.items() if k != "margin"}
