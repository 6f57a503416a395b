"""Sums over pairs of rows of k(P_i, P_j) times the product of their gaps, in blocks."""

from typing import Any

import numpy as np

__all__ = ["distances", "kernel_row_sums", "median_distance", "null_statistics"]

BLOCK_ENTRIES, QUANTILES = 4_000_000, 500
DRAWS_AT_ONCE = 4_000_000


def distances(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Euclidean distances between the rows of A and of B, (a, b)."""
    squares = (A * A).sum(axis=1)[:, None] + (B * B).sum(axis=1) - 2.0 * A @ B.T
    return np.sqrt(np.maximum(squares, 0.0))


def median_distance(P: np.ndarray, weight: np.ndarray) -> float:
    """Median distance between 500 quantiles of the rows in lexicographic order (weights mean
    repetition); 1 where that is 0.
    """
    order = np.lexsort(P.T[::-1])
    total = np.cumsum(weight[order])
    rows = order[np.searchsorted(total, (np.arange(QUANTILES) + 0.5) / QUANTILES * total[-1])]
    found = float(np.median(distances(P[rows], P[rows])[np.triu_indices(QUANTILES, 1)]))
    return found if found > 1e-6 else 1.0


def kernel_row_sums(
    P: np.ndarray, gaps: np.ndarray, weight: np.ndarray, bandwidth: float
) -> tuple[np.ndarray, np.ndarray]:
    """(sum_j w_j h_ij, sum_j w_j h_ij^2) for each row i, h_ij = exp(-|P_i - P_j| / bandwidth)
    gaps_i . gaps_j, each (n,).
    """
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


def null_statistics(kernel: np.ndarray, P: np.ndarray, n_draws: int, rng: Any) -> np.ndarray:
    """sum_ij K_ij r_i . r_j with labels drawn from P, (n_draws,), for a kernel of zero diagonal (n,
    n).

    With r = e_y - P it is e'Ke - 2 e'KP + P'KP, so only e changes.
    """
    n, n_classes = P.shape
    smoothed = kernel @ P
    constant = float(np.einsum("nk,nk->", smoothed, P))
    edges = np.cumsum(P, axis=1)[:, :-1]
    out, rows = np.empty(n_draws), np.arange(n)
    step = max(1, DRAWS_AT_ONCE // (n * n_classes))
    for start in range(0, n_draws, step):
        count = min(step, n_draws - start)
        drawn = (rng.random((count, n, 1)) > edges).sum(axis=2)
        hot = np.zeros((n, count, n_classes))
        hot[rows, np.arange(count)[:, None], drawn] = 1.0
        product = (kernel @ hot.reshape(n, -1)).reshape(hot.shape)
        quadratic = np.einsum("nck,nck->c", product, hot)
        out[start : start + count] = quadratic - 2.0 * smoothed[rows, drawn].sum(axis=1) + constant
    return out
