"""Templates of metrics, with intervals and mergeable states: sums over rows, means and ratios; and
metrics of forecasts.
"""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import fields, replace
from functools import partial, reduce
from operator import add
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from calibrant._numerics.bins import grouped_sums
from calibrant._numerics.bootstrap import resampled_sums
from calibrant._numerics.intervals import (
    limits_within,
    powers,
    quotient,
    rate_interval,
    ratio_limits,
    unseen_ends,
)
from calibrant.core.arrays import require_pairs
from calibrant.core.base_metric import BaseMetric, SumState
from calibrant.core.blas import on_one_blas_thread
from calibrant.core.clustered import cluster_draws, clustered_interval, two_way_interval
from calibrant.core.contracts_record import Record
from calibrant.core.domain import Domain
from calibrant.core.given import Inputs
from calibrant.core.groups import WeightKind, cluster_ways, clustered
from calibrant.core.interval import Interval, require_level, require_resamples
from calibrant.core.options import seeded
from calibrant.core.reading import CLASSIFICATION, REGRESSION, read_for
from calibrant.core.rows import in_order
from calibrant.errors import InputError

__all__ = [
    "Interval",
    "MeanMetric",
    "Metric",
    "RatioMetric",
    "RegressionMeanMetric",
    "RegressionMetric",
    "RegressionSumMetric",
    "RootMeanMetric",
    "SumMetric",
    "WholeMetric",
]


