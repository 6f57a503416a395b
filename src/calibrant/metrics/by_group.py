"""A metric in each group of rows, and the group where it is worst."""

import warnings
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant._numerics.clusters import rows_by_group
from calibrant.core.arrays import ArrayLike
from calibrant.core.estimators import seeded
from calibrant.core.given import Inputs
from calibrant.core.groups import WeightKind, clustered, read_groups
from calibrant.core.guarantee import Record
from calibrant.core.kinds import require_metric
from calibrant.core.metric_kinds import Interval, Metric
from calibrant.core.reading import read_for
from calibrant.errors import CalibrationWarning, InputError

__all__ = ["GroupValues", "WorstGroup", "per_group", "worst_group"]

#: Most groups whose intervals are drawn, for metrics without a closed form.
MOST_DRAWN = 100


@dataclass(frozen=True)
class GroupValues(Record):
    """Metric of each group, one row per group: name, n (sum of weights), value and interval (nan
    for a metric without a closed form with more than 100 groups, and where a group has none).
    """

    group: np.ndarray
    n: np.ndarray
    value: np.ndarray
    low: np.ndarray
    high: np.ndarray


@dataclass(frozen=True)
class WorstGroup:
    """The worst group, the number of groups examined, and the metric's interval there, corrected
    for that number.
    """

    group: object
    groups: int
    interval: Interval


def per_group(
    metric: Metric,
    y_true: ArrayLike,
    P: ArrayLike,
    groups: ArrayLike,
    *,
    std: ArrayLike | None = None,
    level: float = 0.95,
    cluster: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    weight_kind: WeightKind = "frequency",
    classes: ArrayLike | None = None,
    inputs: Inputs = "probability",
    **options: Any,
) -> GroupValues:
    """Compute the metric on the rows of each group.

    A metric that is a sum over rows is computed for all groups at once (100,000 groups need no
    loop); any other is computed group by group.

    Parameters
    ----------
    metric : Metric
        A metric with its options set; ``options`` set them here.
    y_true : (n,) labels; for regression outcomes
    P : (n, K), or (n,) for binary; for regression the means, or a forecast of one output
    groups : (n,) of any kind of label, or a frame of several columns, whose combinations are the
        groups
    std : (n,), for regression
    level : float, default 0.95
        The level of each group's own interval.
    cluster : (n,) labels of any kind, optional
        Clusters of dependent rows (visits of one patient, answers to one question). Intervals then
        count the clusters of each group; a single cluster has none (nan).
    sample_weight : (n,), optional
    weight_kind : {"frequency", "sampling"}
        "frequency": a weight counts identical rows. "sampling": a weighted row is one row that
        stands for others, as with design or importance weights.
    classes : (K,) labels in column order, optional
    inputs : {"probability", "logit"}

    Returns
    -------
    GroupValues
        ``.frame()`` returns a data frame. Groups are sorted, and named by tuples where columns are
        crossed. Rows without a label (None, NaN, NA) form the last group, None. Groups of total
        weight 0 are left out.

    Raises
    ------
    InputError
        When ``groups`` does not have one entry per row.

    See Also
    --------
    worst_group : the group that is significantly worst.
    worst_slices : the same for a table of any size.

    Notes
    -----
    A binned calibration error is biased upward in small groups: compare groups of similar size, or
    use ``worst_group``, which accounts for it. Intervals without a closed form are drawn for up to
    100 groups, and are nan for more.

    Examples
    --------
    >>> from calibrant.metrics import accuracy
    >>> values = per_group(
    ...     accuracy, [0, 1, 1], [[0.9, 0.1], [0.6, 0.4], [0.2, 0.8]], ["a", "a", "b"]
    ... )
    >>> values.group.tolist(), values.value.tolist()
    (['a', 'b'], [0.5, 1.0])
    """
    metric = require_metric(metric).with_options(**options)
    return _values(
        metric,
        *_grouped(
            metric, y_true, P, groups, std, cluster, sample_weight, weight_kind, classes, inputs
        ),
        level,
    )


