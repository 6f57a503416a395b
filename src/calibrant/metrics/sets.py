"""Metrics of sets of labels: coverage overall, by group and in the worst slab; sizes."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from calibrant._numerics.intervals import clopper_pearson
from calibrant.core.arrays import ArrayLike, plain_array, to_array, weights
from calibrant.core.domain import Domain
from calibrant.core.estimators import require_count
from calibrant.core.given import PlainRows
from calibrant.core.groups import Groups, read_groups
from calibrant.core.guarantee import Result
from calibrant.core.labels import class_array, encode_labels
from calibrant.core.metric import BaseMetric, Interval, require_level
from calibrant.core.metric_kinds import MeanMetric, WholeMetric
from calibrant.core.reading import shared_option
from calibrant.errors import InputError
from calibrant.metrics.forecast_spread import GroupCoverage, held_by_group

__all__ = [
    "SETS",
    "SetCoverage",
    "SetRows",
    "SetSizes",
    "WorstSlabCoverage",
    "conditional_coverage_gap",
    "read_sets",
    "set_coverage",
    "set_coverage_by",
    "set_sizes",
    "worst_slab_coverage",
]


@dataclass(frozen=True)
class SetRows(PlainRows):
    """Record of the rows that metrics of sets read.

    Attributes
    ----------
    sets : (n, K) booleans
    labels : (n,) positions of the true classes, or None
    classes : (K,)
    X : (n, d) float64 features, or None
    """

    sets: np.ndarray
    labels: np.ndarray | None
    classes: np.ndarray
    X: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.sets)

    @property
    def mark(self) -> np.ndarray:
        """(n,) hash of each row's set and label."""
        place = self.sets @ np.sqrt(np.arange(1.0, self.sets.shape[1] + 1.0))
        return place if self.labels is None else place + np.sqrt(0.5 + self.labels)

    def _own(self, rows: Any) -> dict[str, Any]:
        labels, X = (None if v is None else v[rows] for v in (self.labels, self.X))
        return {"sets": self.sets[rows], "labels": labels, "X": X}

    @property
    def held(self) -> np.ndarray:
        """(n,) 1 where the set holds the true class."""
        return self.sets[np.arange(len(self)), self.labels].astype(np.float64)

    @property
    def sizes(self) -> np.ndarray:
        """(n,) number of classes in each set."""
        return np.count_nonzero(self.sets, axis=1)


def read_sets(
    y_true: ArrayLike | None,
    sets: Any,
    classes: ArrayLike | None,
    sample_weight: ArrayLike | None,
    X: Any = None,
) -> SetRows:
    """Read the rows after checking that the sets are (n, K) booleans with a known label each; no
    labels where ``y_true`` is None.
    """
    member = plain_array(sets, "sets")
    if member.ndim != 2 or len(member) == 0 or not _true_or_false(member):
        raise InputError(
            "sets must be (n, K) booleans, True where the class is in the set; got shape"
            f" {member.shape} of {member.dtype}; pass the result of predict_set."
        )
    known = class_array(classes, member.shape[1])
    labels = None
    if y_true is not None:
        labels, known = encode_labels(
            y_true,
            known,
            len(member),
            member.shape[1],
            name="y_true",
            positions=classes is not None,
        )
    weight, kept = weights(sample_weight, len(member))
    names = np.arange(member.shape[1]) if known is None else known
    values = None if X is None else _features(X, len(member))
    whole = SetRows(member.astype(bool), labels, names, values)
    return replace(whole if kept is None else whole.take(kept), weight=weight, kept=kept)


def _true_or_false(values: np.ndarray) -> bool:
    try:
        return values.dtype == bool or bool(np.isin(values, (0, 1)).all())
    except TypeError:  # pandas' NA is neither
        return False


def _features(X: Any, n: int) -> np.ndarray:
    values = to_array(X, "X").astype(np.float64)
    values = values[:, None] if values.ndim == 1 else values
    if values.ndim != 2 or len(values) != n or not np.isfinite(values).all():
        raise InputError(
            f"X must be ({n}, d) finite numbers, one row per set; got shape {values.shape}."
        )
    return values


