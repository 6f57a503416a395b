"""Group columns as reproducible codes: levels learned in the fit, numbers cut at quantiles."""

from collections.abc import Iterable, Sequence
from itertools import combinations, pairwise
from typing import Any

import numpy as np

from calibrant.core.arrays import column_names
from calibrant.core.groups import coded, distinct, group_columns
from calibrant.core.labels import (
    array_of,
    level_of,
    numbers_of,
    numbers_said,
    numbers_to_cut,
    positions,
)
from calibrant.core.saving import Saved
from calibrant.errors import InputError, warn

__all__ = ["ColumnCodes", "GroupLevels", "cell_codes", "crossings", "same_levels"]

#: With fewer rows a column may equal the outcome by chance.
LEAST_ROWS = 30


class GroupLevels(Saved):
    """The levels of columns of groups.

    ``calibrant.core.labels`` defines how values are read, and which numeric columns are cut at
    quantiles. Missing is the last level if the fit saw it.

    Parameters
    ----------
    groups : (n,) labels, (n, c) of them, or a frame of c columns
    weight : (n,)
    n_bins : int
        Number of parts that numbers are cut into.
    whole : bool
        Whether integers may be levels; else they are cut like other numbers, half-way between two
        values.
    argument : str
        Name of the columns in errors.

    Attributes
    ----------
    names : list of the columns' names, or positions.
    edges : list of the upper ends of a column's parts but the last, (m,); None where it has levels.
    levels : list of the columns' levels, as text.
    """

    def __init__(
        self,
        groups: Any,
        weight: np.ndarray,
        n_bins: int = 10,
        *,
        whole: bool = True,
        argument: str = "groups",
    ) -> None:
        self.argument: str = argument
        columns = self._columns(groups)
        self.named: bool = column_names(groups, argument) is not None
        self.names: list[str] = [name or argument.removesuffix("s") for name, _ in columns]
        self.edges: list[np.ndarray | None] = []
        self.levels: list[list[Any]] = []
        for name, column in columns:
            values = numbers_to_cut(column, named=name is not None) if whole else numbers_of(column)
            edges = None if values is None else _edges(values, weight, n_bins, whole)
            self.edges.append(edges)
            if values is None or edges is None:
                self.levels.append(
                    [level_of(level) for level in coded(column, argument).names.tolist()]
                )
            else:
                self.levels.append(_parts(edges) + ([None] if np.isnan(values).any() else []))

    def codes(self, groups: Any) -> np.ndarray:
        """(n, c) positions of the rows' levels, -1 for unseen ones; warns if several rows are all
        unseen.
        """
        found = self._found(groups)
        self.warn_of_new(groups, [j for j, code in enumerate(found) if code.max(initial=-1) < 0])
        return np.column_stack(found)

    def unseen_rows(self, groups: Any) -> dict[str, int]:
        """Number of rows by column with an unseen level, including an unseen missing value."""
        counts = [int((code < 0).sum()) for code in self._found(groups)]
        return dict(zip(self.names, counts, strict=True))

    def any_known(self, groups: Any) -> np.ndarray:
        """(c,) whether any row has a known level."""
        return np.array([code.max(initial=-1) >= 0 for code in self._found(groups)])

    def warn_of_new(self, groups: Any, new: Sequence[int]) -> None:
        """Warn of columns, by their positions, in which no row has a known level."""
        columns = self._columns(self._ordered(groups))
        for j in new:
            # One new level is normal; if all of several rows are new, values are probably written
            # differently.
            if len(columns[j][1]) > 1:
                warn(self._nothing_known(j, columns[j][1]))

    def _found(self, groups: Any) -> list[np.ndarray]:
        """The code of each column's rows."""
        columns = self._columns(self._ordered(groups))
        if len(columns) != len(self.names):
            raise InputError(
                f"{self.argument} must have {len(self.names)} columns, as in the fit; got"
                f" {len(columns)}; pass {self.names}."
            )
        return [self._code(j, column) for j, (_, column) in enumerate(columns)]

    def warn_of_outcome(self, groups: Any, outcome: np.ndarray) -> None:
        """Warn of a column that equals the outcome (n,), probably passed by mistake."""
        of_outcome, n_outcomes = distinct(outcome).index, len(np.unique(outcome))
        if len(outcome) < LEAST_ROWS or n_outcomes < 2:
            return
        for j, (_, column) in enumerate(self._columns(groups)):
            found = distinct(column, self.argument)
            # One level for each outcome, and one outcome for each level.
            if len(found) == n_outcomes == len(np.unique(found.index * n_outcomes + of_outcome)):
                warn(
                    f"column {self.names[j]} of {self.argument} equals the outcome in every row,"
                    f" {n_outcomes} levels for as many outcomes; if it is not known before the"
                    " outcome, leave it out."
                )

    def _nothing_known(self, j: int, column: np.ndarray) -> str:
        """Warning for a column in which no row has a known level."""
        new, known = (
            _few(levels) for levels in (coded(column, self.argument).names.tolist(), self.levels[j])
        )
        return (
            f"none of the {len(column):,} rows has a level of the column {self.names[j]} of"
            f" {self.argument} that was seen in the fit: it holds {new}, the fit saw {known}; so"
            " the column changes nothing; write its values as they were in the fit."
        )

    def text(self, column: int, code: int) -> str:
        """A level as text."""
        level = self.levels[column][code]
        return "(missing)" if level is None else str(level)

    def known_rows(self, n: int, at: int) -> np.ndarray:
        """(n, c) one known row n times, to test a loaded object: each column's level ``at``, or an
        edge.
        """
        parts = [
            levels if edges is None else edges.tolist() or [None]
            for levels, edges in zip(self.levels, self.edges, strict=True)
        ]
        return np.tile(np.array([values[at] for values in parts], dtype=object), (n, 1))

    def described(self) -> list[dict[str, Any]]:
        """Description of each column for other programs: "name", and "levels" in their order (None
        is missing), or "edges" (the position is the number of edges below the value) with
        "missing", the position of a missing value or -1.

        Raises
        ------
        InputError
            For levels that are neither texts, numbers nor booleans.
        """
        out: list[dict[str, Any]] = []
        for name, edges, levels in zip(self.names, self.edges, self.levels, strict=True):
            odd = next(
                (
                    level
                    for level in levels
                    if not isinstance(level, str | int | float | bool | None)
                ),
                None,
            )
            if odd is not None:
                raise InputError(
                    f"levels of {name} must be texts, numbers or booleans to be exported; got"
                    f" {odd!r}; fit on its text."
                )
            known = {"levels": levels} if edges is None else {"edges": edges.tolist()}
            out.append(
                {"name": name, **known, "missing": levels.index(None) if None in levels else -1}
            )
        return out

    def _columns(self, groups: Any) -> Any:
        """The columns of groups; tuples, the names of crossings, are split into their parts."""
        columns = group_columns(groups, self.argument)
        first = columns[0][1]
        if (
            len(columns) == 1
            and first.dtype.kind == "O"
            and len(first)
            and {type(label) for label in first.tolist()} == {tuple}
        ):
            return [
                (f"column {j + 1}", array_of(part))
                for j, part in enumerate(zip(*_even(first.tolist()), strict=True))
            ]
        return columns

    def _ordered(self, groups: Any) -> Any:
        """A frame's columns in the order of the fit."""
        names = column_names(groups, self.argument)
        if names is None or not self.named:
            return groups
        texts = [str(name) for name in names]
        missing = [name for name in self.names if name not in texts]
        if missing:
            raise InputError(
                f"{self.argument} must have the columns {self.names}, as in the fit; {missing} are"
                f" not there; got {texts}."
            )
        return (
            groups
            if texts == self.names
            else groups[[names[texts.index(name)] for name in self.names]]
        )

    def _code(self, j: int, column: np.ndarray) -> np.ndarray:
        edges, levels = self.edges[j], self.levels[j]
        if edges is None:
            found = distinct(column, self.argument)
            return np.array(positions(levels, found.names.tolist()), dtype=np.intp)[found.index]
        values = numbers_of(column)
        values = numbers_said(column) if values is None else values
        if values is None:
            raise InputError(
                f"the column {self.names[j]} of {self.argument} held numbers in the fit; got other"
                " values; pass numbers."
            )
        out = np.searchsorted(edges, values)
        out[np.isnan(values)] = len(levels) - 1 if levels[-1] is None else -1
        return out


