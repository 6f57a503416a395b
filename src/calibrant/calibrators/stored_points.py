"""Training points sorted by group, in memory or on disk."""

from typing import Any

import numpy as np
import scipy

from calibrant.core.saving import Saved
from calibrant.errors import InputError

__all__ = ["BLOCK_BYTES", "CACHE_BYTES", "LARGEST", "METRICS", "StoredPoints", "distances"]

BLOCK_BYTES = 32 * 2**20
#: Passes over all rows are twice as fast on blocks that stay in the processor's cache.
CACHE_BYTES = 2**20
#: Sets with fewer numbers than this are stored in float64, whatever their type.
SMALL = 2_000_000
#: Larger numbers and distances raise an error, because their squares overflow. The limit is that of
#: float64, in which narrower numbers are compared.
LARGEST = np.float64(1e150)
#: A shift is subtracted if it reduces the squared norms by this factor; below it, the bounds hardly
#: improve.
SHORTER = 4.0
#: Number of rows used to locate the columns.
SAMPLE_ROWS = 256
#: Largest number over 8, spacing at 1 and smallest normal number of each type.
LIMITS = {
    limits.dtype: (float(limits.max) / 8, float(limits.eps), float(limits.tiny))
    for limits in (np.finfo(np.float32), np.finfo(np.float64))
}
#: Names of the metrics in scipy.
METRICS: dict[str, Any] = {"l2": "euclidean", "l1": "cityblock", "linf": "chebyshev"}


