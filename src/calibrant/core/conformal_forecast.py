"""Forecasts made of others: the mean of several of the same rows, quantile by quantile, and
conformal intervals with their scores, their ends and any level that the calibration rows allow.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from scipy import special

from calibrant._numerics.conformal import order_statistic, rows_needed
from calibrant.core.forecast import Forecast, NormalForecast, require_level
from calibrant.errors import InputError, SparseDataWarning, warn

__all__ = [
    "CONFORMITY",
    "AveragedForecast",
    "ConformalEnds",
    "ConformalForecast",
    "ConformalQuantileForecast",
    "Conformity",
    "averaged",
    "quantile_ends",
]


MAX_STEPS, TOLERANCE = 80, 1e-12
#: Limit of normal scores, which is beyond a probability of 1e-300; slopes with a larger logarithm
#: count as infinite.
FARTHEST, LARGEST_LOG = 37.0, 300.0


class AveragedForecast(Forecast):
    r"""Forecast with quantiles :math:`\sum_j w_j F_j^{-1}(q)`, where weights sum to 1: the average
    of several forecasts, no wider than they are.

    A linear pool of the distributions would be wider than each. Means are averaged likewise;
    densities follow from the quantiles.
    """

    members: list[Forecast]
    weights: np.ndarray

    def __init__(self, members: Sequence[Forecast], weights: np.ndarray) -> None:
        self.members, self.weights = list(members), np.asarray(weights, dtype=np.float64)
        self.shape: tuple[int, ...] = self.members[0].shape

    def _mix(self, each: Any) -> np.ndarray:
        return np.add.reduce(
            [weight * values for weight, values in zip(self.weights, each, strict=True)]
        )

    @property
    def mean(self) -> np.ndarray:
        """Mean of each distribution: that of the members' means."""
        return self._mix(m.mean for m in self.members)

    def _at(self, z: np.ndarray) -> np.ndarray:
        return self._mix(m.at(z) for m in self.members)

    def about(self, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the average origin and the values less it."""
        origins, values = zip(*(m.about(z) for m in self.members), strict=True)
        return self._mix(origins), self._mix(values)

    def _score(self, y: np.ndarray) -> np.ndarray:
        # The members' scores of y enclose that of their average.
        scores = np.clip(np.stack([m.score_at(y) for m in self.members]), -FARTHEST, FARTHEST)
        low, high = scores.min(axis=0), scores.max(axis=0)
        slopes = self.weights.reshape(-1, *[1] * y.ndim) * np.stack(
            [_slope(m, y) for m in self.members]
        )
        # For normal members this is exact.
        z = np.clip((slopes * scores).sum(axis=0) / slopes.sum(axis=0), low, high)
        done = np.zeros(z.shape, dtype=bool)
        for _ in range(MAX_STEPS):
            values = [m.at(z[..., None])[..., 0] for m in self.members]
            gap = self._mix(values) - y
            low, high = np.where(gap <= 0.0, z, low), np.where(gap >= 0.0, z, high)
            step = z - gap / self._mix(
                _slope(m, v) for m, v in zip(self.members, values, strict=True)
            )
            step = np.where((step >= low) & (step <= high), step, 0.5 * (low + high))
            # A converged row stays, so that it does not depend on the iterations of the others.
            step = np.where(done, z, step)
            done = np.abs(step - z) <= TOLERANCE * np.maximum(1.0, np.abs(z))
            z = step
            if done.all():
                break
        return z

    def _log_slope(self, y: np.ndarray) -> np.ndarray:
        z = self._score(y)[..., None]
        return np.log(self._mix(_slope(m, m.at(z)[..., 0]) for m in self.members))

    def _pick(self, key: Any) -> "AveragedForecast":
        return AveragedForecast([m.select(key) for m in self.members], self.weights)


def _slope(member: Any, y: np.ndarray) -> np.ndarray:
    """Return dy/dz, or 1 where the member has no density."""
    log_slope = member.log_slope(y)
    return np.exp(np.where(np.abs(log_slope) < LARGEST_LOG, log_slope, 0.0))


def averaged(members: Sequence[Forecast], weights: np.ndarray) -> Forecast:
    """Return one member itself; for normal ones, the normal with their mean mean and mean std; else
    an :class:`AveragedForecast`.

    Examples
    --------
    >>> from calibrant.core.forecast import NormalForecast
    >>> averaged(
    ...     [NormalForecast([0.0], [1.0]), NormalForecast([2.0], [3.0])], np.array([0.5, 0.5])
    ... ).std.tolist()
    [2.0]
    """
    if len(members) == 1:
        return members[0]
    normal = [m for m in members if isinstance(m, NormalForecast)]
    if len(normal) == len(members):
        return normal[0].averaged(normal[1:], weights)
    return AveragedForecast(members, weights)


# -- Conformal intervals ---------------------------------------------------------------------------


class Conformity(ABC):
    """Signed score that increases with the outcome and is 0 at the centre of the forecast, with its
    inverse.
    """

    @abstractmethod
    def of(self, forecast: Forecast, y: np.ndarray) -> np.ndarray:
        """Return the signed scores of outcomes, in the forecast's shape."""

    @abstractmethod
    def at(self, forecast: Forecast, score: np.ndarray) -> np.ndarray:
        """Return the outcomes of these scores, (m,) or shape + (m,), as shape + (m,); infinite
        where the score is.
        """

    @abstractmethod
    def unit(self, forecast: Forecast) -> np.ndarray:
        """Return the approximate size of one unit of the score in units of y."""


class _Distance(Conformity):
    """Score (y - mean) / unit."""

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
    """Normal score of the outcome. Its size orders rows as |PIT - 1/2| does, and keeps the tails
    that a PIT rounds to 0 or 1.
    """

    def of(self, forecast: Forecast, y: np.ndarray) -> np.ndarray:
        return forecast.score_at(y)

    def at(self, forecast: Forecast, score: np.ndarray) -> np.ndarray:
        finite = np.isfinite(score)
        return np.where(finite, forecast.at(np.where(finite, score, 0.0)), score)

    def unit(self, forecast: Forecast) -> np.ndarray:
        return forecast.std


#: Conformity scores by their name in ``ConformalIntervals(score=)``.
CONFORMITY: dict[str, Conformity] = {
    "scaled": _Scaled(),
    "absolute": _Absolute(),
    "distributional": _Distributional(),
}


@dataclass(frozen=True)
class ConformalEnds:
    """Ends of all intervals of one fit.

    Attributes
    ----------
    side : {"both", "lower", "upper"}
        The end that is finite; the other is the bound.
    symmetric : whether one order statistic moves both ends, or each has its own.
    bounds : (low, high), limits of any outcome.
    unit : {"rows", "clusters"}
        Unit of the masses of the scores.
    own : (n,) weights of the rows, where the masses are sampling weights, or None
    """

    side: Literal["both", "lower", "upper"] = "both"
    symmetric: bool = True
    bounds: tuple[float, float] = (-np.inf, np.inf)
    unit: Literal["rows", "clusters"] = "rows"
    own: np.ndarray | None = None

    def of(self, rows: Any) -> "ConformalEnds":
        """Return the ends of some rows."""
        return self if self.own is None else replace(self, own=self.own[rows])

    @property
    def over(self) -> str:
        """The population that the coverage is an average over."""
        return (
            "new rows" if self.unit == "rows" else "one row, drawn at random, of each new cluster"
        )

    def require_within(self, y: np.ndarray | None) -> None:
        """Raise InputError for invalid bounds, or an outcome beyond them."""
        if not (len(self.bounds) == 2 and self.bounds[0] < self.bounds[1]):
            raise InputError(
                f"bounds must be (low, high), the low one below the high one; got {self.bounds!r}."
            )
        if y is not None and ((y < self.bounds[0]) | (y > self.bounds[1])).any():
            raise InputError(
                f"outcomes must lie within bounds, {self.bounds!r}; y goes from {y.min():g} to"
                f" {y.max():g}; correct one of them."
            )

    @property
    def joint(self) -> bool:
        """Whether one order statistic moves both ends."""
        return self.symmetric and self.side == "both"

    def level_of_each(self, level: float) -> float:
        """Return the level of one end's order statistic; two separate ends share the
        miscoverage.
        """
        return 0.5 + 0.5 * level if self.side == "both" and not self.symmetric else level

    def reach(self, scores: np.ndarray, mass: np.ndarray, level: np.ndarray | float) -> np.ndarray:
        """Return the order statistic of ascending scores at the level of one end: one for all rows,
        or one for each (and level) where rows have weights.
        """
        own = 1.0 if self.own is None else self.own
        if self.own is not None and np.ndim(level):
            own = self.own[:, None]
        shares = self.unit == "clusters" or self.own is not None
        return order_statistic(scores, mass, level, shares=shares, new_mass=own)

    def limited(
        self, low: np.ndarray, high: np.ndarray, level: float, n: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the interval with its ends, within the bounds; it warns where an end is infinite
        because rows are too few.
        """
        low, high = np.array(low), np.array(high)
        if self.side == "upper":
            low[...] = -np.inf
        elif self.side == "lower":
            high[...] = np.inf
        else:
            # Ends that cross are both set to their midpoint.
            crossed = low > high
            low[crossed] = high[crossed] = 0.5 * (low[crossed] + high[crossed])
        low, high = np.clip(low, *self.bounds), np.clip(high, *self.bounds)
        self._say_infinite(low, high, level, n)
        return low, high

    def _say_infinite(self, low: np.ndarray, high: np.ndarray, level: float, n: float) -> None:
        asked = [
            end for end, side in ((low, "lower"), (high, "upper")) if self.side in ("both", side)
        ]
        endless = np.any([np.isinf(end) for end in asked], axis=0)
        if self.own is not None and endless.any():
            warn(
                f"{endless.sum():,} of {len(endless):,} rows have so large a weight that no"
                f" calibration scores bound their interval at level {level:g}; pass bounds=(low,"
                " high) of all outcomes, or use a lower level.",
                SparseDataWarning,
            )
        elif endless.any():
            needed = rows_needed(self.level_of_each(level))
            warn(
                f"level {level:g} needs {needed:,} calibration {self.unit}; got {n:,.0f}, so an"
                " end is infinite; measure more of them, use a lower level, or pass bounds=(low,"
                " high) of all outcomes.",
                SparseDataWarning,
            )


class ConformalForecast(Forecast):
    """Conformal intervals between the outcomes at order statistics of the calibration scores.

    ``scores`` ascend, and ``mass`` is their cumulative weight. If both ends move together scores
    are unsigned; otherwise they are signed, and the distribution consists of all one-sided
    intervals.
    """

    base: Forecast
    conformity: Conformity
    scores: np.ndarray
    mass: np.ndarray
    spread: float
    ends: ConformalEnds

    def __init__(
        self,
        base: Forecast,
        conformity: Conformity,
        scores: np.ndarray,
        mass: np.ndarray,
        spread: float,
        ends: ConformalEnds,
    ) -> None:
        self.base, self.conformity, self.scores, self.mass, self.spread, self.ends = (
            base,
            conformity,
            scores,
            mass,
            spread,
            ends,
        )
        self.shape: tuple[int, ...] = base.shape

    @property
    def mean(self) -> np.ndarray:
        """Mean of the forecast, unchanged."""
        return self.base.mean

    @property
    def std(self) -> np.ndarray:
        """Root mean square of the calibration scores in units of each row; it is finite even if
        intervals are not.
        """
        return self.spread * self.conformity.unit(self.base)

    def _above(self, level: float) -> Any:
        return self.ends.reach(self.scores, self.mass, level)

    def _below(self, level: float) -> Any:
        """Return the same for the outcomes below, from the scores with the opposite sign."""
        mass = np.cumsum(np.diff(self.mass, prepend=0.0)[::-1])
        return self.ends.reach(-self.scores[::-1], mass, level)

    def _at(self, z: Any) -> Any:
        if self.ends.joint:
            reach = self._above(1.0 - 2.0 * special.ndtr(-np.abs(z)))
            # At the median nothing is added, even if the reach is infinite.
            signed = np.where(z == 0.0, 0.0, np.sign(z) * reach)
        else:
            above, below = (
                self._above(special.ndtr(np.abs(z))),
                self._below(special.ndtr(np.abs(z))),
            )
            middle = z == 0.0
            with np.errstate(invalid="ignore"):
                signed = np.where(middle, 0.5 * (above - below), np.where(z > 0.0, above, -below))
        return np.clip(self.conformity.at(self.base, signed), *self.ends.bounds)

    def _score(self, y: np.ndarray) -> np.ndarray:
        size = self.conformity.of(self.base, y)
        total = self.mass[-1] + (1.0 if self.ends.own is None else self.ends.own)
        if self.ends.joint:
            # The share of rows with at most this score is the lowest level whose interval holds it.
            level = self._count(np.abs(size) * (1.0 - 1e-12), "left") / total
            return np.sign(size) * special.ndtri(0.5 + 0.5 * level)
        slack = 1e-12 * np.abs(np.where(np.isfinite(size), size, 0.0))
        over = self._count(size - slack, "left") / total
        under = (self.mass[-1] - self._count(size + slack, "right")) / total
        return np.where(
            over > 0.5, special.ndtri(over), np.where(under > 0.5, -special.ndtri(under), 0.0)
        )

    def _count(self, score: Any, side: Any) -> Any:
        return np.append(0.0, self.mass)[np.searchsorted(self.scores, score, side=side)]

    def _log_slope(self, y: np.ndarray):
        raise InputError(
            "conformal intervals have no density; use intervals, coverage and widths, or another"
            " calibrator for the NLL."
        )

    def interval(self, level: float = 0.9) -> tuple[np.ndarray, np.ndarray]:
        """Return (low, high) that hold a new outcome with probability at least ``level``; infinite,
        with a warning, if rows are too few.
        """
        require_level(level, usual=0.9)
        each = self.ends.level_of_each(level)
        above = self._above(each)
        below = above if self.ends.joint else self._below(each)
        ends = self.conformity.at(self.base, np.stack([-below, above], axis=-1))
        return self.ends.limited(ends[..., 0], ends[..., 1], level, self.mass[-1])

    def _pick(self, key: np.ndarray) -> "ConformalForecast":
        return ConformalForecast(
            self.base.select(key),
            self.conformity,
            self.scores,
            self.mass,
            self.spread,
            self.ends.of(key),
        )


def quantile_ends(
    forecast: Forecast, level: float, ends: ConformalEnds
) -> tuple[np.ndarray, np.ndarray]:
    """Return the forecast's own quantiles to conformalise: those of its central interval, or of
    both one-sided ones.
    """
    if ends.side == "both":
        return forecast.interval(level)
    both = forecast.quantile([1.0 - level, level])
    return both[..., 0], both[..., 1]


class ConformalQuantileForecast(Forecast):
    """Conformalised quantile forecast at the fitted ``levels``: the order statistic of its scores
    moves each end outwards. Other levels are refused.

    ``scores[j]`` and ``mass[j]`` are ascending scores of level j and their cumulative weights, or a
    pair of them, for the outcomes below and above, if each end has its own. Mean, standard
    deviation, CDF and draws are those of the base forecast: conformal prediction does not change
    them.
    """

    base: Forecast
    levels: np.ndarray
    scores: Sequence[Any]
    mass: Sequence[Any]
    ends: ConformalEnds

    def __init__(
        self,
        base: Forecast,
        levels: np.ndarray,
        scores: Sequence[Any],
        mass: Sequence[Any],
        ends: ConformalEnds,
    ) -> None:
        self.base, self.levels, self.scores, self.mass, self.ends = base, levels, scores, mass, ends
        self.shape: tuple[int, ...] = base.shape

    @property
    def mean(self) -> np.ndarray:
        """Mean of the forecast, unchanged."""
        return self.base.mean

    @property
    def std(self) -> np.ndarray:
        """Standard deviation of the forecast, unchanged."""
        return self.base.std

    def interval(self, level: float = 0.9) -> tuple[np.ndarray, np.ndarray]:
        """Return (low, high) that hold a new outcome with probability at least ``level``; infinite,
        with a warning, if rows are too few.
        """
        found = np.flatnonzero(np.abs(self.levels - level) < 1e-9)
        if len(found) == 0:
            raise InputError(
                f"level must be one of those fitted, {self.levels.tolist()}; got {level!r}; add it"
                " to levels= and fit again."
            )
        scores, mass = self.scores[int(found[0])], self.mass[int(found[0])]
        pairs = [(scores, mass)] * 2 if self.ends.joint else list(zip(scores, mass, strict=True))
        below, above = (self.ends.reach(s, m, self.ends.level_of_each(level)) for s, m in pairs)
        low, high = quantile_ends(self.base, float(level), self.ends)
        if self.ends.joint:
            # If a negative reach makes the ends cross, both are set to their midpoint.
            middle = 0.5 * (low + high)
            return self.ends.limited(
                np.minimum(low - below, middle), np.maximum(high + above, middle), level, mass[-1]
            )
        return self.ends.limited(low - below, high + above, level, pairs[0][1][-1])

    def _at(self, z: np.ndarray) -> np.ndarray:
        if z.ndim > 1 or self.ends.side != "both":
            return self.base.at(z)
        out = []
        for each in z:
            low, high = (
                self.interval(float(1.0 - 2.0 * special.ndtr(-abs(each))))
                if each
                else (self.base.quantile(0.5),) * 2
            )
            out.append(low if each < 0.0 else high)
        return np.stack(out, axis=-1)

    def _score(self, y: np.ndarray) -> np.ndarray:
        return self.base.score_at(y)

    def _log_slope(self, y):
        return self.base.log_slope(y)

    def _pick(self, key):
        return ConformalQuantileForecast(
            self.base.select(key), self.levels, self.scores, self.mass, self.ends.of(key)
        )
