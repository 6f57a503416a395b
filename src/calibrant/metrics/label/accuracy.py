"""Share of right predictions."""

from dataclasses import dataclass
from typing import ClassVar

from calibrant._kernels import intervals
from calibrant.contracts.sum_metric import MeanMetric

__all__ = ["Accuracy", "accuracy"]


@dataclass(frozen=True, repr=False)
class Accuracy(MeanMetric):
    """Share of rows whose largest probability is at the true class; the first class on ties.

    See Also
    --------
    confidence_auroc : whether the confidence ranks right above wrong.
    coverage_at_risk : how much can be kept at a stated risk.

    Notes
    -----
    Its interval is Wilson's.

    Examples
    --------
    >>> accuracy([0, 1], [[0.9, 0.1], [0.6, 0.4]])
    0.5
    >>> print(accuracy.interval([0, 1], [[0.9, 0.1], [0.6, 0.4]]))
    0.5 [0.09453, 0.9055]
    """

    name: ClassVar[str] = "accuracy"
    key: ClassVar[str] = "accuracy"
    direction: ClassVar[str] = "maximize"
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    selects: ClassVar[bool] = True

    def _losses(self, record):
        return record.correct

    def _limits(self, totals, level):
        return intervals.wilson(totals[..., 1], totals[..., 0], level)


accuracy: Accuracy = Accuracy()
