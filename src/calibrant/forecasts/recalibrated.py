"""A forecast seen through a recalibration of its normal scores."""

from functools import cached_property

import numpy as np

from calibrant._kernels.normal_scores import interpolate, invert, line_moments
from calibrant.forecasts.forecast import Forecast, quadrature_moments
from calibrant.forecasts.normal import NormalForecast

__all__ = ["RecalibratedForecast"]


class RecalibratedForecast(Forecast):
    """The forecast at g(Z), Z standard normal: its CDF is R(F(y)) with R = Phi o g^-1 o Phi^-1, for g increasing and piecewise linear.

    For a normal forecast mean and variance of g(Z) are the same two numbers for every row, in closed form.
    """

    base: Forecast
    knots: np.ndarray
    values: np.ndarray
    slopes: np.ndarray

    def __init__(self, base: Forecast, knots: np.ndarray, values: np.ndarray, slopes: np.ndarray) -> None:
        self.base, self.knots, self.values, self.slopes = base, knots, values, slopes
        self.shape: tuple[int, ...] = base.shape

    @cached_property
    def _moments(self):
        if isinstance(self.base, NormalForecast):
            mean, variance = line_moments(self.knots, self.values, *np.asarray(self.slopes))
            return self.base.mean + mean * self.base.std, np.sqrt(variance) * self.base.std
        return quadrature_moments(lambda z, rows: self.take(rows).at(z), self.shape)

    @property
    def mean(self) -> np.ndarray:
        """Mean of each recalibrated distribution, both tails counted."""
        return self._moments[0]

    @property
    def std(self) -> np.ndarray:
        """Standard deviation of each recalibrated distribution, both tails counted."""
        return self._moments[1]

    def _at(self, z):
        return self.base.at(interpolate(z, self.knots, self.values, self.slopes)[0])

    def _score(self, y):
        return invert(self.base.score_at(y), self.knots, self.values, self.slopes)

    def _log_slope(self, y):
        slope = interpolate(self._score(y), self.knots, self.values, self.slopes)[1]
        return self.base.log_slope(y) + np.log(slope)

    def _pick(self, key):
        return RecalibratedForecast(self.base.select(key), self.knots, self.values, self.slopes)
