"""Templates of metrics, with intervals and mergeable states: sums over rows, means and ratios; and
metrics of forecasts.

The interval of a metric on clustered rows stands here, and so do functions with an inner level:
``curve(y, P)`` validates its input, ``curve.of(record)`` takes a record.
"""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from functools import partial, reduce
from operator import add
from typing import Any, ClassVar, ParamSpec, Protocol, Self, TypeVar, cast

import numpy as np

from calibrant._numerics.bins import grouped_sums
from calibrant._numerics.bootstrap import (
    bca_limits,
    bootstrap_totals,
    leave_out_values,
    percentile_limits,
    resampled_sums,
)
from calibrant._numerics.clusters import apart_limits, expanded_level, mean_worth, side_shares
from calibrant._numerics.intervals import (
    limits_within,
    powers,
    quotient,
    rate_interval,
    ratio_limits,
    unseen_ends,
)
from calibrant.core.arrays import ArrayLike, require_pairs
from calibrant.core.domain import Domain, Record
from calibrant.core.estimators import on_one_blas_thread, seeded
from calibrant.core.given import Inputs
from calibrant.core.groups import WeightKind, cluster_ways, clustered, in_order, rows_apart
from calibrant.core.labels import array_of
from calibrant.core.metric import BaseMetric, Interval, SumState, require_level, require_resamples
from calibrant.core.reading import CLASSIFICATION, REGRESSION, read_for
from calibrant.errors import InputError

__all__ = [
    "Interval",
    "MeanMetric",
    "Metric",
    "OnRecord",
    "RatioMetric",
    "RegressionMeanMetric",
    "RegressionMetric",
    "RegressionSumMetric",
    "RootMeanMetric",
    "SumMetric",
    "WholeMetric",
    "cluster_draws",
    "clustered_interval",
    "on_record",
    "two_way_interval",
]


#: The fraction of a row that is added and removed to measure its influence, and the relative
#: rounding error of the difference.
STEP = 1e-2
ROUNDING = 1e-12


def clustered_interval(
    metric: BaseMetric, record: Any, level: float, method: str, n_resamples: int, random_state: int
) -> Interval:
    """The interval of a record of one output that carries its clusters.

    If an interval follows from sums over rows, it uses the effective number of independent rows:
    for a mean this is the cluster-robust interval (CR2, Student's t with Satterthwaite's degrees of
    freedom). Rows that are their own clusters, as with sampling weights, have the sandwich interval
    of any metric with known influences. Otherwise whole clusters are resampled, and limits are
    widened by Student's t with the effective number of clusters.
    """
    cluster = np.unique(record.cluster, return_inverse=True)[1]
    record = replace(record, cluster=cluster)
    value, n = metric.of(record), float(record.weights.sum())
    if cluster.max() < 1:
        raise InputError(
            "cluster must name two clusters or more; got one; leave it out if rows are independent."
        )
    if method in ("auto", "analytic"):
        limits = _limits(metric, record, value, level)
        if limits is None and rows_apart(record):
            limits = _apart(metric, record, value, level)
        if limits is not None:
            return Interval.holding(value, limits, level, "analytic", n)
    if method not in ("auto", "bootstrap", "bca") or (method == "auto" and not metric.clustered):
        raise InputError(
            f'{metric.name} has no "{method}" interval for clustered rows; use'
            ' method="bootstrap", which draws them whole, or a mean.'
        )
    sides, share = metric.sides_of(record), np.bincount(cluster, weights=record.weights) / n
    known = 1.0 / float(share @ share) - 1.0
    known = (
        known if sides is None else min(known, side_shares(sides, record.weights, cluster)[1] - 1.0)
    )
    draws = cluster_draws(metric, record, n_resamples, random_state)
    finite = draws[np.isfinite(draws)]
    if not (len(finite) and np.ptp(finite) > ROUNDING * abs(value) and known > 0.0):
        # Values without variation may hide some: each cluster counts as one row, and rows have
        # their own interval.
        alone = replace(
            record,
            cluster=None,
            weight=record.weights
            * mean_worth(np.zeros(len(record)), record.weights, cluster, level),
        )
        found = metric.interval_of(
            alone, level=level, n_resamples=n_resamples, random_state=random_state
        )
        return Interval.holding(value, (found.low, found.high), level, found.method, n)
    level_drawn = expanded_level(level, known)
    if method == "bca":
        left_out = leave_out_values(
            np.ones(len(share)), partial(_value, metric, record), random_state
        )
        return Interval.holding(
            value, bca_limits(draws, value, left_out, level_drawn), level, "bca", n
        )
    return Interval.holding(value, percentile_limits(draws, level_drawn), level, "bootstrap", n)


