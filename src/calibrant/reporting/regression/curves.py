"""The curves of one output of forecasts as plain columns."""

from dataclasses import dataclass

from calibrant._kernels.spread_bins import enough_bins
from calibrant.forecasts.read import ForecastRecord
from calibrant.metrics.curves.interval_curve import IntervalCurve, interval_curve
from calibrant.metrics.curves.real_std_curve import RealStdCurve, real_std_curve
from calibrant.metrics.curves.rmse_rmv_curve import RmseRmvCurve, rmse_rmv_curve
from calibrant.metrics.regression.interval_coverage import interval_coverage
from calibrant.metrics.regression.interval_width import interval_width
from calibrant.metrics.regression.pit_test import PitHistogram, pit_histogram

__all__ = ["Curves", "curves"]

#: Of the intervals in the table of coverage.
LEVELS = (0.5, 0.8, 0.9, 0.95)


@dataclass(frozen=True)
class Coverage:
    """The share of outcomes that intervals hold, with its interval, against what they claim, and their mean width."""

    claimed: float
    seen: float
    low: float
    high: float
    width: float


@dataclass(frozen=True)
class Curves:
    """Error against predicted std, coverage seen against claimed, the real std, PIT, and coverage at four levels."""

    reliability: RmseRmvCurve
    intervals: IntervalCurve
    real_std: RealStdCurve
    pit: PitHistogram
    coverage: list[Coverage]


def curves(record: ForecastRecord, *, n_bins: int = 10, level: float = 0.95, random_state: int = 0) -> Curves:
    """Of one output; fewer bins where they would hold few rows."""
    bins = enough_bins(n_bins, record.weights.sum())
    return Curves(
        rmse_rmv_curve.of(record, n_bins=bins, level=level, random_state=random_state), interval_curve.of(record, band=level),
        real_std_curve.of(record, n_bins=bins, band=level), pit_histogram.of(record, level=level),
        [_coverage(record, each, level) for each in LEVELS],
    )  # fmt: skip


def _coverage(record, claimed, level):
    found = interval_coverage.with_options(level=claimed).interval_of(record, level=level)
    width = interval_width.with_options(level=claimed).of(record)
    return Coverage(claimed, found.value, found.low, found.high, width)
