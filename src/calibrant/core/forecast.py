"""Forecasts with one predictive distribution a row: their base class, what a scale or another map
of probabilities makes of one, and normal forecasts by mean and standard deviation.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from scipy import special

from calibrant._numerics.fixed_order import sum_rows
from calibrant._numerics.normal_scores import interpolate, invert, line_moments
from calibrant.core.arrays import ArrayLike, column_names, to_array
from calibrant.errors import InputError

__all__ = [
    "Forecast",
    "NormalForecast",
    "RecalibratedForecast",
    "StretchedForecast",
    "finite_values",
    "require_finite",
    "require_level",
    "require_levels",
    "require_order",
    "require_positive_std",
    "require_same_order",
]


#: The largest number, and the inverse of the smallest std, for which fourth powers of quotients are
#: finite.
LARGEST = 1e37
LOG_ROOT_TWO_PI = 0.5 * np.log(2.0 * np.pi)
#: Panels and nodes of the quadrature in z on [-9, 9], for distributions without closed moments.
PANELS, NODES, REACH = 72, 4, 9.0
#: A moment of which the outermost panels are more than this share is nan: heavy tails have none,
#: or one that outcomes rarer than 1e-17 decide.
LARGEST_TAIL = 1e-3


class Forecast(ABC):
    """Predictive distributions of n rows, (n,), or of n rows and d outputs, (n, d), with a separate
    one for each output.

    All methods use the normal score z = Phi^-1(F(y)), which keeps the far tails that a probability
    would round to 0 or 1. A kind of forecast implements ``shape``, ``_at(z)``, ``_score(y)``,
    ``_log_slope(y)`` (of dy/dz) and ``_pick(key)``, and ``_moments`` (or ``mean`` and ``std``) if
    it has a better method than quadrature.

    See Also
    --------
    NormalForecast, QuantileForecast, SampleForecast : kinds of forecast to construct.
    """

    shape: tuple[int, ...]
    #: Whether mean and std determine the distribution.
    is_normal: ClassVar[bool] = False

    @cached_property
    def _moments(self) -> tuple[np.ndarray, np.ndarray]:
        """Return (mean, std) of each distribution."""
        return _quadrature(lambda z, rows: self.take(rows).about(z), self.shape)

    @property
    def mean(self) -> np.ndarray:
        """Mean of each distribution, in the units of y."""
        return self._moments[0]

    @property
    def std(self) -> np.ndarray:
        """Standard deviation of each distribution, in the units of y."""
        return self._moments[1]

    @abstractmethod
    def _at(self, z: np.ndarray) -> np.ndarray:
        """Return the value with normal score z; z broadcasts to ``shape + (m,)``."""

    @abstractmethod
    def _score(self, y: np.ndarray) -> np.ndarray:
        """Return the normal score of y, of this ``shape``."""

    @abstractmethod
    def _log_slope(self, y: np.ndarray) -> np.ndarray: ...

    @abstractmethod
    def _pick(self, key) -> "Forecast":
        """Return the forecast of some rows, or with ``(slice(None), j)`` of one output."""

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        outputs = f" of {self.shape[1]} outputs" if len(self.shape) > 1 else ""
        return f"<{type(self).__name__}: {len(self):,} rows{outputs}>"

    def at(self, z: np.ndarray) -> np.ndarray:
        """Return the value with normal score z, (m,) or shape + (m,), as shape + (m,), for
        validated arrays.
        """
        return self._at(z)

    def about(self, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return (an origin of each distribution, of this shape; the values with normal score z
        less the origin), whose spread a large mean does not round away.
        """
        return np.zeros(self.shape), self._at(z)

    def score_at(self, y: np.ndarray) -> np.ndarray:
        """Return the normal score of y, of this shape, for validated arrays; ``score`` accepts any
        input.
        """
        return self._score(y)

    def log_slope(self, y: np.ndarray) -> np.ndarray:
        """Return log dy/dz at y, of this shape, which the log density loses to the change of
        variable, for validated arrays.
        """
        return self._log_slope(y)

    def select(self, key: Any) -> "Forecast":
        """Return the forecast of some rows, or with ``(slice(None), j)`` of one output."""
        return self._pick(key)

    def take(self, rows: Any) -> "Forecast":
        """Return the forecasts of some rows: indices, mask or slice."""
        return self._pick(rows)

    def column(self, j: int) -> "Forecast":
        """Return the forecast of output j alone, (n,)."""
        return self if len(self.shape) == 1 else self._pick((slice(None), j))

    def joined(self, others: Sequence[Any]) -> "Forecast":
        """Return these rows followed by those of other forecasts of the same kind."""
        raise InputError(
            f"{type(self).__name__} cannot be joined from several folds; pass a fitted model."
        )

    def quantile(self, q: ArrayLike) -> np.ndarray:
        """Return quantiles at probability q: for a number in the shape of the forecast, for an
        array (m,) with one more axis of length m.
        """
        levels = np.asarray(q, dtype=np.float64)
        if levels.ndim > 1 or not ((levels > 0.0) & (levels < 1.0)).all():
            raise InputError(
                f"q must be a number or a list of numbers above 0 and below 1; got {q!r}."
            )
        out = self._at(special.ndtri(np.atleast_1d(levels)))
        return out if levels.ndim else out[..., 0]

    def cdf(self, y: ArrayLike) -> np.ndarray:
        """Return P(Y <= y) for y of the shape of the forecast, or one number for all."""
        return special.ndtr(self._score(self._outcome(y)))

    def score(self, y: ArrayLike) -> np.ndarray:
        """Return the normal score of y, Phi^-1(P(Y <= y)); for a normal forecast (y -
        mean) / std.
        """
        return self._score(self._outcome(y))

    def log_density(self, y: ArrayLike) -> np.ndarray:
        """Return the logarithm of the density at y."""
        y = self._outcome(y)
        z = self._score(y)
        return -0.5 * z * z - LOG_ROOT_TWO_PI - self._log_slope(y)

    def interval(self, level: float = 0.9) -> tuple[np.ndarray, np.ndarray]:
        """Return (low, high) of the central interval that holds Y with probability ``level``."""
        require_level(level, usual=0.9)
        ends = self._at(special.ndtri(np.array([0.5 - 0.5 * level, 0.5 + 0.5 * level])))
        return ends[..., 0], ends[..., 1]

    def sample(self, n: int = 1, random_state: int | None = None) -> np.ndarray:
        """Return ``n`` independent draws from each distribution, in the shape of the forecast with
        one more axis.
        """
        return self._at(np.random.default_rng(random_state).standard_normal((*self.shape, n)))

    def stretched(self, factor: ArrayLike) -> "Forecast":
        """Return the distributions with every distance from the mean multiplied by ``factor`` (a
        number, or one a row).
        """

        return StretchedForecast(
            self, np.broadcast_to(np.asarray(factor, dtype=np.float64), self.shape)
        )

    def rescored(self, shift: ArrayLike, factor: ArrayLike) -> "Forecast":
        """Return the distributions with values at ``shift + factor z``, each (n,), for normal
        scores z.
        """
        line, slopes = np.array([-1.0, 1.0]), np.ones(2)
        return RecalibratedForecast(self, line, line, slopes, np.asarray(shift), np.asarray(factor))

    def _outcome(self, y: ArrayLike) -> np.ndarray:
        y = np.asarray(y, dtype=np.float64)
        if y.ndim and y.shape != self.shape:
            raise InputError(f"y must have the shape of the forecast, {self.shape}; got {y.shape}.")
        return np.broadcast_to(y, self.shape)


