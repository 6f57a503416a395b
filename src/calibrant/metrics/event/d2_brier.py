"""Share of the base rate's Brier score that the probabilities save."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from calibrant.metrics.event.event_brier_score import event_brier_score
from calibrant.metrics.event.skill_score import SkillScore

__all__ = ["D2Brier", "d2_brier"]


@dataclass(frozen=True, repr=False)
class D2Brier(SkillScore):
    r"""Share of the base rate's Brier score that the probabilities save (Brier skill score, scaled Brier score).

    .. math:: D^2 = 1 - \frac{\sum_i (p_i - y_i)^2}{\sum_i (\bar y - y_i)^2}

    Parameters
    ----------
    target : {"event", "answer"} or a class label, default "event"
        Whose probability: class 1's of two, the predicted label's against its being right, or the named class's.

    See Also
    --------
    d2_log_loss : the same of the log loss.

    Notes
    -----
    1 is perfect, 0 is no better than saying the share of events to every row, below 0 is worse than that. Meteorology's BSS and clinical
    reports' "scaled Brier" or index of prediction accuracy (IPA). The base rate is that of the rows themselves. nan where all outcomes
    are alike. For two classes scikit-learn's ``d2_brier_score`` is this number.

    Examples
    --------
    >>> round(d2_brier([0, 0, 0, 1], [0.1, 0.2, 0.1, 0.7]), 4)
    0.8
    """

    name: ClassVar[str] = "D² (Brier)"
    key: ClassVar[str] = "d2_brier"

    def _losses(self, pair: Any):
        return event_brier_score.losses_of(pair)

    def _base(self, rate: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return rate * (1.0 - rate), 1.0 - 2.0 * rate


d2_brier: D2Brier = D2Brier()
