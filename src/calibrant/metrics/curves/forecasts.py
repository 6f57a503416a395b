"""Curves of central intervals (coverage by level and by width, ordered intervals), and of predicted
against observed spread.
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy
from scipy import special

from calibrant._numerics.bins import chi_square_draws, equal_mass_groups, grouped_sums, spread_bins
from calibrant._numerics.bootstrap import null_generator, score_drawer
from calibrant._numerics.clusters import group_worth, mean_worth, rows_by_group
from calibrant._numerics.intervals import wilson
from calibrant._numerics.smoothing import weighted_quantile
from calibrant.core.arrays import ArrayLike
from calibrant.core.estimators import require_count, require_option
from calibrant.core.forecast_record import ForecastRecord, read_forecast
from calibrant.core.groups import WeightKind, clustered, order_of
from calibrant.core.guarantee import Record
from calibrant.core.metric import require_level
from calibrant.core.metric_kinds import on_record
from calibrant.metrics.forecast_scores import root_mean_squared_error

__all__ = [
    "IntervalCurve",
    "IntervalWidthCurve",
    "OrderedIntervals",
    "RealStdCurve",
    "RmseRmvCurve",
    "interval_curve",
    "interval_width_curve",
    "ordered_by",
    "ordered_intervals",
    "real_std_curve",
    "rmse_rmv_curve",
]


@dataclass(frozen=True)
class IntervalCurve(Record):
    """Coverage by level, one row per level: nominal coverage, observed coverage, and its
    interval.
    """

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
    """(n_levels,) weight of the outcomes that each level's interval is the first to contain; sums
    of parts add up.
    """
    return np.bincount(
        _first_held(record, n_levels, kind), weights=record.weights, minlength=n_levels
    )


def _first_held(record: ForecastRecord, n_levels: int, kind: str) -> np.ndarray:
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
    """Make the curve from ``interval_sums`` of rows of that weight; ``worth`` (n_levels,)
    multiplies them for clusters.
    """
    held = np.cumsum(sums)
    seen = held / total
    if simultaneous:
        # The coverage is the distribution function of the lowest level that contains an outcome, so
        # Kolmogorov's band covers the whole curve.
        rows = max(1, int(total * np.min(worth) + 1e-9))
        limits = [
            np.clip(seen + side * scipy.stats.kstwo.ppf(band, rows), 0.0, 1.0)
            for side in (-1.0, 1.0)
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
    """Compute the share of the outcomes inside their central intervals, for levels from 0 to 1.

    Parameters
    ----------
    y_true : (n,)
    mean, std : (n,) each, or a forecast instead of mean
    n_levels : int, default 21
    band : float, default 0.95
        The level of the Wilson interval of each coverage, or of the band.
    kind : {"interval", "quantile"}
        Central intervals, or everything below the quantile at the level, which separates a shift
        from a wrong width.
    simultaneous : bool, default False
        Return Kolmogorov's band for the whole curve instead of an interval for each level. With
        clusters, its width follows the level where rows are most correlated.
    cluster : (n,) labels of any kind, optional
        Clusters of dependent rows (series, places, days). Intervals then count clusters.
    sample_weight : (n,), optional
    weight_kind : {"frequency", "sampling"}
        "frequency": a weight counts identical rows. "sampling": a weighted row is one row that
        stands for others, as with design or importance weights.

    Returns
    -------
    IntervalCurve
        ``.frame()`` returns a data frame. It covers all rows together: see ``rmse_rmv_curve``
        for the error bars of single rows.

    See Also
    --------
    IntervalCalibrationDisplay : the plot of it.
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
    return interval_curve.of(
        record, n_levels=n_levels, band=band, kind=kind, simultaneous=simultaneous
    )


@dataclass(frozen=True)
class OrderedIntervals(Record):
    """Ordered intervals, one line per row shown: its position among all rows (0 to 1, by weight),
    the outcome, its interval, and whether it is covered.
    """

    place: np.ndarray
    y: np.ndarray
    low: np.ndarray
    high: np.ndarray
    held: np.ndarray


