"""Table of metrics before and after, with the change and its paired interval."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from calibrant.core.metric_kinds import Metric
from calibrant.core.text_table import percent
from calibrant.errors import InputError
from calibrant.metrics.comparison import PairedDifference, meaning, paired_difference

__all__ = [
    "Change",
    "Estimate",
    "Gain",
    "Measure",
    "Score",
    "apart",
    "as_it_is",
    "gain_of",
    "ranking",
    "reading",
    "score_table",
]

LEAST_RESAMPLES = 2
#: Gain of the rows, in nats, from which a calibrator is advised, and is advised as clearly better;
#: and the least gain of a row, as a share of the loss or, of error bars, in nats.
ENOUGH, CLEAR, SHARE = 3.0, 8.0, 0.003
#: Share of the distance to the best value below which a change matters to nobody.
TRIFLE = 0.01
NOT_RESAMPLED = "not resampled"
#: A binned error has a bias from noise, which an interval for clusters would have to correct.
NO_CLUSTERS = "no interval counts clusters"


def as_it_is(record: Any) -> Any:
    """Return the record itself, the input of most metrics."""
    return record


@dataclass(frozen=True)
class Measure:
    """Metric of a table, with the maximum number of bootstrap resamples, the part of a record that
    it reads, and a display name.

    ``analytic``: with any number of rows only the interval of its change needs resamples, not that
    of its value.
    """

    metric: Metric
    n_resamples: int
    view: Callable = as_it_is
    name: str = ""
    analytic: bool = False


@dataclass(frozen=True)
class Estimate:
    """Value with its interval.

    For the method "debiased", low and high are limits of the true error: noise in the bins adds to
    the measured value, which may therefore lie outside them; ``estimate`` is the debiased value.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    estimate: float | None = None
    method: str = NOT_RESAMPLED


@dataclass(frozen=True)
class Gain:
    """Gain of a calibration on rows that it has not seen: in nats of all rows, and of a row as a
    share of the loss (of error bars in nats); in words.
    """

    nats: float
    share: float
    words: str

    @property
    def enough(self) -> bool:
        """Whether the gain is reason to calibrate."""
        return self.nats > ENOUGH and self.share > SHARE

    @property
    def clear(self) -> bool:
        """Whether the gain is beyond doubt."""
        return self.nats > CLEAR


@dataclass(frozen=True)
class Change:
    """After minus before, its interval, and its meaning: "better", "worse", "larger", "smaller",
    "no clear change", "not compared".
    """

    value: float
    low: float | None = None
    high: float | None = None
    method: str = NOT_RESAMPLED
    meaning: str = "not compared"


@dataclass(frozen=True)
class Score:
    """One metric before and after (None: no calibration); ``note`` is the reason for a missing
    number, ``reading`` the change in words.
    """

    key: str
    name: str
    direction: str
    proper: bool
    before: Estimate
    after: Estimate | None
    change: Change | None
    note: str | None = None
    reading: str | None = None

    def when(self, when: Any) -> Estimate | None:
        """Return the numbers "before" or "after"."""
        return self.before if when == "before" else self.after


def score_table(
    before: Any,
    after: Any,
    measures: Any,
    *,
    level: float = 0.95,
    random_state: int = 0,
    folds: np.ndarray | None = None,
) -> list[Score]:
    """Return one score for each of the measures; ``after`` may be None. Its rows are calibrated by
    a map for each of the ``folds`` (n,), which puts rows of different folds in no common order: a
    ranking changes by what it changes within them.

    Examples
    --------
    >>> from calibrant.metrics import accuracy
    >>> from calibrant.core.predictions import read
    >>> score_table(read([0.2, 0.7, 0.9], [0, 1, 0]), None, [Measure(accuracy, 100)])[
    ...     0
    ... ].before.value
    0.6666666666666666
    """
    views = {one.view: None for one in measures}
    views = {view: (view(before), None if after is None else view(after)) for view in views}
    return [_score(one, *views[one.view], level, random_state, folds) for one in measures]


def _score(
    measure: Measure, before: Any, after: Any, level: float, random_state: int, folds: Any
) -> Score:
    metric, n = measure.metric, measure.n_resamples
    facts = metric.key, measure.name or metric.name, metric.direction, metric.proper
    # Conformal intervals from few rows are infinite, and their mean has no interval.
    with np.errstate(invalid="ignore"):
        first = _estimate(measure, before, level, random_state)
        if after is None:
            return Score(*facts, first, None, None)
        try:
            then = _estimate(measure, after, level, random_state)
            if metric.ranks and folds is not None:
                change = _changed(_within(metric, before, after, folds), metric.direction, level)
                then = _moved(first, then, change, metric.range)
            elif metric.paired and n > 0:
                found = paired_difference(
                    metric, before, after, n_resamples=n, random_state=random_state
                )
                change = _changed(found, metric.direction, level)
            else:
                change = apart(first, then, metric.direction)
            return Score(*facts, first, then, change, reading=reading(metric, first, then, change))
        except InputError as error:
            # Conformal intervals have no density, and conformal quantiles only their own levels.
            return Score(*facts, first, None, None, str(error))


