"""Columns of numbers and of names, features and groups alike, as small codes for trees."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from calibrant._support.group_levels import GroupLevels
from calibrant._support.saving import Saved
from calibrant.errors import InputError

__all__ = ["ColumnCodes"]

#: Parts that numbers are cut in, those among groups (as ``GroupCalibrator`` cuts them), and the most levels that are told apart.
PARTS, PARTS_OF_GROUPS, MOST_LEVELS = 64, 10, 255


class ColumnCodes(Saved):
    """What trees ask of a row: columns of numbers cut at quantiles, and columns of levels.

    Whole numbers in ``X`` are numbers, in ``groups`` they may be levels (``GroupLevels``). Numbers are cut in 64 parts, those of
    ``groups`` in 10. The commonest 255 levels are told apart; the rarer share a code with those not seen. A missing value is a level of
    its own where it was seen: of numbers, one beyond the largest.

    Parameters
    ----------
    numbers : (n, m) float64 of what was said of the rows
    names : m names of them
    tables : what else is known of the rows by the argument's name, "X" or "groups"; None for what is not
    weight : (n,)
    """

    def __init__(self, numbers: np.ndarray, names: list[str], tables: dict[str, Any], weight: np.ndarray) -> None:
        given = {name: _two_way(table, name) for name, table in tables.items() if table is not None}
        said = {"said": numbers} if numbers.shape[1] else {}
        self.tables: dict[str, GroupLevels] = {
            name: GroupLevels(table, weight, PARTS_OF_GROUPS if name == "groups" else PARTS, whole=name == "groups", argument=name)
            for name, table in (said | given).items()
        }
        self.names: list[str] = []
        #: For each column the byte of each position among its levels, the last for those not seen.
        self.bytes: list[np.ndarray] = []
        self.ordered: np.ndarray = np.zeros(0, dtype=bool)
        for name, table in (said | given).items():
            found = self.tables[name]
            self.names += names if name == "said" else found.names
            self.ordered = np.append(self.ordered, [edges is not None for edges in found.edges]).astype(bool)
            for edges, code in zip(found.edges, found.codes(table).T, strict=True):
                self.bytes.append(_bytes(edges is not None, np.bincount(code, weight)))

    @property
    def width(self) -> int:
        """Codes are below it."""
        return 1 + max((int(code.max()) for code in self.bytes), default=0)

    def codes(self, numbers: np.ndarray, tables: dict[str, Any]) -> np.ndarray:
        """(d, n) uint8 of rows; what the fit was given must be given."""
        said = {"said": numbers} if numbers.shape[1] else {}
        for name, table in tables.items():
            if (table is None) == (name in self.tables):
                was = "not given" if table is not None else "given"
                raise InputError(f"{name} must be given where it was in the fit, and only there; it was {was} then; pass the same columns.")
        held = said | {name: _two_way(table, name) for name, table in tables.items() if table is not None}
        found = [code for name, table in held.items() for code in self.tables[name].codes(table).T]
        if not found:
            return np.zeros((0, len(numbers)), dtype=np.uint8)
        return np.stack([table[code] for table, code in zip(self.bytes, found, strict=True)])

    def express(self, numbers: Sequence[Any], positions: Sequence[Any]) -> list[Any]:
        """``codes`` of one row from expressions of what was said of it and of the positions of its levels of groups."""
        said = [] if not numbers else self.tables["said"].edges
        cut = [x.step(np.asarray(edges), np.arange(len(edges) + 1.0), closed=False) for x, edges in zip(numbers, said, strict=True)]
        own = self.bytes[len(cut) :]
        # A position that no level has is not known.
        places = [
            x.step(np.arange(len(table)), np.concatenate([[len(table) - 1.0], np.arange(len(table) - 1.0), [len(table) - 1.0]]))
            for x, table in zip(positions, own, strict=True)
        ]
        return cut + [place.gather(table[:, None]) for place, table in zip(places, own, strict=True)]

    def made_rows(self, n: int) -> dict[str, Any]:
        """Tables of n rows that are known, to try a loaded object on."""
        return {name: found.known_rows(n, -1) for name, found in self.tables.items() if name != "said"}


def _bytes(ordered, mass):
    """Byte of each position among a column's levels of this mass; the last entry is for levels that were not seen."""
    n = len(mass)
    if ordered:
        # A missing number that no row of the fit had counts as one from the middle.
        return np.append(np.arange(n), n // 2).astype(np.uint8)
    place = np.empty(n, dtype=np.intp)
    place[np.argsort(-mass, kind="stable")] = np.arange(n)
    own = np.arange(n) if n <= MOST_LEVELS else np.minimum(place, MOST_LEVELS)
    return np.append(own, min(n, MOST_LEVELS)).astype(np.uint8)


def _two_way(table, name):
    """A table of rows and columns, or labels of one column."""
    if len(getattr(table, "shape", (0,))) > 2:
        raise InputError(f"{name} must be a table of rows and columns; got shape {tuple(table.shape)}; flatten it, or pass what matters.")
    return table