def same_levels(found: Iterable[GroupLevels | None]) -> GroupLevels | None:
    """The common value of all that are not None; InputError where two of them differ."""
    known = [levels for levels in found if levels is not None]
    for other in known[1:]:
        if other.described() != known[0].described():
            raise InputError(
                "parts with different levels of groups cannot be exported as one expression;"
                " export one of them."
            )
    return known[0] if known else None


def _even(rows: Any) -> Any:
    """Check that tuples have one length, and return them."""
    lengths = {len(row) for row in rows}
    if len(lengths) > 1:
        raise InputError(
            f"groups must be tuples of one length; got lengths {sorted(lengths)}; give each row the"
            " same columns."
        )
    return rows


def _edges(values: np.ndarray, weight: np.ndarray, n_bins: int, whole: bool) -> Any:
    """Quantiles of numbers; None where all are missing."""
    known = ~np.isnan(values)
    values, weight = values[known], weight[known]
    if not len(values):
        return None
    order = np.argsort(values, kind="stable")
    values, mass = values[order], np.cumsum(weight[order])
    at = np.searchsorted(mass, np.arange(1, n_bins) / n_bins * mass[-1] * (1.0 - 1e-12))
    edges = np.unique(values[at])
    edges = edges[edges < values[-1]]
    # Edges are finite and separate infinite values: JSON and SQL cannot express infinity.
    above, most = values[np.searchsorted(values, edges, side="right")], np.finfo(np.float64).max
    edges = np.maximum(edges, -most)
    # Half-way, so that a value with a rounding error stays in its part.
    return edges if whole else 0.5 * edges + 0.5 * np.minimum(above, most)


