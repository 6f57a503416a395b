"""Sums over pairs of rows of k(P_i, P_j) times the product of their gaps, in blocks."""

import numpy as np

__all__ = ["distances", "kernel_row_sums", "median_distance"]

BLOCK_ENTRIES, QUANTILES = 4_000_000, 500


def distances(A, B):
    """Euclidean distances between the rows of A and of B, (a, b)."""
    squares = (A * A).sum(axis=1)[:, None] + (B * B).sum(axis=1) - 2.0 * A @ B.T
    return np.sqrt(np.maximum(squares, 0.0))


def median_distance(P, weight):
    """Median distance between 500 quantiles of the rows in lexicographic order (weights mean repetition); 1 where that is 0."""
    order = np.lexsort(P.T[::-1])
    total = np.cumsum(weight[order])
    rows = order[np.searchsorted(total, (np.arange(QUANTILES) + 0.5) / QUANTILES * total[-1])]
    found = float(np.median(distances(P[rows], P[rows])[np.triu_indices(QUANTILES, 1)]))
    return found if found > 1e-6 else 1.0


def kernel_row_sums(P, gaps, weight, bandwidth):
    """(sum_j w_j h_ij, sum_j w_j h_ij^2) for each row i, h_ij = exp(-|P_i - P_j| / bandwidth) gaps_i . gaps_j, each (n,)."""
    n = len(P)
    sums, squares = np.empty(n), np.empty(n)
    step = max(1, BLOCK_ENTRIES // n)
    for start in range(0, n, step):
        rows = slice(start, start + step)
        h = np.exp(distances(P[rows], P) / -bandwidth) * (gaps[rows] @ gaps.T)
        # The distance of a row to itself is 0, not the rounding of the expanded square.
        own = np.arange(start, min(start + step, n))
        h[own - start, own] = np.einsum("nk,nk->n", gaps[rows], gaps[rows])
        sums[rows], squares[rows] = h @ weight, (h * h) @ weight
    return sums, squares
