"""What is declared of a metric of forecasts beside what every metric declares."""

from typing import ClassVar

import numpy as np

from calibrant.contracts.metric import Metric
from calibrant.contracts.reading import REGRESSION
from calibrant.contracts.sum_metric import MeanMetric, SumMetric

__all__ = ["RegressionMeanMetric", "RegressionMetric", "RegressionSumMetric", "RootMeanMetric"]


class RegressionMetric(Metric, domain=REGRESSION):
    """Base of all metrics of forecasts: ``metric(y, mean, std)`` or ``metric(y, forecast)``.

    How a metric changes when y, mean and std change units: ``degree`` 0 not at all, 1 as y, 2 as
    its square, None otherwise.

    See Also
    --------
    RegressionSumMetric, RegressionMeanMetric : what to derive from.
    """

    degree: ClassVar[int | None] = 0


class RegressionSumMetric(RegressionMetric, SumMetric):
    """A function of weighted sums of columns; a metric writes ``_columns(record)`` and
    ``_finalise(totals)``.

    See Also
    --------
    RegressionMeanMetric : a mean of one loss a row.
    """


class RegressionMeanMetric(RegressionMetric, MeanMetric):
    """A weighted mean of one loss a row, with its analytic interval; a metric writes
    ``_losses(record)``.

    See Also
    --------
    RegressionSumMetric : any function of sums.
    """


class RootMeanMetric(RegressionMeanMetric):
    """The square root of a weighted mean of squares; a metric writes ``_losses(record)``, the
    squares.
    """

    def _finalise(self, totals: np.ndarray) -> np.ndarray:
        return np.sqrt(super()._finalise(totals))

    def _limits(self, totals: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray]:
        # The interval of the mean of the squares, taken through the root.
        low, high = super()._limits(totals, level)
        return np.sqrt(low), np.sqrt(high)
