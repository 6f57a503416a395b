"""The order statistic of split conformal prediction, from scores that may stand for many rows."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["conformal_rank", "order_statistic"]


def conformal_rank(n: ArrayLike, level: ArrayLike) -> Any:
    """ceil((n + 1) level), where rounding does not push a whole number up to the next."""
    return np.ceil((np.asarray(n) + 1.0) * np.asarray(level) * (1.0 - 1e-12))


def order_statistic(scores: np.ndarray, mass: np.ndarray, level: ArrayLike) -> Any:
    """The ceil((n + 1) level)-th smallest of ascending scores, ``mass`` their cumulated numbers of rows; infinite where n is too small."""
    total = mass[-1] if len(mass) else 0.0
    position = np.searchsorted(mass, conformal_rank(total, level), side="left")
    return np.append(scores, np.inf)[position]
