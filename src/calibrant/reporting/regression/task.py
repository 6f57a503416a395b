"""Report on forecasts of a number."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from calibrant import metrics
from calibrant._numerics.bins import enough_bins, grouped_sums
from calibrant._numerics.intervals import wilson
from calibrant.core.forecast import NormalForecast, require_order
from calibrant.core.forecast_record import read_forecast
from calibrant.core.metric_kinds import MeanMetric, Metric, RootMeanMetric, SumMetric
from calibrant.core.reading import REGRESSION as DOMAIN
from calibrant.errors import InputError
from calibrant.metrics.curves.forecasts import interval_curve
from calibrant.reporting.advice import Evidence
from calibrant.reporting.before_after import Compared
from calibrant.reporting.compared_scores import Measure, as_it_is
from calibrant.reporting.miscalibration import Miscalibration
from calibrant.reporting.regions import (
    REGIONS,
    Place,
    Worth,
    alone,
    by_region,
    together,
    worth_of,
)
from calibrant.reporting.regression.criteria import Criteria, criteria
from calibrant.reporting.regression.curves import Curves, chance_errors, curves
from calibrant.reporting.regression.miscalibration import miscalibration_of_forecasts
from calibrant.reporting.regression.quality import cautions, quality, vetoes
from calibrant.reporting.regression.states import CLAIMED, ForecastSeen
from calibrant.reporting.regression.verdict import overall, verdict
from calibrant.reporting.report_table import Asked, ReportTable
from calibrant.reporting.summary import Verdict

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
#: Draws of the errors expected by chance after calibration, where the ENCE has no faster law.
FEWER_DRAWS = 60
#: Of the metrics that sort the rows in each resample.
SORTS_RESAMPLES = 400


def _affordable(metric: Any, n: int, n_resamples: int) -> int:
    if isinstance(metric, MeanMetric) and not isinstance(metric, RootMeanMetric):
        return max(n_resamples, 2)  # none are drawn
    if isinstance(metric, SumMetric):
        count = int(min(n_resamples, SUMS_BUDGET / getattr(metric, "n_levels", 2) / n))
    else:
        count = int(min(n_resamples, SORTS_RESAMPLES, SORTS_BUDGET / n))
    return count if count >= 100 else 0


def _moments(record: Any) -> Any:
    """Normal forecasts of the same mean and std."""
    return replace(record, forecast=NormalForecast(record.mean, record.std))


def _scores(record: Any) -> Any:
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


@dataclass(frozen=True)
class Sections:
    """Sections of a report on forecasts: the curves and both criteria before and after, and the
    worst regions by predicted std and by value.
    """

    curves: dict[str, Curves | None]
    std_regions: list[Place]
    value_regions: list[Place]
    criteria: dict[str, Criteria | None]


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


def _held(record: Any) -> np.ndarray:
    """(n,) whether the intervals hold the outcome."""
    low, high = record.forecast.interval(CLAIMED)
    return ((low <= record.y) & (record.y <= high)).astype(np.float64)


class ErrorBars(ReportTable):
    """The report on forecasts of a number, output by output."""

    domain = DOMAIN
    n_bins = 10
    resamples_all = False

    def said(self, record: Any) -> tuple[np.ndarray, np.ndarray]:
        """The coverage claimed, and whether the intervals hold the outcome."""
        return np.full(len(record), CLAIMED), _held(record)

    def scores(self) -> Sequence[Metric]:
        """All metrics."""
        return [metric for _, metric in METRICS.values()]

    def read(
        self,
        y: ArrayLike,
        P: Any,
        std: ArrayLike | None,
        calibrator: Any,
        *,
        sample_weight: ArrayLike | None = None,
        groups: Any = None,
        outputs: Any = None,
    ) -> tuple[Any, Sequence[Any]]:
        """The record, and the names of its outputs."""
        record = read_forecast(P, std, y, sample_weight=sample_weight, groups=groups)
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

    def read_test(self, test: Any, record: Any) -> Any:
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

    def question(self, target: Any, record: Any, calibrators: Any) -> None:
        """Refuse any target, and return None."""
        super().question(target, record, calibrators)

    def data(self, record: Any, names: Sequence[Any]) -> dict[str, Any]:
        """Return the facts of the header, with the outputs."""
        form = type(record.forecast).__name__
        return {**super().data(record, names), "outputs": names, "form": form}

    def keys(self) -> dict[str, str]:
        """Return {key: name} of the metrics."""
        return {key: name for key, (name, _) in METRICS.items()}

    def measures(self, record: Any, n_bins: int, n_resamples: int) -> list[Measure]:
        """All metrics, each with as many resamples as the rows allow."""
        return [
            Measure(m, _affordable(m, len(record), n_resamples), VIEWS.get(key, as_it_is), name)
            for key, (name, m) in METRICS.items()
        ]

    def seen(self, record: Any, asked: Asked) -> Any:
        """Compute the states in the bins of the curve and of the ENCE."""
        return ForecastSeen.of(
            [record], sorted({asked.n_bins, metrics.expected_normalized_calibration_error.n_bins})
        )

    def quality(self, seen: Any, calibration: Any) -> Any:
        """Describe the quality of the rows."""
        return quality(seen, calibration)

    def cautions(self, seen: Any, found: Any) -> list[str]:
        """Return the cautions about errors and error bars."""
        return cautions(found)

    def vetoes(self, seen: Any, found: Any) -> list[str]:
        """Return the cautions about errors that rule out any advice."""
        return vetoes(found)

    def chance(self, seen: Any, asked: Asked) -> Any:
        """Compute ENCE and interval calibration error under perfect calibration."""
        return chance_errors(seen, random_state=asked.random_state)

    def against(
        self, seen: Any, groups: Any, margin: float | None, after: bool, random_state: int
    ) -> Miscalibration:
        """Test the forecasts for miscalibration."""
        return miscalibration_of_forecasts(seen.rows, margin, random_state=random_state)

    def curve(self, record: Any, level: float) -> Any:
        """Compute the coverage of the intervals at each level."""
        return interval_curve.of(record, band=level)

    def example(self, seen: Any, level: float) -> None:
        """Return None: the words on error bars are about all intervals."""

    def verdict(
        self,
        scores: Any,
        chance: Any,
        quality: Any,
        method: str,
        evaluation: str,
        evidence: Evidence,
    ) -> Verdict:
        """Return the verdict on one output."""
        return verdict(scores, chance, quality, method, evaluation, evidence)

    def overall(self, verdicts: dict[Any, Verdict]) -> Verdict:
        """Return the verdict on all outputs."""
        return overall(verdicts)

    def sums(self, record: Any, index: np.ndarray, count: int) -> np.ndarray:
        """(count, 5) sums of weight, outcomes held by their intervals, error, its square, and
        predicted variance.
        """
        return grouped_sums(
            index,
            count,
            [_held(record), record.error, np.square(record.error), np.square(record.std)],
            record.weight,
        )

    def gaps(self, sums: np.ndarray, level: float, worth: Worth = alone) -> list[IntervalGap]:
        """Return the gaps of error, predicted std and coverage."""
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

    def audited(self, record: Any) -> tuple[Any, str]:
        """The forecasts."""
        return record, "forecast"

    def sections(self, found: Compared, asked: Asked, used: Any, chance: Any) -> Any:
        """Curves, and the worst regions."""
        options = {"n_bins": asked.n_bins, "level": asked.level, "random_state": asked.random_state}
        regions = (self._regions(found, name, asked.level) for name in ("std", "mean"))
        return Sections(
            found.both(lambda seen: curves(seen, **options)),
            *regions,
            criteria=found.both(
                lambda seen: self._judged(seen, chance if seen is found.before else None, asked)
            ),
        )

    def section_cautions(self, sections: Any) -> list[str]:
        """Return the sentences on std that do not tell errors apart behind intervals that pass."""
        starts = {"before": "", "after": "After calibration: "}
        return [
            f"{starts[when]}{one.sentence}"
            for when, one in sections.criteria.items()
            if one is not None and one.flawed
        ]

    def _judged(self, seen: ForecastSeen, chance: Any, asked: Asked) -> Criteria:
        """Judge the rows, cut by their own std, by both criteria; compute ``chance`` if None."""
        rows, cut = seen.rows, seen.counts.std.cut(enough_bins(REGIONS, seen.counts.total[0]))
        gaps = self._in_parts(rows, cut.index(rows.std), len(cut), asked.level)
        state = asked.random_state
        chance = chance or chance_errors(seen, random_state=state, draws=FEWER_DRAWS)
        return criteria(rows, chance, gaps, asked.margin, level=asked.level, random_state=state)

    def _in_parts(
        self, rows: Any, index: np.ndarray, count: int, level: float
    ) -> list[IntervalGap]:
        """Return the gaps of the parts of the rows."""
        worth = worth_of(rows, _held(rows), index, count)
        return self.gaps(self.sums(rows, index, count), level, worth)

    def _regions(self, found: Compared, name: str, level: float) -> list[Place]:
        """Group the rows by the forecast before calibration, and measure those shown."""
        counts = found.before.counts
        cut, rows = (
            getattr(counts, name).cut(enough_bins(REGIONS, counts.total[0])),
            found.shown.rows,
        )
        index = cut.index(getattr(found.before.rows, name))
        return by_region(cut, self._in_parts(rows, index, len(cut), level))


REGRESSION = ErrorBars()
