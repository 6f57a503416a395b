"""The template of a metric: a number, its interval, and a state that adds up."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import reduce
from operator import add
from typing import Any, ClassVar, Literal

import numpy as np

from calibrant._base.interval import Interval, require_level, require_resamples
from calibrant._base.state import SumState
from calibrant._kernels import intervals
from calibrant._kernels.bins import grouped_sums
from calibrant._kernels.bootstrap import bca_limits, bootstrap_totals, leave_out_values, percentile_limits, resampled_sums
from calibrant._kernels.quotient import quotient
from calibrant.arrays import require_pairs
from calibrant.errors import InputError
from calibrant.predictions import read

__all__ = ["Interval", "MeanMetric", "Metric", "RatioMetric", "SumMetric", "WholeMetric"]


@dataclass(frozen=True, repr=False)
class Metric:
    """Base of all classification metrics: a callable object whose fields are its options.

    ``metric(y, P, n_bins=10)`` is the number, ``metric.interval(y, P)`` the number with its interval, ``metric.state(y, P)`` what adds
    up over parts. A metric writes ``_totals(record)`` (sums over rows), ``_finalise(totals)``, which works on any number of leading axes
    at once, and, for speed, ``_group_totals`` (the sums by group); one that cannot be had from sums is a ``WholeMetric``.
    """

    name: ClassVar[str]
    direction: ClassVar[Literal["minimize", "maximize", "none"]]
    range: ClassVar[tuple[float, float]]
    task: ClassVar[str] = "classification"
    proper: ClassVar[bool] = False
    #: Whether a model may be chosen by it: proper scores, and scores of the label or the ranking alone; never a calibration error.
    selects: ClassVar[bool] = False
    mergeable_: ClassVar[bool] = True
    binary_only: ClassVar[bool] = False
    compares_rows: ClassVar[bool] = False  # a mean over pairs of rows, which one row cannot give
    #: Contract checks that do not apply, each with the reason.
    exceptions: ClassVar[Mapping[str, str]] = {}

    @classmethod
    def _examples(cls):
        """Instances for the contract suite: one for each way of working that differs in code."""
        return [cls()]

    @property
    def mergeable(self) -> bool:
        """Whether ``state`` works with these options."""
        return self.mergeable_

    def __call__(self, y_true, P, *, sample_weight=None, classes=None, inputs="probability", **options) -> float:
        """The metric's value; options are the fields of this object (see its class)."""
        metric = self._with(options)
        if not metric.mergeable:
            return float(metric._value(metric._read(y_true, P, sample_weight, classes, inputs, {})[1]))
        _, record = metric._read(y_true, P, sample_weight, classes, inputs, {}, check_values=False)
        return float(metric._finalise(metric._sum(record.checked_blocks())))

    def interval(
        self, y_true, P, *, level=0.95, method="auto", n_resamples=1000, random_state=0,
        sample_weight=None, classes=None, inputs="probability", **options,
    ) -> Interval:  # fmt: skip
        """The value with an interval at ``level``.

        ``method`` is "auto" (the best known for the metric), "analytic" (where known), "bootstrap" (percentile) or "bca" (bias-corrected
        and accelerated); the bootstraps are seeded by ``random_state``.
        """
        require_level(level)
        require_resamples(n_resamples)
        metric, record = self._read(y_true, P, sample_weight, classes, inputs, options)
        require_pairs(record.weight, "an interval")
        return metric._interval(record, level, method, n_resamples, random_state)

    def state(self, y_true=None, P=None, *, sample_weight=None, classes=None, inputs="probability", **options) -> SumState:
        """What adds up: ``state(part 1) + state(part 2)`` finalises to the value of the whole; ``state()`` is the empty one."""
        metric = self._with(options)
        if not metric.mergeable:
            raise InputError(f"{self.name} with {options or 'these options'} has no state of fixed size; compute it on all rows at once.")
        if y_true is None and P is None:
            return SumState(metric)
        _, record = metric._read(y_true, P, sample_weight, classes, inputs, {}, check_values=False)
        return SumState(metric, metric._sum(record.checked_blocks()))

    def _with(self, options):
        unknown = set(options) - {f.name for f in fields(self)}
        if unknown:
            raise TypeError(f"{self.name} has no option {sorted(unknown)}; it has {[f.name for f in fields(self)]}.")
        metric = replace(self, **options) if options else self
        metric._check()
        return metric

    def _check(self):
        """Options that cannot work raise InputError here."""

    def _read(self, y_true, P, sample_weight, classes, inputs, options, check_values=True):
        metric = self._with(options)
        record = read(P, y_true, sample_weight=sample_weight, classes=classes, inputs=inputs, check_values=check_values)
        if record.labels is None:
            raise InputError("y_true must be the true labels, one a row; got None.")
        require_pairs(record.weight if self.compares_rows else None, self.name)
        return metric, record

    def _value(self, record) -> float:
        return float(self._finalise(self._all_totals(record)))

    def _all_totals(self, record) -> np.ndarray:
        return self._sum(record.blocks())

    def _sum(self, blocks) -> np.ndarray:
        return reduce(add, map(self._totals, blocks))

    @abstractmethod
    def _totals(self, record: Any) -> np.ndarray:
        """Sums over the rows, an array."""

    @abstractmethod
    def _finalise(self, totals: np.ndarray) -> np.ndarray:
        """Sums with any leading axes -> values with those axes."""

    def _group_totals(self, record: Any, group: np.ndarray, n_groups: int) -> np.ndarray:
        """``_totals`` of each group's rows, (n_groups, ...); sums over rows do better with one pass."""
        return np.stack([self._totals(record.take(group == g)) for g in range(n_groups)])

    def _limits(self, totals: np.ndarray, level: float):
        """Analytic (low, high) from sums, with any leading axes; None where none is known."""

    def _interval(self, record, level, method, n_resamples, random_state) -> Interval:
        value, n = self._value(record), float(record.weights.sum())
        limits = self._limits(self._all_totals(record), level) if self.mergeable and method in ("auto", "analytic") else None
        if limits is not None:
            return Interval(value, float(limits[0]), float(limits[1]), level, "analytic", n)
        if method not in ("auto", "bootstrap", "bca"):
            raise InputError(f'{self.name} has no "{method}" interval; use method="bootstrap" or "bca".')
        values = self._resampled(record, n_resamples, random_state)
        if method == "bca":
            low, high = bca_limits(values, value, leave_out_values(record, self._resampled_value, random_state), level)
        else:
            method = "bootstrap"
            low, high = percentile_limits(values, level)
        return Interval(value, float(low), float(high), level, method, n)

    def _resampled(self, record, n_resamples, random_state) -> np.ndarray:
        """The metric on bootstrap resamples of the rows, (n_resamples,)."""
        return bootstrap_totals(record, self._resampled_value, n_resamples, random_state)

    def _resampled_value(self, record, weight) -> float:
        return float(self._value(replace(record, weight=weight).take(weight > 0)))

    def __repr__(self):
        options = ", ".join(f"{f.name}={getattr(self, f.name)!r}" for f in fields(self))
        return f"{type(self).__name__}({options})"