def _parts(edges: np.ndarray) -> list[str]:
    """The parts between the edges, as text."""
    if not len(edges):
        return ["all"]
    ends = [f"{edge:.4g}" for edge in edges.tolist()]
    return [f"<= {ends[0]}", *(f"{a} to {b}" for a, b in pairwise(ends)), f"> {ends[-1]}"]


def _few(levels: Any) -> str:
    said = ["(missing)" if level is None else repr(level) for level in levels]
    return f"{', '.join(said[:3])} and {len(said) - 3} more" if len(said) > 4 else ", ".join(said)


#: Codes of crossings are numbers up to this.
MOST_CODES = 2.0**62


def crossings(levels: GroupLevels, codes: np.ndarray, depth: int) -> list[tuple[int, ...]]:
    """Crossings of the columns, up to ``depth`` and of all, of codes (n, c) from ``levels``.

    A crossing that equals one of its parents (city x country) is omitted.
    """
    n_columns, found, cells = codes.shape[1], [], dict[tuple[int, ...], int]()
    for size in sorted({*range(1, min(depth, n_columns) + 1), n_columns}):
        for columns in combinations(range(n_columns), size):
            if np.prod([float(len(levels.levels[j])) for j in columns]) > MOST_CODES:
                continue
            cells[columns] = len(np.unique(cell_codes(levels, codes, columns)))
            if size == 1 or all(
                cells[columns] > cells.get(parent, 0) for parent in combinations(columns, size - 1)
            ):
                found.append(columns)
    return found


def cell_codes(levels: GroupLevels, codes: np.ndarray, columns: tuple[int, ...]) -> np.ndarray:
    """(n,) number of each row's cell, -1 where a level is unknown."""
    out = np.zeros(len(codes), dtype=np.int64)
    for j in columns:
        out = out * len(levels.levels[j]) + codes[:, j]
    return np.where((codes[:, list(columns)] < 0).any(axis=1), -1, out)


#: Parts that numbers are cut into, the same for groups (as in ``GroupCalibrator``), and the largest
#: number of distinct levels.
PARTS, PARTS_OF_GROUPS, MOST_LEVELS = 64, 10, 255


