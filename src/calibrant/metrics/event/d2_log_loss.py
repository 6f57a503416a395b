"""Share of the base rate's log loss that the probabilities save."""

from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np
from scipy import special  # pyright: ignore[reportMissingTypeStubs, reportUnknownVariableType]

from calibrant.metrics.event.skill_score import SkillScore
from calibrant.metrics.proper import log_loss

__all__ = ["D2LogLoss", "d2_log_loss"]


@dataclass(frozen=True, repr=False)
class D2LogLoss(SkillScore):
    r"""Share of the base rate's log loss that the probabilities save (D², McFadden's R²).

    .. math:: D^2 = 1 - \frac{-\frac1n \sum_i y_i \log p_i + (1 - y_i) \log(1 - p_i)}{-\bar y \log \bar y - (1 - \bar y) \log(1 - \bar y)}

    Parameters
    ----------
    target : {"event", "answer"} or a class label, default "event"
        Whose probability: class 1's of two, the predicted label's against its being right, or the named class's.

    See Also
    --------
    d2_brier : the same of the Brier score.

    Notes
    -----
    1 is perfect, 0 is no better than saying the share of events to every row, below 0 is worse than that. It ranks models of the same rows
    as the log loss does, and says what a log loss of 0.05 is worth where events are rare. The base rate is that of the rows
    themselves. nan where all outcomes are alike. For two classes scikit-learn's ``d2_log_loss_score`` is this number.

    Examples
    --------
    >>> round(d2_log_loss([0, 0, 0, 1], [0.1, 0.2, 0.1, 0.7]), 4)
    0.6485
    """

    name: ClassVar[str] = "D² (log loss)"
    key: ClassVar[str] = "d2_log_loss"

    def _losses(self, pair: Any):
        return log_loss.losses_of(pair)

    def _base(self, rate: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        entr = cast(Any, special).entr
        return entr(rate) + entr(1.0 - rate), np.log1p(-rate) - np.log(rate)


d2_log_loss: D2LogLoss = D2LogLoss()
