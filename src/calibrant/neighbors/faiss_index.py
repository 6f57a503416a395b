"""Nearest points by faiss, exact or approximate."""

from collections.abc import Callable
from typing import Any, Literal, Self
from weakref import WeakKeyDictionary

import numpy as np

from calibrant._support.extras import import_extra
from calibrant.errors import InputError
from calibrant.neighbors.brute import Nearest, NeighborIndex
from calibrant.neighbors.stored_points import METRICS, StoredPoints, distances
from calibrant.threads import get_threads

__all__ = ["FaissIndex"]

#: faiss's own objects, made again from the fitted arrays: derived, so never part of the state.
_made: WeakKeyDictionary = WeakKeyDictionary()
BLOCK_QUERIES = 4_096
#: Points a list of the inverted file should hold at least.
POINTS_PER_LIST = 39


class FaissIndex(NeighborIndex):
    """Nearest points by faiss-cpu, one index for each group. Distances are computed again in
    float64.

    Parameters
    ----------
    metric : {"l2", "l1", "linf"}
        L1 and L-infinity for ``approximate=False`` only.
    approximate : bool, default False
        An inverted file in each group: faster, and the distance found may be larger than the true
        one.
    n_probe : int, default 8
        Lists visited in each group where approximate: more is slower and nearer to exact.

    Attributes
    ----------
    points_ : the training points, sorted by group.
    radius_ : the largest distance of a point from the mean.

    See Also
    --------
    neighbors.ExactIndex, neighbors.BruteIndex : need no other library.

    Notes
    -----
    Needs ``pip install calibrant[faiss]``. :class:`ExactIndex` needs nothing, and was faster than
    the exact faiss on MNIST. faiss uses ``calibrant.threads.get_threads()`` threads. It ranks in
    float32, so of points at nearly one distance it may name another: the distance is then off by a
    float32's rounding. The points are kept twice, here and in faiss.
    """

    points_: StoredPoints
    centre_: np.ndarray
    radius_: float

    def __init__(
        self,
        metric: Literal["l2", "l1", "linf"] = "l2",
        *,
        approximate: bool = False,
        n_probe: int = 8,
    ) -> None:
        self.metric = metric
        self.approximate: bool = approximate
        self.n_probe: int = n_probe

    def fit(
        self, X: Any, group: np.ndarray, n_groups: int, column_scale: np.ndarray | None = None
    ) -> Self:
        """Sort the points by group; faiss's indexes are built when first asked."""
        if self.metric not in METRICS or (self.approximate and self.metric != "l2"):
            raise InputError(
                'metric must be "l2", or "l1" or "linf" with approximate=False; got'
                f" {self.metric!r}."
            )
        import_extra("faiss", "FaissIndex", "faiss")
        self.points_ = StoredPoints(X, group, n_groups, column_scale)
        return self._renewed()

    def add(self, X: Any, group: np.ndarray) -> Self:
        """Add points; the indexes are built again when next asked."""
        self.points_, _ = self.points_.extended(X, group)
        return self._renewed()

    def _renewed(self):
        self.centre_, self.radius_ = self.points_.centre_and_radius(self.metric)
        _made.pop(self, None)
        return self

    @property
    def nbytes(self) -> int:
        """Bytes of the fitted arrays; faiss holds as much again in float32."""
        return self.points_.nbytes

    def nearest(
        self, queries: np.ndarray, group: np.ndarray, progress: Callable[..., Any] | None = None
    ) -> Nearest:
        """See :class:`NeighborIndex`."""
        faiss = import_extra("faiss", "FaissIndex", "faiss")
        indexes, out = self._indexes(faiss), Nearest.empty(len(queries))
        before = faiss.omp_get_max_threads()
        faiss.omp_set_num_threads(get_threads())
        try:
            for start in range(0, len(queries), BLOCK_QUERIES):
                rows = slice(start, start + BLOCK_QUERIES)
                self._search(indexes, self.points_.scaled(queries[rows]), group[rows], rows, out)
                if progress is not None:
                    progress(min(start + BLOCK_QUERIES, len(queries)), len(queries))
        finally:
            faiss.omp_set_num_threads(before)
        return out

    def _indexes(self, faiss):
        if self not in _made:
            _made[self] = [
                self._index(faiss, *self.points_.group_of(k))
                for k in range(len(self.points_.offsets) - 1)
            ]
        return _made[self]

    def _index(self, faiss, start, stop):
        if start == stop:
            return None
        d, rows = self.points_.n_features, self._narrow(self.points_.wide_rows(slice(start, stop)))
        lists = (stop - start) // POINTS_PER_LIST
        if self.approximate and lists >= 4:
            index = faiss.IndexIVFFlat(
                faiss.IndexFlatL2(d), d, min(lists, int(4 * (stop - start) ** 0.5))
            )
            index.train(rows)
            index.nprobe = self.n_probe
        else:
            index = faiss.IndexFlat(
                d,
                {"l2": faiss.METRIC_L2, "l1": faiss.METRIC_L1, "linf": faiss.METRIC_Linf}[
                    self.metric
                ],
            )
        index.add(rows)
        return index

    def _narrow(self, rows):
        return np.ascontiguousarray((rows - self.centre_) / (self.radius_ or 1.0), dtype=np.float32)

    def _search(self, indexes, queries, group, rows, out):
        narrow = self._narrow(queries)
        distance, found = (
            np.full((len(queries), len(indexes)), np.inf),
            np.full((len(queries), len(indexes)), -1),
        )
        for k, index in enumerate(indexes):
            if index is not None:
                near, at = index.search(narrow, 1)
                distance[:, k], found[:, k] = (
                    np.where(at[:, 0] < 0, np.inf, near[:, 0]),
                    at[:, 0] + self.points_.offsets[k],
                )
        each = np.arange(len(queries))
        own = distance[each, group]
        out.same[rows], out.same_row[rows] = self._exact(queries, own, found[each, group])
        distance[each, group] = np.inf
        best = distance.argmin(axis=1)
        out.other[rows], out.other_row[rows] = self._exact(
            queries, distance[each, best], found[each, best]
        )

    def _exact(self, queries, near, at):
        there = np.isfinite(near)
        distance, row = np.full(len(queries), np.inf), np.full(len(queries), -1)
        for i in np.flatnonzero(there):
            row[i] = at[i]
            distance[i] = distances(
                self.metric, queries[i : i + 1], self.points_.wide_rows(np.array([at[i]]))
            )[0]
        return distance, row
