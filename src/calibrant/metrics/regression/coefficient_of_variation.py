"""How much the predicted standard deviations differ between rows."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from calibrant._kernels.intervals import normal_interval
from calibrant._kernels.quotient import quotient
from calibrant.contracts.regression_metric import RegressionSumMetric

__all__ = ["CoefficientOfVariation", "coefficient_of_variation"]

#: Below this c_v the higher moments are lost in the rounding of sums of powers; those of a normal distribution stand in.
LEAST_FOR_MOMENTS = 1e-3


@dataclass(frozen=True, repr=False)
class CoefficientOfVariation(RegressionSumMetric):
    r"""Standard deviation of the predicted std over their mean (c_v).

    .. math:: c_v = \frac{1}{\bar\sigma} \sqrt{\frac{\sum_i (\sigma_i - \bar\sigma)^2}{n - 1}}

    See Also
    --------
    sharpness : how large the std is, not how it varies.

    Notes
    -----
    Beside the ENCE: one std for all rows can have an ENCE of 0 and tells nothing about a row, which a c_v of 0 shows. 0 for one row.
    The interval is that of the delta method, from the first four moments of the std.

    Examples
    --------
    >>> round(coefficient_of_variation([0.0, 0.0], [0.0, 0.0], [1.0, 3.0]), 6)
    0.707107
    """

    name: ClassVar[str] = "c_v"
    key: ClassVar[str] = "c_v"
    estimand: ClassVar[str] = "relative spread of the standard deviations predicted for new rows"
    direction: ClassVar[str] = "none"
    range: ClassVar[tuple[float, float]] = (0.0, float("inf"))

    def _columns(self, record):
        square = np.square(record.std)
        return [record.std, square, square * record.std, square * square]

    def _finalise(self, totals):
        n, mean = totals[..., 0], quotient(totals[..., 1], totals[..., 0])
        squares = np.maximum(totals[..., 2] - n * mean * mean, 0.0)
        return np.where(n > 1.0, np.sqrt(squares / np.maximum(n - 1.0, 1e-300)), 0.0) / mean

    def _limits(self, totals, level):
        n, value = totals[..., 0], self._finalise(totals)
        # Moments of std / mean std, whose mean is 1.
        mean = quotient(totals[..., 1], n)
        second, third, fourth = (quotient(totals[..., k], n * mean**k) for k in (2, 3, 4))
        variance = np.maximum(second - 1.0, 0.0)
        rough = value < LEAST_FOR_MOMENTS
        skew = np.where(rough, 0.0, third - 3.0 * second + 2.0)
        tails = np.where(rough, 3.0 * variance**2, np.maximum(fourth - 4.0 * third + 6.0 * second - 3.0, variance**2))
        spread = quotient(tails - variance**2, 4.0 * variance) - skew + variance**2
        error = np.where(n > 1.0, np.maximum(spread, 0.0) / np.maximum(n, 1e-300), np.inf)
        low, high = normal_interval(value, np.where(np.isnan(error), 0.0, error), level)
        return np.maximum(low, 0.0), high


coefficient_of_variation: CoefficientOfVariation = CoefficientOfVariation()
