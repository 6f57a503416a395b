import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

import calibrant as cb
from calibrant import metrics
from calibrant.errors import InputError
from calibrant.rows import n_rows, take_optional, take_rows

X = np.arange(12.0).reshape(4, 3)
ROWS = np.array([2, 0])


@pytest.mark.parametrize(
    "same",
    [X, pd.DataFrame(X, index=[7, 7, 8, 9]), pl.DataFrame(X), sparse.csr_array(X), sparse.coo_matrix(X), X.tolist()],
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


def test_rows_of_one_name_in_another_place_are_refused():
    P = pd.DataFrame({"a": [0.9, 0.2, 0.4], "b": [0.1, 0.8, 0.6]}, index=[7, 8, 9])
    y = pd.Series(["a", "b", "b"], index=P.index)
    right = metrics.log_loss(y, P)
    said = r"y must have its rows in the order of P, .* pass y\.loc\[P\.index\], or y\.to_numpy\(\)"
    with pytest.raises(InputError, match=said):
        metrics.log_loss(y.iloc[::-1], P)
    assert metrics.log_loss(y.iloc[::-1].loc[P.index], P) == right
    # Rows of other names, and names that are not one row each, say nothing of the order.
    assert metrics.log_loss(y.reset_index(drop=True), P) == right
    assert metrics.log_loss(y.set_axis([1, 1, 1]), P.set_axis([1, 1, 1])) == right
    mean, outcome = pd.Series([1.0, 2.0], index=["u", "v"]), pd.Series([2.5, 1.5], index=["v", "u"])
    with pytest.raises(InputError, match="y must have its rows in the order of mean"):
        cb.StdScaling().fit(mean, outcome, std=[1.0, 1.0])
