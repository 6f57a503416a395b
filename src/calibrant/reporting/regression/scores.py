"""The table of metrics of forecasts: before, after, and the change with a paired interval."""

from dataclasses import replace

import numpy as np

from calibrant import metrics
from calibrant.contracts.regression_metric import RootMeanMetric
from calibrant.contracts.sum_metric import MeanMetric, SumMetric
from calibrant.errors import InputError
from calibrant.forecasts.normal import NormalForecast
from calibrant.reporting.scores import score_row

__all__ = ["METRICS", "score_table"]

#: By key, in the order of the page: the name shown, and the metric.
METRICS = {metric.key: (name, metric) for name, metric in (
    ("NLL", metrics.negative_log_likelihood),
    ("CRPS", metrics.continuous_ranked_probability_score),
    ("pinball loss", metrics.pinball_loss),
    ("ENCE", metrics.expected_normalized_calibration_error),
    ("interval calibration error", metrics.interval_calibration_error),
    ("QCE", metrics.quantile_calibration_error),
    ("UCE", metrics.uncertainty_calibration_error),
    ("coverage of 90 % intervals", metrics.interval_coverage),
    ("width of 90 % intervals", metrics.interval_width),
    ("sharpness", metrics.sharpness),
    ("spread of the std (c_v)", metrics.coefficient_of_variation),
    ("RMSE", metrics.root_mean_squared_error),
    ("MAE", metrics.mean_absolute_error),
)}  # fmt: skip
#: Metrics of mean, std and outcome alone, and of std and normal score alone: their bootstrap needs no more of the forecasts.
OF_MOMENTS = ("ence", "uce", "c_v", "sharpness", "rmse")
OF_SCORES = ("qce", "interval_calibration_error")
#: Products of rows, columns and resamples that one bootstrap may cost; below 100 resamples the interval is left out.
SUMS_BUDGET, SORTS_BUDGET = 4e8, 4e6
#: Of the metrics that sort the rows in each resample.
SORTS_RESAMPLES = 400


def score_table(before, after, *, level=0.95, n_resamples=1000, random_state=0) -> list[dict]:
    """One dictionary a metric: key, name, direction, proper, before, after, change, and note: why a number is missing, or None."""
    pairs = {"": (before, after)}
    for name, make in (("moments", _moments), ("scores", _scores)):
        pairs[name] = make(before), None if after is None else make(after)
    rows = []
    for key, (name, metric) in METRICS.items():
        pair = pairs["moments" if key in OF_MOMENTS else "scores" if key in OF_SCORES else ""]
        rows.append({**_row(metric, pair, level, _affordable(metric, len(before), n_resamples), random_state), "name": name})
    return rows


def _moments(record):
    """Normal forecasts of the same mean and std."""
    return replace(record, forecast=NormalForecast(record.mean, record.std))


def _scores(record):
    """Normal forecasts of the same mean and std whose outcomes have the same normal score; one beyond all numbers is at 40 std."""
    score = np.clip(record.score, -40.0, 40.0)
    return replace(_moments(record), y=record.mean + record.std * score)


def _row(metric, pair, level, n_resamples, random_state):
    before, after = pair
    try:
        # Conformal intervals of few rows are infinite: such a mean has no interval.
        with np.errstate(invalid="ignore"):
            return {**score_row(metric, before, after, level, n_resamples, random_state), "note": None}
    except InputError as error:
        if after is None:
            raise
        # Conformal intervals have no density, and conformal quantiles no levels but their own.
        return {**score_row(metric, before, None, level, n_resamples, random_state), "note": str(error)}


def _affordable(metric, n, n_resamples):
    if isinstance(metric, MeanMetric) and not isinstance(metric, RootMeanMetric):
        return max(n_resamples, 2)  # none are drawn
    if isinstance(metric, SumMetric):
        count = int(min(n_resamples, SUMS_BUDGET / getattr(metric, "n_levels", 2) / n))
    else:
        count = int(min(n_resamples, SORTS_RESAMPLES, SORTS_BUDGET / n))
    return count if count >= 100 else 0
