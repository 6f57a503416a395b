"""Normal forecasts, and their calibrated versions, as expressions of mean and std."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from calibrant.core.averaged import AveragedForecast
from calibrant.core.expression import Expression, constant, join, source, weighted_sum
from calibrant.core.forecast import Forecast
from calibrant.core.normal import NormalForecast
from calibrant.errors import InputError

__all__ = ["STANDARD", "SymbolicAverage", "SymbolicBins", "SymbolicForecast", "symbolic_forecast"]

STANDARD = NormalForecast(np.zeros(1), np.ones(1))


@dataclass(frozen=True)
class SymbolicForecast:
    """The distribution of location + scale Z, where only location and scale differ from row to row.

    Attributes
    ----------
    location, scale : Expression, width 1
    shape : Forecast, one row: the distribution of Z

    See Also
    --------
    SymbolicRecord : the same for predictions of classes.
    """

    location: Expression
    scale: Expression
    shape: Forecast

    @property
    def mean(self) -> Expression:
        """Mean of each row's distribution."""
        mean = float(self.shape.mean[0])
        return self.location + self.scale * mean if mean else self.location

    @property
    def std(self) -> Expression:
        """Standard deviation of each row's distribution."""
        std = float(self.shape.std[0])
        return self.scale if std == 1.0 else self.scale * std

    def reshaped(self, shape: Forecast) -> "SymbolicForecast":
        """With another distribution of Z, for methods that do not depend on location and scale."""
        return replace(self, shape=shape)

    def stretched(self, factor: Expression | float) -> "SymbolicForecast":
        """About its mean."""
        mean = float(self.shape.mean[0])
        location = self.location + self.scale * (1.0 - factor) * mean if mean else self.location
        return replace(self, location=location, scale=self.scale * factor)

    def unscaled(self) -> "SymbolicForecast":
        """Standard normal about its mean."""
        return SymbolicForecast(self.mean, constant(1.0), STANDARD)

    def alone(self) -> "SymbolicForecast":
        """Itself: it has one shape, so that another calibrator can use it."""
        return self

    def said(self, levels: Sequence[float]) -> Expression:
        """Mean, std and the quantiles of ``levels``, side by side."""
        ends = self.shape.quantile(np.asarray(levels, dtype=np.float64))[0]
        if not np.isfinite(ends).all():
            raise InputError(
                "quantiles must be finite to be exported; that of"
                f" {levels[int(np.argmin(np.isfinite(ends)))]} is infinite; request others."
            )
        return join(
            [self.mean, self.std, *(self.location + self.scale * float(end) for end in ends)]
        )


@dataclass(frozen=True)
class SymbolicAverage:
    """The mean of several such forecasts, quantile by quantile, as ``AveragedForecast``.

    Attributes
    ----------
    members : sequence of SymbolicForecast
    weights : (m,), which sum to 1
    """

    members: Sequence[SymbolicForecast]
    weights: np.ndarray

    def alone(self) -> SymbolicForecast:
        """Raise InputError: it has no single shape."""
        raise InputError(
            "forecasts that are averaged cannot be calibrated on in an expression; keep them in"
            " Python."
        )

    def said(self, levels: Sequence[float]) -> Expression:
        """Mean, std and the quantiles of ``levels``, side by side."""
        total = weighted_sum([member.said(levels) for member in self.members], self.weights)
        return join(
            [total.column(0), self._std(), *(total.column(j) for j in range(2, total.width))]
        )

    def _std(self) -> Expression:
        """Quantiles rise together, so that the variance of their mean is that of a sum with
        these covariances.
        """
        scales = [
            member.scale * float(weight)
            for member, weight in zip(self.members, self.weights, strict=True)
        ]
        variance: Expression | None = None
        for j, (a, left) in enumerate(zip(scales, self.members, strict=True)):
            for k, (b, right) in enumerate(zip(scales[: j + 1], self.members, strict=False)):
                part = a * b * ((1.0 if j == k else 2.0) * _covariance(left.shape, right.shape))
                variance = part if variance is None else variance + part
        assert variance is not None
        return (variance.log() * 0.5).exp()


@dataclass(frozen=True)
class SymbolicBins:
    """One of several such forecasts in each row, by how many ``edges``, increasing, are below a
    number of the row.
    """

    by: Expression
    edges: np.ndarray
    members: Sequence[SymbolicForecast]

    def alone(self) -> SymbolicForecast:
        """Raise InputError: it has no single shape."""
        raise InputError(
            "forecasts in bins cannot be calibrated on in an expression; keep them in Python."
        )

    def said(self, levels: Sequence[float]) -> Expression:
        """Mean, std and the quantiles of ``levels``, side by side."""
        out = self.members[-1].said(levels)
        for edge, member in zip(self.edges[::-1], self.members[-2::-1], strict=True):
            out = self.by.step([edge], [1.0, 0.0], closed=False).where(member.said(levels), out)
        return out


def _covariance(a: Forecast, b: Forecast) -> float:
    """Covariance of two distributions whose quantiles rise together, by their mean's variance."""
    alone = [float(AveragedForecast([one], np.ones(1)).std[0]) ** 2 for one in (a, b)]
    return 2.0 * float(AveragedForecast([a, b], np.full(2, 0.5)).std[0]) ** 2 - 0.5 * sum(alone)


def symbolic_forecast() -> SymbolicForecast:
    """A normal forecast as an input (n, 2): mean and std."""
    given = source(2)
    return SymbolicForecast(given.column(0), given.column(1), STANDARD)
