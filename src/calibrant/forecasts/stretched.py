"""Any forecast with its distances from the mean stretched."""

import numpy as np

from calibrant.forecasts.forecast import Forecast

__all__ = ["StretchedForecast"]


class StretchedForecast(Forecast):
    """Y' = mean + factor (Y - mean), a factor a row."""

    base: Forecast
    factor: np.ndarray

    def __init__(self, base: Forecast, factor: np.ndarray) -> None:
        self.base, self.factor = base, factor
        self.shape: tuple[int, ...] = base.shape

    @property
    def mean(self) -> np.ndarray:
        """Mean of each distribution: that of the forecast stretched."""
        return self.base.mean

    @property
    def std(self) -> np.ndarray:
        """Standard deviation of each distribution."""
        return self.factor * self.base.std

    def _back(self, y):
        return self.mean + (y - self.mean) / self.factor

    def _at(self, z):
        mean = self.mean[..., None]
        return mean + self.factor[..., None] * (self.base.at(z) - mean)

    def _score(self, y):
        return self.base.score_at(self._back(y))

    def _log_slope(self, y):
        return np.log(self.factor) + self.base.log_slope(self._back(y))

    def _pick(self, key):
        return StretchedForecast(self.base.select(key), self.factor[key])
