"""Validated input of n rows of predictions of any kind: operations on rows, state shared by fits on
nearly the same rows, cached values of identical rows, and the base of records of a further kind.
"""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, Literal, Self

import numpy as np

from calibrant._numerics.logistic import DEEPEST_LOGIT
from calibrant._numerics.newton import Search, Start
from calibrant.core.arrays import (
    FLOAT32_EPSILON,
    OTHER_ROW_SUM_TOLERANCE,
    ROUNDED,
    ROW_SUM_TOLERANCE,
    row_sum_limits,
)
from calibrant.core.groups import take_rows
from calibrant.errors import InputError, warn

__all__ = [
    "Derived",
    "Given",
    "Inputs",
    "MapWorkspace",
    "PlainRows",
    "Workspace",
    "check_values",
    "sound",
]


#: Scores, outcomes and weights of the event that a row is of one class.
Rows = tuple[np.ndarray, np.ndarray, np.ndarray | None]


@dataclass
class MapWorkspace:
    """Ends of the searches of one map, as starts for the same map on nearly the same rows.

    Attributes
    ----------
    shared : whether other fits use it too: lower accuracy is then enough
    line, wider_line : a line of the log-odds, and one inside the second pair of limits
    curve, rising_curve : a parabola of the log-odds, free and rising
    penalty : the chosen penalty of a spline; None before
    splines : coefficients by (index of the penalty, number of coefficients)
    """

    shared: bool = False
    line: Start = field(default_factory=Start)
    wider_line: Start = field(default_factory=Start)
    curve: Start = field(default_factory=Start)
    rising_curve: Start = field(default_factory=Start)
    penalty: float | None = None
    splines: dict[tuple[int, int], np.ndarray] = field(default_factory=dict)


@dataclass
class Workspace:
    """State shared by the fits of one selection, on all rows and on those of folds. ``Workspace()``
    is that of a single fit, which starts anew.

    Attributes
    ----------
    shared : whether it belongs to a selection
    open : whether the selection is still open, so that losses are compared to five digits
    inverse_temperature : 1 / T of least log loss, of the first fit
    mixture, vector, matrix, featured : the searches of ensemble temperature scaling, structured
        vector and matrix scaling, and the first part of ensemble matrix scaling
    slopes : by their ridge, the slopes of intra-order-preserving scaling
    maps : by the map's name and options and the class, the workspaces of maps
    """

    shared: bool = False
    open: bool = False
    inverse_temperature: float | None = None
    mixture: Search | None = None
    vector: Search | None = None
    matrix: Search | None = None
    featured: Search | None = None
    slopes: dict[float, np.ndarray] = field(default_factory=dict)
    maps: dict[tuple[str, str, int], MapWorkspace] = field(default_factory=dict)

    @classmethod
    def of_choice(cls) -> Self:
        """An empty workspace of an open selection."""
        return cls(True, True, None, Search(), Search(), Search(), Search())

    @cached_property
    def ordered(self) -> "Workspace | None":
        """The workspace of fits on the same predictions after intra-order-preserving scaling."""
        return Workspace.of_choice() if self.shared else None

    def of_map(self, template: Any, k: int) -> MapWorkspace:
        """The workspace of a map of class k."""
        key = type(template).__name__, repr(vars(template)), k
        return self.maps.setdefault(key, MapWorkspace(self.shared))


@dataclass
class Derived:
    """Cache of values that several fits or metrics derive from the rows of one record.

    Attributes
    ----------
    temperature : (1 / T of least log loss, status)
    tilts : (n, 5) each row's loss near the workspace's temperature, with derivatives
    tempered : (n, K) scores after temperature scaling
    slope_rows : the layout for intra-order-preserving scaling
    events, cells : by class, (scores, outcomes, weights) in order, and merged in cells
    draws : by (id of a metric, resamples, seed), the metric and its values on resamples
    smoothers : by (smoother, span, target), (pooled scores, their mass, the smoother)
    ordered : the record with its rows in the order of their content
    """

    temperature: tuple[float, str] | None = None
    tilts: np.ndarray | None = None
    tempered: np.ndarray | None = None
    slope_rows: Any = None
    events: dict[int, Rows] = field(default_factory=dict)
    cells: dict[int, Rows] = field(default_factory=dict)
    draws: dict[tuple[int, int, int], tuple[Any, np.ndarray]] = field(default_factory=dict)
    smoothers: dict[tuple[str, Any, Any], tuple[Any, ...]] = field(default_factory=dict)
    ordered: Any = None

    def order(self, ordered: Any) -> None:
        """Keep the ordered record, which is its own, and shares the smoothers."""
        self.ordered = ordered.derived.ordered = ordered
        ordered.derived.smoothers = self.smoothers


