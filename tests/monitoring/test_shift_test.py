import numpy as np
import pandas as pd
import pytest

from calibrant.errors import InputError
from calibrant.monitoring import ChangedColumn, ShiftTest, shift_test


def test_distances_by_hand():
    rng = np.random.default_rng(0)
    old = pd.DataFrame({"x": np.arange(40.0), "site": ["a"] * 20 + ["b"] * 20})
    new = pd.DataFrame({"x": np.arange(40.0) + 10.0, "site": ["a"] * 30 + ["b"] * 10})
    found = shift_test(old, new, random_state=int(rng.integers(9)))
    assert isinstance(found, ShiftTest)
    by_name = {one.name: one for one in found.columns}
    # Ten of forty values lie below all new ones; the shares of "a" are 1/2 and 3/4.
    assert by_name["x"].distance == pytest.approx(0.25)
    assert (by_name["x"].old, by_name["x"].new) == (19.5, 29.5)
    assert by_name["site"] == ChangedColumn("site", pytest.approx(0.25), None, None)
    assert "AUROC" in str(found)


def test_false_alarms_are_as_rare_as_stated():
    runs, alarms = 60, 0
    for seed in range(runs):
        X = np.random.default_rng(seed).standard_t(2, size=(160, 2))
        alarms += shift_test(X[:80], X[80:], random_state=seed).p_value <= 0.1
    assert alarms / runs <= 0.1 + 3.0 * np.sqrt(0.1 * 0.9 / runs)


def test_a_change_of_the_spread_is_found():
    rng = np.random.default_rng(2)
    old, new = rng.normal(size=(400, 2)), rng.normal(size=(400, 2)) * [1.0, 2.0]
    found = shift_test(old, new)
    assert found.p_value < 1e-4
    assert found.columns[0].name == "column 2"
    assert found.columns[0].distance > found.chance > found.columns[1].distance


def test_few_rows_are_refused():
    with pytest.raises(InputError, match="20 rows or more"):
        shift_test(np.zeros((30, 1)), np.zeros((10, 1)))
