"""Groups of rows from columns, their levels and crossings, as membership matrices."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from calibrant._numerics.bins import equal_mass_groups
from calibrant._numerics.clusters import membership
from calibrant.core.groups import Groups, coded, crossed
from calibrant.core.labels import array_of, numbers_to_cut

__all__ = ["Column", "Family", "cells", "columns_of", "everyone", "family", "shown_groups"]


@dataclass(frozen=True)
class Column:
    """Column of groups, with its name, the names of its levels, and the level of each row (n,)."""

    name: str
    levels: list[str]
    index: np.ndarray


@dataclass(frozen=True)
class Family:
    """Family of groups: the definition of each, {column: level}, and a sparse (G, u) membership
    matrix of ones.
    """

    where: list[dict[str, str]]
    matrix: Any

    def __len__(self) -> int:
        return len(self.where)


def columns_of(
    labelled: Sequence[tuple[str | None, np.ndarray]], n_bins: int, weight: np.ndarray
) -> list[Column]:
    """Return columns (name or None, labels (n,)) as levels; numbers are cut into ``n_bins`` parts
    of equal weight.
    """
    return [_column(name, labels, n_bins, weight) for name, labels in labelled]


def shown_groups(
    labelled: Sequence[tuple[str | None, np.ndarray]], n_bins: int, weight: np.ndarray
) -> Groups:
    """Return the combinations of levels of columns as groups of a report; numbers are cut as in
    ``columns_of``.
    """
    cut = [numbers_to_cut(labels, named=name is not None) is not None for name, labels in labelled]
    columns = columns_of(
        [one for one, numbers in zip(labelled, cut, strict=True) if numbers], n_bins, weight
    )
    parts = iter([Groups(array_of(one.levels), one.index) for one in columns])
    return crossed(
        [
            next(parts) if numbers else coded(labels)
            for (_, labels), numbers in zip(labelled, cut, strict=True)
        ]
    )


def cells(columns: Sequence[Column], n: int) -> np.ndarray:
    """Return (n,) a number for each combination of all levels that occurs."""
    code = np.zeros(n, dtype=np.intp)
    for column in columns:
        code = np.unique(code * len(column.levels) + column.index, return_inverse=True)[1]
    return code


def _column(called: str | None, labels: np.ndarray, n_bins: int, weight: np.ndarray) -> Column:
    numbers, name = numbers_to_cut(labels, named=called is not None), called or "group"
    if numbers is None:
        found = coded(labels)
        return Column(name, found.texts, found.index)
    missing = np.isnan(numbers)
    part = np.full(len(numbers), -1, dtype=np.intp)
    part[~missing] = equal_mass_groups(numbers[~missing], n_bins, weight[~missing])
    ends = [numbers[part == k] for k in range(part.max() + 1)]
    levels = [f"{one.min():.4g} to {one.max():.4g}" for one in ends]
    part[missing] = len(levels)
    return Column(name, [*levels, *(["(missing)"] if missing.any() else [])], part)


def family(columns: Sequence[Column], depth: int) -> Family:
    """Return all levels and their crossings of up to ``depth`` columns; among groups of the same
    rows, the one of fewer columns stays.

    A column of one level holds all rows, so it is not a group.
    """
    used = [column for column in columns if len(np.unique(column.index)) > 1]
    n = len(used[0].index) if used else 0
    # A number for each row, whose sum over a group identifies groups of the same rows.
    mark = np.random.default_rng(0).random(n)
    where, rows, members = list[dict[str, str]](), list[np.ndarray](), list[np.ndarray]()
    known: set[tuple[int, float]] = set()
    for size in range(1, min(depth, len(used)) + 1):
        for several in combinations(used, size):
            names, index = _crossed(several)
            count, total = np.bincount(index), np.bincount(index, weights=mark)
            place = np.full(len(names), -1, dtype=np.intp)
            for g, key in enumerate(zip(count.tolist(), np.round(total, 9).tolist(), strict=True)):
                if key not in known:
                    known.add(key)
                    place[g] = len(where)
                    where.append(names[g])
            kept = np.flatnonzero(place[index] >= 0)
            rows.append(place[index[kept]])
            members.append(kept)
    if not where:
        return Family(
            [], membership(np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.intp), (0, n))
        )
    row, member = np.concatenate(rows), np.concatenate(members)
    return Family(where, membership(row, member, (len(where), n)))


def _crossed(columns: Sequence[Column]) -> tuple[list[dict[str, str]], np.ndarray]:
    """Return ({column: level} of each combination that occurs, the combination of each row)."""
    code = np.zeros(len(columns[0].index), dtype=np.intp)
    for column in columns:
        code = code * len(column.levels) + column.index
    found, index = np.unique(code, return_inverse=True)
    names = [dict[str, str]() for _ in found]
    for column in reversed(columns):
        found, digit = np.divmod(found, len(column.levels))
        for name, level in zip(names, digit.tolist(), strict=True):
            name[column.name] = column.levels[level]
    return [dict(reversed(name.items())) for name in names], index


def everyone(n: int) -> Family:
    """Return all rows as one group."""
    return Family(
        [{"group": "all rows"}], membership(np.zeros(n, dtype=np.intp), np.arange(n), (1, n))
    )
