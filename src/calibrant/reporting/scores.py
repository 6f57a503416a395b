"""The table of metrics: before, after, and the change with a paired interval."""

from dataclasses import replace

import numpy as np

from calibrant import metrics
from calibrant._kernels.intervals import normal_interval
from calibrant.contracts.regression_metric import RootMeanMetric
from calibrant.contracts.sum_metric import MeanMetric
from calibrant.predictions import Predictions

__all__ = ["KEYS", "as_pair", "score_row", "score_table"]

#: Products of rows, classes and resamples that one bootstrap may cost; below 100 resamples the interval is left out.
BOOTSTRAP_BUDGET = 4e8
SCORES = (metrics.accuracy, metrics.log_loss, metrics.brier_score)
#: What tells useful confidences from honest ones; they look at the confidence and whether it was right, and nothing else.
RANKING = (metrics.confidence_spread, metrics.confidence_auroc, metrics.area_under_risk_coverage)
ERRORS = (metrics.expected_calibration_error, metrics.classwise_calibration_error, metrics.positive_class_calibration_error)
#: Of all metrics in the table, of two classes or more.
KEYS = tuple(metric.key for metric in (*SCORES, *ERRORS, *RANKING))
#: The rankings sort the rows in each resample.
RANKING_RESAMPLES = 200


def score_table(before, after, *, n_bins=15, level=0.95, n_resamples=1000, random_state=0) -> list[dict]:
    """One dictionary a metric: key, name, direction, proper, and before, after, change as value, low, high, method.

    Where the method is "debiased", low and high are limits of the true error: noise in the bins adds to the value measured, which may
    therefore lie outside them; ``estimate`` is the value freed of it.
    """
    rows = [
        score_row(metric, before, after, level, _affordable(metric, before, n_resamples), random_state)
        for metric in _chosen(before.n_classes, n_bins)
    ]
    narrow = as_pair(before), None if after is None else as_pair(after)
    few = min(n_resamples, RANKING_RESAMPLES, int(BOOTSTRAP_BUDGET / 20 / len(before)))
    return rows + [score_row(metric, *narrow, level, few if few >= 50 else 0, random_state) for metric in RANKING]


def as_pair(record) -> Predictions:
    """The record as right or wrong (class 1 or 0) at its confidence: all that metrics of the top label look at, in two columns."""
    sure, hit = record.confidence, record.correct.astype(np.intp)
    return Predictions(
        values=np.column_stack([1.0 - sure, sure]), kind="probability", classes=np.arange(2), labels=hit, weight=record.weight,
        resolution=record.resolution, own=np.ones(len(hit), dtype=np.intp),
    )  # fmt: skip


def _chosen(n_classes, n_bins):
    of_classes = metrics.positive_class_calibration_error if n_classes == 2 else metrics.classwise_calibration_error
    return [*SCORES, *(replace(metric, n_bins=n_bins) for metric in (metrics.expected_calibration_error, of_classes))]


def _affordable(metric, record, n_resamples):
    if isinstance(metric, MeanMetric):
        return n_resamples
    columns = record.n_classes if metric.key == metrics.classwise_calibration_error.key else 1
    count = int(min(n_resamples, BOOTSTRAP_BUDGET / (len(record) * columns)))
    return count if count >= 100 else 0


def score_row(metric, before, after, level, n_resamples, random_state) -> dict:
    """One metric before, after (None: nothing was calibrated) and its change; without an interval where ``n_resamples`` is 0."""
    row = {"key": metric.key, "name": metric.name, "direction": metric.direction, "proper": metric.proper}
    row["before"] = _with_interval(metric, before, level, n_resamples, random_state)
    row["after"] = None if after is None else _with_interval(metric, after, level, n_resamples, random_state)
    row["change"] = None if after is None else _change(metric, before, after, level, n_resamples, random_state)
    return row


def _with_interval(metric, record, level, n_resamples, random_state):
    if n_resamples == 0:
        return {"value": metric.of(record), "estimate": None, "low": None, "high": None, "method": "too large to resample"}
    found = metric.interval_of(record, level=level, n_resamples=n_resamples, random_state=random_state)
    value = found.value if found.plain is None else found.plain
    return {"value": value, "low": found.low, "high": found.high, "estimate": found.value, "method": found.method}


def _change(metric, before, after, level, n_resamples, random_state):
    """After minus before on the same rows, or the same resamples of them, so that what they share cancels."""
    value = metric.of(after) - metric.of(before)
    if n_resamples == 0:
        return {"value": value, "low": None, "high": None, "method": "too large to resample", "meaning": "unknown"}
    if isinstance(metric, MeanMetric) and not isinstance(metric, RootMeanMetric):
        low, high = _paired_mean(metric.losses_of(after) - metric.losses_of(before), before.weights, level)
        method = "paired, analytic"
    else:
        draws = metric.resampled_of(after, n_resamples, random_state) - metric.resampled_of(before, n_resamples, random_state)
        # Resampling biases calibration errors upward, not equally before and after; reflected quantiles take the bias off.
        low, high = (2.0 * value - np.quantile(draws, [0.5 + 0.5 * level, 0.5 - 0.5 * level])).tolist()
        method = "paired, bootstrap"
    return {"value": value, "low": low, "high": high, "method": method, "meaning": _meaning(low, high, metric.direction)}


def _paired_mean(difference, weight, level):
    n = weight.sum()
    mean = weight @ difference / n
    variance = weight @ (difference - mean) ** 2 / n / max(n - 1.0, 1.0)
    return normal_interval(mean, variance, level)


def _meaning(low, high, direction):
    if not (low > 0.0 or high < 0.0):
        return "no clear change"
    if direction == "none":
        return "larger" if low > 0.0 else "smaller"
    return "better" if (high < 0.0) == (direction == "minimize") else "worse"