class ColumnCodes(Saved):
    """Features of trees: columns of numbers cut at quantiles, and columns of levels.

    Whole numbers in ``X`` are numbers, in ``groups`` they may be levels (``GroupLevels``). Numbers
    are cut into 64 parts, those of ``groups`` into 10. The most frequent 255 levels are distinct;
    rarer ones share a code with unseen levels. A missing value is a separate level if the fit saw
    it; for numbers it follows the largest.

    Parameters
    ----------
    numbers : (n, m) float64 predictions of the rows
    names : m names of them
    tables : other data of the rows by the argument's name, "X" or "groups"; None for missing ones
    weight : (n,)
    """

    def __init__(
        self, numbers: np.ndarray, names: list[str], tables: dict[str, Any], weight: np.ndarray
    ) -> None:
        given = {name: _two_way(table, name) for name, table in tables.items() if table is not None}
        said = {"said": numbers} if numbers.shape[1] else {}
        self.tables: dict[str, GroupLevels] = {
            name: GroupLevels(
                table,
                weight,
                PARTS_OF_GROUPS if name == "groups" else PARTS,
                whole=name == "groups",
                argument=name,
            )
            for name, table in (said | given).items()
        }
        self.names: list[str] = []
        #: For each column the byte of each position among its levels, the last for unseen ones.
        self.bytes: list[np.ndarray] = []
        self.ordered: np.ndarray = np.zeros(0, dtype=bool)
        for name, table in (said | given).items():
            found = self.tables[name]
            self.names += names if name == "said" else found.names
            self.ordered = np.append(
                self.ordered, [edges is not None for edges in found.edges]
            ).astype(bool)
            for edges, code in zip(found.edges, found.codes(table).T, strict=True):
                self.bytes.append(_bytes(edges is not None, np.bincount(code, weight)))

    @property
    def width(self) -> int:
        """Codes are below it."""
        return 1 + max((int(code.max()) for code in self.bytes), default=0)

    def codes(self, numbers: np.ndarray, tables: dict[str, Any]) -> np.ndarray:
        """(d, n) uint8 of rows; the arguments of the fit are required."""
        said = {"said": numbers} if numbers.shape[1] else {}
        for name, table in tables.items():
            if (table is None) == (name in self.tables):
                was = "not given" if table is not None else "given"
                raise InputError(
                    f"{name} must be given where it was in the fit, and only there; it was {was}"
                    " then; pass the same columns."
                )
        held = said | {
            name: _two_way(table, name) for name, table in tables.items() if table is not None
        }
        found = [code for name, table in held.items() for code in self.tables[name].codes(table).T]
        if not found:
            return np.zeros((0, len(numbers)), dtype=np.uint8)
        return np.stack([table[code] for table, code in zip(self.bytes, found, strict=True)])

    def express(self, numbers: Sequence[Any], positions: Sequence[Any]) -> list[Any]:
        """``codes`` of one row from expressions of its predictions and of the positions of its
        levels.
        """
        said = [] if not numbers else self.tables["said"].edges
        cut = [
            x.step(np.asarray(edges), np.arange(len(edges) + 1.0), closed=False)
            for x, edges in zip(numbers, said, strict=True)
        ]
        own = self.bytes[len(cut) :]
        # A position without a level is unknown.
        places = [
            x.step(
                np.arange(len(table)),
                np.concatenate(
                    [[len(table) - 1.0], np.arange(len(table) - 1.0), [len(table) - 1.0]]
                ),
            )
            for x, table in zip(positions, own, strict=True)
        ]
        return cut + [
            place.gather(table[:, None]) for place, table in zip(places, own, strict=True)
        ]

    def made_rows(self, n: int) -> dict[str, Any]:
        """Tables of n known rows, to test a loaded object."""
        return {
            name: found.known_rows(n, -1) for name, found in self.tables.items() if name != "said"
        }


def _bytes(ordered: bool, mass: np.ndarray) -> np.ndarray:
    """Byte of each position among a column's levels of this mass; the last entry is for unseen
    levels.
    """
    n = len(mass)
    if ordered:
        # A missing number that the fit did not see counts as a middle value.
        return np.append(np.arange(n), n // 2).astype(np.uint8)
    place = np.empty(n, dtype=np.intp)
    place[np.argsort(-mass, kind="stable")] = np.arange(n)
    own = np.arange(n) if n <= MOST_LEVELS else np.minimum(place, MOST_LEVELS)
    return np.append(own, min(n, MOST_LEVELS)).astype(np.uint8)


def _two_way(table: Any, name: str) -> Any:
    """A table of rows and columns, or labels of one column."""
    if len(getattr(table, "shape", (0,))) > 2:
        raise InputError(
            f"{name} must be a table of rows and columns; got shape {tuple(table.shape)}; flatten"
            " it, or pass what matters."
        )
    return table