class Metric(BaseMetric):
    """Base of all metrics: a callable object whose fields are its options.

    There are three levels: ``metric(y, P)`` validates its input, ``metric.of(record)`` takes a
    record, and kernels work on arrays. ``metric.interval`` and ``interval_of`` return the value
    with its interval, ``state`` and ``totals_of`` sums that add up over parts. A metric implements
    ``_totals(record)`` (sums over rows), ``_finalise(totals)``, which allows any leading axes, and,
    for speed, ``_group_totals`` (the sums by group); a metric that is not a function of sums is a
    ``WholeMetric``.

    Properties of a class are its keywords: ``class Mine(MeanMetric, name="mine", key="mine")``.
    Each class automatically becomes a frozen dataclass of its options.

    Where ``soft_labels`` is True, ``y_true`` may be :class:`SoftLabels`, shares of several raters.

    See Also
    --------
    SumMetric, MeanMetric, RatioMetric, WholeMetric : bases for your own metrics.
    RegressionMetric : the same for forecasts of numbers.
    """

    domain: ClassVar[Domain] = CLASSIFICATION

    def __call__(
        self,
        y_true: ArrayLike,
        P: Any,
        std: ArrayLike | None = None,
        *,
        sample_weight: ArrayLike | None = None,
        classes: ArrayLike | None = None,
        inputs: Inputs = "probability",
        **options: Any,
    ) -> Any:
        """The metric's value, for (n, d) forecasts an array (d,); options are the fields of this
        object (see its class).
        """
        metric = self.with_options(**options)
        # One pass over the data: metrics of sums check the blocks in the same pass.
        return metric.of(
            read_for(
                [metric],
                y_true,
                P,
                std,
                sample_weight,
                classes,
                inputs,
                check_values=not metric.mergeable,
            )
        )

    @seeded
    def interval(
        self,
        y_true: ArrayLike,
        P: Any,
        std: ArrayLike | None = None,
        *,
        level: float = 0.95,
        method: str = "auto",
        n_resamples: int = 1000,
        random_state: int = 0,
        cluster: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        weight_kind: WeightKind = "frequency",
        classes: ArrayLike | None = None,
        inputs: Inputs = "probability",
        **options: Any,
    ) -> Any:
        """The value with an interval at ``level``, an :class:`Interval`; for (n, d) forecasts a
        list of them.

        ``method`` is "auto" (the best known for the metric), "analytic" (where known), "bootstrap"
        (percentile) or "bca" (bias-corrected and accelerated); the bootstraps are seeded by
        ``random_state``. ``cluster``, (n,) labels, names the cluster of each row: means are then
        cluster-robust, other metrics resample whole clusters, and metrics that allow neither raise
        InputError. Two columns, (n, 2) or a frame, are crossed clusters, such as raters and items,
        for metrics with an analytic interval (a mean, O/E, a ratio of sums).
        """
        metric = self.with_options(**options)
        record = read_for([metric], y_true, P, std, sample_weight, classes, inputs)
        if len(ways := cluster_ways(cluster)) > 1:
            return two_way_interval(metric, record, ways, weight_kind, level, method)
        record = clustered(record, cluster, weight_kind)
        return metric.interval_of(
            record, level=level, method=method, n_resamples=n_resamples, random_state=random_state
        )

    def state(
        self,
        y_true: ArrayLike | None = None,
        P: Any = None,
        std: ArrayLike | None = None,
        *,
        sample_weight: ArrayLike | None = None,
        classes: ArrayLike | None = None,
        inputs: Inputs = "probability",
        **options: Any,
    ) -> SumState:
        """Mergeable state: ``state(part 1) + state(part 2)`` finalises to the value of the whole;
        ``state()`` is empty.
        """
        metric = self.with_options(**options)
        if not metric.mergeable:
            raise InputError(
                f"{self.name} with {options or 'these options'} has no state of fixed size; compute"
                " it on all rows at once."
            )
        if y_true is None and P is None:
            return SumState(metric)
        record = read_for(
            [metric], y_true, P, std, sample_weight, classes, inputs, check_values=False
        )
        return SumState(metric, metric.totals_of(record.one_output()))

    def with_options(self, **options: Any) -> Self:
        """The same metric with some options changed, checked."""
        unknown = set(options) - {f.name for f in fields(self)}
        if unknown:
            raise TypeError(
                f"{self.name} has no option {sorted(unknown)}; it has"
                f" {[f.name for f in fields(self)]}."
            )
        metric = replace(self, **options) if options else self
        metric._check()
        return metric

    @seeded
    @on_one_blas_thread
    def interval_of(
        self,
        record: Record,
        *,
        level: float = 0.95,
        method: str = "auto",
        n_resamples: int = 1000,
        random_state: int = 0,
    ) -> Any:
        """``interval`` of a record, with its clusters if it has any: an :class:`Interval`, or a
        list of d.
        """
        require_level(level)
        require_resamples(n_resamples)
        # A list or an array is no method either, and has no truth value.
        method = str(method)
        require_pairs(record.weight, "an interval")
        compute = self._interval if record.cluster is None else partial(clustered_interval, self)
        options = (level, method, n_resamples, random_state)
        # Draws are made in the order of the rows' content; these intervals need none.
        plain = isinstance(self, MeanMetric | RatioMetric) and method in ("auto", "analytic")
        results = list[Any]()
        for output in record.outputs():
            rows = output if plain else in_order(output)
            result = compute(rows, *options)
            # Sums in another order of the rows differ from the metric's value in the last bits.
            results.append(result if rows is output else result.around(float(self.of(output))))
        return results if record.several else results[0]

    @on_one_blas_thread
    def resampled_of(self, record: Record, n_resamples: int, random_state: int) -> np.ndarray:
        """The value on bootstrap resamples of the rows, or the clusters, of a record of one
        output, (n_resamples,).
        """
        draws = self._resampled if record.cluster is None else partial(cluster_draws, self)
        return draws(record, n_resamples, random_state)


class WholeMetric(Metric, mergeable_=False):
    """A metric that needs all rows at once and has no state. A metric implements
    ``_value(record)``.

    See Also
    --------
    SumMetric : where sums over rows are enough.
    """

    @abstractmethod
    def _value(self, record: Any) -> float: ...

    def _totals(self, record: Any) -> np.ndarray:
        raise InputError(f"{self.name} has no state of fixed size; compute it on all rows at once.")

    def _finalise(self, totals: np.ndarray) -> np.ndarray:
        raise InputError(f"{self.name} has no state of fixed size; compute it on all rows at once.")


