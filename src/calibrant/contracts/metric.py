"""The template of a metric, for every task: a number, its interval, and a state that adds up."""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial, reduce
from inspect import get_annotations
from operator import add
from typing import Any, ClassVar, Literal, Self, dataclass_transform

import numpy as np
from numpy.typing import ArrayLike

from calibrant._kernels.bootstrap import (
    bca_limits,
    bootstrap_totals,
    leave_out_values,
    percentile_limits,
)
from calibrant.arrays import require_pairs
from calibrant.contracts.clustered import cluster_draws, clustered_interval, two_way_interval
from calibrant.contracts.domain import Domain
from calibrant.contracts.interval import Interval, require_level, require_resamples
from calibrant.contracts.other_labels import other_draws
from calibrant.contracts.reading import CLASSIFICATION, TaskRecord, read_for
from calibrant.contracts.state import SumState
from calibrant.errors import InputError
from calibrant.groups import WeightKind, cluster_ways, clustered
from calibrant.predictions import Inputs

__all__ = ["Direction", "Interval", "Metric", "WholeMetric"]

Direction = Literal["minimize", "maximize", "none"]


@dataclass_transform(frozen_default=True)
@dataclass(frozen=True, repr=False)
class Metric:
    """Base of all metrics: a callable object whose fields are its options.

    Three levels: ``metric(y, P)`` reads what it is given, ``metric.of(record)`` works on a record
    that has been read, and below it are kernels on arrays. ``metric.interval`` and ``interval_of``
    give the number with its interval, ``state`` and ``totals_of`` what adds up over parts. A metric
    writes ``_totals(record)`` (sums over rows), ``_finalise(totals)``, which works on any number of
    leading axes at once, and, for speed, ``_group_totals`` (the sums by group); one that cannot be
    had from sums is a ``WholeMetric``.

    What is known of a class are its keywords: ``class Mine(MeanMetric, name="mine", key="mine")``.
    Each is a frozen dataclass of its options without being decorated.

    Where ``soft_labels`` is True, ``y_true`` may be :class:`SoftLabels`, shares of several raters.

    See Also
    --------
    SumMetric, MeanMetric, RatioMetric, WholeMetric : what to derive from.
    RegressionMetric : the same for forecasts of numbers.
    """

    name: ClassVar[str]  # shown to people
    key: ClassVar[str]  # the name in keys, columns and gates: "ece"; the one place where it is said
    estimand: ClassVar[str] = "value on ever more rows of the same kind"  # what its interval is of
    direction: ClassVar[Direction]
    range: ClassVar[tuple[float, float]]
    domain: ClassVar[Domain] = CLASSIFICATION
    proper: ClassVar[bool] = False
    #: Whether a model may be chosen by it: proper scores, and scores of the label or the ranking
    #: alone; never a calibration error.
    selects: ClassVar[bool] = False
    #: Whether the paired interval of a difference between two predictions covers in simulation
    #: (benchmarks/metrics/paired.py).
    paired: ClassVar[bool] = False
    #: Whether a bootstrap of whole clusters, where there is no analytic interval, is one of it: not
    #: where chance inflates the number.
    clustered: ClassVar[bool] = True
    mergeable_: ClassVar[bool] = True
    binary_only: ClassVar[bool] = False
    soft_labels: ClassVar[bool] = False  # whether it takes shares of raters for labels
    compares_rows: ClassVar[bool] = False  # a mean over pairs of rows, which one row cannot give
    needs_std: ClassVar[bool] = (
        True  # of forecasts: whether the spread matters; else means are enough
    )
    #: Options, beside the defaults, of each way of working that differs in code, which the
    #: contract suite tries.
    examples: ClassVar[Sequence[Mapping[str, Any]]] = ()
    #: Contract checks that do not apply, each with the reason.
    exceptions: ClassVar[Mapping[str, str]] = {}

    def __init_subclass__(cls, **facts: Any) -> None:
        super().__init_subclass__()
        known = {name for base in cls.__mro__ for name in get_annotations(base)}
        if unknown := sorted(facts.keys() - known):
            raise TypeError(
                f"{cls.__name__} has no fact {unknown}; its template has {sorted(known)}."
            )
        for name, value in facts.items():
            setattr(cls, name, value)
        dataclass(frozen=True, repr=False)(cls)

    @classmethod
    def _examples(cls) -> Sequence[Any]:
        """Instances for the contract suite: one for each way of working that differs in code."""
        return [cls(), *(cls(**options) for options in cls.examples)]

    @property
    def mergeable(self) -> bool:
        """Whether ``state`` works with these options."""
        return self.mergeable_

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
        # One pass over the data: where sums are enough, the blocks are checked on the way.
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
        ``random_state``. ``cluster``, (n,) labels, says which rows hang together: means are then
        cluster-robust, resamples of whole clusters, and what knows neither is an InputError. Two
        columns, (n, 2) or a frame, are two ways that cross, as raters and items do, for what has an
        analytic interval (a mean, O/E, a quotient of sums).
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
        """What adds up: ``state(part 1) + state(part 2)`` finalises to the value of the whole;
        ``state()`` is the empty one.
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

    def of(self, record: TaskRecord) -> Any:
        """The value on a record that has been read: a float, or an array (d,) for forecasts of d
        outputs.
        """
        require_pairs(record.weight if self.compares_rows else None, self.name)
        values = [float(self._value(output)) for output in record.outputs()]
        return np.array(values) if record.several else values[0]

    def interval_of(
        self,
        record: TaskRecord,
        *,
        level: float = 0.95,
        method: str = "auto",
        n_resamples: int = 1000,
        random_state: int = 0,
    ) -> Any:
        """``interval`` of a record that has been read, with its clusters if it carries any: an
        :class:`Interval`, or a list of d.
        """
        require_level(level)
        require_resamples(n_resamples)
        require_pairs(record.weight, "an interval")
        one = self._interval if record.cluster is None else partial(clustered_interval, self)
        found = [
            one(output, level, method, n_resamples, random_state) for output in record.outputs()
        ]
        return found if record.several else found[0]

    def resampled_of(self, record: TaskRecord, n_resamples: int, random_state: int) -> np.ndarray:
        """The value on bootstrap resamples of the rows, or the clusters, of a record of one
        output, (n_resamples,).
        """
        draws = self._resampled if record.cluster is None else partial(cluster_draws, self)
        return draws(record, n_resamples, random_state)

    def moves_of(self, record: Any) -> np.ndarray | None:
        """How far each row of a record moves the value, (n,): the derivative by its weight,
        times the total weight; None if not known.
        """

    def sides_of(self, record: Any) -> np.ndarray | None:
        """Of a metric that sets one outcome's rows against the other's: which each row has, (n,)
        0 or 1; the rarer are what is known.
        """

    def totals_of(self, record: TaskRecord) -> np.ndarray:
        """Sums over the rows of a record of one output: what a state holds; totals of parts add
        up to those of the whole.
        """
        return self._all_totals(record)

    def group_totals_of(self, record: TaskRecord, group: np.ndarray, n_groups: int) -> np.ndarray:
        """``totals_of`` the rows of each group 0..n_groups-1, (n_groups, ...); ``group`` is
        (n,).
        """
        return self._group_totals(record, group, n_groups)

    def finalise(self, totals: np.ndarray) -> Any:
        """The value from totals; any leading axes stay."""
        return self._finalise(totals)

    def limits(
        self, totals: np.ndarray, level: float = 0.95
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """Analytic (low, high) from totals, with any leading axes; None where none is known."""
        return self._limits(totals, level)

    def _check(self) -> None:
        """Options that cannot work raise InputError here."""

    def _value(self, record: Any) -> float:
        return float(self._finalise(self._all_totals(record)))

    def _all_totals(self, record: TaskRecord) -> np.ndarray:
        return reduce(add, map(self._totals, record.blocks()))

    @abstractmethod
    def _totals(self, record: Any) -> np.ndarray:
        """Sums over the rows, an array."""

    @abstractmethod
    def _finalise(self, totals: np.ndarray) -> np.ndarray:
        """Sums with any leading axes -> values with those axes."""

    def _group_totals(self, record: Any, group: np.ndarray, n_groups: int) -> np.ndarray:
        """``_totals`` of each group's rows, (n_groups, ...); sums over rows do better with one
        pass.
        """
        return np.stack([self._totals(record.take(group == g)) for g in range(n_groups)])

    def _limits(self, totals: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray] | None:
        """Analytic (low, high) from sums, with any leading axes; None where none is known."""

    def _interval(
        self, record: Any, level: float, method: str, n_resamples: int, random_state: int
    ) -> Interval:
        value, n = self._value(record), float(record.weights.sum())
        limits = (
            self._limits(self._all_totals(record), level)
            if self.mergeable and method in ("auto", "analytic")
            else None
        )
        if limits is not None:
            return Interval.holding(value, limits, level, "analytic", n)
        if method not in ("auto", "bootstrap", "bca"):
            raise InputError(
                f'{self.name} has no "{method}" interval; use method="bootstrap" or "bca".'
            )
        values = self._resampled(record, n_resamples, random_state)
        if method == "bca":
            limits = bca_limits(
                values,
                value,
                leave_out_values(record.weights, self._revalued(record), random_state),
                level,
            )
        else:
            limits = percentile_limits(values, level)
            if method == "auto" and self.domain.seen_labels:
                # What has not been seen may widen it at either end.
                others = percentile_limits(
                    other_draws(record, self._revalued(record), n_resamples, random_state), level
                )
                limits = min(limits[0], others[0]), max(limits[1], others[1])
        return Interval.holding(value, limits, level, "bca" if method == "bca" else "bootstrap", n)

    def _resampled(self, record: Any, n_resamples: int, random_state: int) -> np.ndarray:
        """The metric on bootstrap resamples of the rows, (n_resamples,); an interval and a
        comparison share them.
        """
        key = "draws", id(self), n_resamples, random_state
        if key not in record.derived:
            record.derived[key] = (
                self,
                bootstrap_totals(record.weights, self._revalued(record), n_resamples, random_state),
            )
        return record.derived[key][1]

    def _revalued(self, record: Any) -> Callable[..., float]:
        """The value as a function of other weights of these rows, and other ``labels``: what
        sorts the rows does so once.
        """
        return partial(self._reweighted, record)

    def _reweighted(self, record: Any, weight: np.ndarray, **labels: np.ndarray) -> float:
        return float(self._value(replace(record, weight=weight, **labels).take(weight > 0.0)))

    def __repr__(self) -> str:
        options = ", ".join(f"{f.name}={getattr(self, f.name)!r}" for f in fields(self))
        return f"{type(self).__name__}({options})"


class WholeMetric(Metric, mergeable_=False):
    """A metric that needs all rows at once: no state. A metric writes ``_value(record)``.

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
