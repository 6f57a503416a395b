"""Conformalised quantiles as a forecast: the forecast's own intervals, widened by what the calibration rows ask for."""

from collections.abc import Sequence

import numpy as np
from scipy import special

from calibrant._kernels.order_statistic import order_statistic
from calibrant.errors import InputError
from calibrant.forecasts.forecast import Forecast

__all__ = ["ConformalQuantileForecast"]


class ConformalQuantileForecast(Forecast):
    """Central intervals at the ``levels`` fitted, each moved out by the order statistic of its own scores; others are refused.

    Mean, standard deviation, CDF and draws are the base forecast's: conformal prediction says nothing of them.
    """

    base: Forecast
    levels: np.ndarray
    scores: Sequence[np.ndarray]
    mass: Sequence[np.ndarray]

    def __init__(self, base: Forecast, levels: np.ndarray, scores: Sequence[np.ndarray], mass: Sequence[np.ndarray]) -> None:
        self.base, self.levels, self.scores, self.mass = base, levels, scores, mass
        self.shape: tuple[int, ...] = base.shape

    @property
    def mean(self) -> np.ndarray:
        """The mean of the forecast, as it was."""
        return self.base.mean

    @property
    def std(self) -> np.ndarray:
        """The standard deviation of the forecast, as it was."""
        return self.base.std

    def interval(self, level: float = 0.9) -> tuple[np.ndarray, np.ndarray]:
        """(low, high) that hold a new outcome with probability at least ``level``; infinite where the calibration rows are too few."""
        found = np.flatnonzero(np.abs(self.levels - level) < 1e-9)
        if len(found) == 0:
            raise InputError(f"level must be one of those fitted, {self.levels.tolist()}; got {level!r}; give it to levels= and fit again.")
        j = int(found[0])
        reach = order_statistic(self.scores[j], self.mass[j], level)
        low, high = self.base.interval(float(level))
        if np.isinf(reach):
            return np.full(self.shape, -np.inf), np.full(self.shape, np.inf)
        # A negative reach can cross the ends: then both are the middle between them.
        middle = 0.5 * (low + high)
        return np.minimum(low - reach, middle), np.maximum(high + reach, middle)

    def _at(self, z):
        if z.ndim > 1:
            return self.base.at(z)
        out = []
        for each in z:
            low, high = self.interval(float(1.0 - 2.0 * special.ndtr(-abs(each)))) if each else (self.base.quantile(0.5),) * 2
            out.append(low if each < 0.0 else high)
        return np.stack(out, axis=-1)

    def _score(self, y):
        return self.base.score_at(y)

    def _log_slope(self, y):
        return self.base.log_slope(y)

    def _pick(self, key):
        return ConformalQuantileForecast(self.base.select(key), self.levels, self.scores, self.mass)
