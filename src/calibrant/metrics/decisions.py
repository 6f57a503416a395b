"""Calibration errors that bound the loss of decisions at the worst cut-off or payoff."""

from typing import Any, ClassVar

import numpy as np

from calibrant._numerics.bins import grouped_sums
from calibrant._numerics.thresholds import decision_loss
from calibrant.core.calibrator import Promises
from calibrant.core.metric_kinds import Interval
from calibrant.metrics.pair import PairMetric

__all__ = [
    "CalibrationDecisionLoss",
    "calibration_decision_loss",
]


#: With fewer rows per distinct score, the interval begins at 0.
ROWS_EACH = 10.0


class CalibrationDecisionLoss(
    PairMetric,
    name="CDL",
    key="cdl",
    direction="minimize",
    range=(0.0, 1.0),
    examples=({"target": "answer"},),
):
    r"""Mean payoff gained by knowing the true rate at each distinct score, for the worst V-shaped
    payoff in [0, 1] (CDL).

    .. math:: \sup_\mu \frac{1}{\max(\mu, 1 - \mu)} \sum_v w_v \left| \bar c_v - \mu \right|
        1\{\mu \text{ between } v \text{ and } \bar c_v\}

    over the distinct scores v, of share :math:`w_v` and rate :math:`\bar c_v`.

    Parameters
    ----------
    target : {"event", "answer"} or a class label, default "event"
        The probability to evaluate: class 1's of two, the predicted label's (against whether it is
        correct), or the named class's.

    See Also
    --------
    positive_class_calibration_error : the error in bins, where scores are distinct.

    Notes
    -----
    Use it for scores with few distinct values (rounded, or from a table), to bound the loss of any
    decision maker who trusts them. The loss is at most twice this value, for any payoffs in [0, 1].
    The value is at most twice the ECE of the distinct scores, and can be far smaller. Where most
    scores are distinct, it is uninformative and gives no warning: round the scores first. Its
    interval begins at 0 below ten rows per score. It is no sum over rows, so it has no state. It is
    not truthful: coarser scores have less noise.

    References
    ----------
    Hu and Wu, "Predict to minimize swap regret for all payoff-bounded tasks", FOCS 2024.

    Examples
    --------
    >>> round(calibration_decision_loss([0, 1, 1, 1], [0.4, 0.4, 0.4, 0.4]), 3)
    0.583
    """

    target: Any = "event"

    promises: ClassVar[Promises] = Promises(
        "no", "no", "yes", "against the best use of the scores: at most twice its value"
    )

    def _pair_value(self, score: np.ndarray, hit: np.ndarray, weight: np.ndarray) -> float:
        unique, index = np.unique(score, return_inverse=True)
        mass, hits = grouped_sums(index, len(unique), [hit], weight).T
        return min(decision_loss(unique, hits / mass, mass), 1.0)

    def _interval(
        self, record: Any, level: float, method: str, n_resamples: int, random_state: int
    ) -> Interval:
        found = super()._interval(record, level, method, n_resamples, random_state)
        distinct = len(np.unique(record.pair(self.target)[0]))
        if found.method != "debiased" or found.n >= ROWS_EACH * distinct:
            return found
        return Interval.holding(
            found.value, (0.0, found.high), level, found.method, found.n, found.plain
        )


calibration_decision_loss: CalibrationDecisionLoss = CalibrationDecisionLoss()
