"""Share of wrong answers among those that a threshold accepts."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from calibrant._kernels.intervals import clopper_pearson
from calibrant._kernels.quotient import quotient
from calibrant.contracts.by_options import by_options
from calibrant.contracts.metric import Direction
from calibrant.contracts.sum_metric import SumMetric
from calibrant.errors import InputError

__all__ = ["SelectiveRisk", "selective_risk"]


@dataclass(frozen=True, repr=False)
class SelectiveRisk(SumMetric):
    r"""Share of wrong answers among the rows whose confidence is above the threshold, :math:`P(\text{wrong} \mid s > t)`.

    Parameters
    ----------
    threshold : float, default 0.0
        In [0, 1]; a confidence on it is not accepted.

    See Also
    --------
    accepted_share : how many rows that are.
    risk_coverage_curve : all thresholds at once.

    Notes
    -----
    Use it for a threshold fixed on other rows, such as ``SelectiveClassifier().threshold_``: whether the promise is kept. Its interval is
    exact (Clopper and Pearson), given how many rows are accepted: the upper end of level 0.9 is the bound that fails one time in twenty. A
    threshold chosen on these very rows has another one. nan where no row is accepted.

    Examples
    --------
    >>> print(selective_risk.interval([1, 0, 1, 0], [0.9, 0.2, 0.6, 0.95], threshold=0.7))
    0.3333 [0.008404, 0.9057]
    """

    threshold: float = 0.0

    name: ClassVar[str] = "selective risk"
    key: ClassVar[str] = "selective_risk"
    estimand: ClassVar[str] = "share of wrong answers among new rows above the threshold"
    direction: ClassVar[Direction] = "minimize"
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)

    def _exceptions(self) -> Mapping[str, str]:
        """Where a threshold may accept nothing."""
        return {} if self.threshold == 0.0 else {"constant_scores": "no row above the threshold: nan"}

    exceptions: ClassVar[Mapping[str, str]] = by_options(_exceptions)

    @classmethod
    def _examples(cls):
        return [cls(), cls(threshold=0.4)]

    def _check(self):
        if not 0.0 <= self.threshold <= 1.0:
            raise InputError(f"threshold must be in [0, 1]; got {self.threshold!r}.")

    def _columns(self, record: Any):
        accepted = (record.confidence > self.threshold) * 1.0
        return [accepted, accepted * (1.0 - record.correct)]

    def _finalise(self, totals: np.ndarray):
        return np.where(totals[..., 1] > 0.0, quotient(totals[..., 2], totals[..., 1]), np.nan)

    def _limits(self, totals: np.ndarray, level: float):
        return clopper_pearson(totals[..., 2], totals[..., 1], level)


selective_risk: SelectiveRisk = SelectiveRisk()
