"""The templates of metrics that are sums over rows: a mean, a quotient, a function of weighted sums."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from calibrant._kernels import intervals
from calibrant._kernels.bins import grouped_sums
from calibrant._kernels.bootstrap import resampled_sums
from calibrant._kernels.quotient import quotient
from calibrant.contracts.metric import Metric

__all__ = ["MeanMetric", "RatioMetric", "SumMetric"]


@dataclass(frozen=True, repr=False)
class SumMetric(Metric):
    """A function of weighted sums of columns: state, groups and a quick bootstrap come for free. A metric writes ``_columns(record)``.

    See Also
    --------
    MeanMetric, RatioMetric : with an interval ready.
    WholeMetric : where sums over rows are not enough.
    """

    paired: ClassVar[bool] = True

    def columns_of(self, record: Any) -> list[np.ndarray]:
        """What is summed over the rows of a record, besides the weight itself: a list of (n,)."""
        return self._columns(record)

    @abstractmethod
    def _columns(self, record: Any) -> list[np.ndarray]:
        """What is summed, besides the weight itself: a list of (n,)."""

    def _totals(self, record: Any) -> np.ndarray:
        if record.weight is None:
            return np.array([float(len(record)), *(column.sum() for column in self._columns(record))])
        return np.array([record.weight.sum(), *(record.weight @ column for column in self._columns(record))])

    def _group_totals(self, record: Any, group: np.ndarray, n_groups: int) -> np.ndarray:
        total, start = np.zeros(()), 0
        # Blocks well longer than the table of groups, so that adding up tables costs less than the rows do.
        for block in record.blocks(max(4 * n_groups, 65_536)):
            rows = group[start : start + len(block)]
            start += len(block)
            total = total + grouped_sums(rows, n_groups, self._columns(block), block.weight)
        return total

    def _resampled(self, record: Any, n_resamples: int, random_state: int) -> np.ndarray:
        one_group = np.zeros(len(record), dtype=np.intp)
        draws = resampled_sums([(one_group, self._columns(record))], 1, record.weights, n_resamples, random_state)
        return self._finalise(draws[:, 0, 0])


@dataclass(frozen=True, repr=False)
class MeanMetric(SumMetric):
    """A weighted mean of one loss a row, with its analytic interval. A metric writes ``_losses(record)``.

    See Also
    --------
    RatioMetric : a quotient of two sums.
    RegressionMeanMetric : the same for forecasts of numbers.
    """

    def losses_of(self, record: Any) -> np.ndarray:
        """The loss of each row of a record, (n,)."""
        return self._losses(record)

    @abstractmethod
    def _losses(self, record: Any) -> np.ndarray: ...

    def _columns(self, record: Any) -> list[np.ndarray]:
        loss = self._losses(record)
        return [loss, loss * loss]

    def _finalise(self, totals: np.ndarray) -> np.ndarray:
        return quotient(totals[..., 1], totals[..., 0])

    def limits(self, totals: np.ndarray, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
        """Analytic (low, high) from totals, with any leading axes: those of a mean are known."""
        return self._limits(totals, level)

    def _limits(self, totals: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray]:
        n, mean = totals[..., 0], self._finalise(totals)
        variance = np.maximum(quotient(totals[..., 2], n) - mean * mean, 0.0) / np.maximum(n - 1.0, 1.0)
        # One row says nothing about the spread: its interval is the whole range.
        return intervals.inside(self.range, intervals.normal_interval(mean, np.where(n > 1.0, variance, np.inf), level))


@dataclass(frozen=True, repr=False)
class RatioMetric(SumMetric):
    """A quotient of two weighted sums, with the delta method's interval. A metric writes ``_parts(record)`` -> (top, bottom), each (n,).

    The value is ``empty_value`` where the bottom sums to 0.

    See Also
    --------
    MeanMetric : a mean of one loss a row.
    """

    empty_value: ClassVar[float] = float("nan")

    @abstractmethod
    def _parts(self, record: Any) -> tuple[np.ndarray, np.ndarray]: ...

    def _columns(self, record: Any) -> list[np.ndarray]:
        top, bottom = self._parts(record)
        return [top, bottom, top * top, top * bottom, bottom * bottom]

    def _finalise(self, totals: np.ndarray) -> np.ndarray:
        return np.where(totals[..., 2] > 0.0, quotient(totals[..., 1], totals[..., 2]), self.empty_value)

    def _limits(self, totals: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray]:
        n, value, bottom = totals[..., 0], self._finalise(totals), totals[..., 2]
        squares = totals[..., 3] - 2.0 * value * totals[..., 4] + value * value * totals[..., 5]
        variance = quotient(np.maximum(squares, 0.0) * n, bottom * bottom * np.maximum(n - 1.0, 1.0))
        return intervals.inside(self.range, intervals.normal_interval(value, np.where(n > 1.0, variance, np.inf), level))
