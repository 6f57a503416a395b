"""Exact binomial tests of a rate: what so few errors among so many rows prove, and how many rows a proof takes."""

import math
from typing import Any

import numpy as np
from scipy import special

__all__ = ["allowed_errors", "binomial_p_value", "fewest_rows", "rows_for_rate"]

#: Above so many rows the normal approximation is taken, which then is exact to a percent.
MANY_ROWS = 1e5


def binomial_p_value(errors: Any, n: Any, risk: float) -> np.ndarray:
    """P(Bin(n, risk) <= errors), arrays: how likely so few errors are at a rate of ``risk``."""
    errors, n = np.asarray(errors, dtype=np.float64), np.asarray(n, dtype=np.float64)
    return np.where(errors < n, special.betainc(np.maximum(n - errors, 1e-300), errors + 1.0, 1.0 - risk), 1.0)


def fewest_rows(risk: float, delta: float) -> int:
    """The least number of rows that prove a rate of at most ``risk`` where none is an error.

    Examples
    --------
    >>> fewest_rows(0.05, 0.05), fewest_rows(0.5, 0.5)
    (59, 1)
    """
    return max(math.ceil(math.log(delta) / math.log1p(-risk) - 1e-9), 1)


def allowed_errors(n: int, risk: float, delta: float) -> int:
    """The most errors among n rows that prove a rate of at most ``risk``; -1 where even none do not.

    Examples
    --------
    >>> [allowed_errors(n, 0.05, 0.05) for n in (58, 59, 100, 200, 500, 1000)]
    [-1, 0, 1, 4, 16, 38]
    """
    low, high = -1, n
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if float(binomial_p_value(middle, n, risk)) <= delta else (low, middle)
    return low


def rows_for_rate(rate: float, risk: float, delta: float) -> float:
    """The least n with P(Bin(n, risk) <= floor(rate n)) <= delta; infinite where ``rate`` is not below ``risk``.

    Examples
    --------
    >>> rows_for_rate(0.0, 0.05, 0.05), rows_for_rate(0.03, 0.05, 0.05), rows_for_rate(0.05, 0.05, 0.05)
    (59.0, 260.0, inf)
    """
    if rate >= risk:
        return math.inf
    about = risk * (1.0 - risk) * (float(special.ndtri(delta)) / (risk - rate)) ** 2
    if rate > 0.0 and about > MANY_ROWS:
        return math.ceil(about)
    start, count = 0.0, 64.0
    while True:
        errors = start + np.arange(count)
        n = _rows_with(errors, risk, delta)
        fits = np.flatnonzero(np.floor(rate * n + 1e-9) <= errors)
        if len(fits):
            return float(n[fits[0]])
        start, count = start + count, 2.0 * count


def _rows_with(errors: np.ndarray, risk: float, delta: float) -> np.ndarray:
    """The least n at which so many errors still prove it, whole numbers (m,)."""
    low, high = errors, np.full_like(errors, 16.0) + 8.0 * (errors + 4.0 - math.log(delta)) / risk
    while (high - low > 1.0).any():
        middle = np.floor(0.5 * (low + high))
        proved = binomial_p_value(errors, middle, risk) <= delta
        low, high = np.where(proved, low, middle), np.where(proved, middle, high)
    return high
