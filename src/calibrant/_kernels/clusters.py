"""Rows that hang together: what they are worth, and how the variance of a sum follows from the clusters'."""

import numpy as np
from scipy import special

from calibrant._kernels.intervals import normal_quantile

__all__ = ["expanded_level", "shrinkage", "variance_of_sum"]


def variance_of_sum(deviations: np.ndarray, cluster: np.ndarray) -> tuple[float, float]:
    """(cluster-robust variance (CR1) of the sum of the deviations (n,) from their mean, its degrees of freedom: clusters less one)."""
    sums = np.bincount(cluster, weights=deviations)
    sums = sums[np.bincount(cluster, minlength=len(sums)) > 0]
    return float(sums @ sums) * len(sums) / (len(sums) - 1.0), len(sums) - 1.0


def shrinkage(deviations: np.ndarray, weight: np.ndarray, cluster: np.ndarray, level: float) -> float:
    """By what the number of rows is to be multiplied, at most 1, for an interval of independent rows to be one of clusters.

    ``deviations`` (n,) are what each row, as often as it counts, moves the number by. It is the inverse of the design effect, times
    (z / t)^2 with as many degrees of freedom as clusters less one (Korn and Graubard). Where no row moves it, a cluster counts as one row
    of the mean size: nothing is known of how alike its rows are.
    """
    n = weight.sum()
    alone = float(deviations @ (deviations / weight)) * n / max(n - 1.0, 1.0)
    together, freedom = variance_of_sum(deviations, cluster)
    mass = np.bincount(cluster, weights=weight)
    effect = together / alone if alone > 0.0 else float(mass @ mass) / n
    return (normal_quantile(level) / normal_quantile(level, freedom)) ** 2 / max(effect, 1.0)


def expanded_level(level: float, freedom: float) -> float:
    """The level at which to take percentiles of a bootstrap of few clusters for ``level``: wider as Student's t is (Hesterberg)."""
    stretch = np.sqrt((freedom + 1.0) / freedom) * normal_quantile(level, freedom)
    return float(2.0 * special.ndtr(stretch) - 1.0)
