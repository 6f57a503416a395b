"""A number with its uncertainty."""

from dataclasses import dataclass

from calibrant._support.options import require_count
from calibrant.errors import InputError

__all__ = ["Interval", "require_level", "require_resamples"]


def require_level(level: object) -> None:
    """Raise InputError unless ``level`` is a coverage, above 0 and below 1."""
    if not (isinstance(level, float | int) and 0.0 < level < 1.0):
        raise InputError(f"level must be between 0 and 1; got {level!r}; 0.95 is usual.")


def require_resamples(n_resamples: object) -> None:
    """Raise InputError unless ``n_resamples`` is a number of resamples that have quantiles."""
    require_count("n_resamples", n_resamples, 2, usual=1000)


@dataclass(frozen=True)
class Interval:
    """A metric's value with its uncertainty.

    Attributes
    ----------
    value, low, high : float
        The number and the ends of its interval.
    level : float
        The share of such intervals that hold the true value, for example 0.95.
    method : str
        How it was made: "analytic", "bootstrap", "bca", or "debiased", where ``value`` too is freed of its bias; "null": not of the
        data but of calibrated scores (``null_of``).
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
