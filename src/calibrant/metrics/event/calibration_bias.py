"""By how much the mean probability is off."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from calibrant._kernels.intervals import limits_within, quotient
from calibrant.contracts.metric import Direction
from calibrant.contracts.sum_metric import MeanMetric
from calibrant.metrics.pair import Targeted

__all__ = ["CalibrationBias", "calibration_bias"]


@dataclass(frozen=True, repr=False)
class CalibrationBias(Targeted, MeanMetric):
    r"""Mean probability of the event minus the share of rows in which it happened.

    .. math:: \bar p - \bar y = \frac1n \sum_i (p_i - y_i)

    Parameters
    ----------
    target : {"event", "answer"} or a class label, default "event"
        Whose probability: class 1's of two, the predicted label's against its being right, or the named class's.

    See Also
    --------
    observed_expected_ratio : the same question as a quotient, for rare events.
    calibration_in_the_large : the same on the scale of the log-odds.

    Notes
    -----
    0 is right; over 0 the risks are too high on the whole. Compare groups by it, where one mean may hide the other's error. A group
    without events has an interval too, that of one row more of the other outcome. It is no score, so never select a model by it.
    Of :class:`SoftLabels` y is the share of the event.

    Examples
    --------
    >>> round(calibration_bias([0, 0, 1], [0.2, 0.4, 0.6]), 4)
    0.0667
    """

    name: ClassVar[str] = "calibration bias"
    key: ClassVar[str] = "calibration_bias"
    estimand: ClassVar[str] = "mean risk less the rate of the event, of new rows"
    direction: ClassVar[Direction] = "none"
    range: ClassVar[tuple[float, float]] = (-1.0, 1.0)
    soft_labels: ClassVar[bool] = True

    def _losses(self, record: Any):
        score, hit = record.pair(self.target)
        return score - hit

    def _unseen(self, record: Any) -> list[np.ndarray]:
        score = record.pair(self.target)[0]
        return [score, score * score]

    def _limits(self, totals: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray]:
        # The row not seen is one that fails: of the risks said, each as often as it moves the mean by failing.
        n, said, squares = totals[..., 0], totals[..., 4], totals[..., 5]
        ends = -quotient(n - 2.0 * said + squares, n - said), quotient(squares, said)
        return limits_within(self.range, n, totals[..., 1:4], ends, level)


calibration_bias: CalibrationBias = CalibrationBias()
