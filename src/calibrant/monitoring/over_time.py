"""Monitoring of an evaluation over time, slice by slice."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from calibrant.core.extras import import_extra
from calibrant.core.guarantee import plain
from calibrant.core.text_table import MOST_SHOWN, cut_note
from calibrant.errors import InputError
from calibrant.monitoring.monitor import CalibrationMonitor
from calibrant.tables.evaluation import Evaluation, ForecastEvaluation, named_by_target

__all__ = ["Monitoring", "monitor"]


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
        found = [name for name, each in self.slices.items() if each.alarm_]
        return sorted(found, key=lambda name: -max(self.slices[name].path_))

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
        found, now = [({}, self.overall)], set(self.discoveries)
        found += [(dict(zip(self.by, name, strict=True)), one) for name, one in self.slices.items()]
        keys = ("decision", "changed", "since", "gain", "standard_error", "reason")
        said = list[dict[str, Any]]()
        for name, one in found:
            advice = one.advice().to_dict()
            row = {"slice": plain(name), "n": one.n_, "alarm": one.alarm_}
            row |= {"alarm_time": one.alarm_time_, "p_value": one.p_value_}
            row |= {"discovery": tuple(name.values()) in now}
            said.append(plain(row | {key: advice[key] for key in keys}))
        return said

    def frame(self) -> Any:
        """Return one row a slice and time, with the slices' curves one after the other (all rows if
        there are no slices).

        Errors of slices have no intervals, which would take long for thousands;
        ``slices[...].curve()`` returns them.
        """
        pandas = import_extra("pandas", "a data frame of monitors", "frames")
        curves = [each.curve(level=None) for each in self.slices.values()] or [self.overall.curve()]
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
            dict(zip(self.by, plain(values), strict=True)) | _said(each, None)
            for values, each in self.slices.items()
        ]
        return {
            "alpha": self.alpha,
            "by": self.by,
            "overall": _said(self.overall, 0.95),
            "slices": slices,
            "discoveries": plain(self.discoveries),
        }

    def __repr__(self) -> str:
        rung = self.alarms
        lines = [f"All rows: {self.overall.advice()}"]
        if self.slices:
            lines.append(f"Alarms: {len(rung):,} of {len(self.slices):,} slices")
        lines += [
            f"{', '.join(map(str, name))}: {self.slices[name].advice()}"
            for name in rung[:MOST_SHOWN]
        ]
        return "\n".join(
            [*lines, *cut_note(min(len(rung), MOST_SHOWN), len(rung), "alarms has all")]
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
    whole, by, times, sums, parts, own = _batches(evaluation, time)
    options = _options(whole) | {"alpha": alpha, "tolerance": tolerance}
    overall = _watched(times, sums, _claim(reference, whole, by, None), options)
    if not by:
        return Monitoring(overall, {}, by, alpha)
    rows: dict[Any, list[int]] = {}
    for i, part in enumerate(parts):
        rows.setdefault(part[:-1], []).append(i)
    options["alpha"] = alpha / len(rows)
    slices = {
        name: _watched(
            [parts[i][-1] for i in held], own[held], _claim(reference, whole, by, name), options
        )
        for name, held in rows.items()
    }
    return Monitoring(overall, slices, by, alpha)


def _batches(evaluation: Any, time: str | None) -> tuple[Any, ...]:
    """Return (an evaluation, names of the slices' columns, times, their sums, slices with their
    times, their sums).
    """
    if isinstance(evaluation, Mapping) and len(cast(Any, evaluation)):
        named = cast(Mapping[Any, Any], evaluation)
        for one in named.values():
            _require_evaluation(one)
        first = next(iter(named.values()))
        own = {when: one.calibration_sums(lambda slice_: slice_) for when, one in named.items()}
        sums = [one.calibration_sums(lambda _: ())[1][0] for one in named.values()]
        parts = [(*slice_, when) for when, (slices, _) in own.items() for slice_ in slices]
        each = np.concatenate([held for _, held in own.values()])
        return first, [*first.by], [*named], np.array(sums), parts, each
    _require_evaluation(evaluation)
    whole = cast(Any, evaluation)
    names = whole.by[-1:] if time is None else [time]
    if len(names) != 1 or names[0] not in whole.by:
        raise InputError(
            f"time must be one of the columns of the evaluation, {whole.by}; got"
            f" {names[0] if names else None!r}."
        )
    at = whole.by.index(names[0])
    by = [name for name in whole.by if name != names[0]]
    times, sums = whole.calibration_sums(lambda slice_: (slice_[at],))
    _require_known(names[0], times, sums)
    parts, own = whole.calibration_sums(
        lambda slice_: (*slice_[:at], *slice_[at + 1 :], slice_[at])
    )
    return whole, by, [when for (when,) in times], sums, parts, own


def _require_evaluation(evaluation: Any) -> None:
    if not isinstance(evaluation, Evaluation | ForecastEvaluation):
        raise InputError(
            f"evaluation must be a result of calibrant.evaluate; got a {type(evaluation).__name__}."
        )


def _require_known(name: str, times: Any, sums: np.ndarray) -> None:
    unknown = sum(
        float(_rows(each))
        for (when,), each in zip(times, sums, strict=True)
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


def _watched(
    times: Any, sums: np.ndarray, claim: np.ndarray | None, options: dict[str, Any]
) -> CalibrationMonitor:
    made = CalibrationMonitor(**options)
    if claim is not None:
        made.fit_sums(claim)
    for when, each in zip(times, sums, strict=True):
        made.update_sums(each, time=when)
    return made


def _claim(
    reference: Any, evaluation: Any, by: Any, slice_: tuple[str] | None
) -> np.ndarray | None:
    """Return the sums of the reference for one slice (None: all rows), or None without a
    reference.
    """
    if reference is None:
        return None
    ours, theirs = (
        {k: v.state.settings.get(k) for k in ("n_bins", "grid", "levels")}
        for v in (evaluation, reference)
    )
    if ours != theirs:
        raise InputError(f"reference must have the bins of the evaluation, {ours}; got {theirs}.")
    if slice_ is None or reference.by != by:
        return reference.calibration_sums(lambda _: ())[1][0]
    parts, sums = reference.calibration_sums(lambda slice_: slice_)
    return sums[parts.index(slice_)] if slice_ in parts else np.zeros(sums.shape[1:])


def _said(each: CalibrationMonitor, level: float | None) -> dict[str, Any]:
    curve = named_by_target(each.curve(level=level).to_dict(), each.target)
    return {
        "n": each.n_,
        "alarm": each.alarm_,
        "alarm_time": each.alarm_time_,
        "log_evidence": each.log_evidence_,
        "threshold": each.threshold_,
        "p_value": each.p_value_,
        "advice": each.advice().to_dict(),
        "curve": plain(curve),
    }