class SumMetric(Metric, paired=True):
    """A function of weighted sums of columns, with state, groups and a fast bootstrap. A metric
    implements ``_columns(record)``.

    See Also
    --------
    MeanMetric, RatioMetric : with an interval ready.
    WholeMetric : where sums over rows are not enough.
    """

    def columns_of(self, record: Any) -> list[np.ndarray]:
        """The columns that are summed over the rows of a record, besides the weight: a list of
        (n,)."""
        return self._columns(record)

    @abstractmethod
    def _columns(self, record: Any) -> list[np.ndarray]:
        """The summed columns, besides the weight: a list of (n,)."""

    def _totals(self, record: Any) -> np.ndarray:
        return _summed(record, self._columns(record))

    def _group_totals(self, record: Any, group: np.ndarray, n_groups: int) -> np.ndarray:
        total, start = np.zeros(()), 0
        # Blocks are much longer than the table of groups, so that adding tables is cheap.
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
    r"""A weighted mean of one loss per row, with its analytic interval. A metric implements
    ``_losses(record)``, and ``_unseen`` if possible.

    The interval is that of a Bayesian bootstrap with one unseen row, from the sums of the loss, its
    square and its cube, so that merged states give the same one. A ``rate``, whose losses are 0 and
    1, has the exact interval (Clopper and Pearson's), or Wilson's from ten of either on.

    See Also
    --------
    RatioMetric : a ratio of two sums.
    RegressionMeanMetric : the same for forecasts of numbers.
    """

    #: Whether every loss is 0 or 1.
    rate: ClassVar[bool] = False
    #: The loss of an unseen row without ``_unseen``: either end of the range, or with "double", and
    #: for an open range, twice the loss or nothing.
    unseen: ClassVar[str | None] = None

    def losses_of(self, record: Any) -> np.ndarray:
        """The loss of each row of a record, (n,); for soft labels its mean over the raters."""
        return _over_labels(record, lambda one: [self._losses(one)])[0]

    @abstractmethod
    def _losses(self, record: Any) -> np.ndarray: ...

    def _unseen(self, record: Any) -> list[np.ndarray]:
        """The loss of each row with another label, one (n,); or its least and largest value, two;
        or none.
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
        """Analytic (low, high) of a mean from totals, with any leading axes."""
        return self._limits(totals, level)

    def _limits(self, totals: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray]:
        n = totals[..., 0]
        if self.rate:
            return rate_interval(totals[..., 1], n, level)
        ends = unseen_ends(n, totals[..., 1:4], self.range, self.unseen)
        if totals.shape[-1] > 4:
            ends = quotient(totals[..., 4], n), quotient(totals[..., -1], n)
        return limits_within(self.range, n, totals[..., 1:4], ends, level)


class RatioMetric(SumMetric, estimand="quotient of the two means over new rows of the same kind"):
    """A ratio of two weighted sums, with the delta method's interval. A metric implements
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
    """The values of ``of`` for each row, (n,) each; for soft labels its mean over the raters."""
    if record.shares is None:
        return of(record)
    single, row = record.one_label_each()
    return [np.bincount(row, single.weight * values) / record.weights for values in of(single)]


def _summed(record: Any, columns: list[np.ndarray]) -> np.ndarray:
    """Sums of the weight and of the columns, (1 + columns,)."""
    if record.weight is None:
        return np.array([float(len(record)), *(column.sum() for column in columns)])
    return np.array([record.weight.sum(), *(record.weight @ column for column in columns)])


class RegressionMetric(Metric, domain=REGRESSION):
    """Base of all metrics of forecasts: ``metric(y, mean, std)`` or ``metric(y, forecast)``.

    How a metric changes when y, mean and std change units: ``degree`` 0 not at all, 1 as y, 2 as
    its square, None otherwise.

    See Also
    --------
    RegressionSumMetric, RegressionMeanMetric : bases for your own metrics.
    """

    degree: ClassVar[int | None] = 0


class RegressionSumMetric(RegressionMetric, SumMetric):
    """A function of weighted sums of columns; a metric implements ``_columns(record)`` and
    ``_finalise(totals)``.

    See Also
    --------
    RegressionMeanMetric : a mean of one loss a row.
    """


class RegressionMeanMetric(RegressionMetric, MeanMetric):
    """A weighted mean of one loss per row, with its analytic interval; a metric implements
    ``_losses(record)``.

    See Also
    --------
    RegressionSumMetric : any function of sums.
    """


class RootMeanMetric(RegressionMeanMetric):
    """The square root of a weighted mean of squares; a metric implements ``_losses(record)``, the
    squares.
    """

    def _finalise(self, totals: np.ndarray) -> np.ndarray:
        return np.sqrt(super()._finalise(totals))

    def _limits(self, totals: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray]:
        # The square root of the interval of the mean of the squares.
        low, high = super()._limits(totals, level)
        return np.sqrt(low), np.sqrt(high)