@dataclass(frozen=True, repr=False)
class WholeMetric(Metric):
    """A metric that needs all rows at once: no state. A metric writes ``_value(record)``."""

    mergeable_: ClassVar[bool] = False

    @abstractmethod
    def _value(self, record) -> float: ...

    def _totals(self, record):
        raise InputError(f"{self.name} has no state of fixed size; compute it on all rows at once.")

    def _finalise(self, totals):
        raise InputError(f"{self.name} has no state of fixed size; compute it on all rows at once.")


@dataclass(frozen=True, repr=False)
class SumMetric(Metric):
    """A function of weighted sums of columns: state, groups and a quick bootstrap come for free. A metric writes ``_columns(record)``."""

    @abstractmethod
    def _columns(self, record: Any) -> list[np.ndarray]:
        """What is summed, besides the weight itself: a list of (n,)."""

    def _totals(self, record):
        if record.weight is None:
            return np.array([float(len(record)), *(column.sum() for column in self._columns(record))])
        return np.array([record.weight.sum(), *(record.weight @ column for column in self._columns(record))])

    def _group_totals(self, record, group, n_groups):
        total, start = 0.0, 0
        # Blocks well longer than the table of groups, so that adding up tables costs less than the rows do.
        for block in record.blocks(max(4 * n_groups, 65_536)):
            rows = group[start : start + len(block)]
            start += len(block)
            total = total + grouped_sums(rows, n_groups, self._columns(block), block.weight)
        return total

    def _resampled(self, record, n_resamples, random_state):
        one_group = np.zeros(len(record), dtype=np.intp)
        draws = resampled_sums([(one_group, self._columns(record))], 1, record.weights, n_resamples, random_state)
        return self._finalise(draws[:, 0, 0])


@dataclass(frozen=True, repr=False)
class MeanMetric(SumMetric):
    """A weighted mean of one loss a row, with its analytic interval. A metric writes ``_losses(record)``."""

    @abstractmethod
    def _losses(self, record: Any) -> np.ndarray: ...

    def _columns(self, record):
        loss = self._losses(record)
        return [loss, loss * loss]

    def _finalise(self, totals):
        return quotient(totals[..., 1], totals[..., 0])

    def _limits(self, totals, level):
        n, mean = totals[..., 0], self._finalise(totals)
        variance = np.maximum(quotient(totals[..., 2], n) - mean * mean, 0.0) / np.maximum(n - 1.0, 1.0)
        # One row says nothing about the spread: its interval is the whole range.
        return intervals.inside(self.range, intervals.normal_interval(mean, np.where(n > 1.0, variance, np.inf), level))


@dataclass(frozen=True, repr=False)
class RatioMetric(SumMetric):
    """A quotient of two weighted sums, with the delta method's interval. A metric writes ``_parts(record)`` -> (top, bottom), each (n,).

    The value is ``empty_value`` where the bottom sums to 0.
    """

    empty_value: ClassVar[float] = float("nan")

    @abstractmethod
    def _parts(self, record: Any) -> tuple[np.ndarray, np.ndarray]: ...

    def _columns(self, record):
        top, bottom = self._parts(record)
        return [top, bottom, top * top, top * bottom, bottom * bottom]

    def _finalise(self, totals):
        return np.where(totals[..., 2] > 0.0, quotient(totals[..., 1], totals[..., 2]), self.empty_value)

    def _limits(self, totals, level):
        n, value, bottom = totals[..., 0], self._finalise(totals), totals[..., 2]
        squares = totals[..., 3] - 2.0 * value * totals[..., 4] + value * value * totals[..., 5]
        variance = quotient(np.maximum(squares, 0.0) * n, bottom * bottom * np.maximum(n - 1.0, 1.0))
        return intervals.inside(self.range, intervals.normal_interval(value, np.where(n > 1.0, variance, np.inf), level))
