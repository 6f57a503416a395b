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

from calibrant._numerics.bins import equal_mass_groups, equal_width_index, grouped_sums
from calibrant._numerics.bootstrap import MANY_ROWS, ROWS_FOR_EACH, pooled_gaps
from calibrant._numerics.clusters import dense, membership
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


#: Number of parts of equal weight of the predictions, for calibration errors within groups.
SCORE_PARTS = 16


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

    @property
    def place(self) -> np.ndarray:
        """(u, q) the part of the predictions, of ``SCORE_PARTS`` of equal weight."""
        return np.column_stack(
            [equal_mass_groups(one, SCORE_PARTS, self.weight) for one in self.said.T]
        )

    @property
    def surplus(self) -> np.ndarray:
        """(u, q) the squared error of a row beyond its expectation."""
        return self.came - 2.0 * self.said * self.came + self.said * self.said - self.variance

    @property
    def impossible(self) -> np.ndarray:
        """(u, q) the share of rows with an outcome of probability 0."""
        never, ever = self.said <= 0.0, self.said >= 1.0
        return np.where(never, self.came, 0.0) + np.where(ever, 1.0 - self.came, 0.0)


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


@dataclass(frozen=True)
class PooledOutcomes(OutcomeSample):
    """Sample of a binary outcome with all rows of a cell and a part of the predictions in one unit.

    Attributes
    ----------
    part : (u, 1) the part.
    mass, squares : (u, 2) over rows without and with the event, weights and squared errors.
    never : (u, 1) the share of rows with an outcome of probability 0.
    """

    part: np.ndarray
    mass: np.ndarray
    squares: np.ndarray
    never: np.ndarray

    @property
    def place(self) -> np.ndarray:
        """The part of each unit."""
        return self.part

    @property
    def surplus(self) -> np.ndarray:
        """The mean over the rows of a unit."""
        return (self.squares.sum(axis=1) / self.weight)[:, None] - self.variance

    @property
    def impossible(self) -> np.ndarray:
        """The share of the rows of a unit."""
        return self.never

    def parts(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the rows with and without the event, with the root mean squared errors."""
        unit, event = np.nonzero(self.mass > 1e-12)
        mass = self.mass[unit, event]
        size = np.sqrt(self.squares[unit, event] / mass)
        return unit, mass, np.where(event == 1, size, -size)[:, None]

    def drawn(self, count: int, rng: Generator) -> np.ndarray:
        """Return binomial draws with the mean and the variance of the sum of different risks."""
        p, variance = self.said[:, 0], self.variance[:, 0]
        return pooled_gaps(self.weight, p, variance, count, rng)[:, None]


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

    @property
    def surplus(self) -> np.ndarray:
        """0: scores have no probability to err by."""
        return 0.0 * self.said

    @property
    def impossible(self) -> np.ndarray:
        """0: every score is possible."""
        return 0.0 * self.said

    def drawn(self, count: int, rng: Generator) -> np.ndarray:
        """Return normal and uniform draws; a row of weight w varies as w rows do."""
        score = rng.standard_normal((len(self), count))
        return np.stack([score, central(score) - 0.5], axis=1) * np.sqrt(self.weight)[:, None, None]


@dataclass(frozen=True)
class PooledScores(ScoreSample):
    """Sample of scores with all rows of a cell and of a part of the scores in one unit.

    Attributes
    ----------
    squares : (u, 2) the sums of squared errors.
    """

    squares: np.ndarray

    def parts(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the units, with the root mean squares of their rows' errors."""
        size = np.sqrt(self.squares / self.weight[:, None])
        return np.arange(len(self)), self.weight, np.copysign(size, self.came - self.said)

    def drawn(self, count: int, rng: Generator) -> np.ndarray:
        """Return normal draws with the variances of sums, which are uncorrelated."""
        spread = np.sqrt(self.weight[:, None] * self.variance)
        return spread[:, :, None] * rng.standard_normal((*spread.shape, count))


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


def _units(cell: np.ndarray, part: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (n,) the numbers of the combinations that occur, and one row of each."""
    unit, count = dense(cell * (int(part.max()) + 1) + part)
    rows = np.empty(count, dtype=np.intp)
    rows[unit] = np.arange(len(unit))
    return unit, rows


def _pools(cell: np.ndarray, cluster: np.ndarray | None) -> bool:
    """Whether there are many more rows than cells and parts of them together."""
    least = max(MANY_ROWS, ROWS_FOR_EACH * SCORE_PARTS * (int(cell.max(initial=0)) + 1))
    return cluster is None and len(cell) >= least


def pooled_outcomes(
    said: np.ndarray, hit: np.ndarray, weight: np.ndarray, cell: np.ndarray
) -> PooledOutcomes:
    """Build as ``of_outcomes`` does."""
    part = equal_mass_groups(said, SCORE_PARTS, weight)
    unit, rows = _units(cell, part)
    never = np.where(said <= 0.0, hit, 0.0) + np.where(said >= 1.0, 1.0 - hit, 0.0)
    rest, hits = weight * (1.0 - hit), weight * hit
    p, q = said * said, (1.0 - said) ** 2
    columns = [rest, hits, rest * p, hits * q, weight * said, weight * said * (1.0 - said)]
    sums = grouped_sums(unit, len(rows), [*columns, weight * never], None)[:, 1:]
    mass, squares = sums[:, :2], sums[:, 2:4]
    whole = mass.sum(axis=1)
    came = mass[:, 1:] / whole[:, None]
    said, variance, never = np.split(sums[:, 4:] / whole[:, None], 3, axis=1)
    return PooledOutcomes(
        ("",), whole, said, came, variance, None, rows, part[rows][:, None], mass, squares, never
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
    return _of_pair(record.pair(target), record, cell, tie, tied)


def of_answers(record: Any, target: Any, cell: np.ndarray, tie: np.ndarray, tied: bool) -> Sample:
    """Build from a record of answers to questions, which are right or wrong."""
    return _of_pair(record.judged, record, cell, tie, tied)


def _of_pair(
    pair: tuple[np.ndarray, np.ndarray], record: Any, cell: np.ndarray, tie: np.ndarray, tied: bool
) -> OutcomeSample:
    if not tied and _pools(cell, record.cluster):
        return pooled_outcomes(*pair, record.weights, cell)
    return of_outcomes(*pair, record.weights, cell, record.cluster, tie if tied else None)


def of_forecasts(
    record: Any, target: Any, cell: np.ndarray, tie: np.ndarray, tied: bool
) -> ScoreSample:
    """Build from a record of forecasts: the mean and the spread of the normal scores of the
    outcomes.
    """
    score = np.clip(record.score, -38.0, 38.0)
    if not tied and _pools(cell, record.cluster):
        return pooled_scores(score, record.weights, cell)
    order = np.lexsort([tie, record.weights, score, cell])
    one, ones = score[order], np.ones(len(order))
    cluster = None if record.cluster is None else record.cluster[order]
    came = np.column_stack([one, central(one)])
    said, variance = np.column_stack([0.0 * ones, 0.5 * ones]), np.column_stack([ones, ones / 12.0])
    return ScoreSample(
        ("mean", "spread"), record.weights[order], said, came, variance, cluster, order
    )


def pooled_scores(score: np.ndarray, weight: np.ndarray, cell: np.ndarray) -> PooledScores:
    """Build as ``of_forecasts`` does."""
    # The errors of a question have one sign in each sixteenth of the normal law.
    law = 0.5 + 0.5 * np.copysign(central(score), score)
    unit, rows = _units(cell, equal_width_index(law, SCORE_PARTS))
    came = np.column_stack([score, central(score)])
    said, variance = np.array([[0.0, 0.5]]), np.array([[1.0, 1.0 / 12.0]])
    off = came - said
    sums = grouped_sums(unit, len(rows), [*came.T, *(off * off).T], weight)
    mass, ones = sums[:, 0], np.ones((len(rows), 1))
    came = sums[:, 1:3] / mass[:, None]
    return PooledScores(
        ("mean", "spread"), mass, ones * said, came, ones * variance, None, rows, sums[:, 3:]
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
        code = dense(code * len(column.levels) + column.index)[0]
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
