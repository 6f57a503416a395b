"""A number with its uncertainty."""

from dataclasses import dataclass, replace
from typing import Any

from calibrant.core.forecast import require_level
from calibrant.core.options import require_count

__all__ = ["Interval", "require_level", "require_resamples"]


def require_resamples(n_resamples: object) -> None:
    """Raise InputError unless ``n_resamples`` is large enough for quantiles."""
    require_count("n_resamples", n_resamples, 2, usual=1000)


@dataclass(frozen=True)
class Interval:
    """A metric's value with its uncertainty.

    Attributes
    ----------
    value, low, high : float
        The number and the ends of its interval, which holds both ``value`` and the value of the
        metric itself.
    level : float
        The nominal coverage, for example 0.95; the guide simulates the actual coverage.
    method : str
        The method: "analytic", "bootstrap", "bca", or "debiased", which also corrects ``value``;
        "null": for calibrated scores instead of the data (``null_of``).
    n : float
        Sum of the weights: the number of rows where every row counts once.
    plain : float or None
        The value of the metric itself, if ``value`` is the debiased estimate.

    See Also
    --------
    core.Metric : returns one from ``metric.interval(y_true, P)``.
    """

    value: float
    low: float
    high: float
    level: float
    method: str
    n: float
    plain: float | None = None

    def around(self, value: float) -> "Interval":
        """The interval with another value of the metric, which its ends then hold."""
        low, high = min(self.low, value), max(self.high, value)
        ends = replace(self, low=low, high=high, plain=None if self.plain is None else value)
        return ends if self.plain not in (None, self.value) else replace(ends, value=value)

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
        """An interval with these limits, widened to include the value and the value of the metric
        itself.
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
