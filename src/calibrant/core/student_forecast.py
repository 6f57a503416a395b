"""Forecasts by Student's and Cauchy's distributions."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from calibrant._numerics import student
from calibrant.core.arrays import ArrayLike, to_array
from calibrant.core.forecast import (
    LOG_ROOT_TWO_PI,
    Forecast,
    finite_values,
    require_positive_std,
    require_same_order,
)
from calibrant.errors import InputError

__all__ = ["CauchyForecast", "StudentForecast"]


class StudentForecast(Forecast):
    r"""Student distributions by location, scale and degrees of freedom.

    .. math:: Y_i = m_i + s_i T_i, \qquad T_i \sim t_{\nu_i}

    Parameters
    ----------
    location : (n,) or (n, d), or one number
        The median m, and the mean where there is one; in the units of y.
    scale : as ``location``; finite and positive
        Not the standard deviation, which is :math:`s \sqrt{\nu / (\nu - 2)}`.
    df : as ``location``; finite and positive
        Degrees of freedom :math:`\nu`. The mean exists above 1 and the variance above 2: ``mean``
        is nan and ``std`` nan or infinite where they do not.

    Raises
    ------
    InputError
        When the shapes differ, or a value is out of range (the message names the rows).

    See Also
    --------
    CauchyForecast : one degree of freedom.
    NormalForecast : the limit of many degrees of freedom.
    DistributionRecalibration : gives forecasts Student tails.

    Notes
    -----
    Use it where a model predicts heavy tails, as evidential regression and Student-t processes do.
    Quantiles, intervals, densities and normal scores are exact however far out. The CRPS has a
    closed form and is infinite for df of 1/2 or less. Metrics and calibrators that need a mean or a
    std refuse it where there is none; those by quantiles, intervals and densities take it.

    References
    ----------
    Jordan, Krüger and Lerch, "Evaluating probabilistic forecasts with scoringRules", Journal of
    Statistical Software 2019, appendix A: the CRPS.

    Examples
    --------
    >>> forecast = StudentForecast([0.0, 1.0], [1.0, 2.0], df=3)
    >>> forecast.interval(0.9)[1].round(3).tolist()
    [2.353, 5.707]
    >>> forecast.std.round(3).tolist()
    [1.732, 3.464]
    """

    def __init__(self, location: ArrayLike, scale: ArrayLike, df: ArrayLike) -> None:
        require_same_order(scale, "scale", location, "location")
        names = {"location": location, "scale": scale, "df": df}
        arrays = {name: to_array(a, name).astype(np.float64) for name, a in names.items()}
        self.shape: tuple[int, ...] = max((a.shape for a in arrays.values()), key=len)
        for name, a in arrays.items():
            if a.shape not in ((), self.shape):
                raise InputError(
                    f"location, scale and df must have one shape, {self.shape}, or be numbers; got"
                    f" {name} of shape {a.shape}."
                )
        self.location, self.scale, self.df = (
            finite_values(np.broadcast_to(a, self.shape), name) for name, a in arrays.items()
        )
        require_positive_std(self.scale, "scale")
        if not (self.df > 0.0).all():
            raise InputError(
                f"df must be positive; got {self.df.min():g}; a variance needs more than 2."
            )

    def _like(self, location: Any, scale: Any, df: Any) -> Self:
        """Return a forecast of numbers that are validated already."""
        out = object.__new__(type(self))
        out.location, out.scale, out.df, out.shape = location, scale, df, location.shape
        return out

    @property
    def mean(self) -> np.ndarray:
        """Mean of each distribution, nan where there is none."""
        return np.where(self.df > 1.0, self.location, np.nan)

    @property
    def std(self) -> np.ndarray:
        """Standard deviation of each distribution; infinite for df from 1 to 2, nan to 1."""
        finite = self.df > 2.0
        ratio = np.divide(self.df, self.df - 2.0, out=np.full(self.shape, np.inf), where=finite)
        return np.where(self.df > 1.0, self.scale * np.sqrt(ratio), np.nan)

    def about(self, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the location and the values with normal score z less it."""
        df = self.df[..., None]
        return self.location, self.scale[..., None] * student.values(*np.broadcast_arrays(z, df))

    def _at(self, z: np.ndarray) -> np.ndarray:
        return self.location[..., None] + self.about(z)[1]

    def _score(self, y: np.ndarray) -> np.ndarray:
        return student.scores((y - self.location) / self.scale, self.df)

    def _log_slope(self, y: np.ndarray) -> np.ndarray:
        return -0.5 * np.square(self._score(y)) - LOG_ROOT_TWO_PI - self.log_density(y)

    def log_density(self, y: ArrayLike) -> np.ndarray:
        """Return the logarithm of the density at y."""
        t = (self._outcome(y) - self.location) / self.scale
        return student.log_density(t, self.df) - np.log(self.scale)

    def crps(self, y: np.ndarray) -> np.ndarray:
        """Return the CRPS of each distribution at y, of this shape, for validated arrays."""
        return self.scale * student.crps((y - self.location) / self.scale, self.df)

    def stretched(self, factor: ArrayLike) -> Self:
        """Return the distributions with every distance from the location multiplied by
        ``factor``.
        """
        return self._like(self.location, self.scale * factor, self.df)

    def joined(self, others: Sequence[Any]) -> "StudentForecast":
        """Return these rows followed by those of other Student forecasts."""
        each = (self, *others)
        parts = ([getattr(f, name) for f in each] for name in ("location", "scale", "df"))
        return self._like(*map(np.concatenate, parts))

    def _pick(self, key: Any) -> Self:
        return self._like(self.location[key], self.scale[key], self.df[key])


class CauchyForecast(StudentForecast):
    r"""Cauchy distributions by location and scale: Student distributions of one degree of freedom.

    .. math:: F_i(y) = \frac12 + \frac1\pi \arctan \frac{y - m_i}{s_i}

    Parameters
    ----------
    location : (n,) or (n, d), or one number
        The median m, in the units of y.
    scale : as ``location``; finite and positive
        Half of the width of the central interval of 50 %.

    Raises
    ------
    InputError
        When the shapes differ, or a value is out of range (the message names the rows).

    See Also
    --------
    StudentForecast : lighter tails.

    Notes
    -----
    There is no mean and no standard deviation (``mean`` and ``std`` are nan), so that methods of
    error bars refuse it; quantiles, intervals, densities and the CRPS exist.

    References
    ----------
    Levi, Gispan, Giladi and Fetaya, "Evaluating and calibrating uncertainty prediction in
    regression tasks", 2019, section 2: with it intervals hold what they claim, while no row's error
    bar says anything of its error.

    Examples
    --------
    >>> forecast = CauchyForecast(0.0, [1.0, 2.0])
    >>> forecast.interval(0.5)[1].round(6).tolist()
    [1.0, 2.0]
    """

    def __init__(self, location: ArrayLike, scale: ArrayLike) -> None:
        super().__init__(location, scale, 1.0)
