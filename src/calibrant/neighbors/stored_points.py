"""Training points in the order of their groups, in memory or on disk."""

import numpy as np
from scipy.spatial.distance import cdist

from calibrant._base.saving import Saved
from calibrant.errors import InputError

__all__ = ["BLOCK_BYTES", "METRICS", "StoredPoints", "distances"]

BLOCK_BYTES = 32 * 2**20
#: Sets smaller than this many numbers are kept in float64 whatever they came in.
SMALL = 2_000_000
#: Distances past this are refused: their squares overflow.
LARGEST = 1e150
#: A column lies far from 0 where its median does, in median deviations from it. Below that a shift gains next to nothing.
OFF_ORIGIN = 4.0
#: Rows that tell where the columns lie.
SAMPLE_ROWS = 256
#: As scipy names them.
METRICS = {"l2": "euclidean", "l1": "cityblock", "linf": "chebyshev"}


def distances(metric, query, rows):
    """(n,) float64 distances of one (1, d) query to rows."""
    return np.sqrt(_squares(rows - query)) if metric == "l2" else cdist(query, rows, METRICS[metric])[0]


class StoredPoints(Saved):
    """Points (n, d) sorted by group, so that a group is one slice.

    In memory they are kept in float64, or in float32 where the set is large and float32 holds its numbers exactly (8- and 16-bit
    integers, float32). A memory-mapped array stays on disk, unsorted, and only the rows asked for are read.

    Products of rows far from the origin say little about their distances, so from columns that lie there a ``shift`` is taken off before
    rows are multiplied: (d,), or None where no column does. In memory the rows are kept without it, in those columns where adding it again
    gives every number back to the bit; in others it is 0.
    """

    def __init__(self, X, group, n_groups, column_scale=None):
        order = np.argsort(group, kind="stable")
        self.offsets = np.concatenate([[0], np.cumsum(np.bincount(group, minlength=n_groups))])
        self.column_scale = None if column_scale is None else np.asarray(column_scale, dtype=np.float64)
        raw = isinstance(X, np.memmap)
        self.order, self.points = (order, X) if raw else (None, _kept(self._in_units(X), order))
        self.shift = None
        shift = self._middle()
        self.shift = shift if raw or shift is None else self._taken_off(shift)
        self.squares = np.concatenate([_squares(np.asarray(self.rows(part), dtype=np.float64)) for part in self.slices()])

    def _middle(self):
        """Near the median of each column that lies far from 0, in steps of its usual deviation: short numbers subtract exactly."""
        n = min(SAMPLE_ROWS, self.slices()[0].stop)
        some = self.wide_rows(np.linspace(0, len(self) - 1, n).astype(int))
        middle = np.median(some, axis=0)
        spread = np.median(np.abs(some - middle), axis=0)
        far = np.abs(middle) > OFF_ORIGIN * spread
        step = np.ldexp(1.0, np.frexp(spread)[1] - 1)
        shift = np.where(spread > 0.0, np.rint(middle / step) * step, middle)
        return np.where(far, shift, 0.0) if far.any() else None

    def _taken_off(self, shift):
        """Take the shift off the points where it comes back exactly; returns what was taken off."""
        narrow, exact = shift.astype(self.kept), np.ones(len(shift), dtype=bool)
        with np.errstate(over="ignore", invalid="ignore"):
            for part in self.slices():
                given = self.points[part]
                exact &= ((given - narrow) + narrow.astype(np.float64) == given).all(axis=0)
        narrow = np.where(exact, narrow, 0)
        for part in self.slices():
            self.points[part] -= narrow
        return narrow.astype(np.float64)

    def __len__(self):
        return len(self.points)

    @property
    def n_features(self):
        return self.points.shape[1]

    @property
    def on_disk(self):
        """Whether the points are read from a memory-mapped file; those loaded from a saved one are in memory."""
        return isinstance(self.points, np.memmap)

    @property
    def nbytes(self):
        """Bytes held in memory."""
        held = [self.shift, self.squares, self.order, None if self.on_disk else self.points]
        return sum(a.nbytes for a in held if a is not None)

    @property
    def kept(self):
        """The type of ``rows``."""
        return self.points.dtype if self.order is None else np.dtype(np.float64)

    def rows(self, positions):
        """Rows at sorted positions, scaled, less the shift, in the type they are kept in."""
        return self.points[positions] if self.order is None else self._shifted(self._read(positions))

    def wide_rows(self, positions):
        """Float64 rows at sorted positions, scaled."""
        if self.order is not None:
            return self._read(positions)
        rows = np.asarray(self.points[positions], dtype=np.float64)
        return rows if self.shift is None else rows + self.shift

    def _read(self, positions):
        return np.asarray(self._in_units(self.points[self.order[positions]]), dtype=np.float64)

    def _shifted(self, rows):
        return rows if self.shift is None else rows - self.shift

    def _in_units(self, X):
        return X if self.column_scale is None else X * self.column_scale

    def scaled(self, queries):
        """Queries as float64 in the units of the points, small enough to be squared."""
        queries = self._in_units(np.asarray(queries, dtype=np.float64))
        if not np.abs(queries).max(initial=0.0) <= LARGEST:
            raise InputError(f"X must stay within {LARGEST:.0e}, so that squares do not overflow; got {np.abs(queries).max():.0e}; rescale it.")
        return queries

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

    def centre_and_radius(self, metric):
        """The mean (d,) and the largest distance of a point from it."""
        centre = sum((self.wide_rows(part).sum(axis=0) for part in self.slices()), np.zeros(self.n_features)) / len(self)
        radius = max(float(distances(metric, centre[None], self.wide_rows(part)).max()) for part in self.slices())
        if not radius <= LARGEST:
            raise InputError(f"training points must stay within {LARGEST:.0e} of their mean; got a radius of {radius:.0e}; rescale them.")
        return centre, radius

    def squares_between(self, a, b):
        """Two (len(a), len(b)) arrays: squared distances between points, and how far rounding may put them off (more than 0)."""
        total = self.squares[a][:, None] + self.squares[b]
        kind = self._product_type(total.max(initial=0.0))
        share, least = self._room(kind)
        product = self.rows(a).astype(kind, copy=False) @ self.rows(b).astype(kind, copy=False).T
        return np.maximum(total - 2.0 * product, 0.0), share * total + least

    def lower_squares(self, queries, positions=None):
        """(m, n) lower bounds, tight to rounding, of the squared distances of (m, d) queries, in the points' units, to some or all."""
        queries = self._shifted(queries)
        own, square = _squares(queries), self.squares if positions is None else self.squares[positions]
        kind = self._product_type(own.max(initial=0.0) + square.max(initial=0.0))
        share, least = self._room(kind)
        narrow = queries.astype(kind)
        out = np.concatenate([narrow @ self.rows(part).T for part in self._parts(positions, kind)], axis=1)
        out *= -2.0
        out += ((1.0 - share) * square).astype(kind)
        out += ((1.0 - share) * own - least)[:, None].astype(kind)
        return out

    def _parts(self, positions, kind):
        """What is multiplied at once: rows that need not be copied all together, others within the memory bound."""
        if positions is None:
            return [slice(0, len(self))] if self.order is None and kind == self.kept else self.slices()
        return [positions[part] for part in self.slices(max(1, len(positions)))]

    def _product_type(self, largest):
        """The type in which rows whose squared norms add up to at most this are multiplied: as kept, if that does not overflow."""
        return self.kept if largest < np.finfo(self.kept).max / 8 else np.dtype(np.float64)

    def _room(self, kind):
        """What a squared distance by a product may be off by: a share of both squared norms together, and for underflow a number."""
        limits, n = np.finfo(kind), self.n_features + 8
        return n * float(limits.eps), 2.0 * n * float(limits.tiny)

    def extended(self, X, group):
        """New stored points with rows added, and (n,) where each of old-then-new went."""
        if self.on_disk:
            raise InputError("points cannot be added to a memory-mapped training set; append them to the file and fit again.")
        every = np.concatenate([self.groups, group])
        if self.order is not None:
            out = StoredPoints(np.concatenate([self.points[self.order], X]), every, len(self.offsets) - 1, self.column_scale)
        else:
            given = self.points if self.shift is None else self.points + self.shift.astype(self.kept)
            out = StoredPoints(np.concatenate([given, self._in_units(X)]), every, len(self.offsets) - 1)
            out.column_scale = self.column_scale
        return out, np.argsort(every, kind="stable")


def _kept(scaled, order):
    """The rows in this order, in the narrowest of float32 and float64 that holds them exactly; small sets in float64."""
    narrow = scaled.size > SMALL and np.can_cast(scaled.dtype, np.float32)
    return np.asarray(scaled[order], dtype=np.float32 if narrow else np.float64)


def _squares(rows):
    return np.einsum("ij,ij->i", rows, rows)
