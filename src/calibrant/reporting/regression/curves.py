"""The curves of one output of forecasts as plain columns."""

from typing import Any

from calibrant._kernels.spread_bins import enough_bins
from calibrant.forecasts.read import ForecastRecord
from calibrant.metrics.curves.interval_curve import interval_curve
from calibrant.metrics.curves.real_std_curve import real_std_curve
from calibrant.metrics.curves.rmse_rmv_curve import rmse_rmv_curve
from calibrant.metrics.regression.interval_coverage import interval_coverage
from calibrant.metrics.regression.interval_width import interval_width
from calibrant.metrics.regression.pit_test import pit_histogram

__all__ = ["curves"]

#: Of the intervals in the table of coverage.
LEVELS = (0.5, 0.8, 0.9, 0.95)


def curves(record: ForecastRecord, *, n_bins: int = 10, level: float = 0.95, random_state: int = 0) -> dict[str, Any]:
    """reliability (error against predicted std), intervals (seen against claimed coverage), pit, real_std, coverage at levels."""
    bins = enough_bins(n_bins, record.weights.sum())
    return {
        "reliability": rmse_rmv_curve.of(record, n_bins=bins, level=level, random_state=random_state).to_dict(),
        "intervals": interval_curve.of(record, band=level).to_dict(),
        "real_std": real_std_curve.of(record, n_bins=bins, band=level).to_dict(),
        "pit": pit_histogram.of(record, level=level).to_dict(),
        "coverage": [_coverage(record, each, level) for each in LEVELS],
    }  # fmt: skip


def _coverage(record, claimed, level):
    found = interval_coverage.with_options(level=claimed).interval_of(record, level=level)
    width = interval_width.with_options(level=claimed).of(record)
    return {"claimed": claimed, "seen": found.value, "low": found.low, "high": found.high, "width": width}