def _read(
    metrics: Sequence[BaseMetric],
    y_true: ArrayLike | None,
    P: Any,
    *,
    sample_weight: ArrayLike | None,
    classes: ArrayLike | None,
) -> SetRows:
    if y_true is None:
        raise InputError("y_true must be the true labels, one per row; got None.")
    return read_sets(y_true, P, classes, sample_weight, shared_option(metrics, "X"))


#: Sets of labels: (n, K) booleans, as ``ConformalSets.predict_set`` returns them.
SETS = Domain("sets", "sets of labels", SetRows, _read, takes=lambda P, std: False)


class SetCoverage(
    MeanMetric,
    name="coverage of sets",
    key="set_coverage",
    domain=SETS,
    estimand="coverage of these sets on new rows",
    direction="none",
    range=(0.0, 1.0),
    rate=True,
):
    r"""Share of the sets that contain the true class.

    .. math:: \frac{1}{n} \sum_i [y_i \in C_i]

    See Also
    --------
    set_coverage_by : the coverage of each class, group or size.
    set_sizes : the price of the coverage.
    ConformalSets : sets with guaranteed coverage.

    Notes
    -----
    The sets are (n, K) booleans, as ``ConformalSets.predict_set`` returns them. The interval is
    that of the coverage of these sets in the population; sets from other calibration rows vary in
    addition.

    Examples
    --------
    >>> sets = [[1, 0], [0, 1], [1, 0], [1, 1]]
    >>> set_coverage([0, 1, 1, 0], sets)
    0.75
    >>> print(set_coverage.interval([0, 1, 1, 0], sets))
    0.75 [0.1941, 0.9937]
    """

    def _losses(self, record: Any) -> np.ndarray:
        return record.held


set_coverage: SetCoverage = SetCoverage()


def set_coverage_by(
    y_true: ArrayLike,
    sets: Any,
    *,
    by: str = "class",
    groups: Any = None,
    level: float = 0.95,
    sample_weight: ArrayLike | None = None,
    classes: ArrayLike | None = None,
) -> GroupCoverage:
    """Compute coverage and mean size of the sets by class, group or size.

    Parameters
    ----------
    y_true : (n,) labels
    sets : (n, K) booleans, as ``ConformalSets.predict_set`` returns them
    by : {"class", "groups", "size"}
        The true class, the ``groups``, or the number of classes in the set, including empty and
        full sets.
    groups : (n,) labels of any kind, or a frame of several columns, for ``by="groups"``
    level : float, default 0.95
        The level of each interval (Wilson's).
    sample_weight : (n,), optional
    classes : (K,) labels in column order, optional

    Returns
    -------
    GroupCoverage
        One row per class, group or size, with n, coverage, its interval, and the mean size as
        ``width``; ``.frame()`` returns a data frame.

    Raises
    ------
    InputError
        When ``groups`` is missing for ``by="groups"`` or passed for another ``by``.

    See Also
    --------
    set_coverage : the coverage of all rows.
    conditional_coverage_gap : one number for all classes or groups.
    worst_slab_coverage : the worst region when no groups are known.

    Notes
    -----
    Sets with correct overall coverage may undercover a rare or difficult class. By size, it shows
    whether larger sets are justified: a set of one class should be right as often as others.

    Examples
    --------
    >>> found = set_coverage_by([0, 1, 1, 0], [[1, 0], [0, 1], [1, 0], [1, 1]])
    >>> found.group.tolist(), found.coverage.tolist(), found.width.tolist()
    ([0, 1], [1.0, 0.5], [1.5, 1.0])
    """
    require_level(level)
    if not (isinstance(by, str) and by in ("class", "groups", "size")) or (
        (by == "groups") != (groups is not None)
    ):
        given = "without" if groups is None else "with"
        raise InputError(
            f'by must be "class" or "size", or "groups" with groups=; got {by!r} {given} groups.'
        )
    rows = read_sets(y_true, sets, classes, sample_weight)
    if by == "groups":
        found = read_groups(groups, rows)
    else:
        names, index = np.unique(
            np.asarray(rows.labels if by == "class" else rows.sizes), return_inverse=True
        )
        found = Groups(rows.classes[names] if by == "class" else names, index)
    return held_by_group(found, rows.held, rows.sizes, rows.weights, level)


