"""Intervals for a proportion, and percentile intervals from resampled sums."""

from typing import Any

import numpy as np
from scipy import special

__all__ = [
    "beta_interval",
    "clopper_pearson",
    "consistency",
    "inside",
    "normal_interval",
    "normal_quantile",
    "rate_interval",
    "unseen_share",
    "wilson",
]

#: Below so many of either kind the coverage of Wilson's interval falls as low as 84 %.
FEW = 10.0


def normal_quantile(level: float, freedom: Any = np.inf) -> float:
    """The z with P(|N(0, 1)| <= z) = level; of Student's t with finite ``freedom``."""
    return float(special.ndtri(0.5 + 0.5 * level) if np.isinf(freedom) else special.stdtrit(freedom, 0.5 + 0.5 * level))


def wilson(successes: Any, n: Any, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
    """Wilson score interval of successes / n, arrays -> (low, high); [0, 1] where n is 0."""
    successes, n = np.asarray(successes, dtype=np.float64), np.asarray(n, dtype=np.float64)
    z = normal_quantile(level)
    safe = np.where(n > 0, n, 1.0)
    p = successes / safe
    centre = (p + z * z / (2 * safe)) / (1 + z * z / safe)
    half = z / (1 + z * z / safe) * np.sqrt(p * (1 - p) / safe + z * z / (4 * safe * safe))
    # At no and at all successes the ends are exactly 0 and 1, which the subtraction misses by a rounding.
    low = np.where((n > 0) & (successes > 0), np.clip(centre - half, 0.0, 1.0), 0.0)
    high = np.where((n > 0) & (successes < n), np.clip(centre + half, 0.0, 1.0), 1.0)
    return low, high


def clopper_pearson(successes: Any, n: Any, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
    """Exact (Clopper-Pearson) interval of successes / n, arrays -> (low, high); [0, 1] where n is 0."""
    k, n = np.asarray(successes, dtype=np.float64), np.asarray(n, dtype=np.float64)
    tail = 0.5 * (1.0 - level)
    low = np.where(k > 0, special.betaincinv(np.maximum(k, 1e-300), np.maximum(n - k, 0) + 1, tail), 0.0)
    high = np.where(k < n, special.betaincinv(k + 1, np.maximum(n - k, 1e-300), 1.0 - tail), 1.0)
    return low, high


def rate_interval(successes: Any, n: Any, level: float = 0.95) -> tuple[Any, Any]:
    """Clopper and Pearson's interval of a rate where fewer than ten are of either kind, Wilson's elsewhere, arrays -> (low, high)."""
    few = np.minimum(successes, np.subtract(n, successes)) < FEW
    exact, score = clopper_pearson(successes, n, level), wilson(successes, n, level)
    return np.where(few, exact[0], score[0]), np.where(few, exact[1], score[1])


def normal_interval(mean: Any, variance_of_mean: Any, level: float = 0.95, freedom: Any = np.inf) -> tuple[Any, Any]:
    """mean -+ z sqrt(variance_of_mean), numbers or arrays; Student's t for z where the variance has finite degrees of freedom."""
    half = normal_quantile(level, freedom) * np.sqrt(np.maximum(variance_of_mean, 0.0))
    return mean - half, mean + half


def inside(bounds: tuple[Any, Any], limits: tuple[Any, Any]) -> tuple[Any, Any]:
    """(low, high) cut off at the bounds, numbers or arrays."""
    return np.maximum(limits[0], bounds[0]), np.minimum(limits[1], bounds[1])


def unseen_share(n: float, level: float = 0.95) -> float:
    """The largest share of rows of which n can fail to show one, at this level: the upper end of 0 of n."""
    return float(1.0 - (0.5 - 0.5 * level) ** (1.0 / max(n, 1.0)))


def beta_interval(right: Any, wrong: Any, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
    """Equal-tailed interval of a Beta(right, wrong) distribution, arrays -> (low, high)."""
    tail = 0.5 * (1.0 - level)
    return special.betaincinv(right, wrong, tail), special.betaincinv(right, wrong, 1.0 - tail)


def consistency(p: Any, n: Any, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
    """Where the share of hits among n lies with probability ``level`` (at least) if each has probability p, arrays -> (low, high)."""
    p, n = np.asarray(p, dtype=np.float64), np.asarray(n, dtype=np.float64)
    tail = 0.5 * (1.0 - level)
    inner = np.clip(p, 1e-12, 1.0 - 1e-12)

    def smallest(q: Any):
        # The least whole number with P(count <= number) >= q; below 0 the inverse has no value.
        found = np.ceil(np.nan_to_num(special.bdtrik(q, n, inner), nan=0.0) - 1e-9)
        return np.clip(np.where(n * np.log1p(-inner) >= np.log(q), 0.0, found), 0.0, n) / n

    return np.minimum(smallest(tail), p), np.maximum(smallest(1.0 - tail), p)
