"""Pruned searches over pairs of training points, exact: the minimax of signed distances to perpendicular bisectors.

For one query, a side is a (n,) array of lower bounds of squared distances to the points at positions 0..n-1, infinite at those not in
the side; ``points.wide_rows(positions)`` gives points, float64, ``points.squares_between(a, b)`` two (len(a), len(b)) arrays, the squared
distances between points and how far off they may be, and ``points.lower_squares(queries, positions)`` more such lower bounds.
Throughout, N(p, c) = (|q - p|^2 - |q - c|^2) / (2 |p - c|), the distance from the query q to the bisector of p and c, positive where c
is nearer. It is at least (|q - p| - |q - c|) / 2.
"""

import numpy as np

__all__ = ["ROOM", "bisectors", "largest_bisector", "lower_maximum", "max_min", "min_max", "nearest_of"]

#: Points of the other side that give the first bound on each point.
NEAR = 4
FIRST_BLOCK, LARGEST_BLOCK = 32, 256
FIRST_FULL = 8
#: Rows read at once, however many may matter.
READ = 2_048
#: A squared distance between two points this small beside their distances from the query is computed from their difference.
CLOSE = 1e-6
#: Room for the rounding of square roots and products in float64.
ROOM = 1.0 + 1e-9


def nearest_of(query, low, points, k=1):
    """(positions, differences from the query, squared distances) of the k points of lowest bound, the truly nearest among them first."""
    low = low.copy()
    found = []
    for _ in range(k):
        j = int(low.argmin())
        if np.isposinf(low[j]):
            break
        found.append(j)
        low[j] = np.inf
    found = np.array(found, dtype=np.intp)
    z = points.wide_rows(found) - query
    near = _first(k, found, z, np.einsum("ij,ij->i", z, z))
    more = np.flatnonzero(~(low > near[2][0] * ROOM)) if len(found) else found
    for some in _read(more[~np.isposinf(low[more])], query, points):
        near = _first(k, *(np.concatenate(both) for both in zip(near, some, strict=True)))
    return near


def _first(k, rows, z, square):
    """The k of least square, in their order."""
    order = np.argsort(square, kind="stable")[:k]
    return rows[order], z[order], square[order]


def _read(rows, query, points):
    """(positions, differences from the query, squared distances) of rows, some at a time."""
    for start in range(0, len(rows), READ):
        some = rows[start : start + READ]
        z = points.wide_rows(some) - query
        yield some, z, np.einsum("ij,ij->i", z, z)


def bisectors(zp, dp, zc, dc, duplicate):
    """(a, b) of N for differences from the query zp (a, d) and zc (b, d) and their squares; ``duplicate`` where p and c are one point."""
    gap = dp[:, None] + dc - 2.0 * (zp @ zc.T)
    scale = dp[:, None] + dc
    for i, j in zip(*np.nonzero(gap <= CLOSE * scale), strict=True):
        difference = zp[i] - zc[j]
        gap[i, j] = difference @ difference
    same = gap <= 0.0
    out = (dp[:, None] - dc) / (2.0 * np.sqrt(np.where(same, 1.0, gap)))
    return np.where(same, duplicate, out)


def largest_bisector(query, p, zp, dp, low_c, points, duplicate):
    """Max over c of N(p, c) for one p: only c no farther than p can give it, and those first whose upper bound is highest."""
    rows = np.flatnonzero(low_c <= dp * ROOM)
    gap, room = points.squares_between(rows, np.array([p]))
    least = (gap - room)[:, 0]
    high = np.where(least > 0.0, (dp * ROOM - low_c[rows]) / (2.0 * np.sqrt(np.where(least > 0.0, least, 1.0))), np.inf)
    order = np.argsort(-high, kind="stable")
    best, at, size = -np.inf, 0, FIRST_FULL
    while at < len(rows) and high[order[at]] > best:
        zc = points.wide_rows(rows[order[at : at + size]]) - query
        best = max(best, bisectors(zp[None], np.array([dp]), zc, np.einsum("ij,ij->i", zc, zc), duplicate).max())
        at, size = at + size, 2 * size
    return best


def lower_maximum(low_p, dc, gap, room):
    """(a,) lower bounds of max over c of N(p, c), from a few c; minus infinity where none of them is nearer than p for certain."""
    nearer = low_p[:, None] - dc * ROOM
    return np.where(nearer > 0.0, nearer / (2.0 * np.sqrt(gap + room)), -np.inf).max(axis=1)


def min_max(query, low_p, low_c, points, duplicate, counts=None):
    """(min over p of max over c of N(p, c), position of that p)."""
    near, _, dc = nearest_of(query, low_c, points, NEAR)
    best_rows, zp, dp = nearest_of(query, low_p, points)
    found, full = int(best_rows[0]), 1
    best = largest_bisector(query, found, zp[0], dp[0], low_c, points, duplicate)
    rows = np.flatnonzero(low_p < (np.sqrt(dc[0]) + 2.0 * max(best, 0.0)) ** 2 * ROOM)
    rows = rows[rows != found]
    rows = rows[low_p[rows].argsort(kind="stable")]
    at, size, scanned = 0, FIRST_BLOCK, 1
    while at < len(rows) and low_p[rows[at]] < (np.sqrt(dc[0]) + 2.0 * max(best, 0.0)) ** 2 * ROOM:
        some = rows[at : at + size]
        bound = lower_maximum(low_p[some], dc, *points.squares_between(some, near))
        for i in np.argsort(bound, kind="stable"):
            if bound[i] >= best:
                break
            zp = points.wide_rows(some[i : i + 1])[0] - query
            value, full = largest_bisector(query, some[i], zp, zp @ zp, low_c, points, duplicate), full + 1
            if value < best:
                best, found = value, int(some[i])
        at, scanned, size = at + size, scanned + len(some), min(2 * size, LARGEST_BLOCK)
    if counts is not None:
        counts.append((full, scanned))
    return best, found


def max_min(query, low_p, low_c, points, duplicate):
    """Max over c of min over p of N(p, c)."""
    _, zn, dn = nearest_of(query, low_p, points, NEAR)
    rows, best = np.flatnonzero(low_c <= dn[0] * ROOM), -np.inf
    bound = np.concatenate([bisectors(zn, dn, zc, dc, duplicate).min(axis=0) for _, zc, dc in _read(rows, query, points)])
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
