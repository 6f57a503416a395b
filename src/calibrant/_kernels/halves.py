"""Two halves of rows, drawn by chance that neither the order of the rows nor the way of writing repetition changes."""

import numpy as np

__all__ = ["halves"]

#: So many rows are not written out.
MOST = 1e7


def halves(keys: np.ndarray, weight: np.ndarray, cluster: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Weights (n,), (n,) of two halves that add up to ``weight``; clusters stay whole.

    ``keys`` (n, k) tell rows apart. A row of whole weight w is w rows, of which each half gets some; a row of another weight, or among very
    many, stays whole. The draw is seeded by what the rows hold: one draw for every data set of n rows would take the same ranks of the keys
    each time, and a half of the outcomes that is chosen by their ranks is no sample of them.
    """
    order = np.lexsort(keys.T[::-1])
    whole = bool((weight == np.round(weight)).all()) and weight.sum() <= MOST
    seed = _seed(keys[order], weight[order])
    if cluster is not None:
        _, first, code = np.unique(cluster[order], return_index=True, return_inverse=True)
        unit = np.empty(len(order), dtype=np.intp)
        unit[order] = np.argsort(np.argsort(first))[code]
        chosen = _chosen(len(first), seed)[unit]
        return np.where(chosen, weight, 0.0), np.where(chosen, 0.0, weight)
    if not whole:
        chosen = np.empty(len(order), dtype=bool)
        chosen[order] = _chosen(len(order), seed)
        return np.where(chosen, weight, 0.0), np.where(chosen, 0.0, weight)
    row = np.repeat(order, weight[order].astype(np.intp))
    first_half = np.bincount(row, weights=_chosen(len(row), seed), minlength=len(weight))
    return first_half, weight - first_half


def _chosen(n, seed):
    """Which of n things are in the first half, of n // 2."""
    return np.random.default_rng(seed).permutation(n) < n // 2


def _seed(keys, weight):
    """Of each column where its mean lies between its least and its largest: the same in all units, and however repetition is written."""
    low, high = 0.5 * keys.min(axis=0), 0.5 * keys.max(axis=0)
    spread = np.where(high > low, high - low, 1.0)
    place = np.average((0.5 * keys - low) / spread, axis=0, weights=weight)
    # Coarse enough that rounding hardly ever changes it.
    return np.round(1e6 * np.nan_to_num(place)).astype(np.int64).tolist()
