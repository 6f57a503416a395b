import numpy as np
import pandas as pd
import pytest

from calibrant.errors import InputError
from calibrant.monitoring.importance import Columns


def test_levels_become_positions_and_unseen_ones_nan():
    old = pd.DataFrame({"age": [1, 2, 3], "site": ["b", "a", "b"]})
    columns = Columns.of(old, "X_old")
    assert columns.names == ["age", "site"]
    assert columns.unordered.tolist() == [False, True]
    new = pd.DataFrame({"age": [4.0, np.inf], "site": ["a", "c"]})
    found = columns.numbers(new, "X_new")
    np.testing.assert_array_equal(found, [[4.0, 0.0], [np.nan, np.nan]])


def test_other_columns_are_refused():
    columns = Columns.of(pd.DataFrame({"a": [1.0, 2.0]}), "X_old")
    with pytest.raises(InputError, match="must have the columns"):
        columns.numbers(pd.DataFrame({"b": [1.0]}), "X_new")
    with pytest.raises(InputError, match="must hold numbers"):
        columns.numbers(pd.DataFrame({"a": ["x"]}), "X_new")
    with pytest.raises(InputError, match="rows and columns"):
        Columns.of(np.zeros((0, 2)), "X_old")
