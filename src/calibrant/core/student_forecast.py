"""Forecasts by Student's and Cauchy's distributions."""

from typing import Any

import numpy as np
from scipy import special

from calibrant.core.arrays import ArrayLike, to_array
from calibrant.core.forecast import finite_values, require_positive_std, require_same_order
from calibrant.core.forecast_record import FrozenForecast
from calibrant.errors import InputError

__all__ = ["CauchyForecast", "StudentForecast"]

#: Within this distance of one degree of freedom a difference is replaced by its expansion.
NEAR_ONE = 1e-4


class StudentForecast(FrozenForecast):
    r"""Student distributions by location, scale and degrees of freedom.

    .. math:: Y_i = m_i + s_i T_i, \qquad T_i \sim t_{\nu_i}

    Parameters
    ----------
    location : (n,) or (n, d), or one number
        The median m, and the mean where there is one; in the units of y.
    scale : as ``location``; finite and positive
        Not the standard deviation, which is :math:`s \sqrt{\nu / (\nu - 2)}`.
    df : as ``location``; finite and positive
        Degrees of freedom :math:`\nu`. The mean exists above 1 and the variance above 2; where
        they do not, ``mean`` and ``std`` are infinite or nan.

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
    The density is exact however far out, and a normal score while the tail is above 1e-308. The
    CRPS has a closed form and is infinite for df of 1/2 or less. Metrics and calibrators that need
    a mean or a std refuse it where there is none; those by quantiles and densities take it.

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
        from scipy import stats

        require_same_order(scale, "scale", location, "location")
        names = {"location": location, "scale": scale, "df": df}
        arrays = {name: to_array(a, name).astype(np.float64) for name, a in names.items()}
        shape = max((a.shape for a in arrays.values()), key=len)
        for name, a in arrays.items():
            if a.shape not in ((), shape):
                raise InputError(
                    f"location, scale and df must have one shape, {shape}, or be numbers; got"
                    f" {name} of shape {a.shape}."
                )
            arrays[name] = finite_values(np.broadcast_to(a, shape), name)
        require_positive_std(arrays["scale"], "scale")
        if not (arrays["df"] > 0.0).all():
            raise InputError(f"df must be positive; got {arrays['df'].min():g}; 1 is Cauchy's.")
        self.location: np.ndarray = arrays["location"]
        self.scale: np.ndarray = arrays["scale"]
        self.df: np.ndarray = arrays["df"]
        super().__init__(stats.t(self.df, self.location, self.scale))

    def _pick(self, key: Any) -> "StudentForecast":
        return StudentForecast(self.location[key], self.scale[key], self.df[key])

    def log_density(self, y: ArrayLike) -> np.ndarray:
        """Return the logarithm of the density at y."""
        return self.frozen.logpdf(self._outcome(y))

    def crps(self, y: np.ndarray) -> np.ndarray:
        """Return the CRPS of each distribution at y, of this shape, for validated arrays."""
        t, e = (y - self.location) / self.scale, self.df - 1.0
        near, low = np.abs(e) < NEAR_ONE, self.df <= 0.5
        # The two terms of the formula that cancel at df = 1, each over e; near 1 their expansion.
        d = np.where(near | low, 2.0, self.df)
        ratio = (_log_beta(d - 0.5) - _log_beta(0.5 * d)) / (d - 1.0)
        series = -np.log(2.0) + np.pi**2 / 8.0 * e - 1.75 * special.zeta(3.0) * e * e
        ratio, spread = np.where(near, series, ratio), -0.5 * np.log1p(t * t / self.df)
        between = special.exprel(e * spread) * spread - special.exprel(e * ratio) * ratio
        peak = np.exp(-_log_beta(0.5 * self.df)) * np.sqrt(self.df)
        inside = t * (1.0 - 2.0 * special.stdtr(self.df, -t))
        return self.scale * np.where(low, np.inf, inside + 2.0 * peak * between)


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
    There is no mean and no standard deviation, so that methods of error bars refuse it; quantiles,
    intervals, densities and the CRPS exist.

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


def _log_beta(a: np.ndarray) -> np.ndarray:
    """Log of B(1/2, a); SciPy's ``betaln`` has an error of 4e-10 at 5e5."""
    return 0.5 * np.log(np.pi) - np.log(special.poch(a, 0.5))
