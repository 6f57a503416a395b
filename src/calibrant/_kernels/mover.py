"""Limits of a sum from those of its two parts (the method of variance estimates recovery)."""

from typing import Any

import numpy as np

__all__ = ["minus", "multinomial_correlation", "sum_limits"]


def minus(part: Any, factor: Any = 1.0) -> tuple[Any, Any, Any]:
    """(value, low, high) of -factor times a part, for a factor of at least 0."""
    value, low, high = part
    return -factor * value, -factor * high, -factor * low


def sum_limits(first: Any, second: Any, correlation: Any = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """(low, high) of the sum of two parts, each (value, low, high), whose estimates have this correlation."""
    value = first[0] + second[0]
    ends = []
    for side, sign in ((1, -1.0), (2, 1.0)):
        a, b = np.abs(first[0] - first[side]), np.abs(second[0] - second[side])
        ends.append(value + sign * np.sqrt(np.maximum(a * a + b * b + 2.0 * correlation * a * b, 0.0)))
    return ends[0], ends[1]


def multinomial_correlation(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Correlation of two shares of one total, p + q <= 1; 0 where either is 0 or 1, as its noise is then that of its limits alone."""
    odds = p * q
    return -np.sqrt(np.divide(odds, (1.0 - p) * (1.0 - q), out=np.zeros_like(odds), where=(odds > 0.0) & (p < 1.0) & (q < 1.0)))
