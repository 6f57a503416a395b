"""Interval of an area under the ROC curve, never of no width."""

from typing import Any

import numpy as np
from scipy import special

from calibrant._kernels.intervals import normal_interval

__all__ = ["auroc_limits"]

#: Weight of the row whose placement is anything from 0 to 1 that is joined to either side.
UNKNOWN = 0.5


def auroc_limits(first: tuple[np.ndarray, np.ndarray], second: tuple[np.ndarray, np.ndarray], level: float) -> tuple[float, float]:
    """(low, high) from (placements, weights) of the rows of either side: the share of the other side that each beats, or is beaten by.

    DeLong's variance on the scale of the log-odds. Placements that are all 1 have no variance: half a row of any placement on either side
    gives them one, as the half successes of Jeffreys' interval do; few rows of either side have Student's t. Of sides that are apart the
    limit is exact: were the area less, so many rows of the smaller side would be on their side with a chance of (1 - level) / 2 at most.
    """
    apart = [np.concatenate([first[0], second[0]]) == end for end in (1.0, 0.0)]
    if any(one.all() for one in apart):
        away = (0.5 - 0.5 * level) ** (1.0 / min(first[1].sum(), second[1].sum()))
        return (away, 1.0) if apart[0].all() else (0.0, 1.0 - away)
    (one, one_variance, size), (other, other_variance, rest) = _joined(*first), _joined(*second)
    # Either side's mean is the area; the half row pulls that of the smaller side more, whose placements say least.
    area = float(np.clip(one if size <= rest else other, 1e-12, 1.0 - 1e-12))
    variance = (one_variance + other_variance) / (area * (1.0 - area)) ** 2
    low, high = normal_interval(np.log(area / (1.0 - area)), variance, level, min(size, rest))
    return float(special.expit(low)), float(special.expit(high))


def _joined(placement: np.ndarray, weight: np.ndarray) -> Any:
    """(mean, variance of the mean, size) with the row of which nothing is known."""
    n = weight.sum() + UNKNOWN
    mean = (weight @ placement + 0.5 * UNKNOWN) / n
    square = weight @ (placement - mean) ** 2 + UNKNOWN * ((0.5 - mean) ** 2 + 1.0 / 12.0)
    return mean, square / n / max(n - 1.0, UNKNOWN), n
