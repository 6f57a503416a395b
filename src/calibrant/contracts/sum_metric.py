"""The templates of metrics that are sums over rows: a mean, a quotient, a function of weighted
sums.
"""

from abc import abstractmethod
from collections.abc import Callable
from functools import reduce
from operator import add
from typing import Any, ClassVar

import numpy as np

from calibrant._kernels import intervals
from calibrant._kernels.bins import grouped_sums
from calibrant._kernels.bootstrap import resampled_sums
from calibrant._kernels.intervals import limits_within, powers, quotient, ratio_limits, unseen_ends
from calibrant.contracts.metric import Metric

__all__ = ["MeanMetric", "RatioMetric", "SumMetric"]


class SumMetric(Metric, paired=True):
    """A function of weighted sums of columns: state, groups and a quick bootstrap come for free. A
    metric writes ``_columns(record)``.

    See Also
    --------
    MeanMetric, RatioMetric : with an interval ready.
    WholeMetric : where sums over rows are not enough.
    """

    def columns_of(self, record: Any) -> list[np.ndarray]:
        """What is summed over the rows of a record, besides the weight itself: a list of (n,)."""
        return self._columns(record)

    @abstractmethod
    def _columns(self, record: Any) -> list[np.ndarray]:
        """What is summed, besides the weight itself: a list of (n,)."""

    def _totals(self, record: Any) -> np.ndarray:
        return _summed(record, self._columns(record))

    def _group_totals(self, record: Any, group: np.ndarray, n_groups: int) -> np.ndarray:
        total, start = np.zeros(()), 0
        # Blocks well longer than the table of groups, so that adding up tables costs less than the
        # rows do.
        for block in record.blocks(max(4 * n_groups, 65_536)):
            rows = group[start : start + len(block)]
            start += len(block)
            total = total + grouped_sums(rows, n_groups, self._columns(block), block.weight)
        return total

    def _resampled(self, record: Any, n_resamples: int, random_state: int) -> np.ndarray:
        one_group = np.zeros(len(record), dtype=np.intp)
        draws = resampled_sums(
            [(one_group, self._columns(record))], 1, record.weights, n_resamples, random_state
        )
        return self._finalise(draws[:, 0, 0])


class MeanMetric(SumMetric, estimand="mean over new rows of the same kind"):
    r"""A weighted mean of one loss a row, with its analytic interval. A metric writes
    ``_losses(record)``; ``_unseen`` if it can.

    The interval is that of a Bayesian bootstrap with one row not seen yet, from the sums of the
    loss, its square and its cube, so that merged states give the same one; of a ``rate``, whose
    losses are 0 and 1, the exact one (Clopper and Pearson's), or Wilson's from ten of either on.

    See Also
    --------
    RatioMetric : a quotient of two sums.
    RegressionMeanMetric : the same for forecasts of numbers.
    """

    #: Whether every loss is 0 or 1.
    rate: ClassVar[bool] = False
    #: What a row not seen yet may lose where there is no ``_unseen``: either end of the range, or
    #: with "double", and where the range is open, as much again or nothing.
    unseen: ClassVar[str | None] = None

    def losses_of(self, record: Any) -> np.ndarray:
        """The loss of each row of a record, (n,); of soft labels its mean over the raters."""
        return _over_labels(record, lambda one: [self._losses(one)])[0]

    @abstractmethod
    def _losses(self, record: Any) -> np.ndarray: ...

    def _unseen(self, record: Any) -> list[np.ndarray]:
        """What each row would lose had it another label, one (n,); or the least and the most
        that it could, two; or none.
        """
        return []

    def _columns(self, record: Any) -> list[np.ndarray]:
        loss = self.losses_of(record)
        if self.rate:
            return [loss]
        return [*powers(loss), *_over_labels(record, self._unseen)]

    def _value(self, record: Any) -> float:
        sums = (_summed(block, [self.losses_of(block)]) for block in record.blocks())
        return float(self._finalise(reduce(add, sums)))

    def _finalise(self, totals: np.ndarray) -> np.ndarray:
        return quotient(totals[..., 1], totals[..., 0])

    def limits(self, totals: np.ndarray, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
        """Analytic (low, high) from totals, with any leading axes: those of a mean are known."""
        return self._limits(totals, level)

    def _limits(self, totals: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray]:
        n = totals[..., 0]
        if self.rate:
            return intervals.rate_interval(totals[..., 1], n, level)
        ends = unseen_ends(n, totals[..., 1:4], self.range, self.unseen)
        if totals.shape[-1] > 4:
            ends = quotient(totals[..., 4], n), quotient(totals[..., -1], n)
        return limits_within(self.range, n, totals[..., 1:4], ends, level)


class RatioMetric(SumMetric, estimand="quotient of the two means over new rows of the same kind"):
    """A quotient of two weighted sums, with the delta method's interval. A metric writes
    ``_parts(record)`` -> (top, bottom), each (n,).

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
        a, b, c = top * top, top * bottom, bottom * bottom
        return [top, bottom, a, b, c, a * top, a * bottom, top * c, bottom * c]

    def _finalise(self, totals: np.ndarray) -> np.ndarray:
        return np.where(
            totals[..., 2] > 0.0, quotient(totals[..., 1], totals[..., 2]), self.empty_value
        )

    def _limits(self, totals: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray]:
        return ratio_limits(self.range, self._finalise(totals), totals[..., 1:], level)


def _over_labels(record: Any, of: Callable[[Any], list[np.ndarray]]) -> list[np.ndarray]:
    """What ``of`` gives of each row, (n,) each; of soft labels its mean over the raters."""
    if record.shares is None:
        return of(record)
    single, row = record.one_label_each()
    return [np.bincount(row, single.weight * values) / record.weights for values in of(single)]


def _summed(record: Any, columns: list[np.ndarray]) -> np.ndarray:
    """Sums of the weight and of the columns, (1 + columns,)."""
    if record.weight is None:
        return np.array([float(len(record)), *(column.sum() for column in columns)])
    return np.array([record.weight.sum(), *(record.weight @ column for column in columns)])
