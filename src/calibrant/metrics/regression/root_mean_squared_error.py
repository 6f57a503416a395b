"""Root mean squared error of the means."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from calibrant.contracts.regression_metric import RootMeanMetric

__all__ = ["RootMeanSquaredError", "root_mean_squared_error"]


@dataclass(frozen=True, repr=False)
class RootMeanSquaredError(RootMeanMetric):
    r"""Root of the mean squared distance between outcome and predicted mean (RMSE).

    .. math:: \sqrt{\frac{1}{n} \sum_i (y_i - \mu_i)^2}

    See Also
    --------
    mean_absolute_error : large errors count less.
    uncertainty_calibration_error : whether the error bars know it.

    Notes
    -----
    The size of the errors, in the units of y; it says nothing of the error bars. ``std`` is not needed.

    Examples
    --------
    >>> round(root_mean_squared_error([3.0, 4.0], [0.0, 0.0]), 6)
    3.535534
    """

    name: ClassVar[str] = "RMSE"
    key: ClassVar[str] = "rmse"
    estimand: ClassVar[str] = "root of the mean squared error of new rows"
    direction: ClassVar[str] = "minimize"
    range: ClassVar[tuple[float, float]] = (0.0, float("inf"))
    needs_std: ClassVar[bool] = False
    selects: ClassVar[bool] = True
    degree: ClassVar[int | None] = 1

    def _losses(self, record):
        return np.square(record.error)


root_mean_squared_error: RootMeanSquaredError = RootMeanSquaredError()
