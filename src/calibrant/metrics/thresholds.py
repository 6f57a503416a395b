"""The thresholds at which decisions are looked at: those given, or a grid that suits the rate of the event."""

from typing import Any

import numpy as np

from calibrant._kernels.thresholds import RARE
from calibrant.arrays import to_array
from calibrant.errors import InputError

__all__ = ["curve_thresholds", "read_thresholds", "table_thresholds"]

TABLE = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99)


def read_thresholds(thresholds: Any) -> np.ndarray:
    """(T,) float64 from numbers of at least 0 and below 1: at 1 a false positive would cost without bound."""
    found = np.atleast_1d(to_array(thresholds, "thresholds")).astype(np.float64)
    if found.ndim != 1 or not len(found) or not ((found >= 0.0) & (found < 1.0)).all():
        raise InputError(f"thresholds must be numbers of at least 0 and below 1; got {thresholds!r}.")
    return found


def curve_thresholds(rate: float) -> np.ndarray:
    """(100,) hundredths from 0 on; where the event is rare, equal steps of the logarithm about its rate."""
    return np.arange(100) / 100 if rate >= RARE or rate <= 0.0 else np.geomspace(0.1 * rate, 0.99, 100)


def table_thresholds(rate: float) -> np.ndarray:
    """A grid of round numbers short enough to read; where the event is rare, 1, 2 and 5 of each decade from below its rate to 0.5."""
    if rate >= RARE or rate <= 0.0:
        return np.array(TABLE)
    decades = np.arange(np.floor(np.log10(rate)) - 1.0, 0.0)
    return np.round(np.multiply.outer(10.0**decades, [1.0, 2.0, 5.0]).ravel(), 12)
