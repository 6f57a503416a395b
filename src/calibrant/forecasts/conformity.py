"""How strange an outcome is under a forecast, and which outcome is so strange: scores that need no level."""

from abc import ABC, abstractmethod

import numpy as np

from calibrant.forecasts.forecast import Forecast

__all__ = ["CONFORMITY", "Conformity"]


class Conformity(ABC):
    """A signed score that rises with the outcome, 0 at the centre of the forecast, and its inverse."""

    @abstractmethod
    def of(self, forecast: Forecast, y: np.ndarray) -> np.ndarray:
        """The signed score of outcomes of the forecast's shape."""

    @abstractmethod
    def at(self, forecast: Forecast, score: np.ndarray) -> np.ndarray:
        """The outcomes of these scores, (m,) or shape + (m,): shape + (m,); infinite where the score is."""

    @abstractmethod
    def unit(self, forecast: Forecast) -> np.ndarray:
        """What one unit of the score is in units of y, about."""


class _Distance(Conformity):
    """(y - mean) / unit."""

    def of(self, forecast: Forecast, y: np.ndarray) -> np.ndarray:
        return (y - forecast.mean) / self.unit(forecast)

    def at(self, forecast: Forecast, score: np.ndarray) -> np.ndarray:
        return forecast.mean[..., None] + self.unit(forecast)[..., None] * score


class _Absolute(_Distance):
    def unit(self, forecast: Forecast) -> np.ndarray:
        return np.ones(forecast.shape)


class _Scaled(_Distance):
    def unit(self, forecast: Forecast) -> np.ndarray:
        return forecast.std


class _Distributional(Conformity):
    """The normal score of the outcome: its size orders rows as |PIT - 1/2| does, and keeps the tails that a PIT rounds to 0 or 1."""

    def of(self, forecast: Forecast, y: np.ndarray) -> np.ndarray:
        return forecast.score_at(y)

    def at(self, forecast: Forecast, score: np.ndarray) -> np.ndarray:
        finite = np.isfinite(score)
        return np.where(finite, forecast.at(np.where(finite, score, 0.0)), score)

    def unit(self, forecast: Forecast) -> np.ndarray:
        return forecast.std


#: By the name that ``ConformalIntervals(score=)`` knows them by.
CONFORMITY: dict[str, Conformity] = {"scaled": _Scaled(), "absolute": _Absolute(), "distributional": _Distributional()}
