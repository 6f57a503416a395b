"""Share of rows whose answers a threshold accepts."""

from dataclasses import dataclass
from typing import Any, ClassVar

from calibrant.contracts.metric import Direction
from calibrant.contracts.sum_metric import MeanMetric
from calibrant.errors import InputError

__all__ = ["AcceptedShare", "accepted_share"]


@dataclass(frozen=True, repr=False)
class AcceptedShare(MeanMetric):
    """Share of rows whose confidence is above the threshold.

    Parameters
    ----------
    threshold : float, default 0.0
        In [0, 1]; a confidence on it is not accepted.

    See Also
    --------
    selective_risk : how many of them are wrong.
    coverage_at_risk : at the best threshold for a risk.

    Notes
    -----
    Use it beside ``selective_risk``, for a threshold fixed on other rows, such as that of a ``SelectiveClassifier``. It looks at no label.
    The interval is exact (Clopper and Pearson) where fewer than ten rows are accepted or not, else Wilson's.

    Examples
    --------
    >>> accepted_share([1, 0, 1, 1], [0.9, 0.2, 0.6, 0.95], threshold=0.7)
    0.75
    """

    threshold: float = 0.0

    name: ClassVar[str] = "accepted share"
    key: ClassVar[str] = "accepted_share"
    estimand: ClassVar[str] = "share of new rows above the threshold"
    direction: ClassVar[Direction] = "none"
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    rate: ClassVar[bool] = True

    @classmethod
    def _examples(cls):
        return [cls(), cls(threshold=0.7)]

    def _check(self):
        if not 0.0 <= self.threshold <= 1.0:
            raise InputError(f"threshold must be in [0, 1]; got {self.threshold!r}.")

    def _losses(self, record: Any):
        return (record.confidence > self.threshold) * 1.0


accepted_share: AcceptedShare = AcceptedShare()
