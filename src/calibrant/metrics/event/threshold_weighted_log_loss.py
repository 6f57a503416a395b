"""The log loss of the thresholds that matter."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from calibrant._kernels.softmax import ZERO_FLOOR
from calibrant.metrics.event.threshold_weighted_score import ThresholdWeightedScore, beta_parts

__all__ = ["ThresholdWeightedLogLoss", "threshold_weighted_log_loss"]


@dataclass(frozen=True, repr=False)
class ThresholdWeightedLogLoss(ThresholdWeightedScore):
    r"""Log loss of the event that counts only some thresholds: the elementary score integrated over them.

    .. math:: \frac1n \sum_i \int_0^1 \frac{|y_i - \theta|}{\theta (1 - \theta)} \,
        1\{\min(p_i, y_i) \le \theta < \max(p_i, y_i)\} \, w(\theta) \, d\theta

    Parameters
    ----------
    target : {"event", "answer"} or a class label, default "event"
        Whose probability: class 1's of two, the predicted label's against its being right, or the named class's.
    low, high : float, default 0 and 1
        The thresholds that count: w is 1 between them and 0 elsewhere.
    beta : (a, b), both above 1, optional
        Instead, w is the density of the beta distribution.

    See Also
    --------
    threshold_weighted_brier_score : all thresholds that count alike.
    log_loss : over all thresholds, and any number of classes.

    Notes
    -----
    A proper score, bounded where ``low`` is above 0 and ``high`` below 1: use it where risks of one in a thousand and of one in a hundred
    must be told apart, but one in a million is as good as none. Over all thresholds it is the log loss of the event.

    References
    ----------
    Buja, Stuetzle and Shen, "Loss functions for binary class probability estimation and classification", 2005.

    Examples
    --------
    >>> y, p = [0, 1], [0.3, 1e-9]
    >>> round(threshold_weighted_log_loss(y, p), 4), round(threshold_weighted_log_loss(y, p, low=0.001, high=0.5), 4)
    (10.54, 3.2851)
    """

    name: ClassVar[str] = "threshold-weighted log loss"
    key: ClassVar[str] = "threshold_weighted_log_loss"
    range: ClassVar[tuple[float, float]] = (0.0, float("inf"))
    _least: ClassVar[float] = 1.0

    def _even(self, pair: Any) -> tuple[np.ndarray, np.ndarray]:
        # Logarithms of both ends; those of 0 and 1 bound nothing.
        below, above = -np.inf if self.low == 0.0 else np.log(self.low), -np.inf if self.high == 1.0 else np.log1p(-self.high)
        logs: np.ndarray = pair.log_probabilities
        if pair.kind == "probability":
            # As the log loss reads them.
            logs = np.where(np.asarray(pair.values) > 0.0, logs, np.log(ZERO_FLOOR))
        happened: np.ndarray = np.log(self.high) - np.clip(logs[:, 1], below, np.log(self.high))
        return happened, np.log1p(-self.low) - np.clip(logs[:, 0], above, np.log1p(-self.low))

    def _by_density(self, pair: Any, a: Any, b: Any):
        # Divided by t (1 - t), the density of Beta(a, b) is a multiple of that of Beta(a - 1, b - 1).
        return tuple((a + b - 1.0) / ((a - 1.0) * (b - 1.0)) * part for part in beta_parts(pair, a - 1.0, b - 1.0))


threshold_weighted_log_loss: ThresholdWeightedLogLoss = ThresholdWeightedLogLoss()