def require_level(level: object, name: str = "level", *, usual: float = 0.95) -> None:
    """Raise InputError unless ``level`` is a number above 0 and below 1."""
    if not (isinstance(level, float | int) and 0.0 < level < 1.0):
        raise InputError(f"{name} must be between 0 and 1; got {level!r}; {usual:g} is usual.")


def require_levels(levels: ArrayLike) -> None:
    """Raise InputError unless there are levels, all numbers above 0 and below 1."""
    values = np.asarray(levels, dtype=np.float64)
    if values.ndim != 1 or len(values) == 0 or not ((values > 0.0) & (values < 1.0)).all():
        raise InputError(f"levels must be numbers above 0 and below 1; got {levels!r}.")


def require_finite(values: np.ndarray, name: str) -> None:
    """Raise InputError that names the first row of ``values`` (n, ...) that is not finite, or too
    large for arithmetic.
    """
    _require(np.isfinite(values), values, name, "be finite", "repair or drop these rows")
    _require(
        np.abs(values) <= LARGEST,
        values,
        name,
        f"be at most {LARGEST:g} in size",
        "use larger units, or drop these rows",
    )


def require_positive_std(std: np.ndarray, what: str = "std") -> None:
    """Raise InputError that names the first rows with a ``std`` that is not finite and positive, or
    too small or large for arithmetic.
    """
    remedy = (
        "repair or drop these rows; the order of the arguments is (mean, y, std=std) in fit and (y,"
        " mean, std) in metrics"
    )
    _require(np.isfinite(std) & (std > 0.0), std, what, "be finite and positive", remedy)
    moderate = (std >= 1.0 / LARGEST) & (std <= LARGEST)
    _require(
        moderate,
        std,
        what,
        f"be from {1.0 / LARGEST:g} to {LARGEST:g}",
        "pass y, mean and std in other units",
    )


