"""Mean absolute relative percent difference of the means."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from calibrant._kernels.quotient import quotient
from calibrant.contracts.regression_metric import RegressionMeanMetric

__all__ = ["MeanAbsoluteRelativeDifference", "mean_absolute_relative_difference"]


@dataclass(frozen=True, repr=False)
class MeanAbsoluteRelativeDifference(RegressionMeanMetric):
    r"""Mean distance between outcome and predicted mean, in per cent of their mean size (MARPD, symmetric MAPE).

    .. math:: \frac{100}{n} \sum_i \frac{2 |y_i - \mu_i|}{|y_i| + |\mu_i|}

    See Also
    --------
    mean_absolute_error : in the units of y.

    Notes
    -----
    Use it to compare with papers that report it. Between 0 and 200, and 200 for any prediction where the outcome is 0; a row with both 0
    counts 0. Low predictions are favoured, so never select a model by it. ``std`` is not needed.

    Examples
    --------
    >>> round(mean_absolute_relative_difference([1.0, 2.0], [3.0, 2.0]), 6)
    50.0
    """

    name: ClassVar[str] = "MARPD"
    key: ClassVar[str] = "marpd"
    direction: ClassVar[str] = "minimize"
    range: ClassVar[tuple[float, float]] = (0.0, 200.0)
    needs_std: ClassVar[bool] = False

    def _losses(self, record):
        size = np.abs(record.y) + np.abs(record.mean)
        return np.where(size > 0.0, 200.0 * quotient(np.abs(record.error), size), 0.0)


mean_absolute_relative_difference: MeanAbsoluteRelativeDifference = MeanAbsoluteRelativeDifference()
