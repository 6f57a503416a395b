"""Forecasts said as a frozen distribution of scipy.stats."""

from functools import cached_property
from typing import Any

import numpy as np
from scipy import special

from calibrant.errors import InputError
from calibrant.forecasts.forecast import LOG_ROOT_TWO_PI, Forecast

__all__ = ["FrozenForecast"]


class FrozenForecast(Forecast):
    """Distributions by a frozen continuous distribution of ``scipy.stats`` whose parameters are arrays over the rows."""

    def __init__(self, frozen: Any) -> None:
        if not all(hasattr(frozen, name) for name in ("dist", "args", "kwds", "ppf", "logpdf")):
            raise InputError(f"a scipy forecast must be a frozen continuous distribution; got {type(frozen).__name__}.")
        self.frozen: Any = frozen
        self.shape: tuple[int, ...] = np.broadcast_shapes(*(np.shape(a) for a in (*frozen.args, *frozen.kwds.values())))
        if len(self.shape) not in (1, 2):
            raise InputError(f"the parameters of a scipy forecast must be (n,) or (n, d); got shape {self.shape}.")

    @cached_property
    def mean(self) -> np.ndarray:
        """Mean of each distribution; it may not exist."""
        return np.broadcast_to(np.asarray(self.frozen.mean(), dtype=np.float64), self.shape)

    @cached_property
    def std(self) -> np.ndarray:
        """Standard deviation of each distribution; it may not exist."""
        return np.broadcast_to(np.asarray(self.frozen.std(), dtype=np.float64), self.shape)

    def _at(self, z):
        z = np.broadcast_to(z, (*self.shape, z.shape[-1]))
        # Last axis first, which is how the parameters broadcast; each half by the tail that keeps its digits.
        z = np.moveaxis(z, -1, 0)
        out = np.where(z < 0.0, self.frozen.ppf(special.ndtr(np.minimum(z, 0.0))), self.frozen.isf(special.ndtr(-np.maximum(z, 0.0))))
        return np.moveaxis(out, 0, -1)

    def _score(self, y):
        with np.errstate(divide="ignore"):
            low, high = self.frozen.logcdf(y), self.frozen.logsf(y)
        return np.where(low < high, special.ndtri_exp(low), -special.ndtri_exp(high))

    def _log_slope(self, y):
        z, density = self._score(y), self.frozen.logpdf(y)
        with np.errstate(invalid="ignore"):
            # Outside the support z is infinite and the density 0.
            return np.where(np.isneginf(density), np.inf, -0.5 * z * z - LOG_ROOT_TWO_PI - density)

    def _pick(self, key):
        def pick(a):
            return np.broadcast_to(np.asarray(a), self.shape)[key]

        kwds = {name: pick(a) for name, a in self.frozen.kwds.items()}
        return FrozenForecast(self.frozen.dist(*(pick(a) for a in self.frozen.args), **kwds))
