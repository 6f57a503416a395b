"""The part of metrics that works on records (properties, value, sums, and intervals of independent
rows), and the number with its uncertainty that they return.
"""

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from functools import partial, reduce
from inspect import get_annotations
from operator import add
from typing import Any, ClassVar, Literal, TypeVar, cast, dataclass_transform

import numpy as np

from calibrant._numerics.bootstrap import (
    bca_limits,
    bootstrap_totals,
    leave_out_values,
    percentile_limits,
)
from calibrant.core.arrays import require_pairs
from calibrant.core.domain import Domain, Record
from calibrant.core.estimators import Exampled, on_one_blas_thread, require_count
from calibrant.core.forecast import require_level
from calibrant.errors import InputError

__all__ = [
    "BaseMetric",
    "Direction",
    "Interval",
    "SumState",
    "by_options",
    "require_level",
    "require_resamples",
]


def require_resamples(n_resamples: object) -> None:
    """Raise InputError unless ``n_resamples`` is large enough for quantiles."""
    require_count("n_resamples", n_resamples, 2, usual=1000)


@dataclass(frozen=True)
class Interval:
    """A metric's value with its uncertainty.

    Attributes
    ----------
    value, low, high : float
        The number and the ends of its interval, which holds both ``value`` and the value of the
        metric itself.
    level : float
        The nominal coverage, for example 0.95; the guide simulates the actual coverage.
    method : str
        The method: "analytic", "bootstrap", "bca", or "debiased", which also corrects ``value``;
        "null": for calibrated scores instead of the data (``null_of``).
    n : float
        Sum of the weights: the number of rows where every row counts once.
    plain : float or None
        The value of the metric itself, if ``value`` is the debiased estimate.

    See Also
    --------
    core.Metric : returns one from ``metric.interval(y_true, P)``.
    """

    value: float
    low: float
    high: float
    level: float
    method: str
    n: float
    plain: float | None = None

    def around(self, value: float) -> "Interval":
        """The interval with another value of the metric, which its ends then hold."""
        low, high = min(self.low, value), max(self.high, value)
        ends = replace(self, low=low, high=high, plain=None if self.plain is None else value)
        return ends if self.plain not in (None, self.value) else replace(ends, value=value)

    def __str__(self) -> str:
        return f"{self.value:.4g} [{self.low:.4g}, {self.high:.4g}]"

    @classmethod
    def holding(
        cls,
        value: float,
        limits: tuple[Any, Any],
        level: float,
        method: str,
        n: float,
        plain: float | None = None,
    ) -> "Interval":
        """An interval with these limits, widened to include the value and the value of the metric
        itself.
        """
        held = [float(one) for one in (value, plain) if one is not None and one == one]
        return cls(
            float(value),
            min([float(limits[0]), *held]),
            max([float(limits[1]), *held]),
            level,
            method,
            n,
            plain,
        )


# -- Metrics on records ----------------------------------------------------------------------------

Direction = Literal["minimize", "maximize", "none"]


