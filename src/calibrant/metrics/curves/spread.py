"""Curves of predicted against observed spread."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from calibrant._numerics.bins import chi_square_draws, equal_mass_groups, grouped_sums, spread_bins
from calibrant._numerics.bootstrap import null_generator, score_drawer
from calibrant._numerics.clusters import group_worth, rows_by_group
from calibrant._numerics.smoothing import weighted_quantile
from calibrant.core.estimators import require_count
from calibrant.core.forecast_record import ForecastRecord, read_forecast
from calibrant.core.groups import WeightKind, clustered, order_of
from calibrant.core.guarantee import Record
from calibrant.core.metric import require_level
from calibrant.core.metric_kinds import on_record
from calibrant.metrics.regression_sizes import root_mean_squared_error

__all__ = ["RealStdCurve", "RmseRmvCurve", "real_std_curve", "rmse_rmv_curve"]


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
