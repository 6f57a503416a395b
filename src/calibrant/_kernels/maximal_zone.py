"""The true radius around a query in which one set of points stays nearer than another: projections on Voronoi cells.

The notation is that of ``pairwise_separation``. The cell of p is all y that no c is nearer to than p; the radius is the least distance
from the query to any cell. One bisector bounds a cell from one side, so max over c of N(p, c) is at most the distance to p's cell.
"""

import numpy as np
from scipy.optimize import nnls

from calibrant._kernels.pairwise_separation import ROOM, largest_bisector, lower_maximum, min_max, nearest_of

__all__ = ["distance_to_polyhedron", "zone_radius"]

START = 32
#: Points looked at together, first by bounds and then in float64; violated bisectors added together.
BLOCK, FEW, ADDED = 2_048, 64, 4
#: A point is in the cell if it is no nearer to any c than to p by this share of the squared distances.
TOLERANCE = 1e-10


def distance_to_polyhedron(normals, offsets):
    """The shortest z with normals @ z >= offsets, (d,), by non-negative least squares (Lawson and Hanson's least distance programming)."""
    if offsets.max(initial=0.0) <= 0.0:
        return np.zeros(normals.shape[1])
    lengths = np.linalg.norm(normals, axis=1)
    kept = lengths > 0.0
    normals, offsets = normals[kept] / lengths[kept, None], offsets[kept] / lengths[kept]
    unit = offsets.max()
    tall = np.vstack([normals.T, offsets / unit])
    orthogonal, square = np.linalg.qr(tall)
    multipliers, _ = nnls(square, orthogonal[-1], maxiter=30 * tall.shape[1] + 100)
    residual = tall @ multipliers
    residual[-1] -= 1.0
    active = multipliers > 0.0
    # On the faces found, solved again: the quotient above loses digits where the residual is small.
    share = np.linalg.lstsq(normals[active] @ normals[active].T, offsets[active], rcond=None)[0]
    z = normals[active].T @ share
    quotient = -residual[:-1] / residual[-1] * unit
    bad_z, bad_q = _violation(z, normals, offsets), _violation(quotient, normals, offsets)
    return z if bad_z <= max(bad_q, 1e-12 * unit) else quotient


def _violation(z, normals, offsets):
    return float((offsets - normals @ z).max())


def _cell_distance(query, p, dp, low_c, points, near, below):
    """Distance from the query to the cell of p (its difference from the query), or infinity once it is found not to be below ``below``.

    ``near`` is (positions, differences, squares) of the c to begin with.
    """
    rows, zc, dc = near
    while True:  # each round adds bisectors, of which there are as many as c
        z = distance_to_polyhedron(p - zc, 0.5 * (dp - dc))
        radius = float(np.sqrt(z @ z))
        if radius >= below:
            return np.inf
        own = (z - p) @ (z - p)
        # Nearer to z than p is: no farther from the query than |z| + |z - p|.
        maybe = np.flatnonzero(low_c <= (radius + np.sqrt(own)) ** 2 * ROOM)
        maybe = np.setdiff1d(maybe, rows, assume_unique=True)
        found, other, square = _nearer(query, z, own, TOLERANCE * (dp + own), maybe, points)
        if not len(found):
            return radius
        rows, zc, dc = np.append(rows, found), np.vstack([zc, other]), np.append(dc, square)


def _nearer(query, z, own, room, maybe, points):
    """(positions, differences from the query, squares) of a few of the points at ``maybe`` nearer to query + z than ``own``, squared."""
    low = points.lower_squares((query + z)[None], maybe)[0]
    order = np.flatnonzero(low < own)
    order = maybe[order[low[order].argsort(kind="stable")]]
    for start in range(0, len(order), FEW):
        some = order[start : start + FEW]
        other = points.wide_rows(some) - query
        square = np.einsum("ij,ij->i", other, other)
        gap = square - 2.0 * (other @ z) + z @ z - own
        worst = np.argsort(gap)[:ADDED]
        worst = worst[gap[worst] < -room]
        if len(worst):
            return some[worst], other[worst], square[worst]
    return order[:0], np.empty((0, len(z))), np.empty(0)


def zone_radius(query, low_p, low_c, points, duplicate):
    """Least distance from the query to the cell of any p among the c.

    With ``duplicate`` of minus infinity the boundary of a cell belongs to it, so that a p with a twin among the c still has one; with plus
    infinity such a p has none.
    """
    near = nearest_of(query, low_c, points, START)
    dc = near[2]
    lower, first = min_max(query, low_p, low_c, points, duplicate)
    if np.isposinf(lower):
        return np.inf
    best = _cell_distance(query, *_one(query, first, points), low_c, points, near, np.inf)
    rows = np.flatnonzero(low_p < (np.sqrt(dc[0]) + 2.0 * best) ** 2 * ROOM)
    rows = rows[rows != first]
    blocks = [rows[start : start + BLOCK] for start in range(0, len(rows), BLOCK)]
    bounds = [lower_maximum(low_p[some], dc, *points.squares_between(some, near[0])) for some in blocks]
    bound = np.concatenate([np.empty(0), *bounds])
    for i in np.argsort(bound, kind="stable"):
        if bound[i] >= best:
            break
        p, dp = _one(query, rows[i], points)
        # Infinite for a twin that has no cell.
        if largest_bisector(query, rows[i], p, dp, low_c, points, duplicate) < best:
            best = min(best, _cell_distance(query, p, dp, low_c, points, near, best))
    return max(best, lower)


def _one(query, row, points):
    """(difference from the query, its square) of one point."""
    z = points.wide_rows(np.array([row]))[0] - query
    return z, z @ z
