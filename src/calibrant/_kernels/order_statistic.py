"""The order statistic of split conformal prediction, from scores that may stand for many rows."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["conformal_rank", "cumulated", "order_statistic", "rows_needed", "shares"]

#: What rounding may add to a whole number.
ROUNDING = 1e-12


def conformal_rank(n: ArrayLike, level: ArrayLike) -> Any:
    """ceil((n + 1) level), where rounding does not push a whole number up to the next."""
    return np.ceil((np.asarray(n) + 1.0) * np.asarray(level) * (1.0 - ROUNDING))


def rows_needed(level: float) -> int:
    """The smallest n whose rank at the level is one of the n scores."""
    return max(1, int(np.ceil(level / (1.0 - level) * (1.0 - 1e3 * ROUNDING))))


def order_statistic(scores: np.ndarray, mass: np.ndarray, level: ArrayLike, *, shares: bool = False) -> Any:
    """The ceil((n + 1) level)-th smallest of ascending scores, ``mass`` their cumulated numbers of rows; infinite where n is too small.

    With ``shares`` the masses are parts of clusters, n of them, and the least score is taken that has (n + 1) level of it at or below.
    """
    total = mass[-1] if len(mass) else 0.0
    rank = (total + 1.0) * np.asarray(level) * (1.0 - ROUNDING) if shares else conformal_rank(total, level)
    position = np.searchsorted(mass, rank, side="left")
    return np.append(scores, np.inf)[position]


def cumulated(scores: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(distinct scores, ascending; the weight of all rows at or below each)."""
    values, inverse = np.unique(scores, return_inverse=True)
    return values, np.cumsum(np.bincount(inverse, weights=weight))


def shares(weight: np.ndarray, cluster: np.ndarray | None) -> np.ndarray:
    """What each row adds to the mass of its score: its weight, or its share of its cluster, (n,) numbers from 0."""
    return weight if cluster is None else weight / np.bincount(cluster, weights=weight)[cluster]
