"""Columns that say what groups rows are of, as numbers that are the same at every later look: levels learned once, numbers cut."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from calibrant._support.saving import Saved
from calibrant.arrays import column_names
from calibrant.errors import InputError, warn
from calibrant.groups import coded, distinct, group_columns
from calibrant.labels import array_of
from calibrant.levels import level_of, numbers_of, numbers_said, numbers_to_cut, positions

__all__ = ["GroupLevels", "same_levels"]

#: Among fewer rows a column may tell the outcome by chance.
LEAST_ROWS = 30


class GroupLevels(Saved):
    """The levels of columns of groups.

    What a value is read as, and which columns of numbers are cut at quantiles, say ``calibrant.levels``. Missing is a level where it was
    seen, the last one.

    Parameters
    ----------
    groups : (n,) labels, (n, c) of them, or a frame of c columns
    weight : (n,)
    n_bins : int
        How many parts numbers are cut in.
    whole : bool
        Whether whole numbers may be levels; else they are cut as other numbers are, and all half-way between two of the values.
    argument : str
        What errors call the columns.

    Attributes
    ----------
    names : list of the columns' names, or of their places.
    edges : list of the upper ends of a column's parts but the last, (m,); None where it has levels.
    levels : list of the columns' levels, to be read.
    """

    def __init__(self, groups: Any, weight: np.ndarray, n_bins: int = 10, *, whole: bool = True, argument: str = "groups") -> None:
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
                self.levels.append([level_of(level) for level in coded(column, argument).names.tolist()])
            else:
                self.levels.append(_parts(edges) + ([None] if np.isnan(values).any() else []))

    def codes(self, groups: Any) -> np.ndarray:
        """(n, c) positions of the rows' levels, -1 for those not learned; several rows of none that was learned warn."""
        found = self._found(groups)
        self.warn_of_new(groups, [j for j, code in enumerate(found) if code.max(initial=-1) < 0])
        return np.column_stack(found)

    def unseen_rows(self, groups: Any) -> dict[str, int]:
        """How many rows, by column, have a level that was not learned; a missing value that was not learned is one."""
        counts = [int((code < 0).sum()) for code in self._found(groups)]
        return dict(zip(self.names, counts, strict=True))

    def any_known(self, groups: Any) -> np.ndarray:
        """(c,) whether any row is of a level that was learned."""
        return np.array([code.max(initial=-1) >= 0 for code in self._found(groups)])

    def warn_of_new(self, groups: Any, new: Sequence[int]) -> None:
        """Warn of columns, by their positions, in which no row is of a level that was learned."""
        columns = self._columns(self._ordered(groups))
        for j in new:
            # One new level is what happens; that all of several rows are new is a sign that values are written in another way.
            if len(columns[j][1]) > 1:
                warn(self._nothing_known(j, columns[j][1]))

    def _found(self, groups):
        """The code of each column's rows."""
        columns = self._columns(self._ordered(groups))
        if len(columns) != len(self.names):
            raise InputError(f"{self.argument} must have {len(self.names)} columns, as in the fit; got {len(columns)}; pass {self.names}.")
        return [self._code(j, column) for j, (_, column) in enumerate(columns)]

    def warn_of_outcome(self, groups: Any, outcome: np.ndarray) -> None:
        """Warn of a column that is the outcome (n,) by other names, as one given by mistake is: a group is known before it."""
        of_outcome, n_outcomes = distinct(outcome).index, len(np.unique(outcome))
        if len(outcome) < LEAST_ROWS or n_outcomes < 2:
            return
        for j, (_, column) in enumerate(self._columns(groups)):
            found = distinct(column, self.argument)
            # One level for each outcome, and one outcome for each level.
            if len(found) == n_outcomes == len(np.unique(found.index * n_outcomes + of_outcome)):
                warn(
                    f"the column {self.names[j]} of {self.argument} tells the outcome of every row, {n_outcomes} levels for as many "
                    "outcomes; if it is not known before the outcome, leave it out."
                )

    def _nothing_known(self, j, column):
        """What to say of a column in which no row is of a level that was learned."""
        new, known = (_few(levels) for levels in (coded(column, self.argument).names.tolist(), self.levels[j]))
        return (
            f"none of the {len(column):,} rows has a level of the column {self.names[j]} of {self.argument} that was seen in the fit: it "
            f"holds {new}, the fit saw {known}; so the column changes nothing; write its values as they were in the fit."
        )

    def text(self, column: int, code: int) -> str:
        """A level to be read."""
        level = self.levels[column][code]
        return "(missing)" if level is None else str(level)

    def known_rows(self, n: int, at: int) -> np.ndarray:
        """(n, c) the same known row n times, to try a loaded object on: each column's level in place ``at``, or edge it is cut at."""
        parts = [levels if edges is None else edges.tolist() or [None] for levels, edges in zip(self.levels, self.edges, strict=True)]
        return np.tile(np.array([values[at] for values in parts], dtype=object), (n, 1))

    def described(self) -> list[dict[str, Any]]:
        """What another program needs to find the positions, for each column: "name", and "levels" in their order (None is missing), or
        "edges" (the position is the number of edges below the value) with "missing", the position of a missing value or -1.

        Raises
        ------
        InputError
            For levels that are neither texts, numbers nor booleans.
        """
        out: list[dict[str, Any]] = []
        for name, edges, levels in zip(self.names, self.edges, self.levels, strict=True):
            odd = next((level for level in levels if not isinstance(level, str | int | float | bool | None)), None)
            if odd is not None:
                raise InputError(f"levels of {name} must be texts, numbers or booleans to be exported; got {odd!r}; fit on its text.")
            known = {"levels": levels} if edges is None else {"edges": edges.tolist()}
            out.append({"name": name, **known, "missing": levels.index(None) if None in levels else -1})
        return out

    def _columns(self, groups):
        """The columns of groups; of labels that are all tuples, as crossings are named, their parts."""
        columns = group_columns(groups, self.argument)
        if not columns:
            raise InputError(f"{self.argument} must have a column or more; got none; leave it out where there is none.")
        first = columns[0][1]
        if len(columns) == 1 and first.dtype.kind == "O" and len(first) and {type(label) for label in first.tolist()} == {tuple}:
            return [(f"column {j + 1}", array_of(part)) for j, part in enumerate(zip(*_even(first.tolist()), strict=True))]
        return columns

    def _ordered(self, groups):
        """A frame's columns in the order of the fit."""
        names = column_names(groups, self.argument)
        if names is None or not self.named:
            return groups
        texts = [str(name) for name in names]
        missing = [name for name in self.names if name not in texts]
        if missing:
            raise InputError(f"{self.argument} must have the columns {self.names}, as in the fit; {missing} are not there; got {texts}.")
        return groups if texts == self.names else groups[[names[texts.index(name)] for name in self.names]]

    def _code(self, j, column):
        edges, levels = self.edges[j], self.levels[j]
        if edges is None:
            found = distinct(column, self.argument)
            return np.array(positions(levels, found.names.tolist()), dtype=np.intp)[found.index]
        values = numbers_of(column)
        values = numbers_said(column) if values is None else values
        if values is None:
            raise InputError(f"the column {self.names[j]} of {self.argument} held numbers in the fit; got other values; pass numbers.")
        out = np.searchsorted(edges, values)
        out[np.isnan(values)] = len(levels) - 1 if levels[-1] is None else -1
        return out


