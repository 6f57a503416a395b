"""Numbers of the columns of features, which classifiers of old and new rows read."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant.core.groups import coded, group_columns
from calibrant.core.labels import positions
from calibrant.errors import InputError

__all__ = ["Columns"]

#: Most levels of a column that boosted trees treat as unordered.
MOST_LEVELS = 200


@dataclass(frozen=True)
class Columns:
    """Names of the columns, and the levels of those that are no numbers (None for numbers)."""

    names: list[str]
    levels: list[list[Any] | None]

    @classmethod
    def of(cls, X: Any, name: str) -> "Columns":
        """Learn the names and levels from rows."""
        found = _columns(X, name)
        levels = [
            None if column.dtype.kind == "f" else coded(column, name).names.tolist()
            for _, column in found
        ]
        return cls([called for called, _ in found], levels)

    @property
    def unordered(self) -> np.ndarray:
        """(d,) whether a column has levels, and few enough for trees."""
        return np.array([one is not None and len(one) <= MOST_LEVELS for one in self.levels])

    def numbers(self, X: Any, name: str) -> np.ndarray:
        """Return (n, d) numbers, and the positions of levels; nan where missing or unseen."""
        found = _columns(X, name)
        if [called for called, _ in found] != self.names:
            raise InputError(
                f"{name} must have the columns {self.names}, as the other rows; got"
                f" {[called for called, _ in found]}."
            )
        out = np.empty((len(found[0][1]), len(found)))
        for j, (levels, (_, column)) in enumerate(zip(self.levels, found, strict=True)):
            if levels is None and column.dtype.kind != "f":
                raise InputError(
                    f"column {self.names[j]} of {name} must hold numbers, as in the other rows; got"
                    f" {column[0]!r}."
                )
            if levels is None:
                out[:, j] = column
            else:
                groups = coded(column.astype(object), name)
                place = np.array(positions(levels, groups.names.tolist()), dtype=np.float64)
                out[:, j] = np.where(place < 0.0, np.nan, place)[groups.index]
        return out


def _columns(X: Any, name: str) -> list[tuple[str, np.ndarray]]:
    """(name, column) of each column; numbers as float64."""
    out = list[tuple[str, np.ndarray]]()
    for j, (called, column) in enumerate(group_columns(X, name)):
        if column.ndim != 1:
            raise InputError(f"{name} must be (n, d) or (n,); got more dimensions; pass features.")
        if column.dtype.kind in "biuf":
            column = column.astype(np.float64)
            column = np.where(np.isfinite(column), column, np.nan)
        out.append((called or f"column {j + 1}", column))
    if not out or not len(out[0][1]):
        raise InputError(f"{name} must have rows and columns; got none.")
    return out
