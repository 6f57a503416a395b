"""Sample of an audit: units of rows with predictions, outcomes, and the variance of these under the
predictions; and groups of rows from columns, their levels and crossings, as membership matrices.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Self

import numpy as np
from numpy.random import Generator

from calibrant._numerics.bins import equal_mass_groups
from calibrant._numerics.clusters import membership
from calibrant._numerics.normal_scores import central
from calibrant.core.groups import Groups, coded, crossed
from calibrant.core.labels import array_of, numbers_to_cut

__all__ = [
    "ClassSample",
    "Column",
    "Family",
    "OutcomeSample",
    "Sample",
    "ScoreSample",
    "cells",
    "columns_of",
    "everyone",
    "family",
    "of_answers",
    "of_classes",
    "of_forecasts",
    "of_outcomes",
    "of_predictions",
    "shown_groups",
]


@dataclass(frozen=True)
class Sample(ABC):
    """Units in an order of their own: equal rows are merged, so that repetition and row order
    change nothing.

    Attributes
    ----------
    questions : q questions for each group: a single one (""), or one for each class, or "mean" and
        "spread" for a forecast.
    weight : (u,) number of rows in each unit.
    said, came : (u, q) the prediction, and the mean outcome.
    variance : (u, q) variance of the outcome of one row under the prediction.
    cluster : (u,) numbers, or None.
    rows : (u,) one row of each unit.
    """

    questions: tuple[str, ...]
    weight: np.ndarray
    said: np.ndarray
    came: np.ndarray
    variance: np.ndarray
    cluster: np.ndarray | None
    rows: np.ndarray

    def __len__(self) -> int:
        return len(self.weight)

    def take(self, units: np.ndarray) -> Self:
        """Return some of the units."""
        cluster = (
            None if self.cluster is None else np.unique(self.cluster[units], return_inverse=True)[1]
        )
        return replace(
            self,
            weight=self.weight[units],
            said=self.said[units],
            came=self.came[units],
            variance=self.variance[units],
            cluster=cluster,
            rows=self.rows[units],
        )

    @property
    def off(self) -> np.ndarray:
        """(u, q) sums of outcomes minus predictions."""
        return self.weight[:, None] * (self.came - self.said)

    @abstractmethod
    def drawn(self, count: int, rng: Generator) -> np.ndarray:
        """Return (u, q, count) draws of ``off`` under the predictions."""

    def parts(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return rows with equal outcomes, as m parts of units: (unit of each, rows in each,
        outcome minus prediction of each row (m, q)).
        """
        return np.arange(len(self)), self.weight, self.came - self.said