@dataclass(frozen=True)
class SetSizes(Result):
    """Summary of the sizes of sets.

    Attributes
    ----------
    mean : float
        Mean number of classes (the ambiguity).
    median : float
    single, empty, full : float
        Share of sets of one class, of none, and of all.
    n : float, sum of weights

    See Also
    --------
    metrics.set_sizes : returns it.
    """

    mean: float
    median: float
    single: float
    empty: float
    full: float
    n: float


def set_sizes(sets: Any, *, sample_weight: ArrayLike | None = None) -> SetSizes:
    """Compute mean and median size of the sets, and the shares of single-class, empty and full
    sets.

    Parameters
    ----------
    sets : (n, K) booleans, as ``ConformalSets.predict_set`` returns them
    sample_weight : (n,), optional

    Returns
    -------
    SetSizes

    Raises
    ------
    InputError
        When the sets are not booleans.

    See Also
    --------
    set_coverage : their coverage; compare sizes only at equal coverage.

    Examples
    --------
    >>> found = set_sizes([[1, 0, 0], [0, 1, 1], [0, 0, 0], [1, 1, 1]])
    >>> found.mean, found.single, found.empty
    (1.5, 0.25, 0.25)
    """
    rows = read_sets(None, sets, None, sample_weight)
    size, weight = rows.sizes, rows.weights
    n = float(weight.sum())
    mass = np.cumsum(np.bincount(size, weights=weight, minlength=rows.sets.shape[1] + 1))
    share = np.diff(mass, prepend=0.0) / n
    return SetSizes(
        float(weight @ size) / n,
        float(np.searchsorted(mass, 0.5 * n)),
        float(share[1]),
        float(share[0]),
        float(share[-1]),
        n,
    )


def conditional_coverage_gap(
    y_true: ArrayLike,
    sets: Any,
    *,
    said: float = 0.9,
    by: str = "class",
    groups: Any = None,
    sample_weight: ArrayLike | None = None,
    classes: ArrayLike | None = None,
) -> float:
    r"""Compute the mean distance between nominal coverage and the coverage of each class, group or
    size.

    .. math:: \frac{1}{G} \sum_g |\hat c_g - \text{said}|

    Parameters
    ----------
    y_true : (n,) labels
    sets : (n, K) booleans, as ``ConformalSets.predict_set`` returns them
    said : float, default 0.9
        The nominal coverage of the sets.
    by : {"class", "groups", "size"}
    groups : (n,) labels of any kind, or a frame of several columns, for ``by="groups"``
    sample_weight : (n,), optional
    classes : (K,) labels in column order, optional

    Returns
    -------
    float
        From 0.

    See Also
    --------
    set_coverage_by : each coverage with its interval.
    worst_slab_coverage : the worst region when no groups are known.

    Notes
    -----
    Classes with few rows add noise: with n rows each, sets with nominal coverage everywhere have a
    gap of about 0.8 sqrt(said (1 - said) / n).

    References
    ----------
    Ding et al., "Class-conditional conformal prediction with many classes", NeurIPS 2023.

    Examples
    --------
    >>> round(conditional_coverage_gap([0, 1, 1, 0], [[1, 0], [0, 1], [1, 0], [1, 1]], said=0.9), 3)
    0.25
    """
    require_level(said, "said")
    found = set_coverage_by(
        y_true, sets, by=by, groups=groups, sample_weight=sample_weight, classes=classes
    )
    return float(np.mean(np.abs(found.coverage - said)))


#: Number of possible ends of slabs along a direction.
CUTS = 40


