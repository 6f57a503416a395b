"""Share of right predictions."""

from dataclasses import dataclass
from typing import ClassVar

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
    Its interval is exact (Clopper and Pearson) where fewer than ten rows are right or wrong, else Wilson's.

    Examples
    --------
    >>> accuracy([0, 1], [[0.9, 0.1], [0.6, 0.4]])
    0.5
    >>> print(accuracy.interval([0, 1], [[0.9, 0.1], [0.6, 0.4]]))
    0.5 [0.01258, 0.9874]
    """

    name: ClassVar[str] = "accuracy"
    key: ClassVar[str] = "accuracy"
    estimand: ClassVar[str] = "share of right predictions among new rows"
    direction: ClassVar[str] = "maximize"
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    selects: ClassVar[bool] = True
    rate: ClassVar[bool] = True

    def _losses(self, record):
        return record.correct


accuracy: Accuracy = Accuracy()