class OutcomeSample(Sample):
    """Sample of a binary outcome."""

    def drawn(self, count: int, rng: Generator) -> np.ndarray:
        """Return binomial draws; the fractional part of a weight varies as that share of a row."""
        p = self.said[:, 0]
        whole = np.floor(self.weight)
        if (whole == 1.0).all():
            hits = (rng.random((count, len(p))) < p).astype(np.float64).T
        else:
            hits = rng.binomial(whole.astype(np.int64), p, (count, len(p))).astype(np.float64).T
        rest = np.sqrt(self.weight - whole)[:, None]
        out = hits - (whole * p)[:, None]
        if rest.any():
            out += rest * ((rng.random((count, len(p))) < p).T - p[:, None])
        return out[:, None, :]

    def parts(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the rows with the event, and those without."""
        hits = self.weight * self.came[:, 0]
        units = np.arange(len(self))
        unit, mass = np.concatenate([units, units]), np.concatenate([hits, self.weight - hits])
        off = np.concatenate([1.0 - self.said[:, 0], -self.said[:, 0]])
        some = mass > 1e-12
        return unit[some], mass[some], off[some][:, None]


class ClassSample(Sample):
    """Sample of the class among K, with a question for each."""

    def drawn(self, count: int, rng: Generator) -> np.ndarray:
        """Return one class for each row; a row of weight w varies as w rows do."""
        ends = np.cumsum(self.said, axis=1)[:, :-1]
        at = rng.random((count, len(self)))
        drawn = np.zeros(at.shape, dtype=np.intp)
        for end in ends.T:
            drawn += at > end
        each = [(drawn == k).T - self.said[:, k, None] for k in range(self.said.shape[1])]
        return np.stack(each, axis=1) * np.sqrt(self.weight)[:, None, None]


class ScoreSample(Sample):
    """Sample of the normal score z of an outcome in its forecast, and of 2 Phi(|z|) - 1, the level
    of the central interval that just holds the outcome.

    They are 0 and 1/2 on average for a true forecast. The square of z instead of the latter has
    such a long tail that flipping signs rejects too often in groups below 500 rows.
    """

    def drawn(self, count: int, rng: Generator) -> np.ndarray:
        """Return normal and uniform draws; a row of weight w varies as w rows do."""
        score = rng.standard_normal((len(self), count))
        return np.stack([score, central(score) - 0.5], axis=1) * np.sqrt(self.weight)[:, None, None]


def of_outcomes(
    said: np.ndarray,
    hit: np.ndarray,
    weight: np.ndarray,
    cell: np.ndarray,
    cluster: np.ndarray | None = None,
    tie: np.ndarray | None = None,
) -> OutcomeSample:
    """Build from (n,) probabilities, shares of events, weights and numbers of cells.

    Rows of one cell, cluster and probability are one unit, unless ``tie`` (n,), a number of their
    other content, orders them.
    """
    keys = [said, cell, *([] if cluster is None else [cluster])]
    order = np.lexsort([*([] if tie is None else [tie]), hit, *keys])
    fresh = np.ones(len(said), dtype=bool)
    if tie is None:
        fresh[1:] = np.any([np.diff(key[order]) != 0 for key in keys], axis=0)
    unit = np.cumsum(fresh) - 1
    mass = np.bincount(unit, weights=weight[order])
    hits = np.bincount(unit, weights=(weight * hit)[order])
    rows = order[fresh]
    p = said[rows][:, None]
    came = np.clip(hits / mass, 0.0, 1.0)[:, None]
    return OutcomeSample(
        ("",), mass, p, came, p * (1.0 - p), None if cluster is None else cluster[rows], rows
    )


def of_classes(record: Any, cell: np.ndarray, tie: np.ndarray) -> ClassSample:
    """Build from a record's rows, with a question for each class."""
    order = np.lexsort([tie, record.weights, record.labels, *record.probabilities.T, cell])
    P = record.probabilities[order]
    cluster = None if record.cluster is None else record.cluster[order]
    names = tuple(f"class {one}" for one in record.classes.tolist())
    return ClassSample(
        names, record.weights[order], P, record.one_hot[order], P * (1.0 - P), cluster, order
    )


def of_predictions(
    record: Any, target: Any, cell: np.ndarray, tie: np.ndarray, tied: bool
) -> Sample:
    """Build from a record of class predictions, by target; ``tied`` if ``tie`` orders rows with
    equal predictions and outcomes.
    """
    if isinstance(target, str) and target == "classes":
        return of_classes(record, cell, tie)
    said, hit = record.pair(target)
    return of_outcomes(said, hit, record.weights, cell, record.cluster, tie if tied else None)


def of_answers(record: Any, target: Any, cell: np.ndarray, tie: np.ndarray, tied: bool) -> Sample:
    """Build from a record of answers to questions, which are right or wrong."""
    said, hit = record.judged
    return of_outcomes(said, hit, record.weights, cell, record.cluster, tie if tied else None)


def of_forecasts(
    record: Any, target: Any, cell: np.ndarray, tie: np.ndarray, tied: bool
) -> ScoreSample:
    """Build from a record of forecasts: the mean and the spread of the normal scores of the
    outcomes.
    """
    score = np.clip(record.score, -38.0, 38.0)
    order = np.lexsort([tie, record.weights, score, cell])
    one, ones = score[order], np.ones(len(order))
    cluster = None if record.cluster is None else record.cluster[order]
    came = np.column_stack([one, central(one)])
    said, variance = np.column_stack([0.0 * ones, 0.5 * ones]), np.column_stack([ones, ones / 12.0])
    return ScoreSample(
        ("mean", "spread"), record.weights[order], said, came, variance, cluster, order
    )


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
