"""The template of a regression metric: the same interface as every metric, over forecasts."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from calibrant._base.interval import Interval, require_level, require_resamples
from calibrant._base.metric import MeanMetric, Metric, SumMetric
from calibrant._base.state import SumState
from calibrant._kernels.intervals import normal_interval
from calibrant._kernels.quotient import quotient
from calibrant.arrays import require_pairs, to_array
from calibrant.errors import InputError
from calibrant.forecasts.read import is_forecast, read_forecast

__all__ = ["RegressionMeanMetric", "RegressionMetric", "RegressionSumMetric", "RootMeanMetric"]


@dataclass(frozen=True, repr=False)
class RegressionMetric(Metric):
    """Base of all regression metrics: a callable object whose fields are its options.

    ``metric(y, mean, std)`` or ``metric(y, forecast)`` is the number; for (n, d) forecasts, an array (d,) with one number for each output.
    ``metric.interval`` gives the number with its interval (a list of them for d outputs), ``metric.state`` what adds up over parts of one
    output. How a metric changes when y, mean and std change units: ``degree`` 0 not at all, 1 as y, 2 as its square, None otherwise.
    """

    task: ClassVar[str] = "regression"
    needs_std: ClassVar[bool] = True
    degree: ClassVar[int | None] = 0

    def __call__(self, y_true, mean, std=None, *, sample_weight=None, **options):
        """The metric's value; options are the fields of this object (see its class)."""
        metric = self._with(options)
        record = metric._read_forecast(y_true, mean, std, sample_weight)
        values = [metric._number(output) for output in record.outputs()]
        return values[0] if len(record.forecast.shape) == 1 else np.array(values)

    def interval(
        self, y_true, mean, std=None, *, level=0.95, method="auto", n_resamples=1000, random_state=0, sample_weight=None, **options
    ):
        """The value with an interval at ``level``, an :class:`Interval`; for d outputs a list of them.

        ``method`` is "auto" (the best known for the metric), "analytic" (where known), "bootstrap" (percentile) or "bca" (bias-corrected
        and accelerated); the bootstraps are seeded by ``random_state``.
        """
        require_level(level)
        require_resamples(n_resamples)
        metric = self._with(options)
        record = metric._read_forecast(y_true, mean, std, sample_weight)
        require_pairs(record.weight, "an interval")
        found: list[Interval] = [metric._interval(r, level, method, n_resamples, random_state) for r in record.outputs()]
        return found[0] if len(record.forecast.shape) == 1 else found

    def state(self, y_true=None, mean=None, std=None, *, sample_weight=None, **options) -> SumState:
        """What adds up: ``state(part 1) + state(part 2)`` finalises to the value of the whole; ``state()`` is the empty one."""
        metric = self._with(options)
        if not metric.mergeable:
            raise InputError(f"{self.name} with {options or 'these options'} has no state of fixed size; compute it on all rows at once.")
        if y_true is None and mean is None:
            return SumState(metric)
        record = metric._read_forecast(y_true, mean, std, sample_weight)
        if len(record.forecast.shape) != 1:
            raise InputError(f"a state is of one output; got forecasts of shape {record.forecast.shape}; make one for each column.")
        return SumState(metric, metric._all_totals(record))

    def _read_forecast(self, y_true, mean, std, sample_weight):
        pair = isinstance(mean, tuple) and len(mean) == 2 and np.ndim(mean[0]) > 0
        if not self.needs_std and std is None and not pair and not is_forecast(mean):
            # The number does not depend on the spread: any will do.
            std = np.ones(to_array(mean, "mean").shape)
        if y_true is None:
            raise InputError("y_true must be the outcomes, of the shape of the forecast; got None.")
        return read_forecast(mean, std, y_true, sample_weight=sample_weight)

    def _number(self, record) -> float:
        return float(self._value(record))


@dataclass(frozen=True, repr=False)
class RegressionSumMetric(RegressionMetric, SumMetric):
    """A function of weighted sums of columns; a metric writes ``_columns(record)`` and ``_finalise(totals)``."""


@dataclass(frozen=True, repr=False)
class RegressionMeanMetric(RegressionMetric, MeanMetric):
    """A weighted mean of one loss a row, with its analytic interval; a metric writes ``_losses(record)``."""


@dataclass(frozen=True, repr=False)
class RootMeanMetric(RegressionMeanMetric):
    """The square root of a weighted mean of squares; a metric writes ``_losses(record)``, the squares."""

    def _finalise(self, totals):
        return np.sqrt(super()._finalise(totals))

    def _limits(self, totals, level):
        # The interval of the mean of the squares, taken through the root.
        n, mean = totals[..., 0], super()._finalise(totals)
        variance = np.maximum(quotient(totals[..., 2], n) - mean * mean, 0.0) / np.maximum(n - 1.0, 1.0)
        low, high = normal_interval(mean, np.where(n > 1.0, variance, np.inf), level)
        return np.sqrt(np.maximum(low, 0.0)), np.sqrt(high)
