"""Interval of the number of events to be expected, from the number observed."""

from typing import Any

import numpy as np
from scipy import special

from calibrant._kernels.intervals import clopper_pearson, normal_quantile

__all__ = ["event_count_limits", "poisson_limits", "stretched"]

#: Below so many events, and so many rows without one, limits are exact.
FEW = 10.0


def poisson_limits(count: Any, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
    """Exact limits of a Poisson mean from a count (which weights may make no whole number), arrays -> (low, high)."""
    count, tail = np.asarray(count, dtype=np.float64), 0.5 * (1.0 - level)
    low = np.where(count > 0.0, special.gammaincinv(np.where(count > 0.0, count, 1.0), tail), 0.0)
    return low, special.gammaincinv(count + 1.0, 1.0 - tail)


def event_count_limits(count: Any, n: Any, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
    """Limits of the expected number of events among n rows, arrays -> (low, high), never of no width.

    On the log scale, count * exp(-+ z sqrt((1 - count / n) / count)); exact Poisson below 10 events, exact binomial below 10 rows without.
    """
    count, n = np.asarray(count, dtype=np.float64), np.asarray(n, dtype=np.float64)
    rest = np.maximum(n - count, 0.0)
    many = np.maximum(count, FEW)
    factor = np.exp(normal_quantile(level) * np.sqrt(rest / np.maximum(n, FEW) / many))
    share = clopper_pearson(count, n, level)
    ends = []
    for usual, poisson, binomial in zip(
        (count / factor, count * factor), poisson_limits(np.minimum(count, FEW), level), share, strict=True
    ):
        ends.append(np.minimum(np.where(count < FEW, poisson, np.where(rest < FEW, binomial * n, usual)), n))
    return ends[0], ends[1]


def stretched(count: Any, limits: tuple[Any, Any], factor: Any) -> tuple[np.ndarray, np.ndarray]:
    """Limits so many times as far from the count, on the log scale; those of no event stay."""
    some = np.where(count > 0.0, count, 1.0)
    low, high = (np.where(count > 0.0, some * (end / some) ** factor, end) for end in limits)
    return low, high
