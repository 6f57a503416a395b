"""A number with its uncertainty."""

from dataclasses import dataclass
from typing import Any

from calibrant._support.options import require_count
from calibrant.forecasts.forecast import require_level

__all__ = ["Interval", "require_level", "require_resamples"]


def require_resamples(n_resamples: object) -> None:
    """Raise InputError unless ``n_resamples`` is a number of resamples that have quantiles."""
    require_count("n_resamples", n_resamples, 2, usual=1000)


@dataclass(frozen=True)
class Interval:
    """A metric's value with its uncertainty.

    Attributes
    ----------
    value, low, high : float
        The number and the ends of its interval, which holds both ``value`` and what the metric
        itself gives.
    level : float
        The share of such intervals that are to hold the true value, for example 0.95; how many do
        is simulated in the guide.
    method : str
        How it was made: "analytic", "bootstrap", "bca", or "debiased", where ``value`` too is freed
        of its bias; "null": not of the data but of calibrated scores (``null_of``).
    n : float
        Sum of the weights: the number of rows where every row counts once.
    plain : float or None
        What the metric itself gives, where ``value`` is another number: its debiased estimate.

    See Also
    --------
    contracts.Metric : gives one by ``metric.interval(y_true, P)``.
    """

    value: float
    low: float
    high: float
    level: float
    method: str
    n: float
    plain: float | None = None

    def __str__(self) -> str:
        return f"{self.value:.4g} [{self.low:.4g}, {self.high:.4g}]"

    @classmethod
    def holding(
        cls,
        value: float,
        limits: tuple[Any, Any],
        level: float,
        method: str,
        n: float,
        plain: float | None = None,
    ) -> "Interval":
        """An interval of these limits, widened where they leave out the value, or what the
        metric itself gives.
        """
        held = [float(one) for one in (value, plain) if one is not None and one == one]
        return cls(
            float(value),
            min([float(limits[0]), *held]),
            max([float(limits[1]), *held]),
            level,
            method,
            n,
            plain,
        )
