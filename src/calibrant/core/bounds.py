"""Transformed scale without bounds for bounded outcomes, and forecasts within the bounds."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import special

from calibrant._numerics.fixed_order import sum_rows
from calibrant._numerics.newton import bisected
from calibrant.core.forecast import LOG_ROOT_TWO_PI, Forecast
from calibrant.core.normal import NormalForecast
from calibrant.core.quantiles import QuantileForecast, SampleForecast
from calibrant.errors import InputError

__all__ = ["BoundedForecast", "Bounds"]

#: Nodes of the integral of a variance, and bisections of its inversion.
NODES, HALVINGS = 24, 60


@dataclass(frozen=True)
class Bounds:
    """Transformation of bounded outcomes: the logarithm of the distance to ``lower`` or to
    ``upper`` (reversed), or the normal score between both.
    """

    lower: float | None
    upper: float | None

    @property
    def width(self) -> float:
        """The distance between the bounds, if there are two."""
        return float(self.upper or 0.0) - float(self.lower or 0.0)

    def forward(self, y: np.ndarray) -> np.ndarray:
        """Transform to the scale without bounds; infinite at a bound and beyond it."""
        with np.errstate(divide="ignore"):
            if self.upper is None:
                return np.log(np.maximum(y - self.lower, 0.0))
            if self.lower is None:
                return -np.log(np.maximum(self.upper - y, 0.0))
            low, high = (
                np.clip(gap / self.width, 0.0, 1.0) for gap in (y - self.lower, self.upper - y)
            )
            return np.where(low < 0.5, special.ndtri(low), -special.ndtri(high))

    def back(self, x: np.ndarray) -> np.ndarray:
        """Transform back from the scale without bounds."""
        with np.errstate(over="ignore"):
            if self.upper is None:
                return self.lower + np.exp(x)
            if self.lower is None:
                return self.upper - np.exp(-x)
        return np.where(
            x < 0.0,
            self.lower + self.width * special.ndtr(x),
            self.upper - self.width * special.ndtr(-x),
        )

    def log_stretch(self, x: np.ndarray) -> np.ndarray:
        """Return log dy/dx at x."""
        if self.upper is None:
            return x
        if self.lower is None:
            return -x
        return np.log(self.width) - 0.5 * x * x - LOG_ROOT_TWO_PI

    def require_inside(self, values: np.ndarray, name: str) -> None:
        """Raise InputError that names the first row with a value that is not within the bounds."""
        with np.errstate(invalid="ignore"):
            out = ~np.isfinite(self.forward(values)).reshape(len(values), -1).all(axis=1)
        if out.any():
            row = int(np.flatnonzero(out)[0])
            rule = " and ".join(
                f"{side} {at:g}"
                for side, at in (("above", self.lower), ("below", self.upper))
                if at is not None
            )
            seen = np.array2string(np.asarray(values[row]), precision=4, threshold=8)
            raise InputError(
                f"{name} must be {rule}; row {row} is {seen} ({int(out.sum())} such rows); correct"
                " the bounds, or drop these rows."
            )

    def normal_of(self, mean: np.ndarray, std: np.ndarray) -> NormalForecast:
        """Return the normal forecast on the transformed scale with this mean and std on the
        original one, (n,) each.
        """
        self.require_inside(mean, "the mean")
        if self.upper is None or self.lower is None:
            gap = mean - self.lower if self.upper is None else self.upper - mean
            variance = np.log1p(np.square(std / gap))
            centre = np.log(gap) - 0.5 * variance
            return NormalForecast(centre if self.upper is None else -centre, np.sqrt(variance))
        height = self.forward(mean)
        share = np.square(std / self.width)
        widest = np.full_like(mean, 0.4999 * np.pi)
        too_wide = ~(share < _variance(height, widest))
        if too_wide.any():
            row = int(np.flatnonzero(too_wide)[0])
            raise InputError(
                f"std must be possible for a distribution from {self.lower:g} to {self.upper:g};"
                f" row {row} has {std[row]:.4g} with mean {mean[row]:.4g} ({int(too_wide.sum())}"
                " such rows); pass quantiles or samples within the bounds."
            )
        low, high = bisected(
            lambda angle: _variance(height, angle) < share, np.zeros_like(mean), widest, HALVINGS
        )
        rho = np.sin(0.5 * (low + high))
        return NormalForecast(height / np.sqrt(1.0 - rho), np.sqrt(rho / (1.0 - rho)))

    def moments_of(self, normal: NormalForecast) -> tuple[np.ndarray, np.ndarray]:
        """Return mean and std on the original scale of a normal forecast on the transformed one."""
        m, s = normal.mean, normal.std
        if self.upper is None or self.lower is None:
            with np.errstate(over="ignore"):
                gap = np.exp((m if self.upper is None else -m) + 0.5 * s * s)
                return self.lower + gap if self.upper is None else self.upper - gap, gap * np.sqrt(
                    np.expm1(s * s)
                )
        height = m / np.sqrt(1.0 + s * s)
        return self.back(height), self.width * np.sqrt(
            _variance(height, np.arcsin(s * s / (1.0 + s * s)))
        )

    def opened(self, forecast: Forecast) -> Forecast:
        """Return a forecast of bounded outcomes, (n,), on the transformed scale."""
        if isinstance(forecast, NormalForecast):
            return self.normal_of(forecast.mean, forecast.std)
        if isinstance(forecast, QuantileForecast):
            self.require_inside(forecast.values, "the quantiles or draws")
            values: Any = self.forward(forecast.values)
            return (
                SampleForecast(values)
                if isinstance(forecast, SampleForecast)
                else QuantileForecast(forecast.levels, values)
            )
        raise InputError(
            "a forecast of bounded outcomes must be mean and std, quantiles, or samples; got"
            f" {type(forecast).__name__}; pass its quantiles as QuantileForecast(levels, values)."
        )


def _variance(height: np.ndarray, angle: np.ndarray) -> np.ndarray:
    """Return the variance of Phi(X), X normal, with mean Phi(height); the sine of the angle is the
    correlation of two such (Plackett).
    """
    x, w = np.polynomial.legendre.leggauss(NODES)
    sine = np.sin(0.5 * angle[..., None] * (x + 1.0))
    return (
        angle * sum_rows(np.exp(-np.square(height)[..., None] / (1.0 + sine)) * w) / (4.0 * np.pi)
    )


class BoundedForecast(Forecast):
    """Forecast of bounded outcomes, from a forecast (n,) on the scale without bounds."""

    base: Forecast
    bounds: Bounds

    def __init__(self, base: Forecast, bounds: Bounds) -> None:
        self.base, self.bounds = base, bounds
        self.shape: tuple[int, ...] = base.shape

    @cached_property
    def _moments(self) -> tuple[np.ndarray, np.ndarray]:
        return (
            self.bounds.moments_of(self.base)
            if isinstance(self.base, NormalForecast)
            else super()._moments
        )

    def _at(self, z: np.ndarray) -> np.ndarray:
        return self.bounds.back(self.base.at(z))

    def _score(self, y: np.ndarray) -> np.ndarray:
        x = self.bounds.forward(y)
        inside = np.isfinite(x)
        return np.where(inside, self.base.score_at(np.where(inside, x, 0.0)), x)

    def _log_slope(self, y: np.ndarray) -> np.ndarray:
        x = self.bounds.forward(y)
        inside = np.isfinite(x)
        x = np.where(inside, x, 0.0)
        # Outside the support the density is 0.
        return np.where(inside, self.base.log_slope(x) + self.bounds.log_stretch(x), np.inf)

    def _pick(self, key: Any) -> "BoundedForecast":
        return BoundedForecast(self.base.select(key), self.bounds)
