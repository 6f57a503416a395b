"""Levels learned once: the same code for the same level in any container, -1 for what was not seen."""

import numpy as np
import pytest

from calibrant._support.group_levels import GroupLevels
from calibrant.errors import InputError


def test_levels_are_found_again_whatever_holds_them():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"city": ["x", None, "y", "x"], "age": [1.5, 2.5, np.nan, 3.5]})
    levels = GroupLevels(frame, np.ones(4), n_bins=2)
    assert levels.names == ["city", "age"]
    assert levels.levels[0] == ["x", "y", None]
    codes = levels.codes(frame)
    assert codes[:, 0].tolist() == [0, 2, 1, 0]
    assert codes[2, 1] == len(levels.levels[1]) - 1
    np.testing.assert_array_equal(levels.codes(frame[["age", "city"]]), codes)
    np.testing.assert_array_equal(levels.codes(frame.to_numpy()), codes)
    assert levels.codes(np.array([["z", 1.5]], dtype=object)).tolist() == [[-1, codes[0, 1]]]
    assert levels.text(0, 2) == "(missing)"
    with pytest.raises(InputError, match="must have the columns"):
        levels.codes(frame[["city"]])
    with pytest.raises(InputError, match="held numbers in the fit"):
        levels.codes(np.array([["x", "old"]], dtype=object))


def test_whole_numbers_are_levels_and_others_are_cut_by_weight():
    values = np.array([0.5, 1.5, 2.5, 3.5])
    assert GroupLevels(np.array([3, 1, 3]), np.ones(3)).levels == [[1, 3]]
    assert GroupLevels(np.array([3.0, np.nan]), np.ones(2)).levels == [[3, None]]
    cut = GroupLevels(values, np.array([1.0, 1.0, 1.0, 3.0]), n_bins=2)
    repeated = GroupLevels(np.repeat(values, [1, 1, 1, 3]), np.ones(6), n_bins=2)
    assert cut.edges[0].tolist() == repeated.edges[0].tolist() == [2.5]
    assert cut.codes(np.array([2.5, 2.6, np.nan])).ravel().tolist() == [0, 1, -1]
    assert cut.levels == [["<= 2.5", "> 2.5"]]


def test_tuples_are_rows_of_several_columns():
    levels = GroupLevels([("f", 1), ("m", 2)], np.ones(2))
    assert levels.codes([("m", 1)]).tolist() == [[1, 0]]
    with pytest.raises(InputError, match="must have 2 columns"):
        levels.codes(["m"])


def test_infinite_numbers_are_apart_and_edges_finite():
    ends = np.array([-np.inf, -np.inf, 0.5, 1.5, np.inf, np.inf])
    for whole in (True, False):
        levels = GroupLevels(ends, np.ones(6), n_bins=6, whole=whole)
        assert np.isfinite(levels.edges[0]).all()
        assert levels.codes(ends).ravel().tolist() == [0, 0, 1, 2, 3, 3]
    two = GroupLevels(np.array([-np.inf, np.inf]), np.ones(2), n_bins=2, whole=False)
    assert two.codes(np.array([-np.inf, np.inf])).ravel().tolist() == [0, 1]


def test_a_table_without_columns_is_refused():
    with pytest.raises(InputError, match="X must have a column or more"):
        GroupLevels(np.zeros((4, 0)), np.ones(4), argument="X")


def test_a_number_is_not_taken_for_an_unknown_text():
    levels = GroupLevels(np.array([1, 2, "x", None], dtype=object), np.ones(4))
    with pytest.raises(InputError, match="held 2 in the fit; got '2'; pass values of that type"):
        levels.codes(np.array(["2", "x"], dtype=object))
    with pytest.raises(InputError, match="held '3' in the fit; got 3"):
        GroupLevels(["3", "4"], np.ones(2)).codes([3])
    assert levels.codes(np.array([1.0, 7, "None", "y", None], dtype=object)).ravel().tolist() == [0, -1, -1, -1, 3]
