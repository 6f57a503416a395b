"""Forecasts by quantiles at levels, or by samples (ensembles, Monte Carlo dropout, posterior
draws), and forecasts within the bounds of their outcomes, by a transformed scale without bounds.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import special

from calibrant._numerics.fixed_order import sum_rows
from calibrant._numerics.newton import bisected
from calibrant._numerics.normal_scores import line_moments
from calibrant.core.arrays import ArrayLike, to_array
from calibrant.core.forecast import (
    LOG_ROOT_TWO_PI,
    Forecast,
    NormalForecast,
    require_finite,
    require_positive_std,
)
from calibrant.errors import CalibrationWarning, InputError, warn

__all__ = ["BoundedForecast", "Bounds", "QuantileForecast", "SampleForecast"]


#: A tail's slope is at least this share of the slope from the first to the last quantile. Estimated
#: quantiles come close to each other by chance, and a tail from such a pair would make outcomes
#: beyond it nearly impossible. For exact quantiles of skewed distributions this costs up to 0.03
#: nats; noisy ones gain whole nats.
LEAST_TAIL = 0.5
#: Quantiles closer than this share of the distance from a row's first to its last count as tied.
TIED = 1e-3
#: Share of rows with crossing quantiles at which a warning starts.
MANY_CROSSING = 0.01


class QuantileForecast(Forecast):
    r"""Distributions by their quantiles at some levels, with linear interpolation on the scale of
    normal scores.

    .. math:: y = v_k + (v_{k+1} - v_k) \frac{z - z_k}{z_{k+1} - z_k}, \qquad z_k =
        \Phi^{-1}(\text{level}_k)

    The end lines continue beyond the outer levels, at least half as steep as the line from the
    first quantile to the last. So the tails are normal, and the quantiles of a normal distribution
    reproduce it.

    Parameters
    ----------
    levels : (k,) ascending, above 0 and below 1, at least two
    values : (n, k), or (n, d, k) for several outputs, in the units of y
        Crossing quantiles are sorted (Chernozhukov et al. 2010), with a warning if at least 1 % of
        the rows cross.

    Attributes
    ----------
    crossing : float
        Share of the rows whose quantiles crossed, and were sorted.

    Raises
    ------
    InputError
        When levels and values do not match, a value is not finite, or all quantiles of a row are
        equal.

    See Also
    --------
    NormalForecast, SampleForecast : other forms of a distribution.

    Notes
    -----
    Tied quantiles, as for outcomes that are often exactly 0, are an atom, which has no density.
    There, and wherever quantiles are closer than a thousandth of the distance from a row's first to
    its last, ``log_density`` uses the line from the next lower to the next higher quantile. So an
    atom neither dominates a log loss nor is rewarded: compare such forecasts by the CRPS, which is
    exact for them.

    References
    ----------
    Chernozhukov, Fernandez-Val and Galichon, "Quantile and probability curves without crossing",
    Econometrica 78, 2010.

    Examples
    --------
    >>> forecast = QuantileForecast([0.1, 0.5, 0.9], [[-1.0, 0.0, 2.0]])
    >>> forecast.quantile([0.1, 0.9]).round(6).tolist(), forecast.cdf([0.0]).tolist()
    ([[-1.0, 2.0]], [0.5])
    """

    def __init__(self, levels: ArrayLike, values: ArrayLike) -> None:
        self.levels: np.ndarray = _levels(levels)
        values = to_array(values, "values").astype(np.float64)
        if values.ndim not in (2, 3) or values.shape[-1] != len(self.levels) or len(values) == 0:
            raise InputError(
                f"values must be (n, k) or (n, d, k) with k = {len(self.levels)} quantiles, as"
                f" levels has; got shape {values.shape}."
            )
        require_finite(values, "values")
        self.crossing: float = float((np.diff(values, axis=-1) < 0.0).any(axis=-1).mean())
        if self.crossing >= MANY_CROSSING:
            warn(
                f"in {100.0 * self.crossing:.0f} % of the rows the quantiles cross, and are"
                " sorted: the model is less informative than it seems; check the order of levels"
                " and columns, and the model.",
                CalibrationWarning,
            )
        self._set(np.sort(values, axis=-1))
        require_positive_std(
            self.values[..., -1] - self.values[..., 0],
            "the distance between a row's first and last quantile",
        )

    def _set(self, values: np.ndarray) -> None:
        self.values: np.ndarray = values
        self.knots: np.ndarray = special.ndtri(self.levels)
        self.shape: tuple[int, ...] = values.shape[:-1]

    def _like(self, values: np.ndarray) -> Any:
        out = object.__new__(type(self))
        out.levels, out.crossing = self.levels, self.crossing
        out._set(values)
        return out

    @cached_property
    def _ends(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the slopes of the two tails: those of the outermost lines, but not far below the
        overall slope.
        """
        whole = (self.values[..., -1] - self.values[..., 0]) / (self.knots[-1] - self.knots[0])
        low = (self.values[..., 1] - self.values[..., 0]) / (self.knots[1] - self.knots[0])
        high = (self.values[..., -1] - self.values[..., -2]) / (self.knots[-1] - self.knots[-2])
        return np.maximum(low, LEAST_TAIL * whole), np.maximum(high, LEAST_TAIL * whole)

    @cached_property
    def _moments(self) -> tuple[np.ndarray, np.ndarray]:
        # The integral of the lines has a closed form.
        mean, variance = line_moments(self.knots, self.values, *self._ends)
        return mean, np.sqrt(variance)

    def _at(self, z: np.ndarray) -> np.ndarray:
        z = np.broadcast_to(z, (*self.shape, z.shape[-1]))
        k = np.clip(np.searchsorted(self.knots, z), 1, len(self.knots) - 1)
        start, end = (
            np.take_along_axis(self.values, k - 1, -1),
            np.take_along_axis(self.values, k, -1),
        )
        inner = start + (end - start) * (z - self.knots[k - 1]) / (
            self.knots[k] - self.knots[k - 1]
        )
        low = self.values[..., :1] + self._ends[0][..., None] * (z - self.knots[0])
        high = self.values[..., -1:] + self._ends[1][..., None] * (z - self.knots[-1])
        return np.where(z < self.knots[0], low, np.where(z > self.knots[-1], high, inner))

    def _lines(
        self, y: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return (number of knots below y, number at or below y, start of the line that holds y,
        its slope).
        """
        below, upto = (
            (self.values < y[..., None]).sum(axis=-1),
            (self.values <= y[..., None]).sum(axis=-1),
        )
        k = np.clip(upto, 1, len(self.knots) - 1)
        start = np.take_along_axis(self.values, k[..., None] - 1, -1)[..., 0]
        end = np.take_along_axis(self.values, k[..., None], -1)[..., 0]
        return below, upto, k, start, (end - start) / (self.knots[k] - self.knots[k - 1])

    def _score(self, y: np.ndarray) -> np.ndarray:
        below, upto, k, start, slope = self._lines(y)
        inner = self.knots[k - 1] + np.divide(
            y - start, slope, out=np.zeros(self.shape), where=slope > 0.0
        )
        last = len(self.knots) - 1
        # At knots, several of which may share a value, it is the middle of their scores.
        tied = 0.5 * (self.knots[np.minimum(below, last)] + self.knots[np.maximum(upto, 1) - 1])
        low = self.knots[0] + (y - self.values[..., 0]) / self._ends[0]
        high = self.knots[-1] + (y - self.values[..., -1]) / self._ends[1]
        out = np.where(upto > below, tied, inner)
        return np.where(upto == 0, low, np.where(below == last + 1, high, out))

    def _log_slope(self, y: np.ndarray) -> np.ndarray:
        below, upto, _, _, slope = self._lines(y)
        slope = np.where(
            upto == 0, self._ends[0], np.where(below == len(self.knots), self._ends[1], slope)
        )
        return np.log(
            np.where((upto > 0) & (below < len(self.knots)), self._untied(y, slope), slope)
        )

    def _untied(self, y: np.ndarray, slope: np.ndarray) -> np.ndarray:
        """Return the slope at y; where quantiles are tied, that of the line from the next lower to
        the next higher one.
        """
        near = TIED * (self.values[..., -1] - self.values[..., 0])
        first, beyond = (
            (self.values < (y - near)[..., None]).sum(axis=-1),
            (self.values <= (y + near)[..., None]).sum(axis=-1),
        )
        start, end = np.maximum(first - 1, 0), np.minimum(beyond, len(self.knots) - 1)
        rise = np.take_along_axis(self.values, end[..., None], -1) - np.take_along_axis(
            self.values, start[..., None], -1
        )
        return np.where(
            beyond - first > 1,
            rise[..., 0]
            / np.maximum(self.knots[end] - self.knots[start], np.finfo(np.float64).tiny),
            slope,
        )

    def _pick(self, key: Any) -> "QuantileForecast":
        return self._like(self.values[key])

    def joined(self, others: Sequence["QuantileForecast"]) -> "QuantileForecast":
        """Return these rows followed by those of other forecasts at the same levels."""
        if any(
            len(f.levels) != len(self.levels) or (f.levels != self.levels).any() for f in others
        ):
            raise InputError("forecasts of quantiles must have the same levels in every fold.")
        return self._like(np.concatenate([f.values for f in (self, *others)]))

    def stretched(self, factor: ArrayLike) -> "QuantileForecast":
        """Return the distributions with every distance from the mean multiplied by ``factor``."""
        factor = np.broadcast_to(np.asarray(factor, dtype=np.float64), self.shape)[..., None]
        return QuantileForecast._like(
            self, self.mean[..., None] + factor * (self.values - self.mean[..., None])
        )


def _levels(levels: Any) -> np.ndarray:
    out = to_array(levels, "levels").astype(np.float64)
    if out.ndim > 1:
        raise InputError(
            f"levels must be (k,); got shape {out.shape}; levels and values look swapped: pass"
            " QuantileForecast(levels, values)."
        )
    if (
        out.ndim != 1
        or len(out) < 2
        or not ((out > 0.0) & (out < 1.0)).all()
        or not (np.diff(out) > 0.0).all()
    ):
        raise InputError(
            f"levels must be at least two ascending numbers above 0 and below 1; got {levels!r}."
        )
    return out


class SampleForecast(QuantileForecast):
    """Distributions by independent draws from each.

    The sorted draws of a row are its quantiles at (i - 1/2) / S, with linear interpolation on the
    scale of normal scores; mean and standard deviation (ddof = 1) are those of the draws.

    Parameters
    ----------
    samples : (n, s), or (n, d, s) for several outputs; at least two draws a row, not all equal

    See Also
    --------
    NormalForecast, QuantileForecast : other forms of a distribution.

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
                "samples must be (n, s) or (n, d, s) with at least 2 draws a row; got shape"
                f" {samples.shape}; one draw does not show the spread: pass it as the mean, with a"
                " std of your own or to a metric that needs none."
            )
        equal = (samples == samples[..., :1]).all(axis=-1)
        if equal.any():
            first = np.argwhere(equal)[0]
            raise InputError(
                f"samples must differ within a row; row {first[0]} has {samples.shape[-1]} draws of"
                f" {samples[tuple(first)][0]} ({int(equal.sum())} in all); their std is 0, which"
                " no density can have: drop these rows, or pass mean and std."
            )
        super().__init__(
            (np.arange(samples.shape[-1]) + 0.5) / samples.shape[-1], np.sort(samples, axis=-1)
        )

    @cached_property
    def _ends(self) -> tuple[np.ndarray, np.ndarray]:
        # From the median draw, because the gap between the two outermost draws is a poor guide to
        # the tail.
        middle = 0.5 * (
            self.values[..., (len(self.knots) - 1) // 2] + self.values[..., len(self.knots) // 2]
        )
        whole = (self.values[..., -1] - self.values[..., 0]) / (self.knots[-1] - self.knots[0])
        low, high = (
            (middle - self.values[..., 0]) / -self.knots[0],
            (self.values[..., -1] - middle) / self.knots[-1],
        )
        return np.where(low > 0.0, low, whole), np.where(high > 0.0, high, whole)

    @cached_property
    def _moments(self) -> tuple[np.ndarray, np.ndarray]:
        return self.values.mean(axis=-1), self.values.std(axis=-1, ddof=1)

    def stretched(self, factor: ArrayLike) -> "SampleForecast":
        """Return the same draws with every distance from their mean multiplied by ``factor``."""
        factor = np.broadcast_to(np.asarray(factor, dtype=np.float64), self.shape)[..., None]
        return self._like(self.mean[..., None] + factor * (self.values - self.mean[..., None]))


# -- Bounded outcomes ------------------------------------------------------------------------------

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
                f"{name} must be {rule}; row {row} is {seen} ({int(out.sum())} in all); correct"
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
                " in all); pass quantiles or samples within the bounds."
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
