"""Monitoring of an evaluation over time, slice by slice, and tests of its slices, with correction
for their number.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

import numpy as np
import scipy
from scipy import special

from calibrant._numerics.intervals import quotient
from calibrant.core.estimators import require_option
from calibrant.core.extras import import_extra
from calibrant.core.guarantee import plain
from calibrant.core.text_table import MOST_SHOWN, cut_note, text_table
from calibrant.errors import InputError
from calibrant.monitoring.claims import PitClaim
from calibrant.monitoring.monitor import CalibrationMonitor
from calibrant.tables.evaluation import Evaluation, ForecastEvaluation, named_by_target

__all__ = ["Monitoring", "SliceTests", "monitor", "worst_slices"]


@dataclass(frozen=True, eq=False, repr=False)
class Monitoring:
    """Monitors of all rows together and of each slice; it displays the advice for all rows and for
    the first slices with an alarm.

    Attributes
    ----------
    overall : CalibrationMonitor for all rows, at alpha.
    slices : dict from the slice's values to its CalibrationMonitor, each at alpha / number of
        slices, so that the probability of any false alarm among them is at most alpha; empty
        without slices.
    by : names of the columns of slices besides time.
    alpha : float
    """

    overall: CalibrationMonitor
    slices: dict[Any, Any]
    by: list[Any]
    alpha: float

    @property
    def alarms(self) -> list[tuple[Any, ...]]:
        """The slices with an alarm, the strongest evidence first."""
        names = [name for name, slice_monitor in self.slices.items() if slice_monitor.alarm_]
        return sorted(names, key=lambda name: -max(self.slices[name].path_))

    @property
    def discoveries(self) -> list[tuple[Any, ...]]:
        """The slices whose evidence now stands out among all, the strongest first: the expected
        share of false ones among them is at most alpha, for slices that depend on each other in any
        way (the e-Benjamini-Hochberg procedure: the k largest with at least m / (k alpha) each).
        """
        m, level = len(self.slices), self.alpha / 2.0 if self.overall.reference_ else self.alpha
        names = sorted(self.slices, key=lambda name: -self.slices[name].log_evidence_)
        enough = [
            self.slices[name].log_evidence_ >= np.log(m / (k * level))
            for k, name in enumerate(names, start=1)
        ]
        return names[: max((k + 1 for k in range(m) if enough[k]), default=0)]

    def lines(self) -> list[dict[str, Any]]:
        """Return one short dictionary for all rows and one for each slice, ready for JSON lines in
        a log of continuous integration.
        """
        monitors, now = [({}, self.overall)], set(self.discoveries)
        monitors += [
            (dict(zip(self.by, name, strict=True)), slice_monitor)
            for name, slice_monitor in self.slices.items()
        ]
        keys = ("decision", "changed", "since", "gain", "standard_error", "reason")
        rows = list[dict[str, Any]]()
        for name, slice_monitor in monitors:
            advice = slice_monitor.advice().to_dict()
            row = {"slice": plain(name), "n": slice_monitor.n_, "alarm": slice_monitor.alarm_}
            row |= {"alarm_time": slice_monitor.alarm_time_, "p_value": slice_monitor.p_value_}
            row |= {"discovery": tuple(name.values()) in now}
            rows.append(plain(row | {key: advice[key] for key in keys}))
        return rows

    def frame(self) -> Any:
        """Return one row a slice and time, with the slices' curves one after the other (all rows if
        there are no slices).

        Errors of slices have no intervals, which would take long for thousands;
        ``slices[...].curve()`` returns them.
        """
        pandas = import_extra("pandas", "a data frame of monitors", "frames")
        curves = [slice_monitor.curve(level=None) for slice_monitor in self.slices.values()] or [
            self.overall.curve()
        ]
        parts = [
            pandas.DataFrame(named_by_target(vars(curve), self.overall.target)) for curve in curves
        ]
        for part, values in zip(parts, self.slices, strict=False):
            for j, name in enumerate(self.by):
                part.insert(j, name, [values[j]] * len(part))
        return pandas.concat(parts, ignore_index=True)

    def to_dict(self) -> dict[str, Any]:
        """Return the results, ready for JSON: ``overall``, and ``slices`` in order, each with its
        alarm, evidence, advice and curve (see :meth:`frame`).
        """
        slices = [
            dict(zip(self.by, plain(values), strict=True)) | _summary(slice_monitor, None)
            for values, slice_monitor in self.slices.items()
        ]
        return {
            "alpha": self.alpha,
            "by": self.by,
            "overall": _summary(self.overall, 0.95),
            "slices": slices,
            "discoveries": plain(self.discoveries),
        }

    def __repr__(self) -> str:
        alarms = self.alarms
        lines = [f"All rows: {self.overall.advice()}"]
        if self.slices:
            lines.append(f"Alarms: {len(alarms):,} of {len(self.slices):,} slices")
        lines += [
            f"{', '.join(map(str, name))}: {self.slices[name].advice()}"
            for name in alarms[:MOST_SHOWN]
        ]
        return "\n".join(
            [*lines, *cut_note(min(len(alarms), MOST_SHOWN), len(alarms), "alarms has all")]
        )


def monitor(
    evaluation: Evaluation | ForecastEvaluation | Mapping[Any, Any],
    *,
    time: str | None = None,
    alpha: float = 0.05,
    tolerance: float = 0.01,
    reference: Any = None,
) -> Monitoring:
    """Monitor the calibration over time of all rows and of each slice, from the sums of an
    evaluation.

    Parameters
    ----------
    evaluation : Evaluation or ForecastEvaluation, or {time: evaluation}
        The result of ``calibrant.evaluate(..., by=[...], time=...)``; or results without time of
        one batch each, in order, such as those of one file a day.
    time : str, optional
        The name in ``evaluation.by`` that orders the batches; default the last, which is that of
        ``time=``.
    alpha : float, default 0.05
        Probability that a calibrated stream ever raises the alarm: for all rows, and once more for
        any of the slices.
    tolerance : float, default 0.01
        Gaps between accuracy and confidence up to this count as calibrated; for forecasts, gaps in
        the rates of :class:`CalibrationMonitor`.
    reference : Evaluation or ForecastEvaluation, optional
        An evaluation with the same bins, whose calibration is then the claim instead of perfect
        calibration: that of the same slice, if it has the slices of ``evaluation`` without time,
        else that of all its rows.

    Returns
    -------
    Monitoring
        ``.overall``, ``.slices``, ``.alarms``, ``.frame()``, ``.to_dict()``.

    Raises
    ------
    InputError

    See Also
    --------
    CalibrationMonitor : raises alarms batch by batch.
    DriftDisplay : draws it.

    Notes
    -----
    See :class:`CalibrationMonitor` for the test. The alarms of slices keep the probability of any
    false one, whenever they are read; ``discoveries`` bound the share of false ones instead, read
    now, and find more where many slices change. A bucket of time is one batch: add the evaluation
    of each new one and call it again, at any time, but leave out an incomplete bucket. Rows must be
    independent, so an evaluation with weights does not keep the rate.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> import calibrant as cb
    >>> rng = np.random.default_rng(0)
    >>> p, day = rng.uniform(0.5, 1.0, 4000), np.repeat(np.arange(20), 200)
    >>> y = (rng.uniform(size=4000) < np.where(day < 10, p, p - 0.2)).astype(int)
    >>> found = monitor(
    ...     cb.evaluate(pd.DataFrame({"p": p, "label": y, "day": day}), probabilities="p", by="day")
    ... )
    >>> found.overall.alarm_, found.overall.advice().since
    (True, 10)
    """
    source, by, times, sums, parts, slice_sums = _batches(evaluation, time)
    options = _options(source) | {"alpha": alpha, "tolerance": tolerance}
    overall = _run_monitor(times, sums, _reference_sums(reference, source, by, None), options)
    if not by:
        return Monitoring(overall, {}, by, alpha)
    rows: dict[Any, list[int]] = {}
    for i, part in enumerate(parts):
        rows.setdefault(part[:-1], []).append(i)
    options["alpha"] = alpha / len(rows)
    slices = {
        name: _run_monitor(
            [parts[i][-1] for i in indices],
            slice_sums[indices],
            _reference_sums(reference, source, by, name),
            options,
        )
        for name, indices in rows.items()
    }
    return Monitoring(overall, slices, by, alpha)


def _batches(evaluation: Any, time: str | None) -> tuple[Any, ...]:
    """Return (an evaluation, names of the slices' columns, times, their sums, slices with their
    times, their sums).
    """
    if isinstance(evaluation, Mapping) and len(cast(Any, evaluation)):
        evaluations = cast(Mapping[Any, Any], evaluation)
        for result in evaluations.values():
            _require_evaluation(result)
        first = next(iter(evaluations.values()))
        slice_sums = {
            when: result.calibration_sums(lambda slice_: slice_)
            for when, result in evaluations.items()
        }
        sums = [result.calibration_sums(lambda _: ())[1][0] for result in evaluations.values()]
        parts = [(*slice_, when) for when, (slices, _) in slice_sums.items() for slice_ in slices]
        stacked = np.concatenate([values for _, values in slice_sums.values()])
        return first, [*first.by], [*evaluations], np.array(sums), parts, stacked
    _require_evaluation(evaluation)
    source = cast(Any, evaluation)
    names = source.by[-1:] if time is None else [time]
    if len(names) != 1 or names[0] not in source.by:
        raise InputError(
            f"time must be one of the columns of the evaluation, {source.by}; got"
            f" {names[0] if names else None!r}."
        )
    index = source.by.index(names[0])
    by = [name for name in source.by if name != names[0]]
    times, sums = source.calibration_sums(lambda slice_: (slice_[index],))
    _require_times(names[0], times, sums)
    parts, slice_sums = source.calibration_sums(
        lambda slice_: (*slice_[:index], *slice_[index + 1 :], slice_[index])
    )
    return source, by, [when for (when,) in times], sums, parts, slice_sums


def _require_evaluation(evaluation: Any) -> None:
    if not isinstance(evaluation, Evaluation | ForecastEvaluation):
        raise InputError(
            f"evaluation must be a result of calibrant.evaluate; got a {type(evaluation).__name__}."
        )


def _require_times(name: str, times: Any, sums: np.ndarray) -> None:
    unknown = sum(
        float(_rows(batch))
        for (when,), batch in zip(times, sums, strict=True)
        if when is None or when != when
    )
    if unknown:
        raise InputError(
            f"{name} must be known for every row, to order them; {unknown:,.0f} rows have none;"
            " filter them out first."
        )


def _rows(sums):
    return sums[:, 0].sum() if sums.shape[1] == 3 else sums.sum()


def _options(evaluation: Any) -> dict[str, Any]:
    if evaluation.target == "forecast":
        return {"target": "forecast", "levels": evaluation.levels}
    return {"target": evaluation.target, "n_bins": evaluation.state.settings["n_bins"]}


def _run_monitor(
    times: Any, sums: np.ndarray, claim: np.ndarray | None, options: dict[str, Any]
) -> CalibrationMonitor:
    result = CalibrationMonitor(**options)
    if claim is not None:
        result.fit_sums(claim)
    for when, batch in zip(times, sums, strict=True):
        result.update_sums(batch, time=when)
    return result


def _reference_sums(
    reference: Any, evaluation: Any, by: Any, slice_: tuple[str] | None
) -> np.ndarray | None:
    """Return the sums of the reference for one slice (None: all rows), or None without a
    reference.
    """
    if reference is None:
        return None
    bins, reference_bins = (
        {k: v.state.settings.get(k) for k in ("n_bins", "grid", "levels")}
        for v in (evaluation, reference)
    )
    if bins != reference_bins:
        raise InputError(
            f"reference must have the bins of the evaluation, {bins}; got {reference_bins}."
        )
    if slice_ is None or reference.by != by:
        return reference.calibration_sums(lambda _: ())[1][0]
    parts, sums = reference.calibration_sums(lambda slice_: slice_)
    return sums[parts.index(slice_)] if slice_ in parts else np.zeros(sums.shape[1:])


def _summary(slice_monitor: CalibrationMonitor, level: float | None) -> dict[str, Any]:
    curve = named_by_target(slice_monitor.curve(level=level).to_dict(), slice_monitor.target)
    return {
        "n": slice_monitor.n_,
        "alarm": slice_monitor.alarm_,
        "alarm_time": slice_monitor.alarm_time_,
        "log_evidence": slice_monitor.log_evidence_,
        "threshold": slice_monitor.threshold_,
        "p_value": slice_monitor.p_value_,
        "advice": slice_monitor.advice().to_dict(),
        "curve": plain(curve),
    }


#: Bins whose hits vary less than this are tested together, because each bin alone would only add
#: noise.
LEAST_VARIANCE = 3.0


@dataclass(frozen=True, eq=False, repr=False)
class SliceTests:
    """Table with one entry a slice, worst first: by adjusted p-value, then by the size of the gap;
    it displays the first.

    Attributes
    ----------
    by : names of the columns of slices.
    slices : list of tuples, the values.
    n, confidence, accuracy, gap : (S,) arrays; the gap is accuracy minus confidence.
    p_value, adjusted : (S,) for each slice alone, and with correction for all slices.
    flagged : (S,) bool, adjusted <= alpha.
    alpha, method : the options of the test.
    target : "answer", "event" or "forecast". In tables confidence and accuracy are named mean_risk
        and event_rate for an event, and level and coverage for forecasts: those of the interval
        between the outermost levels.
    """

    by: list[Any]
    slices: list[Any]
    n: np.ndarray
    confidence: np.ndarray
    accuracy: np.ndarray
    gap: np.ndarray
    p_value: np.ndarray
    adjusted: np.ndarray
    flagged: np.ndarray
    alpha: float
    method: str
    target: Literal["answer", "event", "forecast"] = "answer"

    def columns(self) -> dict[str, Any]:
        """Column name -> values, one for each slice."""
        keys = {name: [part[j] for part in self.slices] for j, name in enumerate(self.by)}
        values = {
            name: getattr(self, name)
            for name in ("n", "confidence", "accuracy", "gap", "p_value", "adjusted", "flagged")
        }
        return keys | named_by_target(values, self.target)

    def frame(self) -> Any:
        """Return one row a slice, worst first, as a pandas data frame."""
        return import_extra("pandas", "a data frame of slices", "frames").DataFrame(self.columns())

    def to_dict(self) -> dict[str, Any]:
        """Return the results, ready for JSON."""
        columns = self.columns()
        rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        return plain({"by": self.by, "method": self.method, "alpha": self.alpha, "slices": rows})

    def __repr__(self) -> str:
        columns = self.columns()
        rows = [tuple(map(_cell_text, row)) for row in zip(*columns.values(), strict=True)]
        flagged = (
            f"{int(self.flagged.sum()):,} of {len(self.slices):,} slices flagged ({self.method},"
            f" alpha {self.alpha:g})"
        )
        return "\n".join([flagged, *text_table([str(name) for name in columns], rows, MOST_SHOWN)])


def _cell_text(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def worst_slices(
    evaluation: Evaluation | ForecastEvaluation,
    *,
    by: str | Sequence[str] | None = None,
    alpha: float = 0.05,
    method: Literal["bh", "holm"] = "bh",
    tolerance: float = 0.0,
) -> SliceTests:
    r"""Test the calibration of every slice of an evaluation, with correction for the number of
    slices.

    .. math:: p_b = 2 \min\left\{ P(B(n_b, \bar s_b + \epsilon) \ge h_b),\; P(B(n_b, \bar s_b -
        \epsilon) \le h_b) \right\},
        \qquad p = P\Big(\chi^2_{2m} \ge -2 \sum_b \log p_b\Big)

    over the m bins of a slice. Hits of rows with different scores have thinner tails than the
    binomial distribution B at their mean, one row or more away from it (Hoeffding), so p is valid
    for any number of rows. For forecasts the events are outcomes below the quantile of each level,
    and p is the smallest of the levels' p-values times their number (Bonferroni).

    Parameters
    ----------
    evaluation : Evaluation or ForecastEvaluation
        A result of :func:`calibrant.evaluate`; its sums are enough.
    by : list of str, optional
        Some of the names in ``evaluation.by``, with rows merged over the others; default all.
    alpha : float, default 0.05
    method : {"bh", "holm"}
        "bh" (Benjamini-Hochberg): among the flagged slices, the expected share of false ones is at
        most alpha. "holm": the probability of any false one is at most alpha.
    tolerance : float, default 0
        Gaps up to this count as calibrated.

    Returns
    -------
    SliceTests
        ``.frame()`` and ``.to_dict()`` are sorted worst first.

    Raises
    ------
    InputError

    See Also
    --------
    evaluate : makes its input.
    metrics.worst_group : one metric, for rows in memory.

    Notes
    -----
    Use it on one period of time; for several in succession, use :func:`calibrant.monitor`. Sums of
    weighted rows make it reject too often: the rows must be independent.

    References
    ----------
    Hoeffding, "On the distribution of the number of successes in independent trials", Annals of
    Mathematical Statistics 27, 1956. Benjamini and Hochberg, "Controlling the false discovery
    rate", JRSS B 57, 1995. Holm, Scandinavian Journal of Statistics 6, 1979.

    Examples
    --------
    >>> import pandas as pd
    >>> import calibrant as cb
    >>> logs = pd.DataFrame(
    ...     {
    ...         "p": [0.9] * 200,
    ...         "label": [1] * 90 + [0] * 10 + [1] * 60 + [0] * 40,
    ...         "site": ["a"] * 100 + ["b"] * 100,
    ...     }
    ... )
    >>> found = cb.monitoring.worst_slices(cb.evaluate(logs, probabilities="p", by="site"))
    >>> found.slices, found.flagged.tolist()
    ([('b',), ('a',)], [True, False])
    """
    if not isinstance(evaluation, Evaluation | ForecastEvaluation):
        raise InputError(
            f"evaluation must be a result of calibrant.evaluate; got a {type(evaluation).__name__}."
        )
    require_option("method", method, ("bh", "holm"))
    names = evaluation.by if by is None else [by] if isinstance(by, str) else list(by)
    unknown = [name for name in names if name not in evaluation.by]
    if unknown or not names:
        raise InputError(f"by must be some of {evaluation.by}; got {by!r}.")
    index = [evaluation.by.index(name) for name in names]
    slices, sums = evaluation.calibration_sums(lambda slice_: tuple(slice_[j] for j in index))
    if isinstance(evaluation, ForecastEvaluation):
        p = np.array([_forecast_p_value(bins, evaluation.levels, tolerance) for bins in sums])
        stated = PitClaim(evaluation.levels).stated(sums)
    else:
        p, stated = _p_values(sums, tolerance), sums.sum(axis=1)
    adjusted = _adjusted(p, method)
    n, total, hits = stated.T
    confidence, accuracy = quotient(total, n), quotient(hits, n)
    order = np.lexsort([-np.abs(accuracy - confidence), p])
    n, confidence, accuracy, p, adjusted = (
        column[order] for column in (n, confidence, accuracy, p, adjusted)
    )
    slices = [slices[i] for i in order]
    columns = n, confidence, accuracy, accuracy - confidence, p, adjusted, adjusted <= alpha
    return SliceTests(names, slices, *columns, alpha, method, evaluation.target)


def _p_values(sums: np.ndarray, tolerance: float) -> np.ndarray:
    """Return the p-values of slices, from their bins (P, B, 3)."""
    share = quotient(sums[..., 1], sums[..., 0])
    small = sums[..., 1] * (1.0 - np.where(sums[..., 0] > 0.0, share, 1.0)) < LEAST_VARIANCE
    pooled, separate = (np.where(mask[..., None], sums, 0.0) for mask in (small, ~small))
    tested = np.concatenate([separate, pooled.sum(axis=1, keepdims=True)], axis=1)
    n, total, hits = np.moveaxis(tested, -1, 0)
    score = np.where(n > 0.0, quotient(total, n), 0.0)
    above = _tail(hits, n, np.minimum(score + tolerance, 1.0))
    below = _tail(n - hits, n, np.minimum(1.0 - score + tolerance, 1.0))
    p = np.clip(2.0 * np.minimum(above, below), np.finfo(np.float64).tiny, 1.0)
    evidence = -2.0 * np.log(np.where(n > 0.0, p, 1.0)).sum(axis=1)
    return scipy.stats.chi2.sf(evidence, 2 * np.count_nonzero(n, axis=1))


def _forecast_p_value(counts: np.ndarray, levels: np.ndarray, tolerance: float) -> float:
    """Return the p-value of one slice's (C, C) counts, over levels by Bonferroni: too many rows
    certainly below a level, or too few possibly below.
    """
    n = np.full(len(levels), counts.sum())
    surely, maybe = (np.cumsum(counts.sum(axis=axis))[:-1] for axis in (0, 1))
    above = _tail(surely, n, np.minimum(levels + tolerance, 1.0))
    below = _tail(n - maybe, n, np.minimum(1.0 - levels + tolerance, 1.0))
    return float(
        np.clip(2.0 * len(levels) * np.minimum(above, below).min(), np.finfo(np.float64).tiny, 1.0)
    )


def _tail(hits: np.ndarray, n: np.ndarray, rate: np.ndarray) -> np.ndarray:
    """Return P(B(n, rate) >= hits), or 1 if the hits exceed their expectation by less than one,
    where the bound does not hold.
    """
    tail = np.where(
        hits > 0.0,
        special.betainc(np.maximum(hits, 1e-300), np.maximum(n - hits, 0.0) + 1.0, rate),
        1.0,
    )
    return np.where(hits >= n * rate + 1.0, tail, 1.0)


def _adjusted(p: np.ndarray, method: str) -> np.ndarray:
    if method == "bh":
        return scipy.stats.false_discovery_control(p, method="bh")
    order = np.argsort(p)
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)), 1.0)
    return adjusted
