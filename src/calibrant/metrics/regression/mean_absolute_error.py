"""Mean absolute error of the means."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from calibrant.contracts.regression_metric import RegressionMeanMetric

__all__ = ["MeanAbsoluteError", "mean_absolute_error"]


@dataclass(frozen=True, repr=False)
class MeanAbsoluteError(RegressionMeanMetric):
    r"""Mean distance between outcome and predicted mean (MAE).

    .. math:: \frac{1}{n} \sum_i |y_i - \mu_i|

    See Also
    --------
    root_mean_squared_error : large errors count more.
    continuous_ranked_probability_score : the same of a whole distribution.

    Notes
    -----
    Milder to single large errors than the RMSE; it says nothing of the error bars. ``std`` is not needed.

    Examples
    --------
    >>> mean_absolute_error([3.0, 4.0], [0.0, 0.0])
    3.5
    """

    name: ClassVar[str] = "MAE"
    key: ClassVar[str] = "mae"
    direction: ClassVar[str] = "minimize"
    range: ClassVar[tuple[float, float]] = (0.0, float("inf"))
    needs_std: ClassVar[bool] = False
    selects: ClassVar[bool] = True
    degree: ClassVar[int | None] = 1

    def _losses(self, record):
        return np.abs(record.error)


mean_absolute_error: MeanAbsoluteError = MeanAbsoluteError()
