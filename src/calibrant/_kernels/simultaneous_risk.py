"""Limits that hold the whole risk-coverage curve at once."""

import numpy as np

from calibrant._kernels.intervals import clopper_pearson

__all__ = ["simultaneous_limits"]

#: Numbers of rows, named beforehand, whose exact intervals share the failure probability; between them the curve is taken to rise.
POINTS = 24


def simultaneous_limits(covered: np.ndarray, wrong: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray]:
    """(low, high) of the error rates among the rows down to each distinct score, (m,) each, from sums of weights from the highest.

    Given the score of the next row, the errors above it are binomial; the rates are taken to rise as more rows are kept.
    """
    counts = np.geomspace(1.0, covered[-1], POINTS)
    places = np.unique(np.minimum(np.searchsorted(covered, counts - 1e-9), len(covered) - 1))
    low, high = clopper_pearson(wrong[places], covered[places], 1.0 - (1.0 - level) / len(counts))
    low, high = np.maximum.accumulate(low), np.minimum.accumulate(high[::-1])[::-1]
    at = np.arange(len(covered))
    before = np.searchsorted(places, at, side="right")
    return np.append(0.0, low)[before], high[np.searchsorted(places, at, side="left")]
