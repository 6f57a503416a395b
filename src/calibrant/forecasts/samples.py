"""Forecasts said as samples: ensembles, Monte Carlo dropout, posterior draws."""

from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from calibrant.arrays import to_array
from calibrant.errors import InputError
from calibrant.forecasts.quantiles import QuantileForecast

__all__ = ["SampleForecast"]


class SampleForecast(QuantileForecast):
    """Distributions by independent draws from each.

    The sorted draws of a row are its quantiles at (i - 1/2) / S, joined by straight lines on the scale of normal scores; mean and standard
    deviation (ddof = 1) are those of the draws themselves.

    Parameters
    ----------
    samples : (n, s), or (n, d, s) for several outputs; at least two draws a row, not all equal

    See Also
    --------
    NormalForecast, QuantileForecast : other ways to say a distribution.

    Examples
    --------
    >>> forecast = SampleForecast([[1.0, 2.0, 4.0, 5.0]])
    >>> forecast.mean.tolist(), forecast.quantile(0.5).tolist()
    ([3.0], [3.0])
    """

    def __init__(self, samples: ArrayLike) -> None:
        samples = to_array(samples, "samples").astype(np.float64)
        if samples.ndim not in (2, 3) or samples.shape[-1] < 2:
            raise InputError(
                f"samples must be (n, s) or (n, d, s) with at least 2 draws a row; got shape {samples.shape}; one draw says nothing of the "
                "spread: pass it as the mean, with a std of your own or to a metric that needs none."
            )
        equal = (samples == samples[..., :1]).all(axis=-1)
        if equal.any():
            first = np.argwhere(equal)[0]
            raise InputError(
                f"samples must differ within a row; row {first[0]} has {samples.shape[-1]} draws of {samples[tuple(first)][0]} "
                f"({int(equal.sum())} such rows); their std is 0, which no density can have: drop these rows, or pass mean and std."
            )
        super().__init__((np.arange(samples.shape[-1]) + 0.5) / samples.shape[-1], np.sort(samples, axis=-1))

    @cached_property
    def _ends(self):
        # From the median draw: the gap between the two outermost draws says little about the tail.
        middle = 0.5 * (self.values[..., (len(self.knots) - 1) // 2] + self.values[..., len(self.knots) // 2])
        whole = (self.values[..., -1] - self.values[..., 0]) / (self.knots[-1] - self.knots[0])
        low, high = (middle - self.values[..., 0]) / -self.knots[0], (self.values[..., -1] - middle) / self.knots[-1]
        return np.where(low > 0.0, low, whole), np.where(high > 0.0, high, whole)

    @cached_property
    def _moments(self):
        return self.values.mean(axis=-1), self.values.std(axis=-1, ddof=1)

    def stretched(self, factor: ArrayLike) -> "SampleForecast":
        """The same draws with every distance from their mean multiplied by ``factor``."""
        factor = np.broadcast_to(np.asarray(factor, dtype=np.float64), self.shape)[..., None]
        return self._like(self.mean[..., None] + factor * (self.values - self.mean[..., None]))
