"""Forecasts that keep between bounds."""

from functools import cached_property

import numpy as np

from calibrant.forecasts.bounds import Bounds
from calibrant.forecasts.forecast import Forecast
from calibrant.forecasts.normal import NormalForecast

__all__ = ["BoundedForecast"]


class BoundedForecast(Forecast):
    """The distributions of outcomes between bounds, by a forecast (n,) on the scale that has none."""

    base: Forecast
    bounds: Bounds

    def __init__(self, base: Forecast, bounds: Bounds) -> None:
        self.base, self.bounds = base, bounds
        self.shape: tuple[int, ...] = base.shape

    @cached_property
    def _moments(self):
        return self.bounds.moments_of(self.base) if isinstance(self.base, NormalForecast) else super()._moments

    def _at(self, z):
        return self.bounds.back(self.base.at(z))

    def _score(self, y):
        x = self.bounds.forward(y)
        inside = np.isfinite(x)
        return np.where(inside, self.base.score_at(np.where(inside, x, 0.0)), x)

    def _log_slope(self, y):
        x = self.bounds.forward(y)
        inside = np.isfinite(x)
        x = np.where(inside, x, 0.0)
        # Outside the support the density is 0.
        return np.where(inside, self.base.log_slope(x) + self.bounds.log_stretch(x), np.inf)

    def _pick(self, key):
        return BoundedForecast(self.base.select(key), self.bounds)
