"""Conformal intervals as a forecast: whatever the level, the ends that the calibration rows ask for."""

import numpy as np
from scipy import special

from calibrant.errors import InputError
from calibrant.forecasts.conformal_ends import ConformalEnds
from calibrant.forecasts.conformity import Conformity
from calibrant.forecasts.forecast import Forecast, require_level

__all__ = ["ConformalForecast"]


class ConformalForecast(Forecast):
    """Intervals between the outcomes whose scores are the order statistics of the calibration scores.

    ``scores`` ascend, and ``mass`` is their cumulated weight. Where both ends move together they are sizes; else they have signs, and the
    distribution is that of all one-sided intervals.
    """

    base: Forecast
    conformity: Conformity
    scores: np.ndarray
    mass: np.ndarray
    spread: float
    ends: ConformalEnds

    def __init__(
        self, base: Forecast, conformity: Conformity, scores: np.ndarray, mass: np.ndarray, spread: float, ends: ConformalEnds
    ) -> None:
        self.base, self.conformity, self.scores, self.mass, self.spread, self.ends = base, conformity, scores, mass, spread, ends
        self.shape: tuple[int, ...] = base.shape

    @property
    def mean(self) -> np.ndarray:
        """The mean of the forecast, as it was."""
        return self.base.mean

    @property
    def std(self) -> np.ndarray:
        """Root mean square of the calibration scores in units of each row: finite even where intervals are not."""
        return self.spread * self.conformity.unit(self.base)

    def _above(self, level):
        return self.ends.reach(self.scores, self.mass, level)

    def _below(self, level):
        """The same of the outcomes below: of the scores with the other sign."""
        mass = np.cumsum(np.diff(self.mass, prepend=0.0)[::-1])
        return self.ends.reach(-self.scores[::-1], mass, level)

    def _at(self, z):
        if self.ends.joint:
            reach = self._above(1.0 - 2.0 * special.ndtr(-np.abs(z)))
            # At the median itself nothing is added, even where the reach is infinite.
            signed = np.where(z == 0.0, 0.0, np.sign(z) * reach)
        else:
            above, below = self._above(special.ndtr(np.abs(z))), self._below(special.ndtr(np.abs(z)))
            middle = z == 0.0
            signed = np.where(z > 0.0, above, -below)
            signed[middle] = 0.5 * (above[middle] - below[middle])
        return np.clip(self.conformity.at(self.base, signed), *self.ends.bounds)

    def _score(self, y):
        size = self.conformity.of(self.base, y)
        if self.ends.joint:
            # As many rows as scored at most this hold it: their share is the least level whose interval does.
            level = self._count(np.abs(size) * (1.0 - 1e-12), "left") / (self.mass[-1] + 1.0)
            return np.sign(size) * special.ndtri(0.5 + 0.5 * level)
        slack, total = 1e-12 * np.abs(np.where(np.isfinite(size), size, 0.0)), self.mass[-1]
        over = self._count(size - slack, "left") / (total + 1.0)
        under = (total - self._count(size + slack, "right")) / (total + 1.0)
        return np.where(over > 0.5, special.ndtri(over), np.where(under > 0.5, -special.ndtri(under), 0.0))

    def _count(self, score, side):
        return np.append(0.0, self.mass)[np.searchsorted(self.scores, score, side=side)]

    def _log_slope(self, y):
        raise InputError("conformal intervals have no density; use intervals, coverage and widths, or another calibrator for the NLL.")

    def interval(self, level: float = 0.9) -> tuple[np.ndarray, np.ndarray]:
        """(low, high) that hold a new outcome with probability at least ``level``; infinite, with a warning, where rows are too few."""
        require_level(level, usual=0.9)
        each = self.ends.level_of_each(level)
        above = self._above(each)
        below = above if self.ends.joint else self._below(each)
        ends = self.conformity.at(self.base, np.array([-below, above]))
        return self.ends.limited(ends[..., 0], ends[..., 1], level, self.mass[-1])

    def _pick(self, key):
        return ConformalForecast(self.base.select(key), self.conformity, self.scores, self.mass, self.spread, self.ends)