def ordered_by(record: ForecastRecord, by: str) -> np.ndarray:
    """Sort key of the rows, (n,)."""
    require_option("by", by, ("outcome", "mean"))
    return np.asarray(record.y) if by == "outcome" else record.mean


def _ordered_intervals_of(
    record: ForecastRecord, *, level: float = 0.9, by: str = "mean", n_rows: int = 200
) -> OrderedIntervals:
    require_count("n_rows", n_rows)
    key, (low, high, held) = ordered_by(record, by), record.held(level)
    order = np.lexsort((high, low, record.y, key))
    reached = np.cumsum(record.weights[order])
    # A weight of two counts as two rows, but weights that sum to one still show all rows.
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
    by: Literal["outcome", "mean"] = "mean",
    n_rows: int = 200,
    sample_weight: ArrayLike | None = None,
) -> OrderedIntervals:
    """Return central intervals and outcomes of at most ``n_rows`` rows, ordered by outcome or mean,
    thinned evenly.

    Parameters
    ----------
    y_true : (n,)
    mean, std : (n,) each, or a forecast instead of mean
    level : float, default 0.9
        The nominal coverage of the central intervals.
    by : "mean" or "outcome"
    n_rows : int, default 200
        The number of rows to show; larger data are thinned evenly by weight.
    sample_weight : (n,), optional
        Rows of larger weight are selected more often.

    Returns
    -------
    OrderedIntervals
        ``.frame()`` returns a data frame. The share of uncovered rows shown is close to that of
        all rows, which ``interval_coverage`` measures.

    See Also
    --------
    OrderedIntervalsDisplay : the plot of it.
    interval_width_curve : the curve of all rows, in bins.

    Examples
    --------
    >>> rows = ordered_intervals([2.0, 0.5, -1.0], [0.0] * 3, [1.0] * 3)
    >>> rows.y.tolist(), rows.held.tolist()
    ([-1.0, 0.5, 2.0], [True, True, False])
    """
    record = read_forecast(mean, std, y_true, sample_weight=sample_weight).one_output()
    return ordered_intervals.of(record, level=level, by=by, n_rows=n_rows)


@dataclass(frozen=True)
class IntervalWidthCurve(Record):
    """Width by bin, one row per bin: n (sum of weights), mean outcome (or mean), mean width,
    nominal coverage, and observed coverage with its interval.
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
    """Compute mean width and coverage of central intervals in bins of equal weight by outcome or
    mean.

    Parameters
    ----------
    y_true : (n,)
    mean, std : (n,) each, or a forecast instead of mean
    level : float, default 0.9
        The nominal coverage of the central intervals.
    by : "outcome" or "mean"
        By mean, each bin should reach the level. By outcome it should not: extreme outcomes are
        hard to predict, so even perfect forecasts cover them less, and central ones more.
    n_bins : int, default 10
        Tied values are never split, so there may be fewer.
    band : float, default 0.95
        The level of the interval of each bin's coverage.
    cluster : (n,) labels of any kind, optional
        Clusters of dependent rows (series, places, days). Intervals then use the effective number
        of rows.
    sample_weight : (n,), optional
    weight_kind : {"frequency", "sampling"}
        "frequency": a weight counts identical rows. "sampling": a weighted row is one row that
        stands for others, as with design or importance weights.

    Returns
    -------
    IntervalWidthCurve
        ``.frame()`` returns a data frame. Widths are in units of y.

    See Also
    --------
    IntervalWidthDisplay : the plot of it.
    ordered_intervals : the intervals of single rows.

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
    return interval_width_curve.of(record, level=level, by=by, n_bins=n_bins, band=band)


@dataclass(frozen=True)
class RealStdCurve(Record):
    """Errors by predicted std, one row per bin: n (sum of weights), predicted std, real std with
    its interval, and quantiles of the absolute error.

    ``std`` is the root mean predicted variance, ``real`` the root mean squared error. Half of the
    absolute errors are at most ``half``, and a share ``level`` at most ``reach``. The nominal
    values ``half_claimed`` and ``reach_claimed`` are the forecasts' mean half widths.
    """

    n: np.ndarray
    std: np.ndarray
    real: np.ndarray
    low: np.ndarray
    high: np.ndarray
    half: np.ndarray
    half_claimed: np.ndarray
    reach: np.ndarray
    reach_claimed: np.ndarray


