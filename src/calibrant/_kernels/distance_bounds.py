"""Coordinates in which a cheap distance never exceeds the true one, so that most rows need no true distance."""

import numpy as np

__all__ = [
    "feature_groups", "group_sums", "largest_differences", "leading_directions", "projected", "query_table", "row_table", "sums_room",
    "telling_features",
]  # fmt: skip

SINGLE, DOUBLE = np.finfo(np.float32), np.finfo(np.float64)
#: At least this share of |q|^2 + |p|^2 is left to rounding: float64 puts the product of two norms left no farther off, to 10^6 features.
ROUNDING = 3e-5
#: Coordinates of queries farther than this are past what single precision squares, and all points are as far from them.
FAR = 2.0**60
SAMPLE_ROWS = 4_096
#: And no more numbers than this (128 MiB), however wide the rows, but for a few hundred rows.
SAMPLE_NUMBERS, FEWEST_ROWS = 2**24, 256
POWER_STEPS = 3
CLUSTER_STEPS = 10


def _sample(rows_at, n_rows, centre):
    """Evenly spaced rows as float64, centred."""
    wanted = min(SAMPLE_ROWS, max(FEWEST_ROWS, SAMPLE_NUMBERS // len(centre)))
    sample = rows_at(np.arange(0, n_rows, max(1, n_rows // wanted)))
    sample -= centre
    return sample


def leading_directions(rows_at, n_rows, centre, n_directions):
    """(d, k) orthonormal columns near the leading principal axes, or None where there are no more features than that.

    Any orthonormal columns give valid bounds; leading axes give sharp ones.
    """
    n_features = len(centre)
    if n_features <= n_directions:
        return None
    return _leading(_sample(rows_at, n_rows, centre), n_directions)


def _leading(sample, k):
    """(d, k) orthonormal columns near the leading principal axes of a centred sample, by power iteration."""
    basis = np.random.default_rng(0).standard_normal((sample.shape[1], k))
    for _ in range(POWER_STEPS):
        basis = np.linalg.qr(sample.T @ (sample @ basis))[0]
    return basis


def projected(rows, centre, basis, scale):
    """(n, k + 1) coordinates along the basis and the norm of what is left, in units of ``scale``."""
    centred = (rows - centre) / scale
    if basis is None:
        return centred
    along = centred @ basis
    left = np.einsum("ij,ij->i", centred, centred) - np.einsum("ij,ij->i", along, along)
    return np.column_stack([along, np.sqrt(np.maximum(left, 0.0))])


def row_table(coordinates):
    """(n, k + 2) float32 of points, whose coordinates are at most 1: -2 t and |t|^2, the latter less what rounding may add."""
    square = np.einsum("ij,ij->i", coordinates, coordinates)
    return np.column_stack([-2.0 * coordinates, (1.0 - _share(coordinates)) * square]).astype(np.float32)


def query_table(coordinates):
    """(m, k + 2) float32 of queries and (m,) float64 to add: the product with a point's row plus this is at most the squared distance."""
    square = np.einsum("ij,ij->i", coordinates, coordinates)
    far = ~(square < FAR**2)
    if far.any():
        # |p|^2 alone, which is at most 1, is a bound.
        coordinates, square = np.where(far[:, None], 0.0, coordinates), np.where(far, 0.0, square)
    least = 2.0 * (coordinates.shape[1] + 8) * float(SINGLE.tiny)
    table = np.column_stack([coordinates, np.ones(len(coordinates))]).astype(np.float32)
    return table, (1.0 - _share(coordinates)) * square - least


def _share(coordinates):
    """Share of |q|^2 + |p|^2 that rounding of float32 products cannot exceed, by the worst-case bound of a dot product."""
    return max(ROUNDING, (coordinates.shape[1] + 8) * float(SINGLE.eps))


def feature_groups(rows_at, n_rows, centre, n_groups):
    """(d, g) of -1, 0 and 1: each feature in one group, with the sign that makes the group vary together.

    |sum_j s_j (a_j - b_j)| over a group is at most the group's part of the L1 distance; groups of features that rise and fall
    together keep most of it.
    """
    n_features = len(centre)
    if n_features <= n_groups:
        return None
    sample = _sample(rows_at, n_rows, centre)
    basis = _leading(sample, min(16, n_features))
    loading = basis * np.linalg.norm(sample @ basis, axis=0)
    sign = np.where(loading[np.arange(n_features), np.abs(loading).argmax(axis=1)] < 0.0, -1.0, 1.0)
    group = _clustered(loading * sign[:, None], n_groups) if loading.any() else np.arange(n_features) % n_groups
    out = np.zeros((n_features, n_groups))
    out[np.arange(n_features), group] = sign
    return out[:, np.abs(out).any(axis=0)]


def _clustered(points, n_clusters):
    """(n,) cluster of each point after some steps of k-means from evenly spaced points; a cluster may be left empty."""
    centres = points[np.linspace(0, len(points) - 1, n_clusters).astype(int)]
    for _ in range(CLUSTER_STEPS):
        cluster = ((centres**2).sum(axis=1) - 2.0 * (points @ centres.T)).argmin(axis=1)
        size = np.bincount(cluster, minlength=n_clusters)
        total = np.zeros_like(centres)
        np.add.at(total, cluster, points)
        centres = np.where(size[:, None] > 0, total / np.maximum(size, 1)[:, None], centres)
    return cluster


def group_sums(rows, groups):
    """(n, g) signed sums of the features of each group of centred rows; the rows themselves where every feature is its own group."""
    return rows if groups is None else rows @ groups


def sums_room(n_features):
    """Share of |q|_1 + |p|_1 by which the L1 distance of float64 group sums of q and p may exceed their computed L1 distance.

    With u half the spacing of floats at 1 and g <= d groups: each sum is off by (d + 1) u of its terms' magnitudes, the sum over groups by
    (g + 1) u of its value, the distance itself by (d + 1) u: (3 d + 3) u together, where the distance is no more than |q|_1 + |p|_1.
    This is a third more, for terms of higher order.
    """
    return (2 * n_features + 8) * float(DOUBLE.eps)


def telling_features(rows_at, n_rows, centre, n_columns):
    """(g,) the features that together see most of the L-infinity distance between rows far apart in order, found one after another."""
    n_features = len(centre)
    if n_features <= n_columns:
        return np.arange(n_features)
    sample = _sample(rows_at, n_rows, centre)
    half = len(sample) // 2
    apart = np.abs(sample[:half] - sample[half : 2 * half])
    seen, out = np.zeros((half, 1)), np.empty(n_columns, dtype=np.int64)
    for i in range(n_columns):
        gain = np.maximum(apart, seen).sum(axis=0)
        gain[out[:i]] = -1.0
        out[i] = gain.argmax()
        seen = np.maximum(seen, apart[:, out[i], None])
    return out


def largest_differences(queries, table):
    """(m, n) max over features of |q - p|, for (m, g) queries and points as columns, (g, n)."""
    out, apart = np.zeros((len(queries), table.shape[1])), np.empty(table.shape[1])
    for query, most in zip(queries, out, strict=True):
        for value, column in zip(query, table, strict=True):
            np.subtract(column, value, out=apart)
            np.abs(apart, out=apart)
            np.maximum(most, apart, out=most)
    return out