# -- Rows of any kind of prediction ----------------------------------------------------------------

#: Row sums that differ by less than this share count as equal.
EQUAL = 1e-3
BLOCK_ROWS = 65_536


def sound(block: Any) -> bool:
    """Whether the values of a record pass ``check_values``, quickly; the slow check writes the
    error.
    """
    if block.kind == "logit":
        return bool(np.isfinite(block.values).all())
    columns = block.by_class
    off = np.abs(block.row_sums - 1.0).max()
    return bool(
        columns.min() >= 0.0
        and columns.max() <= 1.0 + 2.0 * block.resolution
        and off <= _tolerance(block.resolution)
    )


def check_values(values: np.ndarray, inputs: str, resolution: float) -> bool:
    """Raise InputError for invalid predictions, with the first bad rows; ``resolution`` is the
    machine epsilon of the original dtype. Return False if some logits are so large that
    ``bounded_logits`` may change them.
    """
    rows = max(BLOCK_ENTRIES // values.shape[1], 1)
    if all(_passes(values[i : i + rows], inputs, resolution) for i in range(0, len(values), rows)):
        return True
    for start in range(0, len(values), BLOCK_ROWS):
        block = values[start : start + BLOCK_ROWS]
        finite = np.isfinite(block).all(axis=1)
        if not finite.all():
            _reject(~finite, start, block, "must be finite", "remove or repair these rows")
        if inputs == "probability":
            _check_probabilities(block, start, resolution)
    return False


def _passes(block: np.ndarray, inputs: str, resolution: float) -> bool:
    """Whether all rows are valid and within the limits of logits, in few passes."""
    least, most = (
        (-DEEPEST_LOGIT, DEEPEST_LOGIT) if inputs == "logit" else (0.0, 1.0 + 2.0 * resolution)
    )
    # A NaN is neither above nor below a limit.
    if not (block.min() >= least and block.max() <= most):
        return False
    return inputs == "logit" or bool(
        np.abs(block.sum(axis=1, dtype=np.float64) - 1.0).max() <= _tolerance(resolution)
    )


def _check_probabilities(block: np.ndarray, start: int, resolution: float) -> None:
    bad = (block < 0.0).any(axis=1) | (block > 1.0 + 2.0 * resolution).any(axis=1)
    if bad.any():
        _reject(
            bad,
            start,
            block,
            "must be probabilities in [0, 1]",
            'pass inputs="logit" if these are logits, and divide percentages by 100',
        )
    sums = block.sum(axis=1, dtype=np.float64)
    tolerance = _tolerance(resolution)
    bad = np.abs(sums - 1.0) > tolerance
    if not bad.any():
        return
    off = np.flatnonzero(bad)
    bad[off] = np.abs(sums[off] - 1.0) > row_sum_limits(block[off].astype(np.float64), resolution)
    if bad.any():
        first = np.flatnonzero(bad)[:3]
        seen = ", ".join(f"row {start + i} sums to {sums[i]:.6g}" for i in first)
        raise InputError(
            f"rows of P must sum to 1 within {tolerance:g}; {seen} ({int(bad.sum())} in all);"
            f" {_sum_remedy(sums)}."
        )
    # The text names no row and no number, so that it is shown once for all parts of a table.
    warn(
        "rows of P sum to 1 only up to the rounding of their decimals: each of them is divided by"
        " its sum."
    )


def _sum_remedy(sums):
    """Remedy for wrong row sums: rounded rows and rows with equal sums can be divided; other rows
    may be multi-label.
    """
    if np.abs(sums - 1.0).max() <= ROUNDED or (len(sums) > 1 and np.ptp(sums) < EQUAL * sums.min()):
        return 'divide P by its row sums, or pass inputs="logit" if these are logits'
    return (
        'pass inputs="logit" if these are logits; if a row can have several labels or none,'
        " calibrate the columns one by one, P[:, k] with its own labels of 0 and 1; if it has"
        " exactly one, make the scores probabilities first, as the model means them"
    )


def _tolerance(resolution: float) -> float:
    return ROW_SUM_TOLERANCE.get(resolution, OTHER_ROW_SUM_TOLERANCE)


def _reject(bad: Any, start: int, block: np.ndarray, rule: str, remedy: str):
    first = np.flatnonzero(bad)[:3]
    seen = ", ".join(
        f"row {start + i} is {np.array2string(block[i], precision=4, threshold=6)}" for i in first
    )
    raise InputError(f"P {rule}; {seen} ({int(bad.sum())} in all); {remedy}.")


#: Kinds of predictions of classes.
Inputs = Literal["probability", "logit"]

#: Entries of P in one block of ``blocks``: small enough for the block and its derived arrays to
#: stay in the cache.
BLOCK_ENTRIES = 131_072
#: Derived values that subsets of a record with a workspace reuse.
HANDED_ON = ("log_probabilities", "row_sums")


@dataclass(frozen=True)
class Given:
    """Validated predictions of n rows over K classes, with the other arguments.

    Attributes
    ----------
    values : (n, K) float32 or float64
        Probabilities as given (rows sum to 1 within the tolerance of their dtype) or logits.
    kind : {"probability", "logit"}
    classes : (K,) array, in column order.
    labels : (n,) intp or None
        Position of the true class in ``classes``.
    shares : (n, K) float64 or None
        For soft labels, which have no ``labels``: the share of each class among the raters of a
        row.
    weight : (n,) float64 or None
        Positive weights; None means every row counts once. Rows of weight 0 have been dropped.
    X, reference
        Features of the rows, and (X_train, y_train) with labels as positions in ``classes``, or
        None.
    resolution : float
        Machine epsilon of the dtype the values came in, at least that of float32.
    checked : bool
        False if the first pass over ``blocks`` checks the numbers, as with
        ``read(check_values=False)``.
    workspace : Workspace or None
        State of a fit that fits on nearly the same rows, such as those of folds, start from; None:
        every fit starts anew.
    own : (n,) intp or None
        Labels used as the model's own instead of the argmax, with their probabilities as
        confidence: a calibrator of confidence is evaluated on its original label, even if that is
        no longer the most probable one.
    cluster : (n,) intp or None
        Cluster of each row: intervals and tests then count clusters, not rows.
    groups : (n,) labels, or a frame of n rows, or None
        The groups of the rows, as given, for calibrators by group.
    least : float or None
        Floor of probabilities in logarithms, which a fit learns; None: the smallest positive
        number.
    """

    values: np.ndarray
    kind: Inputs
    classes: np.ndarray
    labels: np.ndarray | None = None
    weight: np.ndarray | None = None
    X: Any = None
    reference: Any = None
    resolution: float = FLOAT32_EPSILON
    kept: np.ndarray | None = field(default=None, repr=False)
    checked: bool = field(default=True, repr=False)
    own: np.ndarray | None = field(default=None, repr=False)
    workspace: Workspace | None = field(default=None, repr=False, compare=False)
    cluster: np.ndarray | None = field(default=None, repr=False)
    groups: Any = field(default=None, repr=False)
    least: float | None = field(default=None, repr=False)
    shares: np.ndarray | None = field(default=None, repr=False)

    def __len__(self) -> int:
        return len(self.values)

    @property
    def n_classes(self) -> int:
        return self.values.shape[1]

    @cached_property
    def weights(self) -> np.ndarray:
        """(n,) float64, the weight of each row: 1 where no weights were passed."""
        return np.ones(len(self)) if self.weight is None else self.weight

    @cached_property
    def derived(self) -> Derived:
        """Cache of values that several fits on these rows derive."""
        return Derived()

    @property
    def work(self) -> Workspace:
        """The workspace, or a new one for a single fit."""
        return Workspace() if self.workspace is None else self.workspace

    def changed(self, **fields: Any) -> Self:
        """The record with other values of these fields, as from ``replace``, which takes several
        times as long.
        """
        out = object.__new__(type(self))
        own = vars(self)
        vars(out).update({name: own[name] for name in FIELDS}, **fields)
        return out

    def take(self, rows: Any) -> Self:
        """The same record for some of the rows (indices, mask or slice)."""
        part = self.changed(
            values=self.values[rows],
            labels=None if self.labels is None else self.labels[rows],
            shares=None if self.shares is None else self.shares[rows],
            weight=None if self.weight is None else self.weight[rows],
            X=self._rows_of(self.X, rows),
            groups=self._rows_of(self.groups, rows),
            kept=None,
            own=None if self.own is None else self.own[rows],
            cluster=None if self.cluster is None else self.cluster[rows],
        )
        self._hand_on(part, rows)
        return part

    def _rows_of(self, table: Any, rows: np.ndarray) -> Any:
        """Some rows of another argument, None if it is None."""
        if table is None or isinstance(table, np.ndarray):
            return table if table is None else table[rows]
        return take_rows(table, np.arange(len(self))[rows])

    def weighted(self, weight: np.ndarray) -> Self:
        """The same rows with other weights, (n,), none of them 0."""
        out = self.changed(weight=weight)
        self._hand_on(out, slice(None))
        return out

    def _hand_on(self, part: Any, rows: Any) -> None:
        """Copy derived values by row to a subset of the record, if fits share a workspace."""
        if self.workspace is None:
            return
        vars(part).update(
            {name: vars(self)[name][rows] for name in HANDED_ON if name in vars(self)}
        )
        if self.derived.tilts is not None:
            part.derived.tilts = self.derived.tilts[rows]

    @cached_property
    def _valid(self) -> bool:
        """True, after a check of all values; kept, so that further passes do not warn again."""
        check_values(self.values, self.kind, self.resolution)
        return True

    @property
    def _block_rows(self) -> int:
        return max(1024, BLOCK_ENTRIES // self.n_classes)

    def blocks(self, size: int | None = None) -> Iterator[Self]:
        """The record in slices of at most ``size`` rows (by default as many as fit the cache),
        which are checked first if necessary.
        """
        size = self._block_rows if size is None else size
        for start in range(0, max(len(self), 1), size):
            block = self if len(self) <= size else self.take(slice(start, start + size))
            if not (self.checked or sound(block)):
                _ = self._valid
            yield block

    def without_features(self) -> Self:
        """The record without ``X``, for a calibrator that does not use it."""
        return replace(self, X=None)

    def per_row(self, values: np.ndarray) -> np.ndarray:
        """An array for the rows of the input, without the dropped rows of weight 0."""
        return values if self.kept is None else values[self.kept]


FIELDS = tuple(each.name for each in fields(Given))


# -- Records of a further kind ---------------------------------------------------------------------


@dataclass(frozen=True)
class PlainRows:
    """Validated rows of one output, without features: a record that metrics read.

    A subclass adds the predictions and the outcomes, and implements ``__len__``, ``mark`` and
    ``_own(rows)``. If calibrators are fitted on its rows, it also implements ``recalibrated`` and
    ``gathered``. Rows of weight 0 have been dropped.

    Attributes
    ----------
    weight : (n,) positive, or None where every row counts once
    kept : (n given,) mask of the rows kept, or None
    cluster : (n,) intp, which rows are dependent, or None
    """

    weight: np.ndarray | None = field(default=None, kw_only=True)
    kept: np.ndarray | None = field(default=None, repr=False, kw_only=True)
    cluster: np.ndarray | None = field(default=None, repr=False, kw_only=True)

    @abstractmethod
    def __len__(self) -> int: ...

    @property
    @abstractmethod
    def mark(self) -> np.ndarray:
        """(n,) a number from the content of each row, by which clusters are numbered."""

    @abstractmethod
    def _own(self, rows: Any) -> dict[str, Any]:
        """The record's own fields, for some of the rows."""

    @cached_property
    def weights(self) -> np.ndarray:
        """(n,) float64, the weight of each row: 1 where no weights were passed."""
        return np.ones(len(self)) if self.weight is None else self.weight

    @cached_property
    def derived(self) -> Derived:
        """Cache of values that several metrics of these rows derive."""
        return Derived()

    @property
    def shares(self) -> None:
        """None: there are no soft labels."""

    @property
    def several(self) -> bool:
        """False: there is one output."""
        return False

    @property
    def strata(self) -> np.ndarray:
        """(n,) zeros: folds are not stratified."""
        return np.zeros(len(self), dtype=np.intp)

    @property
    def calibrator_params(self) -> dict[str, Any]:
        """Nothing."""
        return {}

    def take(self, rows: Any) -> Self:
        """The same record for some of the rows (indices, mask or slice)."""
        weight, cluster = (None if v is None else v[rows] for v in (self.weight, self.cluster))
        return replace(self, weight=weight, cluster=cluster, kept=None, **self._own(rows))

    def blocks(self, size: int = 0) -> list[Self]:
        """The record itself."""
        return [self]

    def per_row(self, values: np.ndarray) -> np.ndarray:
        """The entries of the kept rows, from one entry per input row."""
        return values if self.kept is None else values[self.kept]

    def outputs(self) -> list[Self]:
        """The record itself."""
        return [self]

    def one_output(self) -> Self:
        """The record itself."""
        return self

    def other_labels(self, other: Any) -> list[np.ndarray]:
        """None: other outcomes are not known."""
        return []

    def without_features(self) -> Self:
        """The record itself."""
        return self

    def agrees_with(self, other: Any) -> bool:
        """Whether both have the same rows and content."""
        return len(self) == len(other) and bool(np.allclose(self.mark, other.mark))

    def gathered(self, parts: Any, rows: Sequence[np.ndarray]) -> Any:
        """Refused, unless a subclass has calibrators."""
        raise _refused(self)

    def recalibrated(self, result: Any, output: str = "") -> Any:
        """Refused, unless a subclass has calibrators."""
        raise _refused(self)


def _refused(record: PlainRows) -> InputError:
    return InputError(
        f"{type(record).__name__} can only be scored; pass predictions of classes or"
        " forecasts to fit a calibrator."
    )