def _real_std_curve_of(
    record: ForecastRecord, *, n_bins: int = 15, level: float = 0.9, band: float = 0.95
) -> RealStdCurve:
    require_level(level)
    require_level(band, "band")
    require_count("n_bins", n_bins)
    group = equal_mass_groups(record.std, n_bins, record.weights)
    n_groups = int(group.max()) + 1
    errors = root_mean_squared_error.group_totals_of(record, group, n_groups)
    real = root_mean_squared_error.finalise(errors)
    half_widths = [
        0.5 * np.subtract(*record.forecast.interval(share)[::-1]) for share in (0.5, level)
    ]
    mass, variance, *claimed = grouped_sums(
        group, n_groups, [np.square(record.std), *half_widths], record.weights
    ).T
    size, rows = np.abs(record.error), rows_by_group(group, n_groups)
    half, reach = (
        np.array([weighted_quantile(size[i], record.weights[i], share) for i in rows])
        for share in (0.5, level)
    )
    if record.cluster is not None:
        errors = (
            errors
            * group_worth(
                np.square(record.error), record.weights, record.cluster, group, n_groups, band
            )[:, None]
        )
    low, high = root_mean_squared_error.limits(errors, band)
    return RealStdCurve(
        mass,
        np.sqrt(variance / mass),
        real,
        low,
        high,
        half,
        claimed[0] / mass,
        reach,
        claimed[1] / mass,
    )


@on_record(_real_std_curve_of)
def real_std_curve(
    y_true: ArrayLike,
    mean: Any,
    std: ArrayLike | None = None,
    *,
    n_bins: int = 15,
    level: float = 0.9,
    band: float = 0.95,
    cluster: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    weight_kind: WeightKind = "frequency",
) -> RealStdCurve:
    """Compute the size of the errors against the predicted std, in bins of equal weight by
    predicted std.

    Parameters
    ----------
    y_true : (n,)
    mean, std : (n,) each, or a forecast instead of mean
    n_bins : int, default 15
        Tied std are never split, so there may be fewer.
    level : float, default 0.9
        The level of the outer quantile of the absolute error, ``reach``.
    band : float, default 0.95
        The level of the interval of each real std.
    cluster : (n,) labels of any kind, optional
        Clusters of dependent rows (series, places, days). Intervals then count clusters.
    sample_weight : (n,), optional
    weight_kind : {"frequency", "sampling"}
        "frequency": a weight counts identical rows. "sampling": a weighted row is one row that
        stands for others, as with design or importance weights.

    Returns
    -------
    RealStdCurve
        ``.frame()`` returns a data frame. For calibrated error bars, ``real`` is close to
        ``std``, and ``half`` and ``reach`` to their nominal values. A flat ``real`` means that the
        predicted std is uninformative.

    See Also
    --------
    RealStdDisplay : the plot of it.
    rmse_rmv_curve : the same, with a band on the diagonal.

    References
    ----------
    Levi et al., "Evaluating and calibrating uncertainty prediction in regression tasks", 2019,
    figures 1a, 4a, 4b and 5a.

    Examples
    --------
    >>> curve = real_std_curve([2.0, -2.0, 4.0, -4.0], [0.0] * 4, [1.0, 1.0, 2.0, 2.0], n_bins=2)
    >>> curve.std.tolist(), curve.real.tolist(), curve.reach.tolist()
    ([1.0, 2.0], [2.0, 4.0], [2.0, 4.0])
    """
    record = clustered(
        read_forecast(mean, std, y_true, sample_weight=sample_weight).one_output(),
        cluster,
        weight_kind,
    )
    return real_std_curve.of(record, n_bins=n_bins, level=level, band=band)


#: Limit on rows times draws for the band of clusters.
BUDGET = 2e7


@dataclass(frozen=True)
class RmseRmvCurve(Record):
    """Error by predicted std, one row per bin: n (sum of weights), root mean predicted variance,
    root mean squared error, and its band under calibration.
    """

    n: np.ndarray
    rmv: np.ndarray
    rmse: np.ndarray
    low: np.ndarray
    high: np.ndarray


