"""The template of an index: the nearest point of a group and the nearest of all others."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from calibrant._support.estimators import BaseEstimator
from calibrant._support.saving import Saved
from calibrant.neighbors.stored_points import StoredPoints

__all__ = ["Nearest", "NeighborIndex"]


@dataclass(frozen=True)
class Nearest:
    """Distances and positions of the nearest point of the asked group and of the nearest of any other group, (m,) each.

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

    ``metric`` is "l2", "l1" or "linf", a constructor parameter or an attribute of the class. ``fit`` and ``add`` return the index and set

    - ``points_``, the :class:`~calibrant.neighbors.stored_points.StoredPoints` of all points so far, which sorts them by group, scales
      them and takes more (``StoredPoints(X, group, n_groups, column_scale)``, ``points_.extended(X, group)``);
    - ``radius_``, at least the largest distance of a point from their mean (``points_.centre_and_radius(metric)``): the score where one
      of the two distances does not exist.

    See Also
    --------
    neighbors.ExactIndex, neighbors.BruteIndex, neighbors.FaissIndex : those that are ready.
    """

    metric: str
    points_: StoredPoints
    radius_: float

    @abstractmethod
    def fit(self, X: Any, group: np.ndarray, n_groups: int, column_scale: np.ndarray | None = None) -> Self:
        """Take (n, d) numbers and the group 0..n_groups-1 of each row; distances are between rows times ``column_scale`` (d,)."""

    @abstractmethod
    def add(self, X: Any, group: np.ndarray) -> Self:
        """Take more (n, d) numbers, not yet scaled, and their groups, of those known at fit."""

    @abstractmethod
    def nearest(self, queries: np.ndarray, group: np.ndarray, progress: Callable[..., Any] | None = None) -> Nearest:
        """The nearest points of (m, d) queries, not yet scaled, of which each has one group (m,).

        Rows are positions in ``points_``. ``progress(done, total)`` is called after each block.
        """

    @property
    @abstractmethod
    def nbytes(self) -> int:
        """Bytes of the fitted arrays: what must be kept in memory, or shipped."""