def same_levels(found: Iterable[GroupLevels | None]) -> GroupLevels | None:
    """The one that all are that are not None; InputError where two of them differ."""
    known = [levels for levels in found if levels is not None]
    for other in known[1:]:
        if other.described() != known[0].described():
            raise InputError("parts that learned different levels of groups cannot be said as one expression; export one of them.")
    return known[0] if known else None


def _even(rows):
    """Tuples, once they are of one length."""
    lengths = {len(row) for row in rows}
    if len(lengths) > 1:
        raise InputError(f"groups must be tuples of one length; got lengths {sorted(lengths)}; give each row the same columns.")
    return rows


def _edges(values, weight, n_bins, whole):
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
    # Finite, with infinite values apart from the others: half-way between them there is no number, and JSON and SQL have no word for one.
    above, most = values[np.searchsorted(values, edges, side="right")], np.finfo(np.float64).max
    edges = np.maximum(edges, -most)
    # Half-way, so that a value which differs by its rounding stays in its part.
    return edges if whole else 0.5 * edges + 0.5 * np.minimum(above, most)


def _parts(edges):
    """The parts between the edges, to be read."""
    if not len(edges):
        return ["all"]
    ends = [f"{edge:.4g}" for edge in edges.tolist()]
    return [f"<= {ends[0]}", *(f"{a} to {b}" for a, b in pairwise(ends)), f"> {ends[-1]}"]


def _few(levels):
    said = ["(missing)" if level is None else repr(level) for level in levels]
    return f"{', '.join(said[:3])} and {len(said) - 3} more" if len(said) > 4 else ", ".join(said)