class WorstSlabCoverage(
    WholeMetric,
    name="coverage of the worst slab",
    key="worst_slab_coverage",
    domain=SETS,
    estimand="coverage of new rows in this slab",
    direction="maximize",
    range=(0.0, 1.0),
    clustered=False,
):
    """Coverage in the slab of features where it is lowest.

    The slab, the rows between two parallel planes, is chosen on a random half of the rows, among
    ``n_draws`` directions; the coverage is that of the other half's rows in it.

    Parameters
    ----------
    X : (n, d) numbers
        The features, one row per set.
    share : float, default 0.2
        The smallest share of the rows in a slab.
    n_draws : int, default 200
        The number of directions.
    random_state : int, default 0
        Seed of the halves and the directions.

    See Also
    --------
    set_coverage_by : the coverage of known classes and groups.

    Notes
    -----
    In the half used to choose it, the worst slab undercovers by chance for any sets. Only the other
    half shows whether a region is undercovered. The interval is Clopper and Pearson's, from the
    other half's rows in the slab.

    References
    ----------
    Cauchois, Gupta and Duchi, "Knowing what you know", JMLR 2021.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(-1.0, 1.0, 400)[:, None]
    >>> y = (X[:, 0] > 0.5).astype(int)
    >>> worst_slab_coverage(y, np.tile([True, False], (400, 1)), X=X)
    0.0
    """

    X: ArrayLike | None = field(default=None, compare=False)
    share: float = 0.2
    n_draws: int = 200
    random_state: int = 0

    @classmethod
    def _examples(cls) -> Sequence[Any]:
        """No examples: the halves depend on row order, and the metric needs features as well as
        sets.
        """
        return []

    def _check(self) -> None:
        require_count("n_draws", self.n_draws)

    def _value(self, record: Any) -> float:
        held, n = self._counts(record)
        return held / n if n > 0.0 else float("nan")

    def _interval(
        self, record: Any, level: float, method: str, n_resamples: int, random_state: int
    ) -> Interval:
        if method not in ("auto", "analytic"):
            raise InputError(
                f'{self.name} has no "{method}" interval, because the slab was chosen on other'
                ' rows; use method="analytic".'
            )
        held, n = self._counts(record)
        low, high = (float(np.asarray(end)) for end in clopper_pearson(held, n, level))
        value = held / n if n > 0.0 else float("nan")
        return Interval.holding(value, (low, high), level, "analytic", n)

    def _counts(self, record: SetRows) -> tuple[float, float]:
        """(weight covered, weight) of the rows in the slab, from the half that did not choose
        it.
        """
        if record.X is None:
            raise InputError("X must be the features, one row per set; got None; pass X=.")
        if not 0.0 < self.share <= 0.5 or self.share * len(record) < 20.0:
            raise InputError(
                f"share must be at most 0.5 and hold at least 20 of {len(record)} rows; got"
                f" {self.share!r}; raise it or pass more rows."
            )
        rng, values = np.random.default_rng(self.random_state), record.X
        spread = values.std(axis=0)
        values = (values - values.mean(axis=0)) / np.where(spread > 0.0, spread, 1.0)
        first = rng.permutation(len(record)) < len(record) // 2
        directions = rng.normal(size=(self.n_draws, values.shape[1]))
        least, found = np.inf, (0, -np.inf, np.inf)
        for k, direction in enumerate(directions):
            coverage, low, high = _worst(values[first] @ direction, record.held[first], self.share)
            if coverage < least:
                least, found = coverage, (k, low, high)
        place = values[~first] @ directions[found[0]]
        weight = record.weights[~first] * ((found[1] <= place) & (place <= found[2]))
        return float(weight @ record.held[~first]), float(weight.sum())


worst_slab_coverage: WorstSlabCoverage = WorstSlabCoverage()


def _worst(place: np.ndarray, held: np.ndarray, share: float) -> tuple[float, float, float]:
    """(coverage, low, high) of the slab with the lowest coverage along one direction."""
    order = np.argsort(place, kind="stable")
    total = np.append(0.0, np.cumsum(held[order]))
    ends = np.unique(np.linspace(0, len(place), CUTS + 1).astype(np.intp))
    count = ends[None, :] - ends[:, None]
    covered = total[ends][None, :] - total[ends][:, None]
    rate = np.where(count >= share * len(place), covered / np.maximum(count, 1), np.inf)
    begin, end = np.unravel_index(int(np.argmin(rate)), rate.shape)
    along = place[order]
    # The outermost slabs are unbounded on the outside.
    low = -np.inf if begin == 0 else along[ends[begin]]
    high = np.inf if ends[end] == len(place) else along[ends[end] - 1]
    return float(rate[begin, end]), float(low), float(high)
