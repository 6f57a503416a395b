"""Width and coverage of central intervals from small to large outcomes."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from calibrant._kernels.bins import equal_mass_groups, grouped_sums
from calibrant._kernels.clusters import group_worth
from calibrant._kernels.intervals import wilson
from calibrant._support.options import require_count
from calibrant.contracts.columns import Record
from calibrant.contracts.interval import require_level
from calibrant.contracts.on_record import on_record
from calibrant.forecasts.read import ForecastRecord, read_forecast
from calibrant.groups import WeightKind, clustered
from calibrant.metrics.curves.ordered_intervals import ordered_by

__all__ = ["IntervalWidthCurve", "interval_width_curve"]


@dataclass(frozen=True)
class IntervalWidthCurve(Record):
    """One row a bin: n (sum of weights), mean outcome (or mean), mean width, coverage claimed, and seen with its interval."""

    n: np.ndarray
    value: np.ndarray
    width: np.ndarray
    claimed: np.ndarray
    coverage: np.ndarray
    low: np.ndarray
    high: np.ndarray


def _of(record: ForecastRecord, *, level: float = 0.9, by: str = "outcome", n_bins: int = 10, band: float = 0.95) -> IntervalWidthCurve:
    require_level(band, "band")
    require_count("n_bins", n_bins)
    value, (low, high, held) = ordered_by(record, by), record.held(level)
    group = equal_mass_groups(value, n_bins, record.weights)
    n_groups = int(group.max()) + 1
    mass, *sums = grouped_sums(group, n_groups, [value, high - low, held * 1.0], record.weights).T
    middle, width, coverage = (one / mass for one in sums)
    worth = 1.0 if record.cluster is None else group_worth(held * 1.0, record.weights, record.cluster, group, n_groups, band)
    limits = wilson(coverage * mass * worth, mass * worth, band)
    return IntervalWidthCurve(mass, middle, width, np.full(n_groups, float(level)), coverage, *limits)


@on_record(_of)
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
    """Mean width and coverage of central intervals, in bins of equal weight by the outcome or by the mean.

    Parameters
    ----------
    y_true : (n,)
    mean, std : (n,) each, or a forecast in place of mean
    level : float, default 0.9
        The coverage that the central intervals claim.
    by : "outcome" or "mean"
        By the mean each bin should hold the level. By the outcome it should not: extreme outcomes are those that were hard to
        foresee, and even true forecasts cover them less, and those in the middle more.
    n_bins : int, default 10
        Tied values are never split, so there may be fewer.
    band : float, default 0.95
        Level of the interval of each bin's coverage.
    cluster : (n,) labels of any kind, optional
        Which rows hang together (series, places, days): the intervals are then of as many rows as the clusters are worth.
    sample_weight : (n,), optional
    weight_kind : {"frequency", "sampling"}
        A weight is so many rows; or it is one row that stands for others ("sampling"), as weights of a design or of importance have it.

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
    >>> curve = interval_width_curve([-3.0, -1.0, 1.0, 3.0], [0.0] * 4, [1.0, 1.0, 2.0, 2.0], n_bins=2)
    >>> curve.width.round(2).tolist(), curve.coverage.tolist()
    ([3.29, 6.58], [0.5, 1.0])
    """
    record = clustered(read_forecast(mean, std, y_true, sample_weight=sample_weight).one_output(), cluster, weight_kind)
    return _of(record, level=level, by=by, n_bins=n_bins, band=band)
