"""Central intervals of some rows in order, with what came true: the rows behind a coverage."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from calibrant._support.options import require_count, require_option
from calibrant.contracts.columns import Record
from calibrant.contracts.on_record import on_record
from calibrant.forecasts.read import ForecastRecord, read_forecast

__all__ = ["OrderedIntervals", "ordered_by", "ordered_intervals"]


@dataclass(frozen=True)
class OrderedIntervals(Record):
    """One line a row shown: its place among all rows (0 to 1, by weight), the outcome, its interval, and whether that holds it."""

    place: np.ndarray
    y: np.ndarray
    low: np.ndarray
    high: np.ndarray
    held: np.ndarray


def ordered_by(record: ForecastRecord, by: str) -> np.ndarray:
    """What rows are put in order by, (n,)."""
    require_option("by", by, ("outcome", "mean"))
    return np.asarray(record.y) if by == "outcome" else record.mean


def _of(record: ForecastRecord, *, level: float = 0.9, by: str = "outcome", n_rows: int = 200) -> OrderedIntervals:
    require_count("n_rows", n_rows)
    key, (low, high, held) = ordered_by(record, by), record.held(level)
    order = np.lexsort((high, low, record.y, key))
    reached = np.cumsum(record.weights[order])
    # A weight of two is two rows; weights that sum to one do not leave one row to show.
    count = min(n_rows, max(len(record), int(np.ceil(reached[-1]))))
    place = (np.arange(count) + 0.5) / count
    rows = order[np.searchsorted(reached, place * reached[-1])]
    return OrderedIntervals(place, record.y[rows], low[rows], high[rows], held[rows])


@on_record(_of)
def ordered_intervals(
    y_true: ArrayLike, mean: Any, std: ArrayLike | None = None, *, level: float = 0.9, by: Literal["outcome", "mean"] = "outcome",
    n_rows: int = 200, sample_weight: ArrayLike | None = None
) -> OrderedIntervals:  # fmt: skip
    """Central intervals and outcomes of at most ``n_rows`` rows, in the order of the outcome or of the mean, thinned evenly.

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
        ``.frame()`` gives it as a data frame. The share missed of the rows shown is near that of all rows, which
        ``interval_coverage`` gives.

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
    return _of(record, level=level, by=by, n_rows=n_rows)
