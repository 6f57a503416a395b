"""WIS: the median's error and the scores of central intervals, weighted so that it nears the CRPS."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from calibrant.contracts.regression_metric import RegressionMeanMetric
from calibrant.forecasts.forecast import require_levels
from calibrant.metrics.regression.pinball_loss import PinballLoss

__all__ = ["WeightedIntervalScore", "weighted_interval_score"]


@dataclass(frozen=True, repr=False)
class WeightedIntervalScore(RegressionMeanMetric):
    r"""Mean weighted interval score: absolute error of the median, widths of central intervals, and what lies outside them.

    .. math:: \frac{1}{K + 1/2} \Big( \tfrac12 |y - m| + \sum_{k=1}^K \tfrac{\alpha_k}{2} (h_k - l_k) + (l_k - y)_+ + (y - h_k)_+ \Big)

    with the central intervals at levels :math:`1 - \alpha_k` and the median m.

    Parameters
    ----------
    levels : tuple of float, default 0.1, 0.2, ..., 0.9, 0.95, 0.98
        The coverages that the intervals claim; these are those of the COVID-19 forecast hubs.

    See Also
    --------
    pinball_loss : half of it, at the ends of the intervals and the median.
    continuous_ranked_probability_score : what it nears with many levels.

    Notes
    -----
    A proper score of a forecast said as intervals. It is twice the mean pinball loss at the 2K + 1 quantiles. scoringrules 0.10 adds
    the median itself where :math:`|y - m|` belongs, and so gives another number.

    References
    ----------
    Bracher, Ray, Gneiting and Reich, "Evaluating epidemic forecasts in an interval format", PLOS Computational Biology 2021.

    Examples
    --------
    >>> round(weighted_interval_score([0.0], [0.0], [1.0], levels=(0.5,)), 4)
    0.2248
    """

    levels: tuple[float, ...] = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98)

    name: ClassVar[str] = "WIS"
    key: ClassVar[str] = "wis"
    direction: ClassVar[str] = "minimize"
    range: ClassVar[tuple[float, float]] = (0.0, float("inf"))
    proper: ClassVar[bool] = True
    selects: ClassVar[bool] = True
    degree: ClassVar[int | None] = 1

    def _check(self):
        require_levels(self.levels)

    def _losses(self, record):
        tails = 0.5 - 0.5 * np.asarray(self.levels)
        return 2.0 * PinballLoss(levels=(0.5, *tails, *(1.0 - tails))).losses_of(record)


weighted_interval_score: WeightedIntervalScore = WeightedIntervalScore()
