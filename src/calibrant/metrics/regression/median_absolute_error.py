"""Median absolute error of the means."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from calibrant.contracts.metric import WholeMetric
from calibrant.contracts.regression_metric import RegressionMetric

__all__ = ["MedianAbsoluteError", "median_absolute_error"]


@dataclass(frozen=True, repr=False)
class MedianAbsoluteError(RegressionMetric, WholeMetric):
    r"""Median distance between outcome and predicted mean.

    .. math:: \operatorname{median}_i |y_i - \mu_i|

    See Also
    --------
    mean_absolute_error : the mean, which large errors move.

    Notes
    -----
    Use it where some outcomes are wrong by any amount and should not count. Half of the rows may be as bad as they like, so never select
    a model by it. A median is no sum, so it has no state. ``std`` is not needed.

    Examples
    --------
    >>> median_absolute_error([1.0, 2.0, 90.0, 4.0], [0.0, 0.0, 0.0, 0.0])
    3.0
    """

    name: ClassVar[str] = "median absolute error"
    key: ClassVar[str] = "median_absolute_error"
    direction: ClassVar[str] = "minimize"
    range: ClassVar[tuple[float, float]] = (0.0, float("inf"))
    needs_std: ClassVar[bool] = False
    degree: ClassVar[int | None] = 1

    def _value(self, record):
        error = np.abs(record.error)
        order = np.argsort(error)
        share = np.cumsum(record.weights[order]) / record.weights.sum()
        # The middle, or midway between the two that share it: as np.median of repeated rows.
        middle = [min(np.searchsorted(share, 0.5 + step), len(order) - 1) for step in (-1e-12, 1e-12)]
        return float(error[order][middle].mean())


median_absolute_error: MedianAbsoluteError = MedianAbsoluteError()
