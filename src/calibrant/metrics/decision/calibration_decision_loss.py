"""CDL: what deciding by the scores loses against deciding by what they mean, for the worst payoff."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from calibrant._kernels.bins import grouped_sums
from calibrant._kernels.thresholds import decision_loss
from calibrant.contracts.metric import Interval
from calibrant.contracts.tags import Promises
from calibrant.metrics.pair import PairMetric

__all__ = ["CalibrationDecisionLoss", "calibration_decision_loss"]

#: With fewer rows for each distinct score no error is claimed for sure.
ROWS_EACH = 10.0


@dataclass(frozen=True, repr=False)
class CalibrationDecisionLoss(PairMetric):
    r"""Mean payoff gained by knowing the true rate of each distinct score, for the worst V-shaped payoff in [0, 1] (CDL).

    .. math:: \sup_\mu \frac{1}{\max(\mu, 1 - \mu)} \sum_v w_v \left| \bar c_v - \mu \right|
        1\{\mu \text{ between } v \text{ and } \bar c_v\}

    over the distinct scores v, of share :math:`w_v` and rate :math:`\bar c_v`.

    Parameters
    ----------
    target : {"event", "answer"} or a class label, default "event"
        Whose probability: class 1's of two, the predicted label's against its being right, or the named class's.

    See Also
    --------
    soft_binned_calibration_decision_loss : the same where scores do not repeat.
    u_calibration_error : against the best constant.

    Notes
    -----
    Use it for scores of few distinct values (rounded, or of a table), to bound what any decision maker loses by trusting them: at most
    twice this number, for any payoffs in [0, 1]; it is at most twice the ECE of the distinct scores, and can be far smaller. Where most
    scores are distinct each stands for its own outcome and the number says nothing: it warns of nothing, so use the soft-binned one, and
    its interval begins at 0 below ten rows a score. It is no sum over rows, so it has no state. Not truthful: coarser scores have less
    noise in it.

    References
    ----------
    Hu and Wu, "Predict to minimize swap regret for all payoff-bounded tasks", FOCS 2024.

    Examples
    --------
    >>> round(calibration_decision_loss([0, 1, 1, 1], [0.4, 0.4, 0.4, 0.4]), 3)
    0.583
    """

    target: Any = "event"

    name: ClassVar[str] = "CDL"
    key: ClassVar[str] = "cdl"
    direction: ClassVar[str] = "minimize"
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    promises: ClassVar[Promises] = Promises("no", "no", "yes", "against the best use of the scores: at most twice its size")

    @classmethod
    def _examples(cls):
        return [cls(), cls(target="answer")]

    def _pair_value(self, score, hit, weight):
        unique, index = np.unique(score, return_inverse=True)
        mass, hits = grouped_sums(index, len(unique), [hit], weight).T
        return min(decision_loss(unique, hits / mass, mass), 1.0)

    def _interval(self, record, level, method, n_resamples, random_state):
        found = super()._interval(record, level, method, n_resamples, random_state)
        distinct = len(np.unique(record.pair(self.target)[0]))
        if found.method != "debiased" or found.n >= ROWS_EACH * distinct:
            return found
        return Interval.holding(found.value, (0.0, found.high), level, found.method, found.n, found.plain)


calibration_decision_loss: CalibrationDecisionLoss = CalibrationDecisionLoss()
