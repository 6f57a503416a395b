"""Coordinates in which a cheap distance never exceeds the true one, so that most rows need no true distance."""

import numpy as np

__all__ = [
    "ROUNDING", "feature_groups", "group_sums", "largest_differences", "leading_directions", "projected", "query_table", "row_table",
    "telling_features",
]  # fmt: skip

#: Share of |q|^2 + |p|^2 that float32 products of up to 200 terms cannot exceed in rounding, by the worst-case bound of a dot product.
ROUNDING = 3e-5
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
    sample = _sample(rows_at, n_rows, centre)
    basis = np.random.default_rng(0).standard_normal((n_features, n_directions))
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
    """(n, k + 2) float32 of points: -2 t and |t|^2, the latter less what rounding may add."""
    square = np.einsum("ij,ij->i", coordinates, coordinates)
    return np.column_stack([-2.0 * coordinates, (1.0 - ROUNDING) * square]).astype(np.float32)


def query_table(coordinates):
    """(m, k + 2) float32 of queries and (m,) float64 to add: the product with a point's row plus this is at most the squared distance."""
    square = np.einsum("ij,ij->i", coordinates, coordinates)
    return np.column_stack([coordinates, np.ones(len(coordinates))]).astype(np.float32), (1.0 - ROUNDING) * square


def feature_groups(rows_at, n_rows, centre, n_groups):
    """(d, g) of -1, 0 and 1: each feature in one group, with the sign that makes the group vary together.

    |sum_j s_j (a_j - b_j)| over a group is at most the group's part of the L1 distance; groups of features that rise and fall
    together keep most of it.
    """
    n_features = len(centre)
    if n_features <= n_groups:
        return None
    sample = _sample(rows_at, n_rows, centre)
    k = min(16, n_features)
    basis = np.random.default_rng(0).standard_normal((n_features, k))
    for _ in range(POWER_STEPS):
        basis = np.linalg.qr(sample.T @ (sample @ basis))[0]
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
    """(n, g) signed sums of the features of each group; the rows themselves where every feature is its own group."""
    return rows if groups is None else rows @ groups


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