def distances(metric: str, query: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Compute (n,) float64 distances of one (1, d) query to rows."""
    return (
        np.sqrt(_squares(rows - query))
        if metric == "l2"
        else scipy.spatial.distance.cdist(query, rows, METRICS[metric])[0]
    )


class StoredPoints(Saved):
    """Container of points (n, d) sorted by group, so that a group is one slice.

    In memory they are stored in float64, or in float32 if the set is large and float32 represents
    its numbers exactly (8- and 16-bit integers, float32). A memory-mapped array stays on disk,
    unsorted, and only the requested rows are read.

    Products of rows far from the origin are imprecise about their distances. A ``shift``, (d,) or
    None, is therefore subtracted from such rows before they are multiplied. Rows in memory are
    stored without it, in columns where adding it again restores every bit; in other columns it is
    0.
    """

    order: np.ndarray | None
    points: np.ndarray

    def __init__(
        self, X: Any, group: np.ndarray, n_groups: int, column_scale: np.ndarray | None = None
    ) -> None:
        order = np.argsort(group, kind="stable")
        self.offsets: np.ndarray = np.concatenate(
            [[0], np.cumsum(np.bincount(group, minlength=n_groups))]
        )
        self.column_scale: np.ndarray | None = (
            None if column_scale is None else np.asarray(column_scale, dtype=np.float64)
        )
        raw = isinstance(X, np.memmap)
        self.order, self.points = (order, X) if raw else (None, _kept(self._in_units(X), order))
        self.shift: np.ndarray | None = None
        shift = self._middle()
        self.shift = shift if raw or shift is None else self._taken_off(shift)
        self.squares: np.ndarray = np.concatenate(
            [
                _squares(np.asarray(self.rows(part), dtype=np.float64))
                for part in self.slices(n_bytes=CACHE_BYTES)
            ]
        )
        self.longest: float = float(self.squares.max())

    def _middle(self) -> Any:
        """Return a point near the column medians, rounded to steps of their typical deviations
        (short numbers subtract exactly); None if 0 works as well.
        """
        n = min(SAMPLE_ROWS, self.slices()[0].stop)
        some = self.wide_rows(np.linspace(0, len(self) - 1, n).astype(int))
        middle = np.median(some, axis=0)
        spread = np.median(np.abs(some - middle), axis=0)
        step = np.ldexp(1.0, np.frexp(spread)[1] - 1)
        shift = np.where(spread > 0.0, np.rint(middle / step) * step, middle)
        return (
            shift
            if np.median(_squares(some)) > SHORTER * np.median(_squares(some - shift))
            else None
        )

    def _taken_off(self, shift: np.ndarray) -> np.ndarray:
        """Subtract the shift from the points where this is exactly reversible; return the part
        subtracted.
        """
        narrow, exact = shift.astype(self.kept), np.ones(len(shift), dtype=bool)
        with np.errstate(over="ignore", invalid="ignore"):
            for part in self.slices():
                given = self.points[part]
                exact &= ((given - narrow) + narrow.astype(np.float64) == given).all(axis=0)
        narrow = np.where(exact, narrow, 0)
        for part in self.slices():
            self.points[part] -= narrow
        return narrow.astype(np.float64)

    def __len__(self) -> int:
        return len(self.points)

    @property
    def n_features(self) -> int:
        return self.points.shape[1]

    @property
    def on_disk(self) -> bool:
        """Whether the points are read from a memory-mapped file; a loaded saved object has them in
        memory.
        """
        return isinstance(self.points, np.memmap)

    @property
    def nbytes(self) -> int:
        """Bytes held in memory."""
        held = [self.shift, self.squares, self.order, None if self.on_disk else self.points]
        return sum(a.nbytes for a in held if a is not None)

    @property
    def kept(self) -> np.dtype[Any]:
        """Data type of ``rows``."""
        return self.points.dtype if self.order is None else np.dtype(np.float64)

    def rows(self, positions: Any) -> np.ndarray:
        """Return scaled rows at sorted positions, minus the shift, in their stored type."""
        return (
            self.points[positions] if self.order is None else self._shifted(self._read(positions))
        )

    def wide_rows(self, positions: Any) -> np.ndarray:
        """Return scaled float64 rows at sorted positions."""
        if self.order is not None:
            return self._read(positions)
        rows = np.asarray(self.points[positions], dtype=np.float64)
        return rows if self.shift is None else rows + self.shift

    def _read(self, positions: Any) -> np.ndarray:
        return np.asarray(self._in_units(self.points[self.order[positions]]), dtype=np.float64)

    def _shifted(self, rows: np.ndarray) -> np.ndarray:
        return rows if self.shift is None else rows - self.shift

    def _in_units(self, X: np.ndarray) -> np.ndarray:
        return X if self.column_scale is None else X * self.column_scale

    def scaled(self, queries: np.ndarray) -> np.ndarray:
        """Return queries as float64 in the units of the points, small enough to be squared."""
        queries = self._in_units(np.asarray(queries, dtype=np.float64))
        most = np.abs(queries).max(initial=0.0)
        if not most <= LARGEST:
            raise InputError(
                f"X must be within {LARGEST:.0e}, so that squares do not overflow; got"
                f" {most:.0e}; scale down X and the training points."
            )
        return queries

    def slices(self, n: int | None = None, n_bytes: int | None = None) -> list[slice]:
        """Return slices of n positions (default: all) whose float64 rows fit ``n_bytes`` (default:
        the memory bound).
        """
        size = max(1, (n_bytes or BLOCK_BYTES) // (8 * self.n_features))
        n = len(self) if n is None else n
        return [slice(a, min(a + size, n)) for a in range(0, n, size)]

    def group_of(self, group: int) -> tuple[int, int]:
        """Return (start, stop) of a group's positions."""
        return int(self.offsets[group]), int(self.offsets[group + 1])

    @property
    def groups(self) -> np.ndarray:
        """Return the group at each position, (n,)."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))

    def centre_and_radius(self, metric: str) -> tuple[np.ndarray, float]:
        """Return the mean (d,) and the largest distance of a point from it."""
        centre = sum(
            (self.wide_rows(part).sum(axis=0) for part in self.slices()), np.zeros(self.n_features)
        ) / len(self)
        radius = max(
            float(distances(metric, centre[None], self.wide_rows(part)).max())
            for part in self.slices(n_bytes=CACHE_BYTES)
        )
        if not radius <= LARGEST:
            raise InputError(
                f"training points must be within {LARGEST:.0e} of their mean; got a radius of"
                f" {radius:.0e}; rescale them."
            )
        return centre, radius

    def squares_between(self, a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Compute two (len(a), len(b)) arrays, for small b: squared distances between points, and
        positive bounds of their rounding errors.
        """
        total = self.squares[a][:, None] + self.squares[b]
        kind, share, least = self._product_type(0.0)
        few = self.rows(b).astype(kind, copy=False).T
        product = np.concatenate(
            [
                self.rows(a[part]).astype(kind, copy=False) @ few
                for part in self.slices(max(1, len(a)))
            ]
        )
        return np.maximum(total - 2.0 * product, 0.0), share * total + least

    def lower_squares(
        self, queries: np.ndarray, positions: np.ndarray | slice | None = None
    ) -> np.ndarray:
        """Compute (m, n) lower bounds, tight up to rounding, of the squared distances of (m, d)
        queries in the points' units to some or all points.
        """
        queries = self._shifted(queries)
        own, square = (
            _squares(queries),
            self.squares if positions is None else self.squares[positions],
        )
        kind, share, least = self._product_type(own.max(initial=0.0))
        narrow = queries.astype(kind)
        products = [narrow @ self.rows(part).T for part in self._parts(positions, kind)]
        out = products[0] if len(products) == 1 else np.concatenate(products, axis=1)
        out *= -2.0
        out += ((1.0 - share) * square).astype(kind)
        out += ((1.0 - share) * own - least)[:, None].astype(kind)
        return out

    def _parts(self, positions: np.ndarray | None, kind: Any) -> list[Any]:
        """Yield the blocks to multiply: all rows if they need no copy, otherwise parts within the
        memory bound.
        """
        if positions is None:
            return (
                [slice(0, len(self))] if self.order is None and kind == self.kept else self.slices()
            )
        if isinstance(positions, slice):
            return [positions]
        return [positions[part] for part in self.slices(max(1, len(positions)))]

    def _product_type(self, square: float) -> tuple[Any, float, float]:
        """Return the type for products of rows with others of at most this squared norm: the stored
        type, unless it overflows.

        Also return the error bound of the squared distance: a share of both squared norms together,
        plus a constant for underflow.
        """
        kind, n = self.kept, self.n_features + 8
        if square + 2.0 * self.longest > LIMITS[kind][0]:
            kind = np.dtype(np.float64)
        _, spacing, least = LIMITS[kind]
        return kind, n * spacing, 2.0 * n * least

    def extended(self, X: Any, group: np.ndarray) -> tuple["StoredPoints", np.ndarray]:
        """Return new stored points with rows added, and the new positions of old and added rows,
        (n,).
        """
        if self.on_disk:
            raise InputError(
                "points cannot be added to a memory-mapped training set; append them to the file"
                " and fit again."
            )
        every = np.concatenate([self.groups, group])
        if self.order is not None:
            out = StoredPoints(
                np.concatenate([self.points[self.order], X]),
                every,
                len(self.offsets) - 1,
                self.column_scale,
            )
        else:
            given = (
                self.points if self.shift is None else self.points + self.shift.astype(self.kept)
            )
            out = StoredPoints(
                np.concatenate([given, self._in_units(X)]), every, len(self.offsets) - 1
            )
            out.column_scale = self.column_scale
        return out, np.argsort(every, kind="stable")


def _kept(scaled: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Return the rows in this order, in float32 if exact and otherwise float64; small sets always
    in float64.
    """
    narrow = scaled.size > SMALL and np.can_cast(scaled.dtype, np.float32)
    return np.asarray(scaled[order], dtype=np.float32 if narrow else np.float64)


def _squares(rows: np.ndarray) -> np.ndarray:
    return np.einsum("ij,ij->i", rows, rows)
