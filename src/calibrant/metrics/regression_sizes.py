"""Sizes of errors and standard deviations: means, roots and medians over the rows."""

from typing import Any

import numpy as np

from calibrant._numerics.intervals import limits_within, quotient, unseen_ends
from calibrant.core.metric_kinds import (
    RegressionMeanMetric,
    RegressionMetric,
    RegressionSumMetric,
    RootMeanMetric,
    WholeMetric,
)

__all__ = [
    "CoefficientOfVariation",
    "MeanAbsoluteError",
    "MeanAbsoluteRelativeDifference",
    "MedianAbsoluteError",
    "RootMeanSquaredError",
    "Sharpness",
    "coefficient_of_variation",
    "mean_absolute_error",
    "mean_absolute_relative_difference",
    "median_absolute_error",
    "root_mean_squared_error",
    "sharpness",
]


class MeanAbsoluteError(
    RegressionMeanMetric,
    name="MAE",
    key="mae",
    direction="minimize",
    range=(0.0, float("inf")),
    needs_std=False,
    selects=True,
    degree=1,
):
    r"""Mean distance between outcome and predicted mean (MAE).

    .. math:: \frac{1}{n} \sum_i |y_i - \mu_i|

    See Also
    --------
    root_mean_squared_error : the error that weights large errors more.
    continuous_ranked_probability_score : the same for a whole distribution.

    Notes
    -----
    It is milder on single large errors than the RMSE, and ignores the error bars. ``std`` is not
    needed.

    Examples
    --------
    >>> mean_absolute_error([3.0, 4.0], [0.0, 0.0])
    3.5
    """

    def _losses(self, record: Any) -> np.ndarray:
        return np.abs(record.error)


mean_absolute_error: MeanAbsoluteError = MeanAbsoluteError()


class RootMeanSquaredError(
    RootMeanMetric,
    name="RMSE",
    key="rmse",
    estimand="root of the mean squared error of new rows",
    direction="minimize",
    range=(0.0, float("inf")),
    needs_std=False,
    selects=True,
    degree=1,
):
    r"""Root of the mean squared distance between outcome and predicted mean (RMSE).

    .. math:: \sqrt{\frac{1}{n} \sum_i (y_i - \mu_i)^2}

    See Also
    --------
    mean_absolute_error : the error that weights large errors less.
    uncertainty_calibration_error : the calibration of the error bars.

    Notes
    -----
    It measures the size of the errors, in the units of y, and ignores the error bars. ``std`` is
    not needed.

    Examples
    --------
    >>> round(root_mean_squared_error([3.0, 4.0], [0.0, 0.0]), 6)
    3.535534
    """

    def _losses(self, record: Any) -> np.ndarray:
        return np.square(record.error)


root_mean_squared_error: RootMeanSquaredError = RootMeanSquaredError()


class MedianAbsoluteError(
    RegressionMetric,
    WholeMetric,
    name="median absolute error",
    key="median_absolute_error",
    direction="minimize",
    range=(0.0, float("inf")),
    needs_std=False,
    degree=1,
):
    r"""Median distance between outcome and predicted mean.

    .. math:: \operatorname{median}_i |y_i - \mu_i|

    See Also
    --------
    mean_absolute_error : the mean, which is sensitive to large errors.

    Notes
    -----
    Use it where some outcomes are gross errors and should not count. Half of the rows may be
    arbitrarily wrong, so never select a model by it. A median is no sum, so it has no state.
    ``std`` is not needed.

    Examples
    --------
    >>> median_absolute_error([1.0, 2.0, 90.0, 4.0], [0.0, 0.0, 0.0, 0.0])
    3.0
    """

    def _value(self, record: Any) -> float:
        error = np.abs(record.error)
        order = np.argsort(error)
        share = np.cumsum(record.weights[order]) / record.weights.sum()
        # The middle value, or the mean of the two middle values, as np.median of repeated rows.
        middle = [
            min(np.searchsorted(share, 0.5 + step), len(order) - 1) for step in (-1e-12, 1e-12)
        ]
        return float(error[order][middle].mean())


median_absolute_error: MedianAbsoluteError = MedianAbsoluteError()


class MeanAbsoluteRelativeDifference(
    RegressionMeanMetric,
    name="MARPD",
    key="marpd",
    direction="minimize",
    range=(0.0, 200.0),
    needs_std=False,
):
    r"""Mean distance between outcome and predicted mean, in per cent of their mean size (MARPD,
    symmetric MAPE).

    .. math:: \frac{100}{n} \sum_i \frac{2 |y_i - \mu_i|}{|y_i| + |\mu_i|}

    See Also
    --------
    mean_absolute_error : the error in the units of y.

    Notes
    -----
    Use it to compare with papers that report it. It is between 0 and 200, and 200 for any
    prediction where the outcome is 0; a row with both 0 counts 0. It favours low predictions, so
    never select a model by it. ``std`` is not needed.

    Examples
    --------
    >>> round(mean_absolute_relative_difference([1.0, 2.0], [3.0, 2.0]), 6)
    50.0
    """

    def _losses(self, record: Any) -> np.ndarray:
        size = np.abs(record.y) + np.abs(record.mean)
        return np.where(size > 0.0, 200.0 * quotient(np.abs(record.error), size), 0.0)


