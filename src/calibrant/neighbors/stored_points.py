"""Training points in the order of their groups, in memory or on disk."""

import numpy as np

from calibrant._base.saving import Saved
from calibrant.errors import InputError

__all__ = ["BLOCK_BYTES", "StoredPoints"]

BLOCK_BYTES = 32 * 2**20
#: Sets smaller than this many numbers are kept in float64 whatever they came in.
SMALL = 2_000_000
EPSILON = {np.dtype(kind): float(np.finfo(kind).eps) for kind in (np.float32, np.float64)}


class StoredPoints(Saved):
    """Points (n, d) sorted by group, so that a group is one slice.

    In memory they are kept in float64, or in float32 where the set is large and float32 holds its numbers exactly (8- and 16-bit
    integers, float32). A memory-mapped array stays on disk, unsorted, and only the rows asked for are read.
    """

    def __init__(self, X, group, n_groups, column_scale=None):
        order = np.argsort(group, kind="stable")
        self.offsets = np.concatenate([[0], np.cumsum(np.bincount(group, minlength=n_groups))])
        self.column_scale = None if column_scale is None else np.asarray(column_scale, dtype=np.float64)
        self.on_disk = isinstance(X, np.memmap)
        self.order = order if self.on_disk else None
        self.points = X if self.on_disk else self._kept(X, order)

    def _kept(self, X, order):
        scaled = X if self.column_scale is None else X * self.column_scale
        exact = scaled.size > SMALL and np.can_cast(scaled.dtype, np.float32)
        return np.asarray(scaled[order], dtype=np.float32 if exact else np.float64)

    def __len__(self):
        return len(self.points)

    @property
    def n_features(self):
        return self.points.shape[1]

    @property
    def nbytes(self):
        return (0 if self.on_disk else self.points.nbytes) + (0 if self.order is None else self.order.nbytes)

    @property
    def kept(self):
        """The type of ``rows``."""
        return np.dtype(np.float64) if self.on_disk else self.points.dtype

    @property
    def product_room(self):
        """The share of two squared norms together that a product of two rows in their type may be off by, at most."""
        return (self.n_features + 4) * EPSILON[self.kept]

    def rows(self, positions):
        """Float64 (or as stored) rows at sorted positions, scaled."""
        if self.order is None:
            return self.points[positions]
        positions = np.arange(positions.start, positions.stop) if isinstance(positions, slice) else positions
        found = np.asarray(self.points[self.order[positions]], dtype=np.float64)
        return found if self.column_scale is None else found * self.column_scale

    def wide_rows(self, positions):
        """Float64 rows."""
        return np.asarray(self.rows(positions), dtype=np.float64)

    def scaled(self, queries):
        """Queries as float64 in the units of the points."""
        queries = np.asarray(queries, dtype=np.float64)
        return queries if self.column_scale is None else queries * self.column_scale

    def slices(self, n=None):
        """Slices of n positions (default all) whose float64 rows stay within the memory bound."""
        size, n = max(1, BLOCK_BYTES // (8 * self.n_features)), len(self) if n is None else n
        return [slice(a, min(a + size, n)) for a in range(0, n, size)]

    def group_of(self, group):
        """(start, stop) of a group's positions."""
        return int(self.offsets[group]), int(self.offsets[group + 1])

    @property
    def groups(self):
        """(n,) the group at each position."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))

    def extended(self, X, group):
        """New stored points with rows added, and (n,) where each of old-then-new went."""
        if self.on_disk:
            raise InputError("points cannot be added to a memory-mapped training set; append them to the file and fit again.")
        out = StoredPoints.__new__(StoredPoints)
        every = np.concatenate([self.groups, group])
        order = np.argsort(every, kind="stable")
        added = np.asarray(X) if self.column_scale is None else X * self.column_scale
        exact = self.points.dtype == np.float32 and np.can_cast(added.dtype, np.float32)
        joined = np.concatenate([self.points, np.asarray(added, dtype=np.float32 if exact else np.float64)])
        out.offsets = np.concatenate([[0], np.cumsum(np.bincount(every, minlength=len(self.offsets) - 1))])
        out.column_scale, out.on_disk, out.order, out.points = self.column_scale, False, None, joined[order]
        return out, order
