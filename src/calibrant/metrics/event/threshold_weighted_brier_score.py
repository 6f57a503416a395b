"""The Brier score of the thresholds that matter."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from calibrant.metrics.event.threshold_weighted_score import ThresholdWeightedScore, beta_parts

__all__ = ["ThresholdWeightedBrierScore", "threshold_weighted_brier_score"]


@dataclass(frozen=True, repr=False)
class ThresholdWeightedBrierScore(ThresholdWeightedScore):
    r"""Brier score of the event that counts only some thresholds: the elementary score integrated over them.

    .. math:: \frac1n \sum_i \int_0^1 2 |y_i - \theta| \, 1\{\min(p_i, y_i) \le \theta < \max(p_i, y_i)\} \, w(\theta) \, d\theta

    Parameters
    ----------
    target : {"event", "answer"} or a class label, default "event"
        Whose probability: class 1's of two, the predicted label's against its being right, or the named class's.
    low, high : float, default 0 and 1
        The thresholds that count, all alike: w is 1 between them and 0 elsewhere.
    beta : (a, b), optional
        Instead, w is the density of the beta distribution: (2, 18) looks at risks about 0.1. (1, 1) is the Brier score.

    See Also
    --------
    threshold_weighted_log_loss : more weight to the smallest and largest thresholds.
    murphy_curve : the elementary score at every threshold.
    net_benefit : at one threshold, in true positives.

    Notes
    -----
    A proper score: use it where decisions are made between two risks, for example at 5 to 20 %. It does not tell models apart that
    differ only elsewhere. Choose the thresholds by what errors cost, before looking at the data. Over all thresholds it is
    ``event_brier_score``.

    References
    ----------
    Gneiting and Ranjan, "Comparing density forecasts using threshold- and quantile-weighted scoring rules", JBES 2011; Buja, Stuetzle and
    Shen, "Loss functions for binary class probability estimation and classification", 2005.

    Examples
    --------
    >>> y, p = [0, 1], [0.3, 0.6]
    >>> round(threshold_weighted_brier_score(y, p), 4), round(threshold_weighted_brier_score(y, p, low=0.1, high=0.2), 4)
    (0.125, 0.015)
    """

    name: ClassVar[str] = "threshold-weighted Brier score"
    key: ClassVar[str] = "threshold_weighted_brier_score"
    range: ClassVar[tuple[float, float]] = (0.0, 2.0)

    def _even(self, pair: Any):
        p = np.clip(pair.probabilities[:, 1], self.low, self.high)
        return np.square(1.0 - p) - (1.0 - self.high) ** 2, np.square(p) - self.low**2

    def _by_density(self, pair: Any, a: Any, b: Any):
        return tuple(2.0 / (a + b) * part for part in beta_parts(pair, a, b))


threshold_weighted_brier_score: ThresholdWeightedBrierScore = ThresholdWeightedBrierScore()
