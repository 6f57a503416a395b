"""The interval of a metric on a record of clustered rows."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from calibrant._numerics.bootstrap import (
    bca_limits,
    bootstrap_totals,
    leave_out_values,
    percentile_limits,
)
from calibrant._numerics.clusters import apart_limits, expanded_level, mean_worth, side_shares
from calibrant.core.base_metric import BaseMetric
from calibrant.core.groups import clustered, rows_apart
from calibrant.core.interval import Interval
from calibrant.core.labels import array_of
from calibrant.errors import InputError

__all__ = ["cluster_draws", "clustered_interval", "two_way_interval"]

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
