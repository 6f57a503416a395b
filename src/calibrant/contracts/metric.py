"""The template of a metric, for every task: a number, its interval, and a state that adds up."""

from abc import abstractmethod
from dataclasses import fields, replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from calibrant.arrays import require_pairs
from calibrant.contracts.base_metric import BaseMetric, Direction
from calibrant.contracts.clustered import cluster_draws, clustered_interval, two_way_interval
from calibrant.contracts.domain import Domain
from calibrant.contracts.interval import Interval, require_level, require_resamples
from calibrant.contracts.reading import CLASSIFICATION, read_for
from calibrant.contracts.record import Record
from calibrant.contracts.state import SumState
from calibrant.errors import InputError
from calibrant.groups import WeightKind, cluster_ways, clustered
from calibrant.predictions import Inputs

__all__ = ["Direction", "Interval", "Metric", "WholeMetric"]


class Metric(BaseMetric):
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

    def interval_of(
        self,
        record: Record,
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

    def resampled_of(self, record: Record, n_resamples: int, random_state: int) -> np.ndarray:
        """The value on bootstrap resamples of the rows, or the clusters, of a record of one
        output, (n_resamples,).
        """
        draws = self._resampled if record.cluster is None else partial(cluster_draws, self)
        return draws(record, n_resamples, random_state)


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