def _require(good: np.ndarray, values: np.ndarray, name: str, rule: str, remedy: str) -> None:
    if not good.all():
        rows = np.flatnonzero(~good.reshape(len(good), -1).all(axis=1))
        seen = ", ".join(
            f"row {i} is {np.array2string(np.asarray(values[i]), precision=4)}" for i in rows[:3]
        )
        raise InputError(f"{name} must {rule}; {seen} ({len(rows)} in all); {remedy}.")


def _quadrature(
    at: Callable[..., Any], shape: tuple[int, ...], block: int = 4096
) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and standard deviation of ``origin + values`` of ``at(z, rows)``, Z standard
    normal, by Gauss-Legendre panels in z; nan where there is none.
    """
    x, w = np.polynomial.legendre.leggauss(NODES)
    edges = np.linspace(-REACH, REACH, PANELS + 1)
    half = 0.5 * np.diff(edges)[:, None]
    z = (0.5 * (edges[1:] + edges[:-1])[:, None] + half * x).ravel()
    weight = (half * w).ravel() * np.exp(-0.5 * z * z) / np.sqrt(2.0 * np.pi)
    weight /= weight.sum()
    mean, std = np.empty(shape), np.empty(shape)
    for start in range(0, shape[0], block):
        rows = slice(start, start + block)
        origin, values = at(z, rows)
        middle = sum_rows(values * weight)
        mean[rows] = origin + middle
        square = np.square(values - middle[..., None]) * weight
        std[rows] = np.sqrt(sum_rows(square))
        std[rows][_in_the_tail(square)] = np.nan
        # Where the second moment is no matter of the tails, the first is none.
        if np.isnan(std[rows]).any():
            mean[rows][_in_the_tail(np.abs(values) * weight)] = np.nan
    return mean, std


def _in_the_tail(part: np.ndarray) -> np.ndarray:
    """Return whether the outermost panels have too much of the sum over the last axis."""
    tails = part[..., :NODES].sum(axis=-1) + part[..., -NODES:].sum(axis=-1)
    return tails > LARGEST_TAIL * part.sum(axis=-1)


class StretchedForecast(Forecast):
    """Forecast of Y' = mean + factor (Y - mean), with a factor for each row."""

    base: Forecast
    factor: np.ndarray

    def __init__(self, base: Forecast, factor: np.ndarray) -> None:
        self.base, self.factor = base, factor
        self.shape: tuple[int, ...] = base.shape

    @property
    def mean(self) -> np.ndarray:
        """Mean of each distribution, that of the original forecast."""
        return self.base.mean

    @property
    def std(self) -> np.ndarray:
        """Standard deviation of each distribution."""
        return self.factor * self.base.std

    def _back(self, y: np.ndarray) -> np.ndarray:
        return self.mean + (y - self.mean) / self.factor

    def _at(self, z: np.ndarray) -> np.ndarray:
        mean = self.mean[..., None]
        return mean + self.factor[..., None] * (self.base.at(z) - mean)

    def about(self, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the mean and the values less it."""
        origin, values = self.base.about(z)
        return self.mean, self.factor[..., None] * (values - (self.mean - origin)[..., None])

    def _score(self, y: np.ndarray) -> np.ndarray:
        return self.base.score_at(self._back(y))

    def _log_slope(self, y: np.ndarray) -> np.ndarray:
        return np.log(self.factor) + self.base.log_slope(self._back(y))

    def _pick(self, key: Any) -> "StretchedForecast":
        return StretchedForecast(self.base.select(key), self.factor[key])


class RecalibratedForecast(Forecast):
    """The forecast at a + s g(Z), with Z standard normal, g increasing and piecewise linear, and a
    and s for each row (default 0 and 1).

    With a = 0 and s = 1 its CDF is R(F(y)), R = Phi o g^-1 o Phi^-1. For a normal forecast mean and
    variance have a closed form.
    """

    base: Forecast
    knots: np.ndarray
    values: np.ndarray
    slopes: np.ndarray
    shift: np.ndarray | None
    factor: np.ndarray | None

    def __init__(
        self,
        base: Forecast,
        knots: np.ndarray,
        values: np.ndarray,
        slopes: np.ndarray,
        shift: np.ndarray | None = None,
        factor: np.ndarray | None = None,
    ) -> None:
        if base.is_normal and shift is not None:
            # A normal forecast absorbs them: its moments keep their closed form.
            base, shift, factor = base.rescored(shift, factor), None, None
        self.base, self.knots, self.values, self.slopes, self.shift, self.factor = (
            base,
            knots,
            values,
            slopes,
            shift,
            factor,
        )
        self.shape: tuple[int, ...] = base.shape

    @cached_property
    def _moments(self) -> tuple[np.ndarray, np.ndarray]:
        if self.base.is_normal:
            mean, variance = line_moments(self.knots, self.values, *np.asarray(self.slopes))
            return self.base.mean + mean * self.base.std, np.sqrt(variance) * self.base.std
        return super()._moments

    def _bent(self, z: np.ndarray) -> np.ndarray:
        """The normal score in the original forecast."""
        g = interpolate(z, self.knots, self.values, self.slopes)[0]
        return g if self.shift is None else self.shift[..., None] + self.factor[..., None] * g

    def _at(self, z: np.ndarray) -> np.ndarray:
        return self.base.at(self._bent(z))

    def about(self, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the origin of the original forecast and the values less it."""
        return self.base.about(self._bent(z))

    def _score(self, y: np.ndarray) -> np.ndarray:
        score = self.base.score_at(y)
        return invert(
            score if self.shift is None else (score - self.shift) / self.factor,
            self.knots,
            self.values,
            self.slopes,
        )

    def _log_slope(self, y: np.ndarray) -> np.ndarray:
        slope = np.log(interpolate(self._score(y), self.knots, self.values, self.slopes)[1])
        return self.base.log_slope(y) + (
            slope if self.factor is None else slope + np.log(self.factor)
        )

    def _pick(self, key: Any) -> "RecalibratedForecast":
        affine = (None, None) if self.shift is None else (self.shift[key], self.factor[key])
        return RecalibratedForecast(
            self.base.select(key), self.knots, self.values, self.slopes, *affine
        )


# -- Normal forecasts ------------------------------------------------------------------------------


class NormalForecast(Forecast):
    """Normal distributions by mean and standard deviation.

    Parameters
    ----------
    mean : (n,) or (n, d), in the units of y
    std : as ``mean``; finite and positive

    Raises
    ------
    InputError
        When the shapes differ, a value is not finite, or a std is not positive (the message names
        the rows).

    See Also
    --------
    QuantileForecast, SampleForecast : other forms of a distribution.

    Examples
    --------
    >>> forecast = NormalForecast([0.0, 1.0], [1.0, 2.0])
    >>> forecast.interval(0.9)[1].round(3).tolist()
    [1.645, 4.29]
    >>> forecast.cdf([0.0, 1.0]).tolist()
    [0.5, 0.5]
    """

    is_normal = True

    def __init__(self, mean: ArrayLike, std: ArrayLike) -> None:
        require_same_order(std, "std", mean, "mean")
        self._mean = finite_values(mean, "mean")
        std = to_array(std, "std").astype(np.float64, copy=False)
        if std.shape != self._mean.shape:
            raise InputError(
                f"std must have the shape of mean, {self._mean.shape}; got {std.shape}; pass one"
                " std for each mean."
            )
        require_positive_std(std)
        self._std = std
        self.shape: tuple[int, ...] = self._mean.shape

    @property
    def mean(self) -> np.ndarray:
        """Mean of each distribution, in the units of y."""
        return self._mean

    @property
    def std(self) -> np.ndarray:
        """Standard deviation of each distribution, in the units of y."""
        return self._std

    def _at(self, z: np.ndarray) -> np.ndarray:
        return self._mean[..., None] + self._std[..., None] * z

    def about(self, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the mean and the values with normal score z less it."""
        return self._mean, self._std[..., None] * z

    def _score(self, y: np.ndarray) -> np.ndarray:
        return (y - self._mean) / self._std

    def _log_slope(self, y: np.ndarray) -> np.ndarray:
        return np.log(self._std)

    def _pick(self, key: Any) -> "NormalForecast":
        return _unchecked(self._mean[key], self._std[key])

    def joined(self, others: Sequence["NormalForecast"]) -> "NormalForecast":
        """Return these rows followed by those of other normal forecasts."""
        return _unchecked(
            *(
                np.concatenate([getattr(f, name) for f in (self, *others)])
                for name in ("_mean", "_std")
            )
        )

    def stretched(self, factor: ArrayLike) -> "NormalForecast":
        """Return the same means with the standard deviations multiplied by ``factor``."""
        return _unchecked(self._mean, self._std * factor)

    def rescored(self, shift: ArrayLike, factor: ArrayLike) -> "NormalForecast":
        """Return the normal distributions with values at ``shift + factor z`` for normal
        scores z.
        """
        return _unchecked(self._mean + shift * self._std, self._std * factor)

    def averaged(self, others: Sequence["NormalForecast"], shares: np.ndarray) -> "NormalForecast":
        """Return the normal distributions with the weighted mean quantiles of these and of other
        normal forecasts.
        """
        parts = [(w, f) for w, f in zip(shares, (self, *others), strict=True)]
        return _unchecked(sum(w * f.mean for w, f in parts), sum(w * f.std for w, f in parts))


def _unchecked(mean: Any, std: Any) -> NormalForecast:
    """Return a forecast of numbers that are validated already, for blocks and results."""
    out = object.__new__(NormalForecast)
    out._mean, out._std, out.shape = mean, std, mean.shape
    return out


def require_same_order(values: ArrayLike, name: str, like: Any, like_name: str) -> None:
    """Raise InputError if two frames have the same columns in different order."""
    require_order(column_names(values, name), name, column_names(like, like_name), like_name)


def require_order(
    own: list[Any] | None, name: str, other: list[Any] | None, like_name: str
) -> None:
    """Raise InputError for column names in different order; None means no names."""
    if own is not None and other is not None and own != other and set(own) == set(other):
        raise InputError(
            f"{name} must have the columns of {like_name} in their order, {other}; got {own};"
            " reorder one of them."
        )


def finite_values(values: ArrayLike, name: str) -> np.ndarray:
    """Return (n,) or (n, d) float64, finite and not empty."""
    out = to_array(values, name).astype(np.float64, copy=False)
    if out.ndim not in (1, 2) or out.size == 0:
        raise InputError(
            f"{name} must be (n,), or (n, d) for several outputs, with at least one row; got shape"
            f" {out.shape}."
        )
    require_finite(out, name)
    return out
