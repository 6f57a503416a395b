import numpy as np
import pytest

from calibrant.core.predictions import read
from calibrant.decisions.cells import Cells, rows_of_cells, rows_of_groups
from calibrant.errors import InputError, SparseDataWarning

RECORD = read([0.1, 0.2, 0.8], [0, 1, 1])


def test_classes_and_groups():
    found = rows_of_cells("class", RECORD, None)
    assert (found.names, found.row.tolist(), found.cell.tolist()) == ([0, 1], [0, 1, 2], [0, 1, 1])
    found = rows_of_cells("groups", RECORD, ["b", "a", "b"])
    assert (found.names, found.cell.tolist()) == (["a", "b"], [1, 0, 1])


def test_a_row_may_be_in_several_groups_and_is_always_among_all():
    found = rows_of_cells("overlapping", RECORD, np.array([[1, 1], [0, 1], [0, 0]]))
    pairs = sorted(zip(found.row.tolist(), found.cell.tolist(), strict=True))
    assert pairs == [(0, 0), (0, 1), (0, 2), (1, 0), (1, 2), (2, 0)]
    assert sorted(found.subset(np.array([1, 2])).row.tolist()) == [0, 0, 1]


def test_a_new_group_has_no_cell():
    names = rows_of_cells("groups", RECORD, ["b", "a", "b"]).names
    with pytest.warns(SparseDataWarning, match=r"'c'.*had no rows"):
        found = rows_of_groups("groups", names, RECORD, ["a", "c", "b"])
    assert (found.row.tolist(), found.cell.tolist()) == ([0, 2], [0, 1])


def test_some_rows_are_numbered_anew_whether_they_have_cells_or_not():
    found = Cells(["a", "b"], np.array([0, 0, 2, 5]), np.array([0, 1, 1, 0]))
    for rows, row, cell in (
        ([5, 0], [1, 1, 0], [0, 1, 0]),
        ([1, 2], [1], [1]),
        ([7, 2, 9], [1], [1]),
        ([4], [], []),
        ([], [], []),
    ):
        taken = found.subset(np.array(rows, dtype=int))
        assert sorted(zip(taken.row.tolist(), taken.cell.tolist(), strict=True)) == sorted(
            zip(row, cell, strict=True)
        )
        assert taken.names == ["a", "b"]
    none = Cells([None], np.zeros(0, dtype=int), np.zeros(0, dtype=int)).subset(np.array([3, 1]))
    assert len(none.row) == len(none.cell) == 0


def test_similar_classes_are_cells_beside_that_of_all():
    record = read(np.full((4, 3), 1.0 / 3.0), [0, 1, 2, 1])
    plain = rows_of_cells("similar_classes", record, None)
    assert (plain.names, plain.row.tolist(), plain.cell.tolist()) == ([None], [0, 1, 2, 3], [0] * 4)
    assert plain.of_classes(record, None) is plain
    found = plain.of_classes(record, np.array([2, 1, 0]))
    assert (found.names, found.row.tolist(), found.cell.tolist()) == (
        [0, 1, 2],
        [0, 1, 2, 3, 0, 1, 3],
        [0, 0, 0, 0, 2, 1, 1],
    )


@pytest.mark.parametrize(
    ("by", "groups", "match"),
    [
        ("groups", None, "pass groups="),
        (None, ["a", "b", "c"], "leave them out"),
        ("gender", None, "by must be"),
        ("overlapping", ["a", "b", "c"], r"\(3, G\) booleans"),
    ],
)
def test_what_is_refused(by, groups, match):
    with pytest.raises(InputError, match=match):
        rows_of_cells(by, RECORD, groups)
