"""Conformal intervals as a forecast: whatever the level, the ends that the calibration rows ask for."""

from typing import Any

import numpy as np
from scipy import special

from calibrant._kernels.order_statistic import order_statistic
from calibrant.errors import InputError
from calibrant.forecasts.forecast import Forecast

__all__ = ["ConformalForecast"]


class ConformalForecast(Forecast):
    """Central intervals mean -+ unit times the order statistic of |y - mean| / unit; ``mass`` is the cumulated weight of the scores."""

    base: Forecast
    unit: np.ndarray
    scores: np.ndarray
    mass: np.ndarray
    spread: Any

    def __init__(self, base: Forecast, unit: np.ndarray, scores: np.ndarray, mass: np.ndarray, spread: Any) -> None:
        self.base, self.unit, self.scores, self.mass, self.spread = base, unit, scores, mass, spread
        self.shape: tuple[int, ...] = base.shape

    @property
    def mean(self) -> np.ndarray:
        """The mean of the forecast, the centre of the intervals."""
        return self.base.mean

    @property
    def std(self) -> np.ndarray:
        """Root mean square of the calibration scores in units of each row: finite even where intervals are not."""
        return self.spread * self.unit

    def _at(self, z):
        level = 1.0 - 2.0 * special.ndtr(-np.abs(z))
        reach = order_statistic(self.scores, self.mass, level)
        # At the median itself nothing is added, even where the reach is infinite.
        signed = np.where(z == 0.0, 0.0, np.sign(z) * reach)
        return self.mean[..., None] + self.unit[..., None] * signed

    def _score(self, y):
        # As many rows as scored at most this hold it: their share is the least level whose interval does.
        size = (y - self.mean) / self.unit
        count = np.append(0.0, self.mass)[np.searchsorted(self.scores, np.abs(size) * (1.0 - 1e-12), side="left")]
        level = count / (self.mass[-1] + 1.0)
        return np.sign(size) * special.ndtri(0.5 + 0.5 * level)

    def _log_slope(self, y):
        raise InputError("conformal intervals have no density; use intervals, coverage and widths, or another calibrator for the NLL.")

    def interval(self, level: float = 0.9) -> tuple[np.ndarray, np.ndarray]:
        """(low, high) that hold a new outcome with probability at least ``level``; infinite where the calibration rows are too few."""
        if not (isinstance(level, float | int) and 0.0 < level < 1.0):
            raise InputError(f"level must be between 0 and 1; got {level!r}; 0.9 is usual.")
        reach = order_statistic(self.scores, self.mass, level) * self.unit
        return self.mean - reach, self.mean + reach

    def _pick(self, key):
        return ConformalForecast(self.base.select(key), self.unit[key], self.scores, self.mass, self.spread)
