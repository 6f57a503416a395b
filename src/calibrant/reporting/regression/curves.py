"""The curves of one output of forecasts as plain columns."""

from dataclasses import dataclass

import numpy as np

from calibrant._kernels.bins import enough_bins
from calibrant.metrics.curves.intervals import (
    IntervalCurve,
    IntervalWidthCurve,
    OrderedIntervals,
    interval_curve,
    interval_curve_of_sums,
    interval_width_curve,
    ordered_intervals,
)
from calibrant.metrics.curves.spread import RealStdCurve, RmseRmvCurve, real_std_curve, rmse_band
from calibrant.metrics.regression.intervals import interval_coverage, interval_width
from calibrant.metrics.regression.pit import PitHistogram, pit_histogram, pit_histogram_of_sums
from calibrant.reporting.regression.states import CLAIMED, LEVELS, ForecastSeen

__all__ = ["Curves", "curves"]

#: Rows whose intervals are shown in order.
ORDERED = 100


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
    """Error against predicted std, coverage seen against claimed (low and high: of the band that holds the whole curve), the real std, PIT,
    coverage at four levels, and of 90 % intervals their width by outcome and some of them in the order of the predicted value."""

    reliability: RmseRmvCurve
    intervals: IntervalCurve
    real_std: RealStdCurve
    pit: PitHistogram
    coverage: list[Coverage]
    widths: IntervalWidthCurve
    ordered: OrderedIntervals


def curves(seen: ForecastSeen, *, n_bins: int = 10, level: float = 0.95, random_state: int = 0) -> Curves:
    """Of one output; ``n_bins`` is one of those seen in equal mass."""
    counts, total = seen.counts, seen.counts.total[0]
    rows, n_real = seen.rows, enough_bins(n_bins, total)
    held = interval_curve_of_sums(counts.intervals, total, level, simultaneous=True)
    pit = pit_histogram_of_sums(counts.pit, total, level)
    if rows.cluster is not None:
        held, pit = interval_curve.of(rows, band=level, simultaneous=True), pit_histogram.of(rows, level=level)
    at_levels = zip(LEVELS, counts.coverage, counts.width, strict=True)
    return Curves(
        _reliability(seen, n_bins, level, random_state), held, real_std_curve.of(rows, n_bins=n_real, band=level), pit,
        [_coverage(rows, *each, level) for each in at_levels],
        interval_width_curve.of(rows, level=CLAIMED, band=level), ordered_intervals.of(rows, level=CLAIMED, by="mean", n_rows=ORDERED),
    )  # fmt: skip


def _reliability(seen, n_bins, level, random_state):
    cut, sums = seen.mass[n_bins]
    n, variance, error = sums.T
    band = rmse_band(seen.rows, cut.index(seen.rows.std), n, level, random_state=random_state)
    return RmseRmvCurve(n, np.sqrt(variance / n), np.sqrt(error / n), *band)


def _coverage(rows, claimed, held, width, level):
    low, high = interval_coverage.limits(held, level)
    if rows.cluster is not None:
        found = interval_coverage.with_options(level=claimed).interval_of(rows, level=level)
        low, high = found.low, found.high
    return Coverage(claimed, float(interval_coverage.finalise(held)), float(low), float(high), float(interval_width.finalise(width)))
