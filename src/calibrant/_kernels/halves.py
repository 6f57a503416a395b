"""Two halves of rows, drawn by chance that neither the order of the rows nor the way of writing repetition changes."""

import numpy as np

__all__ = ["halves"]

#: So many rows are not written out.
MOST = 1e7


def halves(keys: np.ndarray, weight: np.ndarray, cluster: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Weights (n,), (n,) of two halves that add up to ``weight``; clusters stay whole.

    ``keys`` (n, k) tell rows apart. A row of whole weight w is w rows, of which each half gets some; a row of another weight, or among very
    many, stays whole.
    """
    order = np.lexsort(keys.T[::-1])
    if cluster is not None:
        _, first, code = np.unique(cluster[order], return_index=True, return_inverse=True)
        unit = np.empty(len(order), dtype=np.intp)
        unit[order] = np.argsort(np.argsort(first))[code]
        chosen = _chosen(len(first))[unit]
        return np.where(chosen, weight, 0.0), np.where(chosen, 0.0, weight)
    if (weight != np.round(weight)).any() or weight.sum() > MOST:
        chosen = np.empty(len(order), dtype=bool)
        chosen[order] = _chosen(len(order))
        return np.where(chosen, weight, 0.0), np.where(chosen, 0.0, weight)
    row = np.repeat(order, weight[order].astype(np.intp))
    first_half = np.bincount(row, weights=_chosen(len(row)), minlength=len(weight))
    return first_half, weight - first_half


def _chosen(n):
    """Which of n things are in the first half, of n // 2."""
    return np.random.default_rng(0).permutation(n) < n // 2
