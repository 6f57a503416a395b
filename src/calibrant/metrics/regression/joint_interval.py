"""The mean over rows of a loss of outputs together, with its interval."""

import numpy as np

from calibrant._kernels.intervals import rate_interval
from calibrant._kernels.mean_interval import limits_within, powers, unseen_ends
from calibrant.contracts.interval import Interval, require_level

__all__ = ["mean_of_losses", "share_of_rows"]


def mean_of_losses(loss: np.ndarray, weights: np.ndarray, level: float) -> Interval:
    """Weighted mean of losses from 0 up, (n,) each."""
    require_level(level)
    bounds, n = (0.0, float("inf")), weights.sum()
    sums = np.array([weights @ power for power in powers(loss)])
    return Interval.holding(sums[0] / n, limits_within(bounds, n, sums, unseen_ends(n, sums, bounds), level), level, "analytic", float(n))


def share_of_rows(held: np.ndarray, weights: np.ndarray, level: float) -> Interval:
    """Weighted share of the rows that are held, (n,) each."""
    require_level(level)
    n, hits = weights.sum(), weights @ held
    return Interval.holding(hits / n, rate_interval(hits, n, level), level, "analytic", float(n))
