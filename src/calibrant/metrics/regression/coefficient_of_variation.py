"""How much the predicted standard deviations differ between rows."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from calibrant._kernels.mean_interval import limits_within, unseen_ends
from calibrant._kernels.quotient import quotient
from calibrant.contracts.regression_metric import RegressionSumMetric

__all__ = ["CoefficientOfVariation", "coefficient_of_variation"]

#: Below this c_v the higher moments are lost in the rounding of sums of powers; those of a normal distribution stand in.
LEAST_FOR_MOMENTS = 1e-2


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
    The interval is that of the mean of what each row adds to its square, from six moments of the std, with one row not seen yet; of equal
    std it reaches from 0 to what one row of twice the size among them would make.

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
        return list(np.cumprod([record.std] * 6, axis=0))

    def _finalise(self, totals):
        n, mean = totals[..., 0], quotient(totals[..., 1], totals[..., 0])
        squares = np.maximum(totals[..., 2] - n * mean * mean, 0.0)
        return np.where(n > 1.0, np.sqrt(squares / np.maximum(n - 1.0, 1e-300)), 0.0) / mean

    def _limits(self, totals, level):
        n, value = totals[..., 0], self._finalise(totals)
        mean = quotient(totals[..., 1], n)
        # Moments of std / mean std, whose mean is 1, and of what a row adds to the square of c_v, a polynomial in it.
        x = [np.ones_like(mean), *(quotient(totals[..., k], n * mean**k) for k in range(1, 7))]
        square = np.maximum(x[2] - 1.0, 0.0)
        added = [1.0 + 2.0 * square, -2.0 * (1.0 + square), 1.0]
        squared = _product(added, added)
        second, third = (sum(c * moment for c, moment in zip(p, x, strict=False)) for p in (squared, _product(squared, added)))
        rough = value < LEAST_FOR_MOMENTS
        # Of a normal distribution nearly constant: chi-square's moments.
        second, third = np.where(rough, 3.0 * square**2, second), np.where(rough, 15.0 * square**3, third)
        sums = np.stack([square, second, third], axis=-1) * n[..., None]
        above = np.where(square > 0.0, unseen_ends(n, sums, self.range)[1], 1.0)
        low, high = (
            np.sqrt(end * n / np.maximum(n - 1.0, 1e-300)) for end in limits_within(self.range, n, sums, (0.0 * square, above), level)
        )
        return np.minimum(low, value), np.maximum(high, value)


def _product(p, q):
    """Coefficients of the product of two polynomials, from the constant up."""
    return [sum(p[i] * q[k - i] for i in range(len(p)) if 0 <= k - i < len(q)) for k in range(len(p) + len(q) - 1)]


coefficient_of_variation: CoefficientOfVariation = CoefficientOfVariation()