def _rmse_rmv_curve_of(
    record: ForecastRecord,
    *,
    n_bins: int = 10,
    level: float = 0.95,
    n_draws: int = 1000,
    random_state: int = 0,
) -> RmseRmvCurve:
    require_level(level)
    require_count("n_bins", n_bins)
    group, mass, variance, error = spread_bins(
        record.std, np.square(record.error), record.weights, n_bins
    )
    return RmseRmvCurve(
        mass,
        np.sqrt(variance),
        np.sqrt(error),
        *rmse_band(record, group, mass, level, n_draws, random_state),
    )


def rmse_band(
    record: ForecastRecord,
    group: np.ndarray,
    mass: np.ndarray,
    level: float,
    n_draws: int = 1000,
    random_state: int = 0,
) -> np.ndarray:
    """Simulate the band of each bin's error for errors N(0, std^2), (2, G), from the bin of each
    row and the mass of each bin.
    """
    order = order_of(record)
    record, group = record.take(order), group[order]
    part, rng = np.square(record.std) / mass[group], null_generator(random_state)
    if record.cluster is not None:
        draw, count = (
            score_drawer(record.score, record.cluster),
            int(np.clip(BUDGET / len(record), 100, n_draws)),
        )
        drawn = [
            np.bincount(group, record.weights * part * np.square(draw(rng)), len(mass))
            for _ in range(count)
        ]
        return np.quantile(np.sqrt(drawn), [0.5 - 0.5 * level, 0.5 + 0.5 * level], axis=0)
    draws = np.sqrt(chi_square_draws(group, part, record.weights, len(mass), n_draws, rng))
    return np.quantile(draws, [0.5 - 0.5 * level, 0.5 + 0.5 * level], axis=0)


@on_record(_rmse_rmv_curve_of)
def rmse_rmv_curve(
    y_true: ArrayLike,
    mean: Any,
    std: ArrayLike | None = None,
    *,
    n_bins: int = 10,
    level: float = 0.95,
    n_draws: int = 1000,
    random_state: int = 0,
    cluster: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    weight_kind: WeightKind = "frequency",
) -> RmseRmvCurve:
    """Compute root mean squared error against root mean predicted variance, in bins of equal weight
    by predicted std.

    Parameters
    ----------
    y_true : (n,)
    mean, std : (n,) each, or a forecast instead of mean
    n_bins : int, default 10
        Tied std are never split, so there may be fewer.
    level : float, default 0.95
        The level of the simulated band of a bin's error for errors N(0, std^2).
    n_draws : int, default 1000
    random_state : int
    cluster : (n,) labels of any kind, optional
        Clusters of dependent rows (series, places, days). The band then simulates errors that are
        as correlated within clusters as the observed ones.
    sample_weight : (n,), optional
    weight_kind : {"frequency", "sampling"}
        "frequency": a weight counts identical rows. "sampling": a weighted row is one row that
        stands for others, as with design or importance weights.

    Returns
    -------
    RmseRmvCurve
        ``.frame()`` returns a data frame. Error bars on the diagonal are calibrated.

    See Also
    --------
    RmseRmvDisplay : the plot of it.
    expected_normalized_calibration_error : the curve as one number.

    References
    ----------
    Levi et al., "Evaluating and calibrating uncertainty prediction in regression tasks", 2019,
    equations 6 and 7, figure 2.

    Examples
    --------
    >>> curve = rmse_rmv_curve([2.0, -2.0, 4.0, -4.0], [0.0] * 4, [1.0, 1.0, 2.0, 2.0], n_bins=2)
    >>> curve.rmv.tolist(), curve.rmse.tolist()
    ([1.0, 2.0], [2.0, 4.0])
    """
    record = clustered(
        read_forecast(mean, std, y_true, sample_weight=sample_weight).one_output(),
        cluster,
        weight_kind,
    )
    return rmse_rmv_curve.of(
        record, n_bins=n_bins, level=level, n_draws=n_draws, random_state=random_state
    )