@seeded
def worst_group(
    metric: Metric,
    y_true: ArrayLike,
    P: ArrayLike,
    groups: ArrayLike,
    *,
    std: ArrayLike | None = None,
    level: float = 0.95,
    min_rows: float = 30,
    method: str = "auto",
    n_resamples: int = 1000,
    random_state: int = 0,
    cluster: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    weight_kind: WeightKind = "frequency",
    classes: ArrayLike | None = None,
    inputs: Inputs = "probability",
    **options: Any,
) -> WorstGroup:
    """Find the group where the metric is significantly worst: its interval has the worst better
    end, corrected for the number of groups.

    The worst value would find the smallest group instead, whose value is mostly noise.

    Parameters
    ----------
    metric : Metric
        A metric with a direction ("minimize" or "maximize") and its options set; ``options`` set
        them here.
    y_true : (n,) labels; for regression outcomes
    P : (n, K), or (n,) for binary; for regression the means, or a forecast of one output
    groups : (n,) of any kind of label, or a frame of several columns, whose combinations are the
        groups
    std : (n,), for regression
    level : float, default 0.95
        The joint level of all intervals (Bonferroni: each has level 1 - (1 - level) / groups).
    min_rows : float, default 30
        Groups with a smaller sum of weights are skipped.
    method, n_resamples, random_state
        As in ``metric.interval``. For metrics without a closed form, only the ten worst values of
        ``per_group`` are examined.
    cluster : (n,) labels of any kind, optional
        Clusters of dependent rows. Intervals then count clusters, and groups of one cluster are
        skipped.
    sample_weight : (n,), optional
    weight_kind : {"frequency", "sampling"}
        "frequency": a weight counts identical rows. "sampling": a weighted row is one row that
        stands for others, as with design or importance weights.
    classes : (K,) labels in column order, optional
    inputs : {"probability", "logit"}

    Returns
    -------
    WorstGroup

    Raises
    ------
    InputError
        When no group has ``min_rows`` rows, or the metric has no direction.

    See Also
    --------
    per_group : the metric of every group.
    worst_slices : the same for a table of any size.

    Examples
    --------
    >>> from calibrant.metrics import accuracy
    >>> y, P = [1] * 20 + [0] * 20 + [1] * 20, [[0.2, 0.8]] * 60
    >>> worst_group(accuracy, y, P, ["a"] * 20 + ["b"] * 20 + ["c"] * 20, min_rows=10).group
    'b'
    """
    metric = require_metric(metric).with_options(**options)
    if metric.direction not in ("minimize", "maximize"):
        raise InputError(
            f'metric must have a direction, "minimize" or "maximize"; {metric.name} has none;'
            " choose another."
        )
    record, names, index = _grouped(
        metric, y_true, P, groups, std, cluster, sample_weight, weight_kind, classes, inputs
    )
    values = _values(metric, record, names, index, level, drawn=False)
    enough = np.flatnonzero(
        (values.n >= min_rows) & np.isfinite(values.value) & _several(record, index, len(names))
    )
    if len(enough) == 0:
        of = "" if cluster is None else " in two clusters or more"
        raise InputError(
            f"no group has {min_rows:g} rows{of}; the largest has {values.n.max():g}; lower"
            " min_rows."
        )
    sign = 1.0 if metric.direction == "minimize" else -1.0
    level = 1.0 - (1.0 - level) / len(enough)
    if np.isfinite(values.low[enough]).all() and method in ("auto", "analytic"):
        values = _values(metric, record, names, index, level, drawn=False)
        better_end = values.low if sign > 0 else values.high
        enough = enough[[int(np.argmax(sign * better_end[enough]))]]
    candidates = enough[np.argsort(-sign * values.value[enough], kind="stable")[:10]]
    drawn = {
        "level": level,
        "method": method,
        "n_resamples": n_resamples,
        "random_state": random_state,
    }
    intervals = [metric.interval_of(record.take(index == j), **drawn) for j in candidates]
    worst = int(np.argmax([sign * (i.low if sign > 0 else i.high) for i in intervals]))
    name = names[candidates[worst]]
    return WorstGroup(
        name.item() if isinstance(name, np.generic) else name, len(values.n), intervals[worst]
    )


def _values(
    metric: Any,
    record: Any,
    names: np.ndarray,
    index: np.ndarray,
    level: float,
    drawn: bool = True,
) -> GroupValues:
    """Compute the metric in each group, for all groups at once where sums suffice; intervals that
    must be drawn only where asked.
    """
    most = MOST_DRAWN if drawn else 0
    n = np.bincount(index, weights=record.weight, minlength=len(names)).astype(np.float64)
    if not metric.mergeable:
        parts = rows_by_group(index, len(names))
        values = np.array([metric.of(record.take(rows)) for rows in parts])
        return GroupValues(names, n, values, *_drawn(metric, record, parts, level, most))
    totals = metric.group_totals_of(record, index, len(names))
    limits = metric.limits(totals, level)
    if limits is None:
        limits = _drawn(metric, record, rows_by_group(index, len(names)), level, most)
        return GroupValues(names, n, metric.finalise(totals), *limits)
    low, high = limits
    if record.cluster is not None:
        low, high = np.full((2, len(names)), np.nan)
        parts = rows_by_group(index, len(names))
        for j in np.flatnonzero(_several(record, index, len(names))):
            found = metric.interval_of(record.take(parts[j]), level=level, method="analytic")
            low[j], high[j] = found.low, found.high
    return GroupValues(names, n, metric.finalise(totals), low, high)


def _drawn(
    metric: Any, record: Any, parts: Sequence[np.ndarray], level: float, most: int
) -> tuple[np.ndarray, np.ndarray]:
    """(low, high) of each group by a metric's own interval; nan with more than ``most`` groups, and
    where a group has none.
    """
    out = np.full((2, len(parts)), np.nan)
    for j, rows in enumerate(parts if len(parts) <= most else []):
        with suppress(InputError), warnings.catch_warnings():
            warnings.simplefilter("ignore", CalibrationWarning)
            found = metric.interval_of(record.take(rows), level=level)
            out[:, j] = found.low, found.high
    return out[0], out[1]


def _several(record, index, count):
    """Whether each group has rows of at least two clusters, (count,); True without clusters."""
    if record.cluster is None:
        return np.ones(count, dtype=bool)
    pairs = np.unique(index * (record.cluster.max() + 1) + record.cluster)
    return np.bincount(pairs // (record.cluster.max() + 1), minlength=count) > 1


def _grouped(
    metric: Any,
    y_true: ArrayLike,
    P: ArrayLike,
    groups: ArrayLike,
    std: Any,
    cluster: Any,
    sample_weight: Any,
    weight_kind: WeightKind,
    classes: Any,
    inputs: Inputs,
) -> tuple[Any, np.ndarray, np.ndarray]:
    """(record, names of the groups, group number of each row)."""
    record = clustered(
        read_for([metric], y_true, P, std, sample_weight, classes, inputs).one_output(),
        cluster,
        weight_kind,
    )
    found = read_groups(groups, record)
    return record, found.names, found.index
