"""Conformalised quantiles as a forecast: the forecast's own intervals, widened by what the calibration rows ask for."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import special

from calibrant.errors import InputError
from calibrant.forecasts.conformal_ends import ConformalEnds
from calibrant.forecasts.forecast import Forecast

__all__ = ["ConformalQuantileForecast", "quantile_ends"]


def quantile_ends(forecast: Forecast, level: float, ends: ConformalEnds) -> tuple[np.ndarray, np.ndarray]:
    """The forecast's own quantiles that are conformalised: of its central interval, or of both one-sided ones."""
    if ends.side == "both":
        return forecast.interval(level)
    both = forecast.quantile([1.0 - level, level])
    return both[..., 0], both[..., 1]


class ConformalQuantileForecast(Forecast):
    """Intervals at the ``levels`` fitted, each end moved out by the order statistic of its scores; others are refused.

    ``scores[j]`` and ``mass[j]`` are ascending scores of level j and their cumulated weights; a pair of them, of the outcomes below and of
    those above, where each end has its own. Mean, standard deviation, CDF and draws are the base forecast's: conformal prediction says
    nothing of them.
    """

    base: Forecast
    levels: np.ndarray
    scores: Sequence[Any]
    mass: Sequence[Any]
    ends: ConformalEnds

    def __init__(self, base: Forecast, levels: np.ndarray, scores: Sequence[Any], mass: Sequence[Any], ends: ConformalEnds) -> None:
        self.base, self.levels, self.scores, self.mass, self.ends = base, levels, scores, mass, ends
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
        """(low, high) that hold a new outcome with probability at least ``level``; infinite, with a warning, where rows are too few."""
        found = np.flatnonzero(np.abs(self.levels - level) < 1e-9)
        if len(found) == 0:
            raise InputError(f"level must be one of those fitted, {self.levels.tolist()}; got {level!r}; give it to levels= and fit again.")
        scores, mass = self.scores[int(found[0])], self.mass[int(found[0])]
        pairs = [(scores, mass)] * 2 if self.ends.joint else list(zip(scores, mass, strict=True))
        below, above = (self.ends.reach(s, m, self.ends.level_of_each(level)) for s, m in pairs)
        low, high = quantile_ends(self.base, float(level), self.ends)
        if self.ends.joint:
            # A negative reach can cross the ends: then both are the middle between them.
            middle = 0.5 * (low + high)
            return self.ends.limited(np.minimum(low - below, middle), np.maximum(high + above, middle), level, mass[-1])
        return self.ends.limited(low - below, high + above, level, pairs[0][1][-1])

    def _at(self, z):
        if z.ndim > 1 or self.ends.side != "both":
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
        return ConformalQuantileForecast(self.base.select(key), self.levels, self.scores, self.mass, self.ends)