mean_absolute_relative_difference: MeanAbsoluteRelativeDifference = MeanAbsoluteRelativeDifference()


class Sharpness(
    RootMeanMetric,
    name="sharpness",
    key="sharpness",
    estimand="root of the mean predicted variance of new rows",
    direction="none",
    range=(0.0, float("inf")),
    degree=1,
):
    r"""Root mean predicted variance.

    .. math:: \sqrt{\frac{1}{n} \sum_i \sigma_i^2}

    See Also
    --------
    interval_width : the same for intervals.
    coefficient_of_variation : the variation of the std.

    Notes
    -----
    Among equally calibrated forecasts, the sharper is better. Alone it is not informative, since a
    std can be small and wrong.

    Examples
    --------
    >>> round(sharpness([0.0, 0.0], [0.0, 0.0], [3.0, 4.0]), 6)
    3.535534
    """

    def _losses(self, record: Any) -> np.ndarray:
        return np.square(record.std)


sharpness: Sharpness = Sharpness()


#: Below this c_v, rounding in the sums of powers destroys the higher moments; those of a normal
#: distribution replace them.
LEAST_FOR_MOMENTS = 1e-2


class CoefficientOfVariation(
    RegressionSumMetric,
    name="c_v",
    key="c_v",
    estimand="relative spread of the standard deviations predicted for new rows",
    direction="none",
    range=(0.0, float("inf")),
):
    r"""Standard deviation of the predicted std divided by their mean (c_v).

    .. math:: c_v = \frac{1}{\bar\sigma} \sqrt{\frac{\sum_i (\sigma_i - \bar\sigma)^2}{n - 1}}

    See Also
    --------
    sharpness : the size of the std, not its variation.

    Notes
    -----
    Report it with the ENCE: a constant std can have an ENCE of 0 but is uninformative about single
    rows, and then c_v is 0. It is 0 for one row. The interval is that of the mean of the rows'
    contributions to its square, from six moments of the std, with one unseen row. For equal std it
    reaches from 0 to the value with one row of twice the size.

    Examples
    --------
    >>> round(coefficient_of_variation([0.0, 0.0], [0.0, 0.0], [1.0, 3.0]), 6)
    0.707107
    """

    def _columns(self, record: Any) -> list[np.ndarray]:
        return list(np.cumprod([record.std] * 6, axis=0))

    def _finalise(self, totals: np.ndarray) -> np.ndarray | float:
        n, mean = totals[..., 0], quotient(totals[..., 1], totals[..., 0])
        squares = np.maximum(totals[..., 2] - n * mean * mean, 0.0)
        return np.where(n > 1.0, np.sqrt(squares / np.maximum(n - 1.0, 1e-300)), 0.0) / mean

    def _limits(self, totals: np.ndarray, level: float) -> tuple[Any, ...]:
        n, value = totals[..., 0], self._finalise(totals)
        mean = quotient(totals[..., 1], n)
        # Moments of std / mean std, whose mean is 1, and of a row's contribution to the square of
        # c_v, a polynomial in it.
        x = [np.ones_like(mean), *(quotient(totals[..., k], n * mean**k) for k in range(1, 7))]
        square = np.maximum(x[2] - 1.0, 0.0)
        added = [1.0 + 2.0 * square, -2.0 * (1.0 + square), 1.0]
        squared = _product(added, added)
        second, third = (
            sum(c * moment for c, moment in zip(p, x, strict=False))
            for p in (squared, _product(squared, added))
        )
        rough = value < LEAST_FOR_MOMENTS
        # Nearly constant and normal: the moments of a chi-squared distribution.
        second, third = (
            np.where(rough, 3.0 * square**2, second),
            np.where(rough, 15.0 * square**3, third),
        )
        sums = np.stack([square, second, third], axis=-1) * n[..., None]
        above = np.where(square > 0.0, unseen_ends(n, sums, self.range)[1], 1.0)
        low, high = (
            np.sqrt(end * n / np.maximum(n - 1.0, 1e-300))
            for end in limits_within(self.range, n, sums, (0.0 * square, above), level)
        )
        return np.minimum(low, value), np.maximum(high, value)


def _product(p: Any, q: Any) -> Any:
    """Coefficients of the product of two polynomials, in ascending order."""
    return [
        sum(p[i] * q[k - i] for i in range(len(p)) if 0 <= k - i < len(q))
        for k in range(len(p) + len(q) - 1)
    ]


coefficient_of_variation: CoefficientOfVariation = CoefficientOfVariation()
