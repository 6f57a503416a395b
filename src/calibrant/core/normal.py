"""Normal forecasts, by mean and standard deviation."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from calibrant.core.arrays import ArrayLike, column_names, to_array
from calibrant.core.forecast import Forecast, require_finite, require_positive_std
from calibrant.errors import InputError

__all__ = ["NormalForecast", "finite_values", "require_order", "require_same_order"]


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
