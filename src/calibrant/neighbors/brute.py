"""Exact nearest points by all distances: what searches over pairs of points start from."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from calibrant._kernels.separation import nearest_of
from calibrant._support.estimators import BaseEstimator
from calibrant._support.saving import Saved
from calibrant.neighbors.stored_points import BLOCK_BYTES, StoredPoints
from calibrant.threads import map_blocks, row_blocks

__all__ = ["BruteIndex", "Nearest", "NeighborIndex", "split"]


@dataclass(frozen=True)
class Nearest:
    """Distances and positions of the nearest point of the asked group and of the nearest of any
    other group, (m,) each.

    Where there is no such point the distance is infinite and the position -1.
    """

    same: np.ndarray
    same_row: np.ndarray
    other: np.ndarray
    other_row: np.ndarray

    @classmethod
    def empty(cls, n: int) -> "Nearest":
        """To be filled, for n queries."""
        return cls(np.full(n, np.inf), np.full(n, -1), np.full(n, np.inf), np.full(n, -1))


class NeighborIndex(Saved, BaseEstimator, ABC):
    """Base of the indexes. One writes ``metric``, ``fit``, ``add``, ``nearest`` and ``nbytes``.

    ``metric`` is "l2", "l1" or "linf", a constructor parameter or an attribute of the class.
    ``fit`` and ``add`` return the index and set

    - ``points_``, the :class:`~calibrant.neighbors.stored_points.StoredPoints` of all points so
      far, which sorts them by group, scales them and takes more
      (``StoredPoints(X, group, n_groups, column_scale)``, ``points_.extended(X, group)``);
    - ``radius_``, at least the largest distance of a point from their mean
      (``points_.centre_and_radius(metric)``): the score where one of the two distances does not
      exist.

    See Also
    --------
    neighbors.ExactIndex, neighbors.BruteIndex : those that are ready.
    """

    metric: str
    points_: StoredPoints
    radius_: float

    @abstractmethod
    def fit(
        self, X: Any, group: np.ndarray, n_groups: int, column_scale: np.ndarray | None = None
    ) -> Self:
        """Take (n, d) numbers and the group 0..n_groups-1 of each row; distances are between
        rows times ``column_scale`` (d,).
        """

    @abstractmethod
    def add(self, X: Any, group: np.ndarray) -> Self:
        """Take more (n, d) numbers, not yet scaled, and their groups, of those known at fit."""

    @abstractmethod
    def nearest(
        self, queries: np.ndarray, group: np.ndarray, progress: Callable[..., Any] | None = None
    ) -> Nearest:
        """The nearest points of (m, d) queries, not yet scaled, of which each has one group (m,).

        Rows are positions in ``points_``. ``progress(done, total)`` is called after each block.
        """

    @property
    @abstractmethod
    def nbytes(self) -> int:
        """Bytes of the fitted arrays: what must be kept in memory, or shipped."""


BLOCK_QUERIES = 64


class BruteIndex(NeighborIndex):
    """Exact L2 distances to all points, by one matrix product in the precision the points are kept
    in.

    Attributes
    ----------
    metric : "l2", the only one.
    points_ : the training points, sorted by group.
    radius_ : the largest distance of a point from the mean.

    See Also
    --------
    neighbors.ExactIndex : the same points, usually quicker.

    Notes
    -----
    The product rounds, so it only gives a lower bound of each distance; whatever is returned is
    computed again from differences in float64. :class:`ExactIndex` is faster where only the nearest
    points are wanted.

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
        """Calls ``function(i, query, lower squares, start, stop)`` for every query i, with the
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
        found, _, square = nearest_of(query, low, self.points_)
        return (int(found[0]), square[0]) if len(found) else (-1, np.inf)


def split(low: np.ndarray, start: int, stop: int) -> tuple[np.ndarray, np.ndarray]:
    """Lower bounds of the group at start..stop and of all others: two arrays, infinite outside."""
    same = np.full_like(low, np.inf)
    same[start:stop] = low[start:stop]
    other = low.copy()
    other[start:stop] = np.inf
    return same, other
