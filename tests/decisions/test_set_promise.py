"""The promise of sets: its bounds, what it rests on, and the warning of cells that are too
small.
"""

import numpy as np
import pytest

from calibrant.decisions.cells import CellScores, set_promise, short_cells
from calibrant.errors import SparseDataWarning


def held(*sizes: int, shares: bool = False) -> CellScores:
    """Cells of so many different scores each."""
    cell = np.repeat(np.arange(len(sizes)), sizes)
    return CellScores.of(
        np.arange(len(cell)) / 100.0, np.ones(len(cell)), cell, len(sizes), shares=shares
    )


def test_coverage_is_bounded_above_by_one_rank_where_it_is_that_of_a_rank():
    promise = set_promise(held(19), 0.9, None, 19.0, exact=True, prefitted=False)
    assert (promise.least, promise.n, promise.unit) == (0.9, 19.0, "rows")
    assert promise.most == pytest.approx(0.9 + 1.0 / 20.0, rel=1e-12)
    # Not where scores are equal, limits infinite, sets drawn larger, cells several, or rows parts
    # of clusters.
    assert set_promise(held(19), 0.9, None, 20.0, exact=True, prefitted=False).most is None
    assert set_promise(held(19), 0.96, None, 19.0, exact=True, prefitted=False).most is None
    assert set_promise(held(19), 0.9, None, 19.0, exact=False, prefitted=False).most is None
    assert set_promise(held(19), 0.9, "class", 19.0, exact=True, prefitted=False).most is None
    clustered = set_promise(held(19, shares=True), 0.9, None, 19.0, exact=True, prefitted=True)
    assert (clustered.most, clustered.unit) == (None, "clusters")
    assert clustered.method == "hierarchical split conformal"
    assert "on none of which the calibrator was fitted" in clustered.assumes


def test_the_promise_of_cells_rests_on_the_smallest():
    assert set_promise(held(19, 12), 0.9, "groups", 31.0, exact=True, prefitted=False).n == 12.0


def test_cells_with_too_few_rows_are_named_and_warned_of():
    names = ["a", "b", "c"]
    with pytest.warns(
        SparseDataWarning,
        match=r"'b' \(8 rows\); their sets hold every class; a limit needs at least 9 rows",
    ) as found:
        assert short_cells(names, held(9, 8, 10), 0.9, "groups") == ["b"]
    assert "..." not in str(found[0].message)
    with pytest.warns(
        SparseDataWarning, match="some classes have too few rows .*; those classes are in every set"
    ):
        assert short_cells(list("abcdefgh"), held(*[1] * 7, 9), 0.9, "class") == list("abcdefg")
    with pytest.warns(
        SparseDataWarning,
        match="the calibration rows are too few, 3 for a level of 0.9; their sets",
    ):
        assert short_cells([None], held(3), 0.9, None) == [None]
    assert short_cells(names, held(9, 9, 9), 0.9, "groups") == []


def test_six_small_cells_are_named_and_of_more_it_is_said_that_there_are():
    with pytest.warns(SparseDataWarning) as six:
        short_cells(list("abcdef"), held(*[1] * 6), 0.9, "groups")
    with pytest.warns(SparseDataWarning) as seven:
        short_cells(list("abcdefg"), held(*[1] * 7), 0.9, "groups")
    assert "'f' (1 rows);" in str(six[0].message)
    assert "'f' (1 rows), ...;" in str(seven[0].message)