def two_way_interval(
    metric: BaseMetric,
    record: Any,
    ways: list[Any],
    weight_kind: Any,
    level: float,
    method: str,
) -> Any:
    """The interval of rows with two crossed clusterings, such as raters and items.

    The variance is V1 + V2 - V12, the last for the cells of both, and at least the larger of the
    first two (Cameron, Gelbach and Miller 2011). Each has its own degrees of freedom, and the
    distances from the value at either end represent the roots. It applies to metrics with an
    analytic interval.
    """
    if method not in ("auto", "analytic"):
        raise InputError(
            f'method must be "auto" or "analytic" with two columns of clusters; got {method!r};'
            " only one column allows resampling of whole clusters."
        )
    cells = array_of(list(zip(*(one.tolist() for one in ways), strict=True)))
    records = [clustered(record, one, weight_kind) for one in (*ways, cells)]
    found = [metric.interval_of(one, level=level, method="analytic") for one in records]
    if record.several:
        return [_crossed(each) for each in zip(*found, strict=True)]
    return _crossed(found)


def _crossed(found: Sequence[Interval]) -> Interval:
    value, ends = found[0].value, list[float]()
    for side in ("low", "high"):
        first, second, both = (np.square(getattr(one, side) - value) for one in found)
        # The difference of two infinite ends is undefined.
        with np.errstate(invalid="ignore"):
            square = np.fmax(first + second - both, np.maximum(first, second))
        ends.append(float(np.sqrt(square)))
    limits = value - ends[0], value + ends[1]
    return Interval.holding(value, limits, found[0].level, "analytic", found[0].n, found[0].plain)


def cluster_draws(
    metric: BaseMetric, record: Any, n_resamples: int, random_state: int
) -> np.ndarray:
    """The metric on bootstrap resamples of the clusters of a record, (n_resamples,)."""
    each = np.ones(record.cluster.max() + 1)
    if not metric.mergeable:
        return bootstrap_totals(each, partial(_value, metric, record), n_resamples, random_state)
    totals = metric.group_totals_of(record, record.cluster, len(each))
    return bootstrap_totals(
        each,
        lambda times: metric.finalise(np.tensordot(times, totals, 1)),
        n_resamples,
        random_state,
    )


def _value(metric: BaseMetric, record: Any, times: np.ndarray) -> float:
    weight = record.weights * times[record.cluster]
    return metric.of(replace(record, weight=weight).take(weight > 0.0))


def _apart(metric: BaseMetric, record: Any, value: float, level: float) -> Any:
    """(low, high) of independent rows with sampling weights; None if influences are unknown."""
    moves, sides, weight = metric.moves_of(record), metric.sides_of(record), record.weights
    if moves is None or np.isnan(value):
        return None
    whole = weight.sum()
    share = weight / whole if sides is None else side_shares(sides, weight, record.cluster)[0]
    return apart_limits(value, weight * moves / whole, share, metric.range == (0.0, 1.0), level)


def _limits(metric: BaseMetric, record: Any, value: float, level: float) -> Any:
    """Analytic (low, high), or None if independent rows have none."""
    if not metric.mergeable:
        return None
    totals = metric.totals_of(record)
    if metric.limits(totals, level) is None:
        return None
    rows = STEP * metric.group_totals_of(record, np.arange(len(record)), len(record))
    # The influence of each row: the derivative of a function of sums; for a mean the row's
    # deviation.
    moves = (metric.finalise(totals + rows) - metric.finalise(totals - rows)) / (2.0 * STEP)
    moves = np.where(np.isfinite(moves) & (np.abs(moves) > ROUNDING * abs(value)), moves, 0.0)
    moves = moves - record.weights * (moves.sum() / record.weights.sum())
    return metric.limits(
        totals * mean_worth(moves / record.weights, record.weights, record.cluster, level), level
    )


# -- Functions with an inner level -----------------------------------------------------------------

Given = ParamSpec("Given")
Read = ParamSpec("Read")
Found = TypeVar("Found")


class OnRecord(Protocol[Given, Read, Found]):
    """A public function, and ``of``, the same function of a record."""

    of: Callable[Read, Found]

    def __call__(self, *args: Given.args, **kwargs: Given.kwargs) -> Found:
        """The public function."""
        ...


def on_record(
    of: Callable[Read, Found],
) -> Callable[[Callable[Given, Found]], OnRecord[Given, Read, Found]]:
    """Decorator that names ``of``, the function's inner level, on the function itself.

    Examples
    --------
    >>> @on_record(lambda record: len(record))
    ... def rows(P):
    ...     return rows.of(list(P))
    >>> rows((0.2, 0.7)), rows.of([0.2, 0.7, 0.9])
    (2, 3)
    """

    def named(function: Callable[Given, Found]) -> OnRecord[Given, Read, Found]:
        checked = cast(Any, seeded(function))
        checked.of = on_one_blas_thread(seeded(of))
        return cast(OnRecord[Given, Read, Found], checked)

    return named


# -- Templates -------------------------------------------------------------------------------------


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
