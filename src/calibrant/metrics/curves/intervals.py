"""Curves of central intervals: coverage by level, by width, and each interval in order."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import special, stats

from calibrant._kernels.bins import equal_mass_groups, grouped_sums
from calibrant._kernels.clusters import group_worth, mean_worth
from calibrant._kernels.intervals import wilson
from calibrant._support.options import require_count, require_option
from calibrant.contracts.columns import Record
from calibrant.contracts.interval import require_level
from calibrant.contracts.on_record import on_record
from calibrant.forecasts.read import ForecastRecord, read_forecast
from calibrant.groups import WeightKind, clustered

__all__ = [
    "IntervalCurve",
    "IntervalWidthCurve",
    "OrderedIntervals",
    "interval_curve",
    "interval_width_curve",
    "ordered_by",
    "ordered_intervals",
]


@dataclass(frozen=True)
class IntervalCurve(Record):
    """One row a level: the coverage claimed, the coverage seen, and its interval."""

    level: np.ndarray
    coverage: np.ndarray
    low: np.ndarray
    high: np.ndarray


def _interval_curve_of(
    record: ForecastRecord,
    *,
    n_levels: int = 21,
    band: float = 0.95,
    kind: str = "interval",
    simultaneous: bool = False,
) -> IntervalCurve:
    require_count("n_levels", n_levels, 2)
    require_option("kind", kind, ("interval", "quantile"))
    sums, worth = interval_sums(record, n_levels, kind), 1.0
    if record.cluster is not None:
        held = (_first_held(record, n_levels, kind) <= k for k in range(n_levels))
        worth = np.array(
            [mean_worth(one * 1.0, record.weights, record.cluster, band) for one in held]
        )
    return interval_curve_of_sums(
        sums, record.weights.sum(), band, worth, simultaneous=simultaneous
    )


def interval_sums(record: ForecastRecord, n_levels: int = 21, kind: str = "interval") -> np.ndarray:
    """(n_levels,) weight of the outcomes that the interval of each level is the first to hold:
    sums of parts add up.
    """
    return np.bincount(
        _first_held(record, n_levels, kind), weights=record.weights, minlength=n_levels
    )


def _first_held(record, n_levels, kind):
    level, central = np.linspace(0.0, 1.0, n_levels), kind == "interval"
    reach = special.ndtri(0.5 + 0.5 * level if central else level)
    return np.searchsorted(reach, np.abs(record.score) if central else record.score, side="left")


def interval_curve_of_sums(
    sums: np.ndarray,
    total: float,
    band: float,
    worth: np.ndarray | float = 1.0,
    *,
    simultaneous: bool = False,
) -> IntervalCurve:
    """The curve of ``interval_sums`` of rows of that weight; ``worth`` (n_levels,) is by what
    they are to be multiplied in clusters.
    """
    held = np.cumsum(sums)
    seen = held / total
    if simultaneous:
        # The coverage is the distribution function of the level that first holds an outcome:
        # Kolmogorov's band holds all of it.
        rows = max(1, int(total * np.min(worth) + 1e-9))
        limits = [
            np.clip(seen + side * stats.kstwo.ppf(band, rows), 0.0, 1.0) for side in (-1.0, 1.0)
        ]
    else:
        limits = wilson(held * worth, np.full(len(sums), total) * worth, band)
    return IntervalCurve(np.linspace(0.0, 1.0, len(sums)), seen, *limits)


@on_record(_interval_curve_of)
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
        Central intervals, or everything below the quantile at the level, which tells a shift from a
        wrong width.
    simultaneous : bool, default False
        Instead of an interval for each level a band (Kolmogorov's) that holds the whole curve. In
        clusters it is as wide as the level asks for where rows are most alike.
    cluster : (n,) labels of any kind, optional
        Which rows hang together (series, places, days): intervals then count clusters.
    sample_weight : (n,), optional
    weight_kind : {"frequency", "sampling"}
        "frequency": a weight counts identical rows. "sampling": a weighted row is one row that
        stands for others, as with design or importance weights.

    Returns
    -------
    IntervalCurve
        ``.frame()`` gives it as a data frame. It looks at all rows together: see ``rmse_rmv_curve``
        for whether a row's own error bar means anything.

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
    record = clustered(
        read_forecast(mean, std, y_true, sample_weight=sample_weight).one_output(),
        cluster,
        weight_kind,
    )
    return _interval_curve_of(
        record, n_levels=n_levels, band=band, kind=kind, simultaneous=simultaneous
    )


@dataclass(frozen=True)
class OrderedIntervals(Record):
    """One line a row shown: its place among all rows (0 to 1, by weight), the outcome, its
    interval, and whether that holds it.
    """

    place: np.ndarray
    y: np.ndarray
    low: np.ndarray
    high: np.ndarray
    held: np.ndarray


def ordered_by(record: ForecastRecord, by: str) -> np.ndarray:
    """What rows are put in order by, (n,)."""
    require_option("by", by, ("outcome", "mean"))
    return np.asarray(record.y) if by == "outcome" else record.mean


def _ordered_intervals_of(
    record: ForecastRecord, *, level: float = 0.9, by: str = "outcome", n_rows: int = 200
) -> OrderedIntervals:
    require_count("n_rows", n_rows)
    key, (low, high, held) = ordered_by(record, by), record.held(level)
    order = np.lexsort((high, low, record.y, key))
    reached = np.cumsum(record.weights[order])
    # A weight of two is two rows; weights that sum to one do not leave one row to show.
    count = min(n_rows, max(len(record), int(np.ceil(reached[-1]))))
    place = (np.arange(count) + 0.5) / count
    rows = order[np.searchsorted(reached, place * reached[-1])]
    return OrderedIntervals(place, record.y[rows], low[rows], high[rows], held[rows])


@on_record(_ordered_intervals_of)
def ordered_intervals(
    y_true: ArrayLike,
    mean: Any,
    std: ArrayLike | None = None,
    *,
    level: float = 0.9,
    by: Literal["outcome", "mean"] = "outcome",
    n_rows: int = 200,
    sample_weight: ArrayLike | None = None,
) -> OrderedIntervals:
    """Central intervals and outcomes of at most ``n_rows`` rows, in the order of the outcome or of
    the mean, thinned evenly.

    Parameters
    ----------
    y_true : (n,)
    mean, std : (n,) each, or a forecast in place of mean
    level : float, default 0.9
        The coverage that the central intervals claim.
    by : "outcome" or "mean"
    n_rows : int, default 200
        Of more rows every so many is taken, by weight.
    sample_weight : (n,), optional
        A row that weighs more is taken more often.

    Returns
    -------
    OrderedIntervals
        ``.frame()`` gives it as a data frame. The share missed of the rows shown is near that of
        all rows, which ``interval_coverage`` gives.

    See Also
    --------
    OrderedIntervalsDisplay : draws it.
    interval_width_curve : all rows, in bins.

    Examples
    --------
    >>> rows = ordered_intervals([2.0, 0.5, -1.0], [0.0] * 3, [1.0] * 3)
    >>> rows.y.tolist(), rows.held.tolist()
    ([-1.0, 0.5, 2.0], [True, True, False])
    """
    record = read_forecast(mean, std, y_true, sample_weight=sample_weight).one_output()
    return _ordered_intervals_of(record, level=level, by=by, n_rows=n_rows)


@dataclass(frozen=True)
class IntervalWidthCurve(Record):
    """One row a bin: n (sum of weights), mean outcome (or mean), mean width, coverage claimed,
    and seen with its interval.
    """

    n: np.ndarray
    value: np.ndarray
    width: np.ndarray
    claimed: np.ndarray
    coverage: np.ndarray
    low: np.ndarray
    high: np.ndarray


def _interval_width_curve_of(
    record: ForecastRecord,
    *,
    level: float = 0.9,
    by: str = "outcome",
    n_bins: int = 10,
    band: float = 0.95,
) -> IntervalWidthCurve:
    require_level(band, "band")
    require_count("n_bins", n_bins)
    value, (low, high, held) = ordered_by(record, by), record.held(level)
    group = equal_mass_groups(value, n_bins, record.weights)
    n_groups = int(group.max()) + 1
    mass, *sums = grouped_sums(group, n_groups, [value, high - low, held * 1.0], record.weights).T
    middle, width, coverage = (one / mass for one in sums)
    worth = (
        1.0
        if record.cluster is None
        else group_worth(held * 1.0, record.weights, record.cluster, group, n_groups, band)
    )
    limits = wilson(coverage * mass * worth, mass * worth, band)
    return IntervalWidthCurve(
        mass, middle, width, np.full(n_groups, float(level)), coverage, *limits
    )


@on_record(_interval_width_curve_of)
def interval_width_curve(
    y_true: ArrayLike,
    mean: Any,
    std: ArrayLike | None = None,
    *,
    level: float = 0.9,
    by: Literal["outcome", "mean"] = "outcome",
    n_bins: int = 10,
    band: float = 0.95,
    cluster: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    weight_kind: WeightKind = "frequency",
) -> IntervalWidthCurve:
    """Mean width and coverage of central intervals, in bins of equal weight by the outcome or by
    the mean.

    Parameters
    ----------
    y_true : (n,)
    mean, std : (n,) each, or a forecast in place of mean
    level : float, default 0.9
        The coverage that the central intervals claim.
    by : "outcome" or "mean"
        By the mean each bin should hold the level. By the outcome it should not: extreme outcomes
        are those that were hard to foresee, and even true forecasts cover them less, and those in
        the middle more.
    n_bins : int, default 10
        Tied values are never split, so there may be fewer.
    band : float, default 0.95
        Level of the interval of each bin's coverage.
    cluster : (n,) labels of any kind, optional
        Which rows hang together (series, places, days): the intervals are then of as many rows as
        the clusters are worth.
    sample_weight : (n,), optional
    weight_kind : {"frequency", "sampling"}
        "frequency": a weight counts identical rows. "sampling": a weighted row is one row that
        stands for others, as with design or importance weights.

    Returns
    -------
    IntervalWidthCurve
        ``.frame()`` gives it as a data frame. Widths are in units of y.

    See Also
    --------
    IntervalWidthDisplay : draws it.
    ordered_intervals : the rows themselves.

    Examples
    --------
    >>> curve = interval_width_curve(
    ...     [-3.0, -1.0, 1.0, 3.0], [0.0] * 4, [1.0, 1.0, 2.0, 2.0], n_bins=2
    ... )
    >>> curve.width.round(2).tolist(), curve.coverage.tolist()
    ([3.29, 6.58], [0.5, 1.0])
    """
    record = clustered(
        read_forecast(mean, std, y_true, sample_weight=sample_weight).one_output(),
        cluster,
        weight_kind,
    )
    return _interval_width_curve_of(record, level=level, by=by, n_bins=n_bins, band=band)
