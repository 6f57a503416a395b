"""The Brier score of the event that the outcome is at most a threshold."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from calibrant.contracts.regression_metric import RegressionMeanMetric
from calibrant.errors import InputError
from calibrant.forecasts.quantiles import SampleForecast

__all__ = ["ThresholdBrierScore", "threshold_brier_score"]


@dataclass(frozen=True, repr=False)
class ThresholdBrierScore(RegressionMeanMetric):
    r"""Mean squared gap between the probability of an outcome at most at a threshold, and whether it was.

    .. math:: \frac1n \sum_i \left( F_i(t) - [y_i \le t] \right)^2

    Parameters
    ----------
    threshold : float, default 0.0
        In the units of y.

    See Also
    --------
    continuous_ranked_probability_score : its integral over all thresholds.

    Notes
    -----
    Use it where one threshold decides: a flood, a limit. It is least for the true probability of that event, and blind to the rest of the
    distribution, so choose a model by it for that use alone. Samples count by their share at most at the threshold.

    References
    ----------
    Gneiting and Ranjan, "Comparing density forecasts using threshold- and quantile-weighted scoring rules", JBES 2011.

    Examples
    --------
    >>> threshold_brier_score([1.0], [0.0], [1.0])
    0.25
    """

    threshold: float = 0.0

    name: ClassVar[str] = "threshold Brier score"
    key: ClassVar[str] = "threshold_brier_score"
    direction: ClassVar[str] = "minimize"
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    degree: ClassVar[int | None] = None

    def _check(self):
        if not np.isfinite(self.threshold):
            raise InputError(f"threshold must be a finite number, in the units of y; got {self.threshold!r}.")

    def _losses(self, record):
        forecast = record.forecast
        empirical = isinstance(forecast, SampleForecast)
        below = (forecast.values <= self.threshold).mean(axis=-1) if empirical else forecast.cdf(self.threshold)
        return (below - (record.y <= self.threshold)) ** 2


threshold_brier_score: ThresholdBrierScore = ThresholdBrierScore()
