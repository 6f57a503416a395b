"""Scores of forecasts: proper ones of densities, distributions, quantiles, intervals and one
threshold; and sizes of errors and standard deviations: means, roots and medians over the rows.
"""

from typing import Any, Literal

import numpy as np
from scipy import special

from calibrant._numerics.intervals import limits_within, quotient, unseen_ends
from calibrant.core.estimators import require_option
from calibrant.core.forecast import NormalForecast, require_levels
from calibrant.core.metric_kinds import (
    RegressionMeanMetric,
    RegressionMetric,
    RegressionSumMetric,
    RootMeanMetric,
    WholeMetric,
)
from calibrant.core.quantile_forecast import SampleForecast
from calibrant.core.student_forecast import StudentForecast
from calibrant.errors import InputError

__all__ = [
    "CoefficientOfVariation",
    "ContinuousRankedProbabilityScore",
    "MeanAbsoluteError",
    "MeanAbsoluteRelativeDifference",
    "MedianAbsoluteError",
    "NegativeLogLikelihood",
    "PinballLoss",
    "RootMeanSquaredError",
    "Sharpness",
    "ThresholdBrierScore",
    "WeightedIntervalScore",
    "coefficient_of_variation",
    "continuous_ranked_probability_score",
    "mean_absolute_error",
    "mean_absolute_relative_difference",
    "median_absolute_error",
    "negative_log_likelihood",
    "pinball_loss",
    "root_mean_squared_error",
    "sharpness",
    "threshold_brier_score",
    "weighted_interval_score",
]


class NegativeLogLikelihood(
    RegressionMeanMetric,
    name="NLL",
    key="nll",
    direction="minimize",
    range=(float("-inf"), float("inf")),
    proper=True,
    selects=True,
    degree=None,
):
    r"""Mean negative logarithm of the predicted density at the outcome (NLL).

    .. math:: \frac{1}{n} \sum_i \left[ \log \sigma_i + \tfrac{1}{2} \log 2\pi + \frac{(y_i -
        \mu_i)^2}{2 \sigma_i^2} \right]

    This is the formula for normal forecasts; others use their own density.

    See Also
    --------
    continuous_ranked_probability_score : a milder score, in the units of y.

    Notes
    -----
    It is a proper score: use it to select models and calibrators. One row far outside its error bar
    can dominate it; the CRPS is milder. A change of the units of y adds a constant, the logarithm
    of the factor. Forecasts from quantiles or samples have the density of their piecewise linear
    CDF, which is rough; tied quantiles form an atom, which the line across it smooths. Prefer the
    CRPS there.

    Examples
    --------
    >>> round(negative_log_likelihood([0.0], [0.0], [1.0]), 6)
    0.918939
    """

    def _losses(self, record: Any) -> np.ndarray:
        return -record.forecast.log_density(record.y)


negative_log_likelihood: NegativeLogLikelihood = NegativeLogLikelihood()


class ContinuousRankedProbabilityScore(
    RegressionMeanMetric,
    name="CRPS",
    key="crps",
    direction="minimize",
    range=(0.0, float("inf")),
    proper=True,
    selects=True,
    degree=1,
):
    r"""Mean squared distance between the predicted CDF and the outcome's step (CRPS).

    .. math:: \frac{1}{n} \sum_i \int \left( F_i(u) - [y_i \le u] \right)^2 du

    Parameters
    ----------
    estimator : {"empirical", "fair"}
        For samples only. "empirical" is the score of their empirical distribution, which is larger
        for fewer samples. "fair" is the unbiased estimate for the distribution they come from
        (equal to that by probability-weighted moments), which can be below 0 in a row.

    See Also
    --------
    negative_log_likelihood : a score stricter on confident errors.
    pinball_loss : the score at chosen levels.

    Notes
    -----
    It is a proper score like the NLL, milder on single large errors, in the units of y. Use it for
    selection, and where there is no density. It has a closed form for normal, Student and Cauchy
    forecasts and samples (their empirical distribution). For others it is twice the pinball loss at
    400 levels, with an error below 1e-3 std.

    Examples
    --------
    >>> round(continuous_ranked_probability_score([0.0], [0.0], [1.0]), 6)
    0.233695
    """

    estimator: Literal["empirical", "fair"] = "empirical"

    def _check(self) -> None:
        require_option("estimator", self.estimator, ("empirical", "fair"))

    def _losses(self, record: Any) -> np.ndarray:
        return np.concatenate(
            [_block_losses(block, self.estimator) for block in record.blocks(4096)]
        )


def _block_losses(block: Any, estimator: str) -> np.ndarray:
    forecast, y = block.forecast, block.y
    if isinstance(forecast, NormalForecast):
        z = block.standardised
        density = np.exp(-0.5 * z * z) / np.sqrt(2.0 * np.pi)
        return forecast.std * (
            z * (2.0 * special.ndtr(z) - 1.0) + 2.0 * density - 1.0 / np.sqrt(np.pi)
        )
    if isinstance(forecast, SampleForecast):
        size = forecast.values.shape[-1]
        spread = (
            forecast.values
            @ (2.0 * np.arange(1, size + 1) - size - 1.0)
            / (size * (size - 1.0 if estimator == "fair" else size))
        )
        return np.abs(forecast.values - y[:, None]).mean(axis=1) - spread
    if isinstance(forecast, StudentForecast):
        return forecast.crps(y)
    levels = (np.arange(400) + 0.5) / 400.0
    gap = y[:, None] - forecast.quantile(levels)
    return 2.0 * np.mean(np.where(gap < 0.0, levels - 1.0, levels) * gap, axis=1)


