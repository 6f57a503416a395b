"""Which calibration rows a promise is bought with: all of them, those of a class, of similar classes, or of a group."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from calibrant.arrays import column_names, plain_array
from calibrant.errors import InputError, SparseDataWarning, warn
from calibrant.groups import read_groups
from calibrant.levels import positions
from calibrant.predictions import Predictions

__all__ = ["By", "Cells", "require_by", "rows_of_cells", "rows_of_groups"]

By = Literal["class", "similar_classes", "groups", "overlapping"]


@dataclass(frozen=True)
class Cells:
    """The names of the cells, and the pairs of (row, cell), (m,) each: a row may be in several cells."""

    names: list[Any]
    row: np.ndarray
    cell: np.ndarray

    def taken(self, rows: np.ndarray) -> "Cells":
        """The same of some of the rows, numbered anew."""
        place = np.full(max(self.row.max(initial=-1), rows.max(initial=-1)) + 1, -1)
        place[rows] = np.arange(len(rows))
        kept = place[self.row] >= 0
        return Cells(self.names, place[self.row][kept], self.cell[kept])

    def of_classes(self, record: Predictions, class_cells: np.ndarray | None) -> "Cells":
        """With the cells of similar classes, 1.. as ``class_cells`` (K,) numbers them, beside that of all rows; None changes nothing."""
        if class_cells is None:
            return self
        own = class_cells[record.strata]
        placed = np.flatnonzero(own > 0)
        names = list(range(int(class_cells.max()) + 1))
        return Cells(names, np.concatenate([self.row, placed]), np.concatenate([self.cell, own[placed]]))


def require_by(by: Any, groups: Any) -> None:
    """``by`` is known, and groups are given where, and only where, it asks for them."""
    if by not in (None, "class", "similar_classes", "groups", "overlapping"):
        raise InputError(f'by must be None, "class", "similar_classes", "groups" or "overlapping"; got {by!r}.')
    if (by in ("groups", "overlapping")) != (groups is not None):
        remedy = "pass groups=" if groups is None else 'leave them out, or set by="groups"'
        raise InputError(f"groups must be given where by is one of groups, and nowhere else; got by={by!r}; {remedy}.")


def rows_of_cells(by: By | None, record: Predictions, groups: Any) -> Cells:
    """The cells of the rows of a record with labels; similar classes are not known before they are found."""
    require_by(by, groups)
    rows = np.arange(len(record))
    if by is None or by == "similar_classes":
        return Cells([None], rows, np.zeros(len(record), dtype=np.intp))
    if by == "class":
        return Cells(record.classes.tolist(), rows, record.strata)
    if by == "groups":
        found = read_groups(groups, record)
        return Cells(found.names.tolist(), rows, found.index)
    names, member = _membership(groups, record)
    row, cell = np.nonzero(member)
    # All rows are a group too: whoever is in none has its promise.
    return Cells([None, *names], np.concatenate([rows, row]), np.concatenate([np.zeros(len(rows), dtype=np.intp), cell + 1]))


def rows_of_groups(by: By | None, names: list[Any], record: Predictions, groups: Any) -> Cells:
    """The cells, named as they were when fitted, of new rows by their groups; rows of a group that is new have none, with a warning."""
    if by == "overlapping":
        columns, member = _membership(groups, record)
        if columns != names[1:]:
            raise InputError(f"groups must have the columns that they were fitted with, {names[1:]}; got {columns}.")
        return Cells(names, *np.nonzero(np.column_stack([np.ones(len(member), dtype=bool), member])))
    found = read_groups(groups, record)
    at = np.array(positions(names, found.names.tolist()), dtype=np.intp)
    new = [text for text, cell in zip(found.texts, at, strict=True) if cell < 0]
    if new:
        warn(f"groups hold {new[:6]}, of which no row was seen in fit: their sets hold every class.", SparseDataWarning)
    known = np.flatnonzero(at[found.index] >= 0)
    return Cells(names, known, at[found.index][known])


def _membership(groups: Any, record: Predictions) -> tuple[list[Any], np.ndarray]:
    """(names of the columns, (n, G) booleans)."""
    names, member = column_names(groups, "groups"), record.per_row(plain_array(groups, "groups"))
    if member.ndim != 2 or len(member) != len(record) or not np.isin(member, (0, 1)).all():
        raise InputError(
            f"groups that overlap must be ({len(record)}, G) booleans, a column a group; got shape {member.shape} of {member.dtype}; "
            'for one label a row set by="groups".'
        )
    return (list(range(member.shape[1])) if names is None else list(names)), member.astype(bool)
