"""Seen against claimed coverage of central intervals: the interval calibration curve."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import special, stats

from calibrant._kernels.clusters import mean_worth
from calibrant._kernels.intervals import wilson
from calibrant._support.options import require_count, require_option
from calibrant.contracts.columns import Record
from calibrant.contracts.on_record import on_record
from calibrant.forecasts.read import ForecastRecord, read_forecast
from calibrant.groups import WeightKind, clustered

__all__ = ["IntervalCurve", "interval_curve"]


@dataclass(frozen=True)
class IntervalCurve(Record):
    """One row a level: the coverage claimed, the coverage seen, and its interval."""

    level: np.ndarray
    coverage: np.ndarray
    low: np.ndarray
    high: np.ndarray


def _of(
    record: ForecastRecord, *, n_levels: int = 21, band: float = 0.95, kind: str = "interval", simultaneous: bool = False
) -> IntervalCurve:  # fmt: skip
    require_count("n_levels", n_levels, 2)
    require_option("kind", kind, ("interval", "quantile"))
    sums, worth = interval_sums(record, n_levels, kind), 1.0
    if record.cluster is not None:
        held = (_first_held(record, n_levels, kind) <= k for k in range(n_levels))
        worth = np.array([mean_worth(one * 1.0, record.weights, record.cluster, band) for one in held])
    return interval_curve_of_sums(sums, record.weights.sum(), band, worth, simultaneous=simultaneous)


def interval_sums(record: ForecastRecord, n_levels: int = 21, kind: str = "interval") -> np.ndarray:
    """(n_levels,) weight of the outcomes that the interval of each level is the first to hold: sums of parts add up."""
    return np.bincount(_first_held(record, n_levels, kind), weights=record.weights, minlength=n_levels)


def _first_held(record, n_levels, kind):
    level, central = np.linspace(0.0, 1.0, n_levels), kind == "interval"
    reach = special.ndtri(0.5 + 0.5 * level if central else level)
    return np.searchsorted(reach, np.abs(record.score) if central else record.score, side="left")


def interval_curve_of_sums(
    sums: np.ndarray, total: float, band: float, worth: np.ndarray | float = 1.0, *, simultaneous: bool = False
) -> IntervalCurve:
    """The curve of ``interval_sums`` of rows of that weight; ``worth`` (n_levels,) is by what they are to be multiplied in clusters."""
    held = np.cumsum(sums)
    seen = held / total
    if simultaneous:
        # The coverage is the distribution function of the level that first holds an outcome: Kolmogorov's band holds all of it.
        rows = max(1, int(total * np.min(worth) + 1e-9))
        limits = [np.clip(seen + side * stats.kstwo.ppf(band, rows), 0.0, 1.0) for side in (-1.0, 1.0)]
    else:
        limits = wilson(held * worth, np.full(len(sums), total) * worth, band)
    return IntervalCurve(np.linspace(0.0, 1.0, len(sums)), seen, *limits)


@on_record(_of)
def interval_curve(
    y_true: ArrayLike,
    mean: Any,
    std: ArrayLike | None = None,
    *,
    n_levels: int = 21,
    band: float = 0.95,
    kind: Literal["interval", "quantile"] = "interval",
    simultaneous: bool = False,
    cluster: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    weight_kind: WeightKind = "frequency",
) -> IntervalCurve:
    """Share of the outcomes inside their central intervals, level by level from 0 to 1.

    Parameters
    ----------
    y_true : (n,)
    mean, std : (n,) each, or a forecast in place of mean
    n_levels : int, default 21
    band : float, default 0.95
        Level of the Wilson interval of each coverage, or of the band.
    kind : {"interval", "quantile"}
        Central intervals, or everything below the quantile at the level, which tells a shift from a wrong width.
    simultaneous : bool, default False
        Instead of an interval for each level a band (Kolmogorov's) that holds the whole curve. In clusters it is as wide as the level
        asks for where rows are most alike.
    cluster : (n,) labels of any kind, optional
        Which rows hang together (series, places, days): intervals then count clusters.
    sample_weight : (n,), optional
    weight_kind : {"frequency", "sampling"}
        A weight is so many rows; or it is one row that stands for others ("sampling"), as weights of a design or of importance have it.

    Returns
    -------
    IntervalCurve
        ``.frame()`` gives it as a data frame. It looks at all rows together: see ``rmse_rmv_curve`` for whether a row's own error bar
        means anything.

    See Also
    --------
    IntervalCalibrationDisplay : draws it.
    interval_calibration_error : the curve as one number.

    Examples
    --------
    >>> curve = interval_curve([0.5, -2.0], [0.0, 0.0], [1.0, 1.0], n_levels=3)
    >>> curve.level.tolist(), curve.coverage.tolist()
    ([0.0, 0.5, 1.0], [0.0, 0.5, 1.0])
    """
    record = clustered(read_forecast(mean, std, y_true, sample_weight=sample_weight).one_output(), cluster, weight_kind)
    return _of(record, n_levels=n_levels, band=band, kind=kind, simultaneous=simultaneous)
