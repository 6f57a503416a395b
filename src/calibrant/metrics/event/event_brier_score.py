"""Mean squared distance between the probability of an event and whether it happened."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from calibrant.contracts.metric import Direction
from calibrant.contracts.sum_metric import MeanMetric
from calibrant.metrics.pair import Targeted

__all__ = ["EventBrierScore", "event_brier_score"]


@dataclass(frozen=True, repr=False)
class EventBrierScore(Targeted, MeanMetric):
    r"""Mean squared distance between the probability of the event and whether it happened.

    .. math:: \frac{1}{n} \sum_i (p_i - y_i)^2

    Parameters
    ----------
    target : {"event", "answer"} or a class label, default "event"
        Whose probability: class 1's of two, the predicted label's against its being right, or the named class's.

    See Also
    --------
    brier_score : summed over all classes.

    Notes
    -----
    A proper score. For two classes it is half of ``brier_score``, which sums over both, and what scikit-learn's ``brier_score_loss`` gives.
    Where events are rare it is small for every model: read ``d2_brier`` beside it.
    Of :class:`SoftLabels` it is the mean over the raters' labels, (p - s)^2 + s (1 - s) for a share s.

    Examples
    --------
    >>> round(event_brier_score([1, 0], [0.8, 0.4]), 6)
    0.1
    """

    name: ClassVar[str] = "Brier score of the event"
    key: ClassVar[str] = "event_brier_score"
    direction: ClassVar[Direction] = "minimize"
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    proper: ClassVar[bool] = True
    soft_labels: ClassVar[bool] = True
    selects: ClassVar[bool] = True

    @classmethod
    def _examples(cls) -> Sequence[Any]:
        return [cls()]

    def _losses(self, record: Any):
        score, hit = record.pair(self.target)
        return np.square(score - hit)

    def _unseen(self, record: Any) -> list[np.ndarray]:
        score, hit = record.pair(self.target)
        return [np.square(score - (1.0 - hit))]


event_brier_score: EventBrierScore = EventBrierScore()
