"""A forecast seen through a recalibration of its normal scores."""

from functools import cached_property

import numpy as np

from calibrant._kernels.normal_scores import interpolate, invert, line_moments
from calibrant.forecasts.forecast import Forecast
from calibrant.forecasts.normal import NormalForecast

__all__ = ["RecalibratedForecast"]


class RecalibratedForecast(Forecast):
    """The forecast at a + s g(Z), Z standard normal, g increasing and piecewise linear, a and s of each row (0 and 1 if not given).

    With a = 0 and s = 1 its CDF is R(F(y)), R = Phi o g^-1 o Phi^-1. For a normal forecast mean and variance are in closed form.
    """

    base: Forecast
    knots: np.ndarray
    values: np.ndarray
    slopes: np.ndarray
    shift: np.ndarray | None
    factor: np.ndarray | None

    def __init__(
        self, base: Forecast, knots: np.ndarray, values: np.ndarray, slopes: np.ndarray, shift: np.ndarray | None = None,
        factor: np.ndarray | None = None,
    ) -> None:  # fmt: skip
        if isinstance(base, NormalForecast) and shift is not None:
            # A normal one takes them in: its moments stay in closed form.
            base, shift, factor = base.rescored(shift, factor), None, None
        self.base, self.knots, self.values, self.slopes, self.shift, self.factor = base, knots, values, slopes, shift, factor
        self.shape: tuple[int, ...] = base.shape

    @cached_property
    def _moments(self):
        if isinstance(self.base, NormalForecast):
            mean, variance = line_moments(self.knots, self.values, *np.asarray(self.slopes))
            return self.base.mean + mean * self.base.std, np.sqrt(variance) * self.base.std
        return super()._moments

    def _at(self, z):
        g = interpolate(z, self.knots, self.values, self.slopes)[0]
        return self.base.at(g if self.shift is None else self.shift[..., None] + self.factor[..., None] * g)

    def _score(self, y):
        score = self.base.score_at(y)
        return invert(score if self.shift is None else (score - self.shift) / self.factor, self.knots, self.values, self.slopes)

    def _log_slope(self, y):
        slope = np.log(interpolate(self._score(y), self.knots, self.values, self.slopes)[1])
        return self.base.log_slope(y) + (slope if self.factor is None else slope + np.log(self.factor))

    def _pick(self, key):
        affine = (None, None) if self.shift is None else (self.shift[key], self.factor[key])
        return RecalibratedForecast(self.base.select(key), self.knots, self.values, self.slopes, *affine)
