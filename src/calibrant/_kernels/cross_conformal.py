"""Order statistics of each row's own scores, and what the folds of a cross-conformal method cost its promise."""

import numpy as np

from calibrant._kernels.order_statistic import ROUNDING, conformal_rank

__all__ = ["plus_promise", "row_statistics"]


def row_statistics(values: np.ndarray, weight: np.ndarray, level: float) -> np.ndarray:
    """(m,) the least value of each row of (m, n) with (n + 1) level of the weight at or below it, n all the weight; infinite where none."""
    total = weight.sum()
    if (weight == 1.0).all():
        rank = int(conformal_rank(len(weight), level))
        return np.partition(values, rank - 1, axis=1)[:, rank - 1] if rank <= len(weight) else np.full(len(values), np.inf)
    order = np.argsort(values, axis=1)
    mass = np.cumsum(weight[order], axis=1)
    # The sum of all weights is never short of itself by rounding.
    mass[:, -1] = total
    reached = mass >= (total + 1.0) * level * (1.0 - ROUNDING)
    found = np.take_along_axis(values, np.take_along_axis(order, reached.argmax(axis=1)[:, None], 1), 1)[:, 0]
    return np.where(reached.any(axis=1), found, np.inf)


def plus_promise(level: float, sizes: np.ndarray) -> float:
    """The coverage that jackknife+ (folds of one) or CV+ promises at a level, from the numbers of rows in each fold.

    1 - 2 alpha, less 2 (1 - 1/m) / (n/m + 1) of m folds, or less (1 - m/n) / (m + 1) where that is smaller and the folds are equal.
    """
    m, n = len(sizes), float(np.sum(sizes))
    extra = 2.0 * (m - 1.0) / (n + m)
    if (sizes == sizes[0]).all():
        extra = min(extra, (1.0 - m / n) / (m + 1.0))
    return max(0.0, 2.0 * level - 1.0 - extra)