@dataclass_transform(frozen_default=True)
@dataclass(frozen=True, repr=False)
class BaseMetric(Exampled):
    """The part of a :class:`Metric` that works on records; validation and clustered intervals build
    on it.
    """

    name: ClassVar[str]  # shown to people
    key: ClassVar[str]  # the name in keys, columns and gates: "ece"; defined only here
    estimand: ClassVar[str] = (
        "value on ever more rows of the same kind"  # the target of its interval
    )
    direction: ClassVar[Direction]
    range: ClassVar[tuple[float, float]]
    perfect: ClassVar[float | None] = None  # the value of perfect predictions, where known
    domain: ClassVar[Domain]
    proper: ClassVar[bool] = False
    #: Whether it may select a model: proper scores, and scores of the label or the ranking; never a
    #: calibration error.
    selects: ClassVar[bool] = False
    #: Whether it reads only the order of the predictions, so that those of several fits, as out of
    #: fold, are comparable within each fit alone.
    ranks: ClassVar[bool] = False
    #: Whether the paired interval of a difference between two predictions covers in simulation
    #: (benchmarks/metrics/paired.py).
    paired: ClassVar[bool] = False
    #: Whether a bootstrap of whole clusters is valid if there is no analytic interval: not where
    #: chance inflates the value.
    clustered: ClassVar[bool] = True
    mergeable_: ClassVar[bool] = True
    binary_only: ClassVar[bool] = False
    soft_labels: ClassVar[bool] = False  # whether it takes soft labels
    compares_rows: ClassVar[bool] = False  # a mean over pairs of rows, undefined for one row
    needs_std: ClassVar[bool] = True  # for forecasts: whether it uses the spread, or only means
    #: Contract checks that do not apply, each with the reason.
    exceptions: ClassVar[Mapping[str, str]] = {}

    def __init_subclass__(cls, **facts: Any) -> None:
        super().__init_subclass__()
        known = {name for base in cls.__mro__ for name in get_annotations(base)}
        if unknown := sorted(facts.keys() - known):
            raise TypeError(
                f"{cls.__name__} has no property {unknown}; its template has {sorted(known)}."
            )
        for name, value in facts.items():
            setattr(cls, name, value)
        dataclass(frozen=True, repr=False)(cls)

    @property
    def ideal(self) -> float | None:
        """The value of the best predictions: the one declared, or the finite end of the range;
        None where no value is best.
        """
        if self.perfect is not None or self.direction == "none":
            return self.perfect
        end = self.range[self.direction == "maximize"]
        return end if np.isfinite(end) else None

    @property
    def mergeable(self) -> bool:
        """Whether ``state`` works with these options."""
        return self.mergeable_

    @on_one_blas_thread
    def of(self, record: Record) -> Any:
        """The value on a record: a float, or an array (d,) for forecasts of d outputs."""
        require_pairs(record.weight if self.compares_rows else None, self.name)
        values = [float(self._value(output)) for output in record.outputs()]
        return np.array(values) if record.several else values[0]

    @abstractmethod
    def interval_of(
        self,
        record: Record,
        *,
        level: float = 0.95,
        method: str = "auto",
        n_resamples: int = 1000,
        random_state: int = 0,
    ) -> Any:
        """The value with its interval, of each output."""

    def moves_of(self, record: Any) -> np.ndarray | None:
        """Influence of each row on the value, (n,): the derivative by its weight, times the total
        weight; None if unknown.
        """

    def sides_of(self, record: Any) -> np.ndarray | None:
        """The outcome of each row, (n,) 0 or 1, for a metric that compares the rows of both; the
        rarer limits its precision.
        """

    @on_one_blas_thread
    def totals_of(self, record: Record) -> np.ndarray:
        """Sums over the rows of a record of one output, as in a state; totals of parts add up."""
        return self._all_totals(record)

    @on_one_blas_thread
    def group_totals_of(self, record: Record, group: np.ndarray, n_groups: int) -> np.ndarray:
        """``totals_of`` the rows of each group 0..n_groups-1, (n_groups, ...); ``group`` (n,)."""
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

    def _all_totals(self, record: Record) -> np.ndarray:
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
                # Unseen rows may widen it at either end.
                others = percentile_limits(
                    _other_draws(record, self._revalued(record), n_resamples, random_state), level
                )
                limits = min(limits[0], others[0]), max(limits[1], others[1])
        return Interval.holding(value, limits, level, "bca" if method == "bca" else "bootstrap", n)

    def _resampled(self, record: Any, n_resamples: int, random_state: int) -> np.ndarray:
        """The metric on bootstrap resamples of the rows, (n_resamples,); an interval and a
        comparison share them.
        """
        key, draws = (id(self), n_resamples, random_state), record.derived.draws
        if key not in draws:
            draws[key] = (
                self,
                bootstrap_totals(record.weights, self._revalued(record), n_resamples, random_state),
            )
        return draws[key][1]

    def _revalued(self, record: Any) -> Callable[..., float]:
        """The value as a function of other weights and ``labels`` of these rows; rows are sorted
        only once.
        """
        return partial(self._reweighted, record)

    def _reweighted(self, record: Any, weight: np.ndarray, **labels: np.ndarray) -> float:
        return float(self._value(replace(record, weight=weight, **labels).take(weight > 0.0)))

    def __repr__(self) -> str:
        options = ", ".join(f"{f.name}={getattr(self, f.name)!r}" for f in fields(self))
        return f"{type(self).__name__}({options})"


Fact = TypeVar("Fact")


def by_options(find: Callable[[Any], Fact]) -> Fact:
    """A property of a metric that depends on its options: ``find`` computes it for an instance,
    read-only.

    A type checker does not allow a property to override data; it sees data, and at run time it is a
    property.

    Examples
    --------
    >>> class Wide:
    ...     width = 3
    ...     name = by_options(lambda metric: f"of {metric.width}")
    >>> Wide().name
    'of 3'
    """
    return cast(Fact, property(find))


def _other_draws(
    record: Any, value: Callable[..., float], n_resamples: int, random_state: int
) -> np.ndarray:
    """``value(weight, labels=...)`` on resamples of the rows, (n_resamples,), some with changed
    labels.
    """
    rng = np.random.default_rng([random_state, 1])
    return bootstrap_totals(
        record.weights,
        lambda w: value(w, labels=_other_labels(record, w, rng)),
        n_resamples,
        random_state,
    )


def _other_labels(record: Any, weight: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Labels (n,), some of them changed, with probabilities in proportion to those of the other
    classes.

    The number of changed rows is that of an additional row of exponential weight: none in half of
    the draws, one in a quarter, and so on.
    """
    count = int(rng.geometric(0.5)) - 1
    labels = record.labels.copy()
    for row in rng.choice(len(labels), count, p=weight / weight.sum()):
        others = record.probabilities[row].copy()
        others[labels[row]] = 0.0
        # A minimal share for each, if the others have probability 0.
        others[np.arange(len(others)) != labels[row]] += 1e-12
        labels[row] = (
            rng.choice(len(others), p=others / others.sum()) if others.sum() > 0.0 else labels[row]
        )
    return labels


@dataclass(frozen=True, eq=False)
class SumState:
    """A metric's mergeable state: the metric with its options, and an array of sums;
    ``totals=None`` is the empty state.

    See Also
    --------
    Metric : returns one from ``metric.state(y_true, P)``.
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
        """The metric's value on all rows so far; nan without rows."""
        return float("nan") if self.totals is None else float(self.metric.finalise(self.totals))
