"""Sums over rows that add up: parts merged equal the whole, to the order of summation."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant.contracts.base_metric import BaseMetric
from calibrant.errors import InputError

__all__ = ["SumState"]


@dataclass(frozen=True, eq=False)
class SumState:
    """A metric's mergeable state: the metric with its options, and an array of sums;
    ``totals=None`` is the empty state.

    See Also
    --------
    Metric : makes one by ``metric.state(y_true, P)``.
    """

    metric: BaseMetric
    totals: np.ndarray | None = None

    def __add__(self, other: Any) -> "SumState":
        if not isinstance(other, SumState):
            return NotImplemented
        if self.metric != other.metric:
            raise InputError(
                f"only states of one metric with the same options add up; got {self.metric!r} and"
                f" {other.metric!r}."
            )
        if self.totals is None or other.totals is None:
            return self if other.totals is None else other
        if self.totals.shape != other.totals.shape:
            raise InputError(
                f"states add up over the same classes only; got sums of shape {self.totals.shape}"
                f" and {other.totals.shape}."
            )
        return SumState(self.metric, self.totals + other.totals)

    def __radd__(self, other: Any) -> "SumState":
        return self if other == 0 else NotImplemented

    def finalise(self) -> float:
        """The metric's value on all rows added so far; nan when there are none."""
        return float("nan") if self.totals is None else float(self.metric.finalise(self.totals))
