"""Exact searches for the separation of points: pairs, true radii, and bounds that exclude most
rows.
"""

from typing import Any

import numpy as np
import scipy

__all__ = [
    "ROOM",
    "bisectors",
    "distance_to_polyhedron",
    "feature_groups",
    "group_sums",
    "largest_bisector",
    "largest_differences",
    "leading_directions",
    "lower_maximum",
    "max_min",
    "min_max",
    "nearest_of",
    "projected",
    "query_table",
    "row_table",
    "sums_room",
    "telling_features",
    "zone_radius",
]

#: Points of the other side that give the first bound on each point.
NEAR = 4
FIRST_BLOCK, LARGEST_BLOCK = 32, 256
FIRST_FULL = 8
#: Rows read in one block.
READ = 2_048
#: A squared distance between two points that is relatively this small is computed from their
#: difference.
CLOSE = 1e-6
#: Room for the rounding of square roots and products in float64.
ROOM = 1.0 + 1e-9


def nearest_of(
    query: np.ndarray, low: np.ndarray, points: Any, k: int = 1
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(positions, differences from the query, squared distances) of the k points of lowest bound,
    nearest first.
    """
    low = low.copy()
    positions = []
    for _ in range(k):
        j = int(low.argmin())
        if np.isposinf(low[j]):
            break
        positions.append(j)
        low[j] = np.inf
    positions = np.array(positions, dtype=np.intp)
    z = points.wide_rows(positions) - query
    near = _first(k, positions, z, np.einsum("ij,ij->i", z, z))
    more = np.flatnonzero(~(low > near[2][0] * ROOM)) if len(positions) else positions
    for some in _read(more[~np.isposinf(low[more])], query, points):
        near = _first(k, *(np.concatenate(both) for both in zip(near, some, strict=True)))
    return near


def _first(
    k: int, rows: np.ndarray, z: np.ndarray, square: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The k of least square, in their order."""
    order = np.argsort(square, kind="stable")[:k]
    return rows[order], z[order], square[order]


def _read(rows: Any, query: Any, points: Any) -> Any:
    """(positions, differences from the query, squared distances) of rows, some at a time."""
    for start in range(0, len(rows), READ):
        some = rows[start : start + READ]
        z = points.wide_rows(some) - query
        yield some, z, np.einsum("ij,ij->i", z, z)


def bisectors(
    zp: np.ndarray, dp: np.ndarray, zc: np.ndarray, dc: np.ndarray, duplicate: float
) -> np.ndarray:
    """(a, b) of N for differences from the query zp (a, d) and zc (b, d) and their squares;
    ``duplicate`` where p and c are one point.
    """
    gap = dp[:, None] + dc - 2.0 * (zp @ zc.T)
    scale = dp[:, None] + dc
    for i, j in zip(*np.nonzero(gap <= CLOSE * scale), strict=True):
        difference = zp[i] - zc[j]
        gap[i, j] = difference @ difference
    same = gap <= 0.0
    out = (dp[:, None] - dc) / (2.0 * np.sqrt(np.where(same, 1.0, gap)))
    return np.where(same, duplicate, out)


def largest_bisector(
    query: np.ndarray,
    p: np.ndarray | int,
    zp: np.ndarray,
    dp: float,
    low_c: np.ndarray,
    points: Any,
    duplicate: float,
) -> float:
    """Max over c of N(p, c) for one p: only c no farther than p can give it, and those first
    whose upper bound is highest.
    """
    rows = np.flatnonzero(low_c <= dp * ROOM)
    gap, room = points.squares_between(rows, np.array([p]))
    least = (gap - room)[:, 0]
    high = np.where(
        least > 0.0,
        (dp * ROOM - low_c[rows]) / (2.0 * np.sqrt(np.where(least > 0.0, least, 1.0))),
        np.inf,
    )
    order = np.argsort(-high, kind="stable")
    best, at, size = -np.inf, 0, FIRST_FULL
    while at < len(rows) and high[order[at]] > best:
        zc = points.wide_rows(rows[order[at : at + size]]) - query
        best = max(
            best,
            bisectors(zp[None], np.array([dp]), zc, np.einsum("ij,ij->i", zc, zc), duplicate).max(),
        )
        at, size = at + size, 2 * size
    return best


def lower_maximum(
    low_p: np.ndarray, dc: np.ndarray, gap: np.ndarray, room: np.ndarray
) -> np.ndarray:
    """(a,) lower bounds of max over c of N(p, c), from a few c; minus infinity where none of
    them is nearer than p for certain.
    """
    nearer = low_p[:, None] - dc * ROOM
    return np.where(nearer > 0.0, nearer / (2.0 * np.sqrt(gap + room)), -np.inf).max(axis=1)


def min_max(
    query: np.ndarray,
    low_p: np.ndarray,
    low_c: np.ndarray,
    points: Any,
    duplicate: float,
    counts: list[Any] | None = None,
) -> tuple[float, int]:
    """(min over p of max over c of N(p, c), position of that p)."""
    near, _, dc = nearest_of(query, low_c, points, NEAR)
    best_rows, zp, dp = nearest_of(query, low_p, points)
    best_row, full = int(best_rows[0]), 1
    best = largest_bisector(query, best_row, zp[0], dp[0], low_c, points, duplicate)
    rows = np.flatnonzero(low_p < (np.sqrt(dc[0]) + 2.0 * max(best, 0.0)) ** 2 * ROOM)
    rows = rows[rows != best_row]
    rows = rows[low_p[rows].argsort(kind="stable")]
    at, size, scanned = 0, FIRST_BLOCK, 1
    while at < len(rows) and low_p[rows[at]] < (np.sqrt(dc[0]) + 2.0 * max(best, 0.0)) ** 2 * ROOM:
        some = rows[at : at + size]
        bound = lower_maximum(low_p[some], dc, *points.squares_between(some, near))
        for i in np.argsort(bound, kind="stable"):
            if bound[i] >= best:
                break
            zp = points.wide_rows(some[i : i + 1])[0] - query
            value, full = (
                largest_bisector(query, some[i], zp, zp @ zp, low_c, points, duplicate),
                full + 1,
            )
            if value < best:
                best, best_row = value, int(some[i])
        at, scanned, size = at + size, scanned + len(some), min(2 * size, LARGEST_BLOCK)
    if counts is not None:
        counts.append((full, scanned))
    return best, best_row


def max_min(query: Any, low_p: Any, low_c: Any, points: Any, duplicate: Any) -> Any:
    """Max over c of min over p of N(p, c)."""
    _, zn, dn = nearest_of(query, low_p, points, NEAR)
    rows, best = np.flatnonzero(low_c <= dn[0] * ROOM), -np.inf
    bound = np.concatenate(
        [
            bisectors(zn, dn, zc, dc, duplicate).min(axis=0)
            for _, zc, dc in _read(rows, query, points)
        ]
    )
    for i in np.argsort(-bound, kind="stable"):
        if bound[i] <= best:
            break
        ((_, zc, dc),) = _read(rows[i : i + 1], query, points)
        others = np.flatnonzero(low_p < (2.0 * max(bound[i], 0.0) + np.sqrt(dc[0])) ** 2 * ROOM)
        value = bound[i]
        for _, zp, dp in _read(others, query, points):
            value = bisectors(zp, dp, zc, dc, duplicate).min(initial=value)
        best = max(best, value)
    return best


START = 32
#: Points in one block, first by bounds and then in float64; violated bisectors added at once.
BLOCK, FEW, ADDED = 2_048, 64, 4
#: A point is in the cell if it is no nearer to any c than to p by this share of the squared
#: distances.
TOLERANCE = 1e-10


def distance_to_polyhedron(normals: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """The shortest z with normals @ z >= offsets, (d,), by non-negative least squares (Lawson
    and Hanson's least distance programming).
    """
    if offsets.max(initial=0.0) <= 0.0:
        return np.zeros(normals.shape[1])
    lengths = np.linalg.norm(normals, axis=1)
    nonzero = lengths > 0.0
    normals, offsets = (
        normals[nonzero] / lengths[nonzero, None],
        offsets[nonzero] / lengths[nonzero],
    )
    unit = offsets.max()
    tall = np.vstack([normals.T, offsets / unit])
    orthogonal, square = np.linalg.qr(tall)
    multipliers, _ = scipy.optimize.nnls(square, orthogonal[-1], maxiter=30 * tall.shape[1] + 100)
    residual = tall @ multipliers
    residual[-1] -= 1.0
    active = multipliers > 0.0
    # On the faces found, solved again: the quotient above loses digits where the residual is small.
    share = np.linalg.lstsq(normals[active] @ normals[active].T, offsets[active], rcond=None)[0]
    z = normals[active].T @ share
    quotient = -residual[:-1] / residual[-1] * unit
    bad_z, bad_q = _violation(z, normals, offsets), _violation(quotient, normals, offsets)
    return z if bad_z <= max(bad_q, 1e-12 * unit) else quotient


def _violation(z: np.ndarray, normals: np.ndarray, offsets: np.ndarray) -> float:
    return float((offsets - normals @ z).max())


def _cell_distance(
    query: np.ndarray,
    p: np.ndarray,
    dp: float,
    low_c: np.ndarray,
    points: Any,
    near: tuple[np.ndarray, np.ndarray, np.ndarray],
    below: float,
) -> float:
    """Distance from the query to the cell of p (its difference from the query), or infinity once it
    is found not to be below ``below``.

    ``near`` is (positions, differences, squares) of the c to begin with.
    """
    rows, zc, dc = near
    while True:  # each round adds bisectors, of which there are as many as c
        z = distance_to_polyhedron(p - zc, 0.5 * (dp - dc))
        radius = float(np.sqrt(z @ z))
        if radius >= below:
            return np.inf
        squared = (z - p) @ (z - p)
        # Nearer to z than p is: no farther from the query than |z| + |z - p|.
        maybe = np.flatnonzero(low_c <= (radius + np.sqrt(squared)) ** 2 * ROOM)
        maybe = np.setdiff1d(maybe, rows, assume_unique=True)
        new_rows, other, square = _nearer(
            query, z, squared, TOLERANCE * (dp + squared), maybe, points
        )
        if not len(new_rows):
            return radius
        rows, zc, dc = np.append(rows, new_rows), np.vstack([zc, other]), np.append(dc, square)


def _nearer(
    query: np.ndarray,
    z: np.ndarray,
    limit: np.ndarray | float,
    room: np.ndarray | float,
    maybe: np.ndarray,
    points: Any,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(positions, differences from the query, squares) of a few of the points at ``maybe``
    nearer to query + z than ``limit``, squared.
    """
    low = points.lower_squares((query + z)[None], maybe)[0]
    order = np.flatnonzero(low < limit)
    order = maybe[order[low[order].argsort(kind="stable")]]
    for start in range(0, len(order), FEW):
        some = order[start : start + FEW]
        other = points.wide_rows(some) - query
        square = np.einsum("ij,ij->i", other, other)
        gap = square - 2.0 * (other @ z) + z @ z - limit
        worst = np.argsort(gap)[:ADDED]
        worst = worst[gap[worst] < -room]
        if len(worst):
            return some[worst], other[worst], square[worst]
    return order[:0], np.empty((0, len(z))), np.empty(0)


def zone_radius(
    query: np.ndarray, low_p: np.ndarray, low_c: np.ndarray, points: Any, duplicate: float
) -> float:
    """Least distance from the query to the cell of any p among the c.

    With ``duplicate`` of minus infinity the boundary of a cell belongs to it, so that a p with a
    twin among the c still has one; with plus infinity such a p has none.
    """
    near = nearest_of(query, low_c, points, START)
    dc = near[2]
    lower, first = min_max(query, low_p, low_c, points, duplicate)
    if np.isposinf(lower):
        return np.inf
    best = _cell_distance(query, *_difference(query, first, points), low_c, points, near, np.inf)
    rows = np.flatnonzero(low_p < (np.sqrt(dc[0]) + 2.0 * best) ** 2 * ROOM)
    rows = rows[rows != first]
    blocks = [rows[start : start + BLOCK] for start in range(0, len(rows), BLOCK)]
    bounds = [
        lower_maximum(low_p[some], dc, *points.squares_between(some, near[0])) for some in blocks
    ]
    bound = np.concatenate([np.empty(0), *bounds])
    for i in np.argsort(bound, kind="stable"):
        if bound[i] >= best:
            break
        p, dp = _difference(query, rows[i], points)
        # Infinite for a twin that has no cell.
        if largest_bisector(query, rows[i], p, dp, low_c, points, duplicate) < best:
            best = min(best, _cell_distance(query, p, dp, low_c, points, near, best))
    return max(best, lower)


def _difference(query: np.ndarray, row: np.ndarray | int, points: Any) -> tuple[np.ndarray, float]:
    """(difference from the query, its square) of one point."""
    z = points.wide_rows(np.array([row]))[0] - query
    return z, z @ z


SINGLE, DOUBLE = np.finfo(np.float32), np.finfo(np.float64)
#: At least this share of |q|^2 + |p|^2 is reserved for rounding: it covers float64 products of two
#: norms up to 10^6 features.
ROUNDING = 3e-5
#: Larger coordinates of queries overflow when squared in single precision; all points are then
#: equally far.
FAR = 2.0**60
SAMPLE_ROWS = 4_096
#: The maximal number of values (128 MiB), except for a few hundred rows.
SAMPLE_NUMBERS, FEWEST_ROWS = 2**24, 256
POWER_STEPS = 3
CLUSTER_STEPS = 10


def _sample(rows_at: Any, n_rows: int, centre: np.ndarray) -> np.ndarray:
    """Evenly spaced rows as float64, centred."""
    size = min(SAMPLE_ROWS, max(FEWEST_ROWS, SAMPLE_NUMBERS // len(centre)))
    sample = rows_at(np.arange(0, n_rows, max(1, n_rows // size)))
    sample -= centre
    return sample


def leading_directions(
    rows_at: Any, n_rows: int, centre: np.ndarray, n_directions: int
) -> np.ndarray | None:
    """(d, k) orthonormal columns near the leading principal axes, or None where there are no more
    features than that.

    Any orthonormal columns give valid bounds; leading axes give sharp ones.
    """
    n_features = len(centre)
    if n_features <= n_directions:
        return None
    return _leading(_sample(rows_at, n_rows, centre), n_directions)


def _leading(sample: np.ndarray, k: int) -> np.ndarray:
    """(d, k) orthonormal columns near the leading principal axes of a centred sample, by power
    iteration.
    """
    basis = np.random.default_rng(0).standard_normal((sample.shape[1], k))
    for _ in range(POWER_STEPS):
        basis = np.linalg.qr(sample.T @ (sample @ basis))[0]
    return basis


def projected(
    rows: np.ndarray, centre: np.ndarray, basis: np.ndarray | None, scale: float
) -> np.ndarray:
    """(n, k + 1) coordinates along the basis and the norm of what is left, in units of
    ``scale``.
    """
    centred = rows - centre
    centred /= scale
    if basis is None:
        return centred
    out = np.empty((len(rows), basis.shape[1] + 1))
    along = out[:, :-1]
    along[...] = centred @ basis
    left = np.einsum("ij,ij->i", centred, centred) - np.einsum("ij,ij->i", along, along)
    out[:, -1] = np.sqrt(np.maximum(left, 0.0))
    return out


def row_table(coordinates: np.ndarray) -> np.ndarray:
    """(n, k + 2) float32 of points, whose coordinates are at most 1: -2 t and |t|^2, the latter
    less what rounding may add.
    """
    square = np.einsum("ij,ij->i", coordinates, coordinates)
    table = np.empty((len(coordinates), coordinates.shape[1] + 1), dtype=np.float32)
    np.multiply(coordinates, -2.0, out=table[:, :-1], casting="same_kind")
    table[:, -1] = (1.0 - _share(coordinates)) * square
    return table


def query_table(coordinates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(m, k + 2) float32 of queries and (m,) float64 to add: the product with a point's row plus
    this is at most the squared distance.
    """
    square = np.einsum("ij,ij->i", coordinates, coordinates)
    far = ~(square < FAR**2)
    if far.any():
        # |p|^2 alone, which is at most 1, is a bound.
        coordinates, square = np.where(far[:, None], 0.0, coordinates), np.where(far, 0.0, square)
    least = 2.0 * (coordinates.shape[1] + 8) * float(SINGLE.tiny)
    table = np.column_stack([coordinates, np.ones(len(coordinates))]).astype(np.float32)
    return table, (1.0 - _share(coordinates)) * square - least


def _share(coordinates: np.ndarray) -> float:
    """Share of |q|^2 + |p|^2 that rounding of float32 products cannot exceed, by the worst-case
    bound of a dot product.
    """
    return max(ROUNDING, (coordinates.shape[1] + 8) * float(SINGLE.eps))


def feature_groups(
    rows_at: Any, n_rows: int, centre: np.ndarray, n_groups: int
) -> np.ndarray | None:
    """(d, g) of -1, 0 and 1: each feature in one group, with the sign that makes the group vary
    together.

    Between two rows |sum_j s_j (a_j - b_j)| over a group is at most the group's part of the L1
    distance; groups of features that rise and fall together keep most of it.
    """
    n_features = len(centre)
    if n_features <= n_groups:
        return None
    sample = _sample(rows_at, n_rows, centre)
    basis = _leading(sample, min(16, n_features))
    loading = basis * np.linalg.norm(sample @ basis, axis=0)
    sign = np.where(loading[np.arange(n_features), np.abs(loading).argmax(axis=1)] < 0.0, -1.0, 1.0)
    group = (
        _clustered(loading * sign[:, None], n_groups)
        if loading.any()
        else np.arange(n_features) % n_groups
    )
    out = np.zeros((n_features, n_groups))
    out[np.arange(n_features), group] = sign
    return out[:, np.abs(out).any(axis=0)]


def _clustered(points: np.ndarray, n_clusters: int) -> np.ndarray:
    """(n,) cluster of each point after some steps of k-means from evenly spaced points; a
    cluster may be left empty.
    """
    centres = points[np.linspace(0, len(points) - 1, n_clusters).astype(int)]
    for _ in range(CLUSTER_STEPS):
        cluster = ((centres**2).sum(axis=1) - 2.0 * (points @ centres.T)).argmin(axis=1)
        size = np.bincount(cluster, minlength=n_clusters)
        total = np.zeros_like(centres)
        np.add.at(total, cluster, points)
        centres = np.where(size[:, None] > 0, total / np.maximum(size, 1)[:, None], centres)
    return cluster


def group_sums(rows: np.ndarray, groups: np.ndarray | None) -> np.ndarray:
    """(n, g) signed sums of the features of each group of centred rows; the rows themselves
    where every feature is its own group.
    """
    return rows if groups is None else rows @ groups


def sums_room(n_features: int) -> float:
    """Share of |q|_1 + |p|_1 by which the L1 distance of float64 group sums of q and p may exceed
    their computed L1 distance.

    With u half the spacing of floats at 1 and g <= d groups: each sum is off by (d + 1) u of its
    terms' magnitudes, the sum over groups by (g + 1) u of its value, the distance itself by (d + 1)
    u: (3 d + 3) u together, where the distance is no more than |q|_1 + |p|_1. This is a third more,
    for terms of higher order.
    """
    return (2 * n_features + 8) * float(DOUBLE.eps)


def telling_features(rows_at: Any, n_rows: int, centre: np.ndarray, n_columns: int) -> np.ndarray:
    """(g,) the features that explain most of the L-infinity distance between rows far apart in
    order, chosen greedily.
    """
    n_features = len(centre)
    if n_features <= n_columns:
        return np.arange(n_features)
    sample = _sample(rows_at, n_rows, centre)
    half = len(sample) // 2
    apart = np.abs(sample[:half] - sample[half : 2 * half])
    explained, out = np.zeros((half, 1)), np.empty(n_columns, dtype=np.int64)
    for i in range(n_columns):
        gain = np.maximum(apart, explained).sum(axis=0)
        gain[out[:i]] = -1.0
        out[i] = gain.argmax()
        explained = np.maximum(explained, apart[:, out[i], None])
    return out


def largest_differences(queries: np.ndarray, table: np.ndarray) -> np.ndarray:
    """(m, n) max over features of |q - p|, for (m, g) queries and points as columns, (g, n)."""
    out, apart = np.zeros((len(queries), table.shape[1])), np.empty(table.shape[1])
    for query, most in zip(queries, out, strict=True):
        for value, column in zip(query, table, strict=True):
            np.subtract(column, value, out=apart)
            np.abs(apart, out=apart)
            np.maximum(most, apart, out=most)
    return out
