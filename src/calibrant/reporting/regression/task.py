"""What a report on forecasts of a number has of its own."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from calibrant import metrics
from calibrant._kernels.bins import enough_bins, grouped_sums
from calibrant._kernels.intervals import wilson
from calibrant.compare.scores import Measure, as_it_is
from calibrant.contracts.reading import REGRESSION as DOMAIN
from calibrant.contracts.regression_metric import RootMeanMetric
from calibrant.contracts.sum_metric import MeanMetric, SumMetric
from calibrant.errors import InputError
from calibrant.forecasts.normal import NormalForecast, require_order
from calibrant.forecasts.read import ForecastRecord, read_forecast
from calibrant.groups import n_clusters
from calibrant.reporting.miscalibration import Miscalibration
from calibrant.reporting.question import no_question
from calibrant.reporting.regions import REGIONS, Place, by_region, together, worth_of
from calibrant.reporting.regression.curves import Curves, chance_errors, curves
from calibrant.reporting.regression.miscalibration import miscalibration_of_forecasts
from calibrant.reporting.regression.quality import cautions, quality, vetoes
from calibrant.reporting.regression.states import CLAIMED, ForecastSeen
from calibrant.reporting.regression.verdict import overall, verdict
from calibrant.reporting.task import Task

__all__ = ["METRICS", "REGRESSION"]

#: By key, in the order of the page: the name shown, and the metric.
METRICS: dict[Any, Any] = {
    metric.key: (name, metric)
    for name, metric in (
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
    )
}
#: Products of rows, columns and resamples that one bootstrap may cost; below 100 resamples the
#: interval is left out.
SUMS_BUDGET, SORTS_BUDGET = 4e8, 4e6
#: Of the metrics that sort the rows in each resample.
SORTS_RESAMPLES = 400


def read_rows(
    y: ArrayLike,
    forecast: Any,
    std: ArrayLike | None,
    calibrator: Any,
    *,
    sample_weight: ArrayLike | None = None,
    outputs: Any = None,
    groups: Any = None,
) -> tuple[Any, ...]:
    """The record, and the names of its outputs."""
    record = read_forecast(forecast, std, y, sample_weight=sample_weight, groups=groups)
    if record.y is None:
        raise InputError("y must be the outcomes, of the shape of the forecast; got None.")
    count = record.forecast.shape[1] if record.several else 1
    given = outputs if outputs is not None else record.names if record.several else None
    names = (
        [f"output {j + 1}" for j in range(count)]
        if given is None
        else [str(name) for name in given]
    )
    if len(names) != count or len(set(names)) != count:
        raise InputError(
            f"outputs must be {count} different names, one for each output; got {names}."
        )
    return record if given is None else replace(record, names=names), names


def read_test(test: Any, record: Any) -> ForecastRecord:
    """The record of the rows to measure on."""
    if not (isinstance(test, tuple | list) and len(test) in (2, 3, 4)):
        raise InputError(
            "test must be (y_test, forecast_test), with weight_test and groups_test behind them"
            " where there are any."
        )
    y, forecast, weight, groups = (*test, None, None)[:4]
    read = read_forecast(forecast, None, y, sample_weight=weight, groups=groups)
    require_order(read.names, "test", record.names, "the forecast")
    if read.forecast.shape[1:] != record.forecast.shape[1:]:
        raise InputError(
            f"test must have the outputs of the forecast, {record.forecast.shape[1:]}; got"
            f" {read.forecast.shape[1:]}."
        )
    return read


def measures(record: Any, n_bins: int, n_resamples: int) -> list[Measure]:
    """All metrics, each with as many resamples as the rows allow."""
    return [
        Measure(m, _affordable(m, len(record), n_resamples), VIEWS.get(key, as_it_is), name)
        for key, (name, m) in METRICS.items()
    ]


def _affordable(metric, n, n_resamples):
    if isinstance(metric, MeanMetric) and not isinstance(metric, RootMeanMetric):
        return max(n_resamples, 2)  # none are drawn
    if isinstance(metric, SumMetric):
        count = int(min(n_resamples, SUMS_BUDGET / getattr(metric, "n_levels", 2) / n))
    else:
        count = int(min(n_resamples, SORTS_RESAMPLES, SORTS_BUDGET / n))
    return count if count >= 100 else 0


def _moments(record):
    """Normal forecasts of the same mean and std."""
    return replace(record, forecast=NormalForecast(record.mean, record.std))


def _scores(record):
    """Normal forecasts of the same mean and std whose outcomes have the same normal score; one
    beyond all numbers is at 40 std.
    """
    score = np.clip(record.score, -40.0, 40.0)
    return replace(_moments(record), y=record.mean + record.std * score)


#: Metrics of mean, std and outcome alone, and of std and normal score alone: their bootstrap needs
#: no more of the forecasts.
VIEWS: dict[Any, Any] = {
    **dict.fromkeys(("ence", "uce", "c_v", "sharpness", "rmse"), _moments),
    **dict.fromkeys(("qce", "interval_calibration_error"), _scores),
}


def _data(record, names):
    return {
        "n": float(record.weights.sum()),
        "rows": len(record),
        "clusters": n_clusters(record),
        "weighted": record.weight is not None,
        "outputs": names,
        "form": type(record.forecast).__name__,
    }


@dataclass(frozen=True)
class Sections:
    """What only a report on forecasts shows: the curves before and after, and the worst regions
    by predicted std and by value.
    """

    curves: dict[str, Curves | None]
    std_regions: list[Place]
    value_regions: list[Place]


@dataclass(frozen=True)
class IntervalGap:
    """Rows, the error and the std claimed (root mean squares), and how far the coverage of 90 %
    intervals falls short, with an interval.
    """

    rows: float
    error: float
    claimed: float
    ratio: float
    bias: float
    coverage: float
    gap: float
    low: float
    high: float


def _sections(found, asked, used):
    options = {"n_bins": asked.n_bins, "level": asked.level, "random_state": asked.random_state}
    regions = (_regions(found, name, asked.level) for name in ("std", "mean"))
    return Sections(found.both(lambda seen: curves(seen, **options)), *regions)


def _regions(found, name, level):
    """By what was predicted before, of what is shown."""
    counts = found.before.counts
    cut, rows = getattr(counts, name).cut(enough_bins(REGIONS, counts.total[0])), found.shown.rows
    index = cut.index(getattr(found.before.rows, name))
    return by_region(
        cut,
        _gaps(_sums(rows, index, len(cut)), level, worth_of(rows, _held(rows)[1], index, len(cut))),
    )


def _held(record):
    """The coverage claimed, and whether the intervals hold the outcome."""
    low, high = record.forecast.interval(CLAIMED)
    return np.full(len(record), CLAIMED), ((low <= record.y) & (record.y <= high)).astype(
        np.float64
    )


def _sums(record, index, count):
    """(count, 5) sums of weight, outcomes held by their intervals, error, its square, and
    predicted variance.
    """
    return grouped_sums(
        index,
        count,
        [_held(record)[1], record.error, np.square(record.error), np.square(record.std)],
        record.weight,
    )


def _gaps(sums, level, worth):
    n, held, error, square, variance = sums.T
    level = together(level, n)
    lower, upper = wilson(held * worth(level), n * worth(level), level)
    numbers = np.column_stack(
        [
            n,
            np.sqrt(square / n),
            np.sqrt(variance / n),
            np.sqrt(square / variance),
            error / n,
            held / n,
            CLAIMED - held / n,
            CLAIMED - upper,
            CLAIMED - lower,
        ]
    )
    return [IntervalGap(*row) for row in numbers.tolist()]


def _seen(record, asked):
    """In the bins of the curve, and in those of the ENCE."""
    return ForecastSeen.of(
        [record], sorted({asked.n_bins, metrics.expected_normalized_calibration_error.n_bins})
    )


def _against(
    seen: ForecastSeen, groups: Any, margin: float | None, after: bool, random_state: int
) -> Miscalibration:
    return miscalibration_of_forecasts(seen.rows, margin, random_state=random_state)


REGRESSION = Task(
    domain=DOMAIN,
    question=no_question,
    audited="forecast",
    n_bins=10,
    resamples_all=False,
    read=read_rows,
    read_test=read_test,
    data=_data,
    measures=measures,
    seen=_seen,
    quality=quality,
    cautions=lambda _, found: cautions(found),
    chance=lambda seen, asked: chance_errors(seen, random_state=asked.random_state),
    vetoes=lambda _, found: vetoes(found),
    against=_against,
    verdict=verdict,
    overall=overall,
    sums=_sums,
    gaps=_gaps,
    said=_held,
    sections=_sections,
)
