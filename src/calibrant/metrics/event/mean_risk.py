"""The mean probability of the event."""

from dataclasses import dataclass
from typing import Any, ClassVar

from calibrant.contracts.metric import Direction
from calibrant.contracts.sum_metric import MeanMetric
from calibrant.metrics.pair import Targeted

__all__ = ["MeanRisk", "mean_risk"]


@dataclass(frozen=True, repr=False)
class MeanRisk(Targeted, MeanMetric):
    r"""Mean probability of the event: the share of rows in which the model expects it.

    .. math:: \bar p = \frac1n \sum_i p_i

    Parameters
    ----------
    target : {"event", "answer"} or a class label, default "event"
        Whose probability: class 1's of two, the predicted label's, or the named class's.

    See Also
    --------
    calibration_bias : its distance from the share of events.

    Notes
    -----
    It looks at the predictions alone, so it is no score; read it beside the share of events, group by group or month by month.

    Examples
    --------
    >>> round(mean_risk([0, 0, 1], [0.1, 0.2, 0.6]), 4)
    0.3
    """

    name: ClassVar[str] = "mean risk"
    key: ClassVar[str] = "mean_risk"
    estimand: ClassVar[str] = "mean risk of new rows"
    direction: ClassVar[Direction] = "none"
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    soft_labels: ClassVar[bool] = True
    unseen: ClassVar[str | None] = "double"

    def _losses(self, record: Any):
        return record.pair(self.target)[0]


mean_risk: MeanRisk = MeanRisk()
