"""Calibration over time, of all rows and by group, with an alarm for a change; and the comparison
of several calibrators in each predicted class.

Time is cut by hour, day, week, month or year. The comparison says which calibrator to use for which
class.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from calibrant._numerics.bins import equal_width_index, grouped_sums
from calibrant.core.forecast_record import ForecastRecord
from calibrant.core.predictions import Predictions
from calibrant.errors import InputError
from calibrant.metrics import log_loss
from calibrant.metrics.comparison import PairRow, compare
from calibrant.monitoring.monitor import Advice, CalibrationMonitor, DriftCurve
from calibrant.reporting.states import Gap, confidence_gaps, confidence_sums, together, worth_of

if TYPE_CHECKING:
    from calibrant.core.groups import Groups

__all__ = [
    "EVERY",
    "ByClass",
    "DatedAdvice",
    "Drift",
    "MethodInClass",
    "PredictedClass",
    "Times",
    "drift",
    "methods_by_class",
    "read_times",
]


UNCALIBRATED = "uncalibrated"
#: Largest number of names in a list of the sentence.
MOST_NAMED = 10


@dataclass(frozen=True)
class MethodInClass:
    """Mean log loss of a calibrator's confidence in one predicted class, and its gap there.

    ``against`` is this loss minus that of the best calibrator, with an interval that holds for all
    pairs and classes simultaneously; None for the best calibrator itself.
    """

    loss: float
    gap: Gap
    against: PairRow | None


@dataclass(frozen=True)
class PredictedClass:
    """Rows that the model predicts as one class, their accuracy with its interval, and the
    calibrator to ``use`` for them.
    """

    class_: str
    rows: float
    accuracy: float
    low: float
    high: float
    use: str
    methods: dict[str, MethodInClass]


@dataclass(frozen=True)
class ByClass:
    """Comparison of calibrators by predicted class, the least accurate class first.

    ``macro`` is the mean log loss of each calibrator over the predicted classes, ``best`` names the
    lowest one, and ``off`` lists for each the classes where confidence and accuracy differ
    significantly.
    """

    best: str
    macro: dict[str, float]
    off: dict[str, list[str]]
    rows: list[PredictedClass]

    def to_dict(self) -> dict[str, Any]:
        """The fields, and the result in words."""
        use = [f"{row.use} for class {row.class_}" for row in self.rows if row.use != self.best]
        but = f", but {_few(use)}" * bool(use)
        sentence = (
            f"For the confidence in a predicted class use {self.best}{but}. Its log loss, averaged"
            f" over the {len(self.rows)} predicted classes, is the lowest:"
            f" {self.macro[self.best]:.4f}, and {self.macro[UNCALIBRATED]:.4f} without calibration."
            " The classes whose confidence differs from their accuracy by more than chance:"
            f" {_few(self.off[self.best])}; without calibration: {_few(self.off[UNCALIBRATED])}."
        )
        return {**vars(self), "sentence": sentence}


def _differs(gap: Any) -> bool:
    return gap.low > 0.0 or gap.high < 0.0


def _few(names: list[str]) -> str:
    more = f" and {len(names) - MOST_NAMED} more" * (len(names) > MOST_NAMED)
    return (", ".join(names[:MOST_NAMED]) or "none") + more


def methods_by_class(compared: Any, level: float) -> ByClass | None:
    """Compare the confidence in the model's own label by predicted class; None if no calibrator
    was measured on rows that it had not seen.

    Parameters
    ----------
    compared : {name: Compared}, of records of classes
    level : float
        Level of the intervals, which hold for all classes simultaneously.
    """
    before = next(iter(compared.values())).before
    own, count, records = before.predicted, before.n_classes, {UNCALIBRATED: before}
    for name, one in compared.items():
        if one.after is not None and one.evaluation != "in-sample":
            records[name] = replace(one.after, own=own)
    if len(records) == 1:
        return None
    pairs = {name: record.as_pair("answer") for name, record in records.items()}
    losses = [log_loss.losses_of(pair) for pair in pairs.values()]
    rows, *sums = grouped_sums(own, count, losses, before.weight).T
    seen = np.flatnonzero(rows > 0.0)
    means = {name: total[seen] / rows[seen] for name, total in zip(pairs, sums, strict=True)}
    macro = {name: float(mean.mean()) for name, mean in means.items()}
    best = min(macro, key=lambda name: macro[name])
    gaps: dict[str, Any] = {
        name: confidence_gaps(
            confidence_sums(pair, own, count), level, worth_of(pair, pair.correct, own, count)
        )
        for name, pair in pairs.items()
    }
    found = [
        _in_class(
            str(before.classes[k]),
            {name: pair.take(own == k) for name, pair in pairs.items()},
            {name: float(mean[at]) for name, mean in means.items()},
            {name: gap[k] for name, gap in gaps.items()},
            best,
            together(level, rows),
        )
        for at, k in enumerate(seen)
    ]
    found.sort(key=lambda row: row.accuracy)
    off = {name: [row.class_ for row in found if _differs(row.methods[name].gap)] for name in pairs}
    return ByClass(best, macro, off, found)


def _in_class(
    name: str,
    pairs: dict[str, Any],
    losses: dict[str, float],
    gaps: dict[str, Any],
    best: str,
    level: float,
) -> PredictedClass:
    tested = compare.of(pairs, [log_loss], level=level, baseline=best).rows
    against = {row.second: row for row in tested}
    methods = {
        one: MethodInClass(loss, gaps[one], against.get(one)) for one, loss in losses.items()
    }
    better = [row.second for row in tested if row.meaning == "better"]
    use, gap = min([best, *better], key=lambda one: losses[one]), gaps[UNCALIBRATED]
    low, high = gap.confidence - gap.high, gap.confidence - gap.low
    return PredictedClass(name, gap.rows, gap.accuracy, low, high, use, methods)


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

    The advice is None for weighted rows, because copies of rows would raise false alarms; that on
    the uncalibrated predictions, where the calibrated ones are watched, is ``hidden``: a fit over
    both periods averages a change. Groups with an alarm come first, then the largest.
    """

    every: str
    of: str
    before: DriftCurve
    after: DriftCurve | None
    advice: DatedAdvice | None
    groups: list[GroupDrift]
    hidden: DatedAdvice | None = None


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
            f"times must be dates, none missing; row {missing[0]} has none ({len(missing)} in"
            " all); repair or drop them."
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
        None if watched == "before" else _advice(monitors["before"], weight),
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
