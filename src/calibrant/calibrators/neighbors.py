"""Exact nearest points: by all distances, as searches over pairs of points need, or by bounds that
skip most points.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
import scipy

from calibrant._numerics import separation as bounds
from calibrant._numerics.threads import map_blocks, row_blocks
from calibrant.calibrators.stored_points import (
    BLOCK_BYTES,
    CACHE_BYTES,
    METRICS,
    StoredPoints,
    distances,
)
from calibrant.core.estimators import BaseEstimator, require_count, require_option
from calibrant.core.saving import Saved

__all__ = ["METRICS", "BruteIndex", "ExactIndex", "Nearest", "NeighborIndex", "split"]

#: Builder of each metric's table, and the axis of the points in it.
BASES: dict[Any, Any] = {
    "l2": bounds.leading_directions,
    "l1": bounds.feature_groups,
    "linf": bounds.telling_features,
}
POINTS_AXIS: dict[Any, Any] = {"l2": 1, "l1": 0, "linf": 1}
#: Queries of a block share one product with a part of the table, of so many bytes; larger blocks
#: and parts are not faster.
BLOCK_QUERIES, PART_BYTES = 64, 8 * 2**20
#: Reading a row that the table cannot exclude takes about as long as so many rows of a product.
READ_COST = 64
FIRST_ROWS = 32
MOST_ROWS = 2_048
FINITE = float(np.finfo(np.float64).max)


@dataclass(frozen=True)
class Nearest:
    """Distances and positions of the nearest point of the query's group and of any other group,
    (m,) each.

    Without such a point, the distance is infinite and the position -1.
    """

    same: np.ndarray
    same_row: np.ndarray
    other: np.ndarray
    other_row: np.ndarray

    @classmethod
    def empty(cls, n: int) -> "Nearest":
        """Return empty arrays for n queries."""
        return cls(np.full(n, np.inf), np.full(n, -1), np.full(n, np.inf), np.full(n, -1))


class NeighborIndex(Saved, BaseEstimator, ABC):
    """Base class of the indexes; a subclass defines ``metric``, ``fit``, ``add``, ``nearest`` and
    ``nbytes``.

    ``metric`` is "l2", "l1" or "linf", a constructor parameter or an attribute of the class.
    ``fit`` and ``add`` return the index and set

    - ``points_``, the :class:`~calibrant.calibrators.stored_points.StoredPoints` of all points so
      far, which sorts and scales them and can be extended
      (``StoredPoints(X, group, n_groups, column_scale)``, ``points_.extended(X, group)``);
    - ``radius_``, at least the largest distance of a point from their mean
      (``points_.centre_and_radius(metric)``): the score where one of the two distances does not
      exist.

    See Also
    --------
    calibrators.ExactIndex, calibrators.BruteIndex : the available indexes.
    """

    metric: str
    points_: StoredPoints
    radius_: float

    @abstractmethod
    def fit(
        self, X: Any, group: np.ndarray, n_groups: int, column_scale: np.ndarray | None = None
    ) -> Self:
        """Store (n, d) numbers and the group 0..n_groups-1 of each row; distances are between rows
        times ``column_scale`` (d,).
        """

    @abstractmethod
    def add(self, X: Any, group: np.ndarray) -> Self:
        """Add (n, d) unscaled numbers and their groups, which must be known from ``fit``."""

    @abstractmethod
    def nearest(
        self, queries: np.ndarray, group: np.ndarray, progress: Callable[..., Any] | None = None
    ) -> Nearest:
        """Find the nearest points of (m, d) unscaled queries with groups (m,).

        Positions refer to ``points_``. ``progress(done, total)`` is called after each block.
        """

    @property
    @abstractmethod
    def nbytes(self) -> int:
        """Bytes of the fitted arrays, in memory or in a saved file."""


class BruteIndex(NeighborIndex):
    """Index with exact L2 distances to all points, by one matrix product in the points' stored
    precision.

    Attributes
    ----------
    metric : "l2", the only one.
    points_ : the training points, sorted by group.
    radius_ : the largest distance of a point from the mean.

    See Also
    --------
    calibrators.ExactIndex : the same points, usually faster.

    Notes
    -----
    The product is rounded, so it only gives a lower bound of each distance; returned distances are
    recomputed from differences in float64. :class:`ExactIndex` is faster if only the nearest points
    are needed.

    Examples
    --------
    >>> index = BruteIndex().fit(np.array([[0.0, 0.0], [3.0, 0.0]]), np.array([0, 1]), 2)
    >>> index.points_.lower_squares(np.array([[0.0, 4.0]])).round(3).tolist()
    [[16.0, 25.0]]
    """

    metric = "l2"
    points_: StoredPoints
    radius_: float

    def fit(
        self, X: Any, group: np.ndarray, n_groups: int, column_scale: np.ndarray | None = None
    ) -> Self:
        """Sort the points by group."""
        self.points_ = StoredPoints(X, group, n_groups, column_scale)
        return self._measure()

    def add(self, X: Any, group: np.ndarray) -> Self:
        """Add points."""
        self.points_, _ = self.points_.extended(X, group)
        return self._measure()

    def _measure(self):
        _, self.radius_ = self.points_.centre_and_radius(self.metric)
        return self

    @property
    def nbytes(self) -> int:
        """Bytes of the fitted arrays."""
        return self.points_.nbytes

    def each(
        self,
        queries: np.ndarray,
        group: np.ndarray,
        function: Callable[..., Any],
        progress: Callable[..., Any] | None = None,
    ) -> None:
        """Call ``function(i, query, lower squares, start, stop)`` for every query i, with the
        positions of its group.
        """
        size = max(1, min(BLOCK_QUERIES, BLOCK_BYTES // (8 * len(self.points_))))
        blocks = row_blocks(len(queries), size)

        def run(rows):
            scaled = self.points_.scaled(queries[rows])
            for i, low in enumerate(self.points_.lower_squares(scaled)):
                function(
                    rows.start + i, scaled[i], low, *self.points_.group_of(group[rows.start + i])
                )

        per_call = len(blocks) if progress is None else 8
        for start in range(0, len(blocks), per_call):
            map_blocks(run, blocks[start : start + per_call])
            if progress is not None:
                progress(min(len(queries), (start + per_call) * size), len(queries))

    def nearest(
        self, queries: np.ndarray, group: np.ndarray, progress: Callable[..., Any] | None = None
    ) -> Nearest:
        """See :class:`NeighborIndex`."""
        out = Nearest.empty(len(queries))

        def one(i, query, low, start, stop):
            same, other = split(low, start, stop)
            for side, distance, row in (
                (same, out.same, out.same_row),
                (other, out.other, out.other_row),
            ):
                found, square = self._nearest_of(query, side)
                if found >= 0:
                    distance[i], row[i] = np.sqrt(square), found

        self.each(queries, group, one, progress)
        return out

    def _nearest_of(self, query, low):
        found, _, square = bounds.nearest_of(query, low, self.points_)
        return (int(found[0]), square[0]) if len(found) else (-1, np.inf)


def split(low: np.ndarray, start: int, stop: int) -> tuple[np.ndarray, np.ndarray]:
    """Split lower bounds into those of the group at start..stop and of all others: two arrays,
    infinite elsewhere.
    """
    same = np.full_like(low, np.inf)
    same[start:stop] = low[start:stop]
    other = low.copy()
    other[start:stop] = np.inf
    return same, other


class ExactIndex(NeighborIndex):
    """Index of exact nearest points by lower bounds: a small table is searched first, and only rows
    that may still be nearest are read.

    For L2 the table holds the leading principal coordinates and the norm of the rest, in float32
    with room for rounding; for L1, signed sums over groups of features that vary together; for
    L-infinity, the features that contribute most to it. True distances are float64.

    Parameters
    ----------
    metric : {"l2", "l1", "linf"}
    n_directions : int, default 64
        Principal coordinates (L2), groups of features (L1) or features (L-infinity) in the table.

    Attributes
    ----------
    points_ : the training points, sorted by group.
    table_ : (k + 2, n) float32 for L2, (n, g) float64 for L1, (g, n) float64 for L-infinity.
    centre_, radius_ : the mean of the points, and an upper bound of their distance from it.

    See Also
    --------
    calibrators.BruteIndex : the search by one matrix product.

    Notes
    -----
    Results are exact to float64 rounding for any data: float32 only selects the rows to read. Zero
    distances stay exact. Of rows equally near by L2 or L1 the first is returned. It uses memory for
    the fitted arrays and some tens of megabytes; a memory-mapped training set is read row by row.
    Where the table excludes few rows, as with features that do not vary together, L2 goes on with
    products of all features, as :class:`BruteIndex` does.

    Examples
    --------
    >>> index = ExactIndex().fit(
    ...     np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 5.0]]), np.array([0, 1, 1]), 2
    ... )
    >>> near = index.nearest(np.array([[0.0, 1.0]]), np.array([0]))
    >>> near.same.tolist(), near.other.round(4).tolist()
    ([1.0], [3.1623])
    """

    points_: StoredPoints
    centre_: np.ndarray
    radius_: float

    def __init__(
        self, metric: Literal["l2", "l1", "linf"] = "l2", n_directions: int | None = 64
    ) -> None:
        self.metric = metric
        self.n_directions: int | None = n_directions

    def fit(
        self, X: Any, group: np.ndarray, n_groups: int, column_scale: np.ndarray | None = None
    ) -> Self:
        """Sort the points by group and tabulate their bounds."""
        require_option("metric", self.metric, METRICS)
        require_count("n_directions", self.n_directions, usual=64)
        self.points_ = StoredPoints(X, group, n_groups, column_scale)
        return self._tabulate()

    def _tabulate(self) -> Self:
        wide = self.points_.wide_rows
        self.centre_, self.radius_ = self.points_.centre_and_radius(self.metric)
        self.unit_: float = 2.0 ** np.ceil(np.log2(self.radius_)) if self.radius_ > 0.0 else 1.0
        self.basis_: np.ndarray | None = BASES[self.metric](
            wide, len(self.points_), self.centre_, self.n_directions
        )
        axis, n = POINTS_AXIS[self.metric], len(self.points_)
        for part in self.points_.slices(n_bytes=CACHE_BYTES):
            some = self._tabulated(wide(part))
            if part.start == 0:
                shape = (n, some.shape[1]) if axis == 0 else (some.shape[1], n)
                self.table_: np.ndarray = np.empty(shape, dtype=some.dtype)
            np.moveaxis(self.table_, axis, 0)[part] = some
        return self

    def add(self, X: Any, group: np.ndarray) -> Self:
        """Add points; if they are about as far out as the others, the bounds keep their directions.
        Results stay exact.
        """
        self.points_, order = self.points_.extended(X, group)
        new = self.points_.scaled(X)
        self.radius_ = max(
            self.radius_, float(distances(self.metric, self.centre_[None], new).max())
        )
        if self.radius_ > self.unit_:
            return self._tabulate()
        axis, rows = POINTS_AXIS[self.metric], self._tabulated(new)
        every = np.concatenate([self.table_, rows.T if axis else rows], axis=axis)
        self.table_ = np.take(every, order, axis=axis)
        return self

    @property
    def nbytes(self) -> int:
        """Bytes of the fitted arrays."""
        parts = [self.basis_, self.table_, self.centre_]
        return self.points_.nbytes + sum(a.nbytes for a in parts if a is not None)

    def nearest(
        self, queries: np.ndarray, group: np.ndarray, progress: Callable[..., Any] | None = None
    ) -> Nearest:
        """See :class:`NeighborIndex`."""
        out, done = Nearest.empty(len(queries)), 0
        order = np.argsort(group, kind="stable")
        blocks = [order[rows] for rows in row_blocks(len(queries), BLOCK_QUERIES)]
        per_call = len(blocks) if progress is None else 8
        for start in range(0, len(blocks), per_call):
            some = blocks[start : start + per_call]
            map_blocks(
                lambda rows: self._search_block(
                    self.points_.scaled(queries[rows]), group[rows], rows, out
                ),
                some,
            )
            done += sum(len(rows) for rows in some)
            if progress is not None:
                progress(done, len(queries))
        return out

    def _search_block(
        self, queries: np.ndarray, group: np.ndarray, rows: np.ndarray, out: Nearest
    ) -> None:
        read, product = 0, False
        for part in row_blocks(len(self.points_), max(1, PART_BYTES // (4 * max(len(rows), 16)))):
            low, base, unit = self._lower(queries, part, product)
            for i, row in enumerate(rows):
                if self._can_multiply and not product and READ_COST * read > low.size:
                    product = True
                    low, base, unit = self._lower(queries, part, product)
                start, stop = (max(0, at - part.start) for at in self.points_.group_of(group[i]))
                for distance, position, side in (
                    (out.same, out.same_row, slice(start, stop)),
                    (out.other, out.other_row, slice(0, None)),
                ):
                    distance[row], position[row], n = self._least(
                        low[i, side],
                        (base[i], unit),
                        queries[i],
                        part.start + side.start,
                        (distance[row], position[row]),
                    )
                    read += n
                    low[i, start:stop] = np.inf

    @property
    def _can_multiply(self) -> bool:
        """Whether products of all features may be tighter than the table, and are at hand."""
        return self.metric == "l2" and self.basis_ is not None and not self.points_.on_disk

    def _lower(
        self, queries: np.ndarray, part: slice, product: bool
    ) -> tuple[np.ndarray, np.ndarray, float]:
        """Lower bounds of the distances to a part of the points, by the table or by products of all
        features: two terms to add up, as of ``_bounds``, and the unit of the distances.
        """
        if not product:
            return *self._bounds(queries, part), self.unit_
        return self.points_.lower_squares(queries, part), np.zeros(len(queries)), 1.0

    def _bounds(
        self, queries: np.ndarray, part: slice = slice(None)
    ) -> tuple[np.ndarray, np.ndarray]:
        """(m, n) and (m,) terms that add up to lower bounds of the squared (L2) or true
        distances.
        """
        if self.metric == "linf":
            return bounds.largest_differences(
                queries[:, self.basis_], self.table_[:, part]
            ), np.zeros(len(queries))
        if self.metric == "l1":
            centred = queries - self.centre_
            room = bounds.sums_room(len(self.centre_)) * (
                np.abs(centred).sum(axis=1) + self.radius_
            )
            sums = bounds.group_sums(centred, self.basis_)
            return scipy.spatial.distance.cdist(sums, self.table_[part], METRICS["l1"]), -room
        with np.errstate(over="ignore", invalid="ignore"):
            table, base = bounds.query_table(
                bounds.projected(queries, self.centre_, self.basis_, self.unit_)
            )
        return table @ self.table_[:, part], base

    def _least(
        self,
        low: np.ndarray,
        scale: tuple[float, float],
        query: np.ndarray,
        start: int,
        nearest: tuple[float, int],
    ) -> tuple[float, int, int]:
        """(distance, position) of the nearest row, given these bounds, if it is nearer than
        ``nearest``, and how many rows the bounds did not exclude; ``start`` is the position of the
        first row.
        """
        best, found = nearest
        first = int(low.argmin()) if len(low) else 0
        if not len(low) or float(low[first]) > self._limit(best, *scale):
            return best, found, 0
        true = distances(
            self.metric, query[None], self.points_.wide_rows(np.array([start + first]))
        )[0]
        if (true, start + first) < nearest:
            best, found = true, start + first
        # This form of the comparison keeps rows whose bound is nan.
        rows = np.flatnonzero(~(low > self._limit(best, *scale)))
        if len(rows) > FIRST_ROWS:
            rows = rows[low[rows].argsort(kind="stable")]
        size, at = FIRST_ROWS, 0
        while at < len(rows) and not low[rows[at]] > self._limit(best, *scale):
            # Of equally near rows the first, whatever the rounding of their bounds.
            some = self._promising(np.sort(rows[at : at + size]), query, start, best)
            if len(some):
                true = distances(self.metric, query[None], self.points_.wide_rows(start + some))
                j = int(true.argmin())
                if (true[j], start + int(some[j])) < (best, found):
                    best, found = true[j], start + int(some[j])
            at, size = at + size, min(2 * size, MOST_ROWS, max(1, BLOCK_BYTES // (8 * len(query))))
        return best, found, len(rows)

    def _promising(
        self, rows: np.ndarray, query: np.ndarray, start: int, best: float
    ) -> np.ndarray:
        """Rows that one product, in the points' stored precision, does not prove to be farther than
        ``best``.
        """
        if self.metric != "l2":
            return rows
        return rows[~(self.points_.lower_squares(query[None], start + rows)[0] > best**2)]

    def _limit(self, best: float, base: float, unit: float) -> float:
        """Largest bound of a row nearer than ``best``; finite, so that rows marked by infinity stay
        excluded.
        """
        if self.metric == "linf":
            # The bound is itself a difference, without further rounding; many rows reach the
            # maximum, for example images.
            return np.nextafter(best, -np.inf)
        limit = (best / unit) ** 2 * (1.0 + 1e-6) - base if self.metric == "l2" else best - base
        return limit if limit < FINITE else FINITE

    def _tabulated(self, rows: np.ndarray) -> np.ndarray:
        """The table's columns of some points, as rows."""
        if self.metric == "linf":
            return rows[:, self.basis_]
        if self.metric == "l1":
            return bounds.group_sums(rows - self.centre_, self.basis_)
        return bounds.row_table(bounds.projected(rows, self.centre_, self.basis_, self.unit_))
