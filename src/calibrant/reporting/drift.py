"""Calibration over time by hour, day, week, month or year, of all rows and by group, with an alarm
for a change.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from calibrant._numerics.bins import equal_width_index, grouped_sums
from calibrant.core.forecast_record import ForecastRecord
from calibrant.core.predictions import Predictions
from calibrant.errors import InputError
from calibrant.monitoring.monitor import Advice, CalibrationMonitor, DriftCurve

if TYPE_CHECKING:
    from calibrant.core.groups import Groups

__all__ = ["EVERY", "Drift", "Times", "drift", "read_times"]

#: Units of time in NumPy, the finest first. Weeks are counted in days, because NumPy's weeks begin
#: on a Thursday.
EVERY = {"hour": "h", "day": "D", "week": "D", "month": "M", "year": "Y"}
#: Largest number of buckets for which "auto" chooses a unit.
MOST = 40
#: Largest number of groups to monitor; the largest groups are chosen.
GROUPS = 8
BINS = 15


@dataclass(frozen=True)
class Times:
    """Buckets of time, ascending, and the bucket of each row, (n,)."""

    starts: list[str]
    index: np.ndarray
    unit: str


@dataclass(frozen=True)
class DatedAdvice(Advice):
    """Advice with the time of the alarm, or None."""

    alarm_time: Any


@dataclass(frozen=True)
class GroupDrift:
    """Drift of one group, which is monitored separately."""

    group: str
    curve: DriftCurve
    advice: DatedAdvice | None


@dataclass(frozen=True)
class Drift:
    """Calibration over time, before and after; ``of`` names the one that advice and groups are for.

    The advice is None for weighted rows, because copies of rows would raise false alarms. Groups
    with an alarm come first, then the largest.
    """

    every: str
    of: str
    before: DriftCurve
    after: DriftCurve | None
    advice: DatedAdvice | None
    groups: list[GroupDrift]


def read_times(times: Any, every: str, record: ForecastRecord | Predictions) -> Times | None:
    """Return the bucket of time of each row of the record; None for None."""
    if times is None:
        return None
    if every != "auto" and every not in EVERY:
        raise InputError(f'every must be "auto" or one of {", ".join(EVERY)}; got {every!r}.')
    seconds = _seconds(times)
    kept = len(record) if record.kept is None else len(record.kept)
    if len(seconds) != kept:
        raise InputError(
            f"times must have one date for each of the {kept} rows; got {len(seconds)}."
        )
    seconds = seconds if record.kept is None else seconds[record.kept]
    unit = _shortest(seconds) if every == "auto" else every
    starts, index = np.unique(_starts(seconds, unit), return_inverse=True)
    return Times(starts.astype(str).tolist(), index, unit)


def _seconds(times: Any) -> np.ndarray:
    values = np.asarray(times)
    try:
        seconds = None if values.dtype.kind in "iufcb" else np.asarray(times, dtype="datetime64[s]")
    except (TypeError, ValueError):
        seconds = None
    if seconds is None or seconds.ndim != 1:
        raise InputError(
            "times must be dates, one a row, none missing: datetime64, pandas timestamps or ISO"
            " texts; got others."
        )
    missing = np.flatnonzero(np.isnat(seconds))
    if len(missing):
        raise InputError(
            f"times must be dates, none missing; row {missing[0]} has none ({len(missing)} such"
            " rows); repair or drop them."
        )
    return seconds


def _shortest(seconds: np.ndarray) -> str:
    """The unit that tells the times apart best in at most 40 buckets; of those that do it
    equally, the longest.
    """
    counts = {unit: len(np.unique(_starts(seconds, unit))) for unit in EVERY}
    best = max((count for count in counts.values() if count <= MOST), default=min(counts.values()))
    return [unit for unit, count in counts.items() if count == best][-1]


def _starts(seconds: np.ndarray, unit: str) -> np.ndarray:
    starts = seconds.astype(f"datetime64[{EVERY[unit]}]")
    if unit != "week":
        return starts
    days = starts.astype(np.int64)
    return (days - (days + 3) % 7).astype("datetime64[D]")


def drift(
    times: Times | None,
    pairs: Any,
    watched: str,
    weight: np.ndarray | None,
    groups: "Groups | None" = None,
    target: str = "answer",
) -> Drift | None:
    """The calibration error of each bucket with its interval, and whether the calibration has
    changed.

    Parameters
    ----------
    times : Times, or None
    pairs : {"before", "after": ((n,) probability said, (n,) whether it happened)}; that after may
        be None
    watched : "before" or "after": which of them the alarm and the groups are about
    weight : (n,), or None
    groups : Groups, optional
    target : "answer" or "event": whose probability is said
    """
    if times is None:
        return None
    monitors = {
        name: None if pair is None else _watch(times, pair, weight, target)
        for name, pair in pairs.items()
    }
    after = None if monitors["after"] is None else monitors["after"].curve()
    by_group = [] if groups is None else _by_group(times, pairs[watched], weight, groups, target)
    return Drift(
        times.unit,
        watched,
        monitors["before"].curve(),
        after,
        _advice(monitors[watched], weight),
        by_group,
    )


def _watch(
    times: Times,
    pair: tuple[np.ndarray, np.ndarray],
    weight: np.ndarray | None,
    target: str,
    rows: Any = slice(None),
) -> CalibrationMonitor:
    """A monitor that has seen the rows bucket by bucket; buckets without rows are left out."""
    said, happened = (values[rows] for values in pair)
    weight = None if weight is None else weight[rows]
    bins = equal_width_index(said, BINS)
    sums = grouped_sums(
        times.index[rows] * BINS + bins, len(times.starts) * BINS, [said, happened], weight
    )
    monitor = CalibrationMonitor(n_bins=BINS, target=target)
    for start, part in zip(times.starts, sums.reshape(-1, BINS, 3), strict=True):
        if part[:, 0].any():
            # Sums of shares may pass that of the rows by a rounding.
            monitor.update_sums(np.minimum(part, part[:, :1]), time=start)
    return monitor


def _advice(monitor: CalibrationMonitor, weight: np.ndarray | None) -> DatedAdvice | None:
    return (
        None
        if weight is not None
        else DatedAdvice(**vars(monitor.advice()), alarm_time=monitor.alarm_time_)
    )


def _by_group(
    times: Times, pair: tuple[np.ndarray, np.ndarray], weight: Any, groups: "Groups", target: str
) -> list[GroupDrift]:
    texts, which = groups.texts, groups.index
    found = []
    for g in np.argsort(-np.bincount(which, weights=weight), kind="stable")[:GROUPS]:
        monitor = _watch(times, pair, weight, target, np.flatnonzero(which == g))
        found.append(GroupDrift(texts[g], monitor.curve(), _advice(monitor, weight)))
    return sorted(found, key=lambda row: row.advice is None or row.advice.decision == "leave")