continuous_ranked_probability_score: ContinuousRankedProbabilityScore = (
    ContinuousRankedProbabilityScore()
)


class PinballLoss(
    RegressionMeanMetric,
    name="pinball loss",
    key="pinball_loss",
    direction="minimize",
    range=(0.0, float("inf")),
    proper=True,
    selects=True,
    degree=1,
):
    r"""Mean pinball loss of the predicted quantiles, averaged over levels.

    .. math:: \frac{1}{n} \sum_i \frac{1}{|T|} \sum_{\tau \in T} (\tau - [y_i < q_{i \tau}])\, (y_i
        - q_{i \tau})

    Parameters
    ----------
    levels : tuple of float, default 0.01, 0.02, ..., 0.99
        One or more levels; ``levels=(0.9,)`` evaluates one quantile.

    See Also
    --------
    continuous_ranked_probability_score : the score over all levels.
    quantile_calibration_error : the calibration of the quantiles.

    Notes
    -----
    It is a proper score of quantiles: use it to select quantile forecasts. Over many levels, twice
    its value approaches the CRPS.

    Examples
    --------
    >>> pinball_loss([1.0], [0.0], [1.0], levels=(0.5,))
    0.5
    """

    levels: tuple[float, ...] = tuple(k / 100 for k in range(1, 100))

    def _check(self) -> None:
        require_levels(self.levels)

    def _losses(self, record: Any) -> np.ndarray:
        levels = np.asarray(self.levels)
        return np.concatenate([self._block_losses(block, levels) for block in record.blocks(4096)])

    @staticmethod
    def _block_losses(block: Any, levels: np.ndarray) -> np.ndarray:
        gap = block.y[:, None] - block.forecast.quantile(levels)
        return np.mean(np.where(gap < 0.0, levels - 1.0, levels) * gap, axis=1)


pinball_loss: PinballLoss = PinballLoss()


class WeightedIntervalScore(
    RegressionMeanMetric,
    name="WIS",
    key="wis",
    direction="minimize",
    range=(0.0, float("inf")),
    proper=True,
    selects=True,
    degree=1,
):
    r"""Mean weighted interval score: absolute error of the median, widths of central intervals, and
    distances outside them.

    .. math:: \frac{1}{K + 1/2} \Big( \tfrac12 |y - m| + \sum_{k=1}^K \tfrac{\alpha_k}{2} (h_k -
        l_k) + (l_k - y)_+ + (y - h_k)_+ \Big)

    Here :math:`[l_k, h_k]` are the central intervals at levels :math:`1 - \alpha_k`, and m is the
    median.

    Parameters
    ----------
    levels : tuple of float, default 0.1, 0.2, ..., 0.9, 0.95, 0.98
        The nominal coverages of the intervals; the default is that of the COVID-19 forecast hubs.

    See Also
    --------
    pinball_loss : half of this score, at the ends of the intervals and the median.
    continuous_ranked_probability_score : its limit with many levels.

    Notes
    -----
    It is a proper score of interval forecasts, and twice the mean pinball loss at the 2K + 1
    quantiles. scoringrules 0.10 adds the median itself instead of :math:`|y - m|`, and so gives
    another value.

    References
    ----------
    Bracher, Ray, Gneiting and Reich, "Evaluating epidemic forecasts in an interval format", PLOS
    Computational Biology 2021.

    Examples
    --------
    >>> round(weighted_interval_score([0.0], [0.0], [1.0], levels=(0.5,)), 4)
    0.2248
    """

    levels: tuple[float, ...] = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98)

    def _check(self) -> None:
        require_levels(self.levels)

    def _losses(self, record: Any) -> np.ndarray:
        tails = 0.5 - 0.5 * np.asarray(self.levels)
        return 2.0 * PinballLoss(levels=(0.5, *tails, *(1.0 - tails))).losses_of(record)


weighted_interval_score: WeightedIntervalScore = WeightedIntervalScore()


class ThresholdBrierScore(
    RegressionMeanMetric,
    name="threshold Brier score",
    key="threshold_brier_score",
    direction="minimize",
    range=(0.0, 1.0),
    degree=None,
):
    r"""Brier score of the event that the outcome is at most a threshold.

    .. math:: \frac1n \sum_i \left( F_i(t) - [y_i \le t] \right)^2

    Parameters
    ----------
    threshold : float, default 0.0
        The threshold in the units of y.

    See Also
    --------
    continuous_ranked_probability_score : its integral over all thresholds.

    Notes
    -----
    Use it where one threshold matters, such as a flood level or a limit. It is minimal for the true
    probability of that event, and ignores the rest of the distribution, so select models by it for
    that use only. For samples, the probability is their share at most at the threshold.

    References
    ----------
    Gneiting and Ranjan, "Comparing density forecasts using threshold- and quantile-weighted scoring
    rules", JBES 2011.

    Examples
    --------
    >>> threshold_brier_score([1.0], [0.0], [1.0])
    0.25
    """

    threshold: float = 0.0

    def _check(self) -> None:
        if not np.isfinite(self.threshold):
            raise InputError(
                f"threshold must be a finite number, in the units of y; got {self.threshold!r}."
            )

    def _losses(self, record: Any) -> np.ndarray:
        forecast = record.forecast
        empirical = isinstance(forecast, SampleForecast)
        below = (
            (forecast.values <= self.threshold).mean(axis=-1)
            if empirical
            else forecast.cdf(self.threshold)
        )
        return (below - (record.y <= self.threshold)) ** 2


threshold_brier_score: ThresholdBrierScore = ThresholdBrierScore()


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

    References
    ----------
    Levi et al., "Evaluating and calibrating uncertainty prediction in regression tasks", 2019,
    equation 9.

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
