"""The table of metrics of a table of rows: from totals, from random parts, or from rows merged by their confidence."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from calibrant.compare.scores import Change, Estimate, Measure, Score, apart
from calibrant.contracts.sum_metric import MeanMetric
from calibrant.metrics.binned import classwise_calibration_error
from calibrant.metrics.paired import PairedDifference, meaning
from calibrant.predictions import Predictions
from calibrant.reporting.table.sums import TableSums

__all__ = ["table_scores"]


def table_scores(
    measures: Sequence[Measure], before: TableSums, after: TableSums | None, pairs: tuple[Predictions, Predictions | None],
    paired: dict[str, np.ndarray], level: float, seed: int,
) -> list[Score]:  # fmt: skip
    """One score for each measure; ``pairs`` are the merged rows before and after, ``paired`` the totals of the means' differences."""
    return [_score(one, before, after, pairs, paired, level, seed) for one in measures]


def _score(
    measure: Measure, before: TableSums, after: TableSums | None, pairs: tuple[Predictions, Predictions | None],
    paired: dict[str, np.ndarray], level: float, seed: int,
) -> Score:  # fmt: skip
    metric = measure.metric
    facts = metric.key, measure.name or metric.name, metric.direction, metric.proper
    first = _estimate(measure, before, pairs[0], level, seed)
    if after is None:
        return Score(*facts, first, None, None)
    then, key = _estimate(measure, after, pairs[1], level, seed), metric.key
    return Score(*facts, first, then, _change(metric, paired[key], level) if key in paired else apart(first, then, metric.direction))


def _estimate(measure: Measure, sums: TableSums, pairs: Any, level: float, seed: int) -> Estimate:
    metric: Any = measure.metric
    if isinstance(metric, MeanMetric):
        totals = sums.losses[metric.key]
        low, high = metric.limits(totals, level)
        return Estimate(float(metric.finalise(totals)), float(low), float(high), float(metric.finalise(totals)), "analytic")
    if metric.key == classwise_calibration_error.key:
        found = metric.interval_of_parts(sums.in_parts(), level=level, n_resamples=measure.n_resamples, random_state=seed)
    else:
        found = metric.interval_of(pairs, level=level, n_resamples=measure.n_resamples, random_state=seed)
    return Estimate(found.value if found.plain is None else found.plain, found.low, found.high, found.value, found.method)


def _change(metric: Any, totals: np.ndarray, level: float) -> Change:
    n, total, squares = totals.tolist()
    mean = total / n
    variance = max(squares / n - mean * mean, 0.0) / max(n - 1.0, 1.0)
    low, high = PairedDifference(mean, "paired, analytic", mean, variance).limits(level)
    return Change(mean, low, high, "paired, analytic", meaning(low, high, metric.direction))