def reading(metric: Metric, first: Estimate, then: Estimate, change: Change) -> str:
    """Return the change in words: "better" or "worse", with "closer to" or "further from" the
    target of the metric, "no real change" below a hundredth of the distance to the best value, or
    the meaning of the change.
    """
    ideal = metric.ideal
    if change.low == change.high == 0.0:
        return "no real change"
    if ideal is None or change.meaning in ("not compared", "no clear change"):
        return change.meaning
    far, near = abs(first.value - ideal), abs(then.value - ideal)
    if abs(change.value) < TRIFLE * far:
        return "no real change"
    if metric.direction != "none":
        return change.meaning
    return f"closer to {ideal:g}: better" if near < far else f"further from {ideal:g}: worse"


def _estimate(measure: Measure, record: Any, level: float, random_state: int) -> Estimate:
    metric, n = measure.metric, measure.n_resamples
    if n == 0 and not measure.analytic:
        return Estimate(metric.of(record))
    if record.cluster is not None and not metric.clustered:
        return Estimate(metric.of(record), method=NO_CLUSTERS)
    # Without resamples there is a problem with the value, not the interval, as when all outcomes
    # are equal.
    found = metric.interval_of(
        record, level=level, n_resamples=n or LEAST_RESAMPLES, random_state=random_state
    )
    return Estimate(
        found.value if found.plain is None else found.plain,
        found.low,
        found.high,
        found.value,
        found.method,
    )


def apart(first: Estimate, then: Estimate, direction: str) -> Change:
    """Bound the difference by the two intervals, if no paired interval is valid, as for calibration
    errors; it is wide.
    """
    value = then.value - first.value
    if first.low is None or then.low is None:
        return Change(value)
    low, high = then.low - first.high, then.high - first.low
    return Change(value, low, high, "both intervals", meaning(low, high, direction))


def _changed(found: PairedDifference, direction: str, level: float) -> Change:
    low, high = found.limits(level)
    if np.isnan(low):
        return Change(found.value)
    return Change(found.value, low, high, found.method, meaning(low, high, direction))


def ranking(
    measure: Measure,
    estimates: tuple[Estimate, Estimate],
    rows: tuple[Any, Any],
    folds: np.ndarray | None,
    level: float,
) -> tuple[Estimate, Change]:
    """Return (the estimate after, the change) of a ranking from estimates of all rows, with the
    paired interval of a sample of the ``rows`` before and after.
    """
    metric, (first, then) = measure.metric, estimates
    before, after = map(measure.view, rows)
    if folds is not None:
        change = _changed(_within(metric, before, after, folds), metric.direction, level)
        return _moved(first, then, change, metric.range), change
    found = paired_difference(metric, before, after, n_resamples=0, random_state=0)
    value = then.value - first.value
    low, high = (end + value - found.value for end in found.limits(level))
    return then, Change(value, low, high, found.method, meaning(low, high, metric.direction))


def _within(metric: Any, before: Any, after: Any, folds: np.ndarray) -> PairedDifference:
    """The change of a ranking among rows of the same fold: the mean of the folds, by their pairs of
    rows that are ranked, or else by their rows.
    """
    fold, side = np.unique(folds, return_inverse=True)[1], metric.sides_of(before)
    sides = [np.ones(len(fold))] if side is None else [side, 1.0 - side]
    count = np.prod([np.bincount(fold, before.weights * one) for one in sides], axis=0)
    share = count[count > 0.0] / max(count.sum(), 1e-300)
    found = [
        paired_difference(
            metric, before.take(rows), after.take(rows), n_resamples=0, random_state=0
        )
        for rows in (np.flatnonzero(fold == k) for k in np.flatnonzero(count))
    ]
    moved, variance, freedom = np.array(
        [[getattr(one, name) for one in found] for name in ("value", "variance", "freedom")]
    )
    value, terms = float(share @ moved), share * share * variance
    with np.errstate(divide="ignore", invalid="ignore"):
        # Satterthwaite's degrees of freedom; any number of them is right where nothing varies.
        worth = terms.sum() ** 2 / (terms * terms / freedom).sum() if terms.any() else np.inf
    return PairedDifference(value, "paired within folds", value, float(terms.sum()), float(worth))


def _moved(first: Estimate, then: Estimate, change: Change, ends: tuple[float, float]) -> Estimate:
    """The ranking after calibration: that before it and its change; with the interval, moved, of
    the rows of all folds in one order.
    """
    if change.low == change.high == 0.0:
        return first
    step = first.value + change.value - then.value
    value, low, high = (
        None if one is None else float(np.clip(one + step, *ends))
        for one in (then.value, then.low, then.high)
    )
    return replace(then, value=value, low=low, high=high, estimate=value)


def gain_of(loss: Any, n: float, *, relative: bool) -> Gain | None:
    """The gain in the score ``loss`` (a Score before and after) on ``n`` independent rows; None
    where it is not known.
    """
    before, after = loss.before.value, None if loss.after is None else loss.after.value
    if before is None or after is None:
        return None
    mean = before - after
    share = mean / before if relative and before > 0.0 else mean
    size = f"{percent(share)}" if relative else f"{mean:.2g} a row"
    return Gain(n * mean, share, f"the {loss.name} falls by {size}")
