"""Report as data, for classes and for forecasts: read the arguments once, calibrate, measure and
write the verdict; a short audit of groups; and the report of each domain.

The audit is before and after calibration. The report of a domain is imported when it is made.
"""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from calibrant.audits.audit import audit_record
from calibrant.audits.sample import columns_of, shown_groups
from calibrant.core.arrays import require_pairs
from calibrant.core.calibrator import Calibrator
from calibrant.core.domain import Facet, columns_named, domain_of_input
from calibrant.core.estimators import require_count, seeded
from calibrant.core.groups import WeightKind, clustered, label_columns
from calibrant.core.reading import CLASSIFICATION, REGRESSION
from calibrant.core.text_table import percent
from calibrant.errors import InputError
from calibrant.questions.domain import QUESTIONS
from calibrant.reporting.compared import (
    Choice,
    Compared,
    against_chosen,
    alternatives,
    applied,
    best,
    choice,
    compare,
    final,
    groups_of,
    resolve,
    several,
)
from calibrant.reporting.compared_scores import Score, score_table
from calibrant.reporting.drift import Drift, drift, methods_by_class, read_times
from calibrant.reporting.event.task import EVENT
from calibrant.reporting.judge import CALIBRATED, Changed, Evidence, changed_of
from calibrant.reporting.miscalibration import Miscalibration, surely
from calibrant.reporting.quality import evaluation_cautions
from calibrant.reporting.report_table import Asked, Decisions, ReportTable
from calibrant.reporting.states import by_feature, by_group, worth_of
from calibrant.reporting.summary import About, Method, Part, Summary, Verdict, period_of

if TYPE_CHECKING:
    from calibrant.reporting.report_table import ReportTable

__all__ = [
    "TABLES",
    "audited",
    "drawn_groups",
    "drawn_row",
    "part_of",
    "summarise",
    "summary_of",
    "worst_groups",
]


#: Draws of the audit's null, and groups that are off of which the report holds the names.
AUDIT_DRAWS, AUDITED = 400, 12
#: Groups shown before and after: so many that are worst before, and so many that are after.
WORST = 6
#: Most levels, and most crossings that are off, to draw; the audit itself returns all.
LEVELS, CROSSINGS = 20, 12


def audited(table: ReportTable, found: Compared, asked: Asked) -> dict[str, Any] | None:
    """{"before": ..., "after": ..., "worst": the worst groups of either, "drawn": those of the
    picture} of the audit of all columns of groups; None of one group.

    Of an event, the rows are yes or no.
    """
    options = {"level": asked.level, "n_draws": AUDIT_DRAWS, "random_state": asked.random_state}
    both = found.both(lambda record: audit_record(*table.audited(record), asked.columns, **options))
    if both["before"] is None:
        return None
    return {
        **{when: None if one is None else _told(one) for when, one in both.items()},
        "worst": _worst(both["before"], both["after"]),
        "drawn": drawn_groups(both["before"], both["after"]),
    }


def drawn_groups(
    before: Any, after: Any = None, most: tuple[int, int] = (LEVELS, CROSSINGS)
) -> dict[str, Any]:
    """Return the groups to draw: ``levels`` of every column, in the columns' order, those that are
    off first where they are too many; ``crossings`` that are off; and the number of ``others``, of
    which ``few`` have too few rows to tell. ``most`` limits levels and crossings.
    """
    then = {} if after is None else {one.name: one for one in after.groups}
    shown = [(one, then.get(one.name)) for one in before.groups]
    order = {column: None for one, _ in shown for column in one.where}
    levels = [pair for pair in shown if len(pair[0].where) == 1]
    levels = sorted(levels, key=lambda pair: not _off(*pair))[: most[0]]
    levels.sort(key=lambda pair: list(order).index(next(iter(pair[0].where))))
    crossings = [pair for pair in shown if len(pair[0].where) > 1 and _off(*pair)][: most[1]]
    chosen = {one.name for one, _ in (*levels, *crossings)}
    rest = [then.get(one.name, one) for one, _ in shown if one.name not in chosen]
    return {
        "levels": [drawn_row(*pair) for pair in levels],
        "crossings": [drawn_row(*pair) for pair in crossings],
        "others": len(rest),
        "few": sum(one.outcome == "not enough data" for one in rest),
    }


def _off(before: Any, after: Any) -> bool:
    """Whether a group is off before or after."""
    return any(one is not None and one.outcome == "off" for one in (before, after))


def drawn_row(before: Any, after: Any = None) -> dict[str, Any]:
    """Return a group's name, its rows, and its gap before and after."""
    return {
        "group": before.name,
        "n": before.n,
        "before": _gap(before),
        "after": _gap(after),
    }


def _worst(before: Any, after: Any) -> list[dict[str, Any]]:
    """Return the worst groups before and after, with the audit's results for each."""
    each = [[] if audit is None else audit.groups for audit in (before, after)]
    known = [{one.name: one for one in groups} for groups in each]
    names = dict.fromkeys(one.name for groups in each for one in groups[:WORST])
    return [drawn_row(known[0][name], known[1].get(name)) for name in names]


def _gap(one: Any) -> dict[str, float] | None:
    return (
        None
        if one is None
        else {
            name: getattr(one, name) for name in ("said", "came", "gap", "low", "high", "outcome")
        }
    )


def _told(audit: Any) -> dict[str, Any]:
    """Summarise an audit; ``calibrant.audit`` returns every group's row."""
    off = [one.name for one in audit.off[:AUDITED]]
    counts = {
        "n_groups": len(audit.groups),
        "n_off": len(audit.off),
        "largest_gap": audit.largest_gap,
    }
    return {"sentence": audit.sentence, **counts, "null": audit.null, "off": off}


def worst_groups(audit: dict[str, Any]) -> str | None:
    """Name the worst group that is off, and the number of others."""
    if not audit["off"]:
        return None
    if audit["n_off"] == audit["n_groups"] > 1:
        return f"{EVERY} {audit['n_off']} groups"
    others = audit["n_off"] - 1
    more = f" and {others} other group{'s' if others > 1 else ''}" if others else ""
    return f"{audit['off'][0]}{more}"


def _of_classes() -> "ReportTable":
    from calibrant.reporting.classification import CLASSIFICATION as table

    return table


def _of_numbers() -> "ReportTable":
    from calibrant.reporting.regression.task import REGRESSION as table

    return table


def _of_questions() -> "ReportTable":
    from calibrant.reporting.questions import QuestionTable

    return QuestionTable()


TABLES: "Facet[ReportTable]" = Facet("report")
TABLES.register(CLASSIFICATION, _of_classes)
TABLES.register(REGRESSION, _of_numbers)
TABLES.register(QUESTIONS, _of_questions)


#: Of a feature that is a number.
PARTS = 5
#: Factor of the calibrator's own noise in the limit of the error after it.
NOISE = 1.5
#: How the name of all groups together begins.
EVERY = "all"


@seeded
def summarise(
    y: ArrayLike,
    P: ArrayLike,
    std: ArrayLike | None = None,
    *,
    calibrator: Sequence[Calibrator] | Calibrator | None = None,
    test: tuple[np.ndarray, np.ndarray, None] | None = None,
    groups: np.ndarray | None = None,
    times: np.ndarray | None = None,
    cluster: ArrayLike | None = None,
    weight_kind: WeightKind = "frequency",
    features: Any = None,
    every: Literal["auto", "hour", "day", "week", "month", "year"] = "auto",
    n_splits: int | None = None,
    in_sample: bool | None = None,
    n_bins: int | None = None,
    level: float = 0.95,
    n_resamples: int = 1000,
    random_state: int = 0,
    title: str | None = None,
    model: str | None = None,
    event: str | None = None,
    period: str | None = None,
    version: str | None = None,
    progress: Callable[..., Any] | None = None,
    target: Any = None,
    margin: float | None = None,
    thresholds: ArrayLike | None = None,
    cost_false_positive: float | None = None,
    cost_false_negative: float | None = None,
    **reading: Any,
) -> Summary:
    """Measure predictions, or forecasts of a number, before and after calibration, and add a
    verdict.

    Parameters
    ----------
    y, P, std, calibrator
        As for :func:`calibrant.report`. Of several calibrators the report is about the one with the
        lowest log loss; of forecasts, with the lowest CRPS, relative to that before and averaged
        over the outputs, among those that do not worsen the NLL (best of several, so a little
        lucky).
    test : (y_test, P_test), (y_test, P_test, weight_test) or (y_test, P_test, weight_test,
        groups_test[, X_test]), optional
        Fit on all of ``y, P`` and measure on these rows instead; of forecasts, ``(mean, std)`` is
        P_test.
    groups : (n,) labels of any kind, or a frame of several columns, whose combinations are the
        groups; optional
        Of the rows measured (those of ``test``, if given): their gaps between confidence and
        accuracy, or coverage, the worst first. A calibrator that takes groups, as the automatic
        choice and :class:`GroupCalibrator`, is given them, too. Where ``test`` has groups of its
        own, these are those of ``y, P``.
    features : frame, mapping or (n, c) array of columns, optional
        Of the rows measured, what the model saw or what it did not: the gaps in the levels of each,
        of numbers in five parts, the worst first.
    times : (n,) dates, optional
        Of the rows measured: the calibration over time, by group too, and whether it has changed.
    cluster : (n,) labels of any kind, optional
        Clusters of dependent rows among those measured (visits of one patient, answers to one
        question). Every interval and test then counts clusters, and folds do not split them.
        Metrics without a clustered interval have none: a binned calibration error is shown beside
        the one expected by chance. Not with ``times``, whose alarm counts rows.
    weight_kind : {"frequency", "sampling"}
        Weights count repeated rows, or correct a sampling design or importance ("sampling").
    every : {"auto", "hour", "day", "week", "month", "year"}
        Of ``times``; "auto" is the shortest that makes at most 40 of them.
    n_splits : int, optional
        Number of folds in which an unfitted calibrator is fitted again. Default: 5; the automatic
        choice uses the folds of its own fit.
    in_sample : bool, optional
        Whether a fitted calibrator was fitted on these rows. Default: found out by fitting it again
        and comparing.
    n_bins : int, optional
        Bins of the reliability curve and the calibration errors, 15; of forecasts, bins of the
        error against the predicted std, 10, fewer where that would leave less than 30 rows a bin.
    level : float, default 0.95
        Of all intervals.
    n_resamples : int, default 1000
        Of the bootstrap.
    random_state : int, default 0
    title, model, event, period, version : str, optional
        Names for the head of the page: of the report (default: the model, or "Calibration report"),
        of the model, of the event in words, of the time of the rows (default: from ``times``), and
        the model's version.
    target : {"event", "answer", "classes"} or a class label, optional
        The question asked of classes: how likely is the event (the second of two classes; or the
        class named, against the rest), how likely is the model's own answer right, or how likely is
        each class. Default: the event of two classes, the classes of more; the answer where a
        calibrator gives confidences alone.
    margin : float in (0, 1), optional
        The largest error that would not matter, in probability; of error bars, of the coverage of
        90 % intervals. Default: .02, 2 points, and of an event, or its absence, rarer than one row
        in ten a fifth of its rate. Beyond it they are "off".
    thresholds : (m,) in (0, 1), optional
        Of decisions on an event, to be looked at one by one.
    cost_false_positive, cost_false_negative : float, optional
        Of a wrong alarm and of a missed event, in any unit: they set the threshold, and the cost of
        each.
    progress : callable, optional
        Called with each finished fold's number.
    **reading
        Of classes ``inputs``, ``classes``, ``sample_weight``, ``X`` and ``reference``, as for
        ``Calibrator.fit``; by default those of the calibrator. Of forecasts ``sample_weight``, and
        ``outputs``, the names of their outputs (default: a frame's).

    Returns
    -------
    Summary

    Raises
    ------
    InputError
        When the predictions cannot be read or the arguments contradict each other.
    TypeError
        For an unknown option; the message lists the known ones.

    Examples
    --------
    >>> summary = summarise([0, 1, 1, 0, 1, 0], [0.2, 0.7, 0.9, 0.4, 0.4, 0.1], n_splits=2)
    >>> summary.data["n"], summary.calibrator.evaluation
    (6.0, 'out-of-fold')
    """
    if margin is not None and not 0.0 < margin < 1.0:
        raise InputError(f"margin must be between 0 and 1, as .02 for 2 points; got {margin!r}.")
    require_count("n_bins", 1 if n_bins is None else n_bins)
    table = TABLES[domain_of_input(P, std, calibrator)]
    _refuse_unknown(reading, table)
    named = several(calibrator, table.domain) or {"": resolve(calibrator, table.domain)}
    of_fit, groups = groups_of(groups, test, named)
    record, names = table.read(y, P, std, next(iter(named.values())), groups=of_fit, **reading)
    require_pairs(record.weight, "the intervals of a report")
    test = None if test is None else table.read_test(test, record)
    target = table.question(target, record, named.values())
    record, test, measured = _clustered(record, test, cluster, weight_kind, times)
    labelled = columns_named(measured) if groups is None else label_columns(groups, measured)
    asked = Asked(
        shown_groups(labelled, PARTS, measured.weights) if labelled else None,
        labelled or None,
        _parts_of(features, measured),
        read_times(times, every, measured),
        table.n_bins if n_bins is None else n_bins,
        level,
        n_resamples,
        random_state,
        Decisions(thresholds, cost_false_positive, cost_false_negative),
        margin,
    )
    options = {"test": test, "n_splits": n_splits, "in_sample": in_sample}
    options |= {"random_state": random_state, "progress": progress}
    compared = {name: compare(record, one, **options) for name, one in named.items()}
    period = period_of(asked.times) if period is None else period
    about = About.of(
        measured, {"model": model, "event": event, "period": period, "version": version}
    )
    title = str(title or model or "Calibration report")
    return summary_of(
        table, compared, record, names, target, asked, n_resamples, title, about=about
    )


def summary_of(
    table: ReportTable,
    compared: dict[str, Compared],
    record: Any,
    names: Sequence[Any],
    target: Any,
    asked: Asked,
    n_resamples: int,
    title: str,
    used: Any = None,
    about: About | None = None,
) -> Summary:
    """The summary of rows compared before and after; ``used`` is the calibrator to use, where it
    is not to be fitted on the record.
    """
    level, facts, event = asked.level, {}, table.event(target)
    if event is not None:
        table, facts = EVENT, {"event": str(record.classes[record.position(event)])}
        compared = {
            name: one.seen_as(lambda whole: whole.as_pair(event)) for name, one in compared.items()
        }
    chosen, tables = _measured(table, compared, asked, n_resamples)
    found, used = compared[chosen], final(compared[chosen], record) if used is None else used
    method = Method.of(found, chosen)
    each = zip(found.outputs(), tables[chosen], names, strict=True)
    noise = _fold_noise(table, found, used, event)
    parts = [
        part_of(table, one, scores, name, method.name, asked, used, noise=noise)
        for one, scores, name in each
    ]
    chosen_for = choice(used, record)
    data = (
        table.data(found.before, names)
        if found.whole is None
        else {**table.data(found.whole.before, names), **facts}
    )
    return Summary(
        table.domain.name,
        target if found.whole is None else "event",
        title,
        level,
        About.of(found.before, {}) if about is None else about,
        data,
        method,
        with_code(table.overall({part.name: part.verdict for part in parts}), chosen_for),
        [*evaluation_cautions(found.evaluation, dated=asked.dated), *_cautions(parts)],
        parts,
        chosen_for,
        _alternatives(compared, chosen, tables, names, level),
        methods_by_class(compared, level)
        if "" not in compared and target in ("answer", "classes")
        else None,
    )


def with_code(verdict: Verdict, found: Choice | None) -> Verdict:
    """Return the verdict with the code of the calibrator, where it is advised; what the verdict has
    as code says on which rows.
    """
    if found is None:
        return replace(verdict, code=[])
    if verdict.state not in (*CALIBRATED, "it has changed"):
        return verdict
    return replace(verdict, code=[*found.code[:1], *verdict.code, *found.code[1:]])


def _fold_noise(table: ReportTable, found: Compared, used: Any, event: Any) -> float:
    """Standard deviation of the calibrator's probabilities, by the jackknife of the folds: from the
    distance of those out of fold to those of the calibrator of all rows; 0 where it is not known.
    """
    if found.evaluation != "out-of-fold" or found.n_splits is None or not table.rates:
        return 0.0
    again = applied(used, found.before if found.whole is None else found.whole.before)
    again = again if event is None else again.as_pair(event)
    moved = table.said(found.after)[0] - table.said(again)[0]
    mean = np.average(moved * moved, weights=found.before.weights)
    return float(np.sqrt((found.n_splits - 1) * mean))


def _alternatives(
    compared: dict[str, Compared], chosen: str, tables: Any, names: Sequence[Any], level: float
) -> list[Any]:
    """Return the calibrators compared, where the user gave several."""
    if "" in compared:
        return []
    against = against_chosen(compared, chosen, level)
    return alternatives(compared, chosen, tables, names, against)


def _clustered(
    record: Any, test: Any, cluster: Any, weight_kind: WeightKind, times: np.ndarray | None
) -> tuple[Any, ...]:
    """(record, test, the one of them whose rows are measured), that one with its clusters."""
    if times is not None and cluster is not None:
        raise InputError(
            "times and cluster exclude each other: the alarm for a change counts rows as"
            " independent; leave one of them out."
        )
    measured = clustered(record if test is None else test, cluster, weight_kind)
    return (measured, None, measured) if test is None else (record, measured, measured)


def _parts_of(features: Any, record: Any) -> list[Any] | None:
    """The columns, cut into parts."""
    if features is None:
        return None
    named = [
        (name or f"feature {j + 1}", values)
        for j, (name, values) in enumerate(label_columns(features, record, "features"))
    ]
    return columns_of(named, PARTS, record.weights)


def _refuse_unknown(reading: Any, table: Any) -> None:
    known = [
        name
        for one in (summarise, table.read)
        for name, p in inspect.signature(one).parameters.items()
        if p.kind is p.KEYWORD_ONLY
    ]
    for name in reading:
        if name not in known:
            raise TypeError(f"report has no option {name!r}; it has {known}.")


def _measured(
    table: Any, compared: dict[str, Compared], asked: Asked, n_resamples: int
) -> tuple[str, dict[str, list[Any]]]:
    """The name of the best, and {name: for each output its scores}."""

    def scored(found: Compared, n: int) -> list[list[Score]]:
        return [
            score_table(
                one.before,
                one.after,
                table.measures(one.before, asked.n_bins, n),
                level=asked.level,
                folds=one.folds,
                random_state=asked.random_state,
            )
            for one in found.outputs()
        ]

    enough = table.resamples_all or len(compared) == 1
    tables = {name: scored(found, n_resamples if enough else 0) for name, found in compared.items()}
    chosen = best(compared, tables)
    return chosen, tables if enough else {**tables, chosen: scored(compared[chosen], n_resamples)}


def part_of(
    table: ReportTable,
    found: Compared,
    scores: list[Score],
    name: str | None,
    method: str,
    asked: Asked,
    used: Any,
    seen: Compared | None = None,
    noise: float = 0.0,
) -> Part:
    """All that is said of one output; ``seen`` is what is read of its rows, where it does not
    come from the records, and ``noise`` that of the calibrator.
    """
    before, shown, seen = (
        found.before,
        found.shown,
        found.seen_as(lambda record: table.seen(record, asked)) if seen is None else seen,
    )
    quality = table.quality(seen.before, seen.calibration)
    chance = {
        when: None if one is None else table.chance(one, asked, when == "after")
        for when, one in _unseen(seen, found.evaluation).items()
    }
    of, groups, features = "before" if shown is before else "after", asked.groups, asked.features
    against = _against(table, seen, asked, found.evaluation, noise)
    audit = None if groups is None else audited(table, found, asked)
    told = {score.key: score for score in scores}
    over_time = drift(asked.times, found.both(table.said), of, before.weight, groups, table.target)
    evidence = Evidence(
        against["before"],
        against["after"],
        next(iter(table.vetoes(seen.before, quality)), None),
        table.few(quality),
        table.example(seen.before, asked.level),
        None if against["after"] is None else table.gain(told, against["before"].n, found.fitted),
        changed_of(over_time) or _averaged_change(table, found, asked, over_time),
        *_of_groups(audit, of, table.rates),
        groups is not None and found.calibrator.tags.takes_groups,
    )
    sections = table.sections(seen, asked, used, chance)
    return Part(
        name=name,
        quality=quality,
        cautions=[*table.cautions(seen.before, quality), *table.section_cautions(sections)],
        chance=chance["before"],
        chance_after=chance["after"],
        miscalibration=against,
        verdict=table.verdict(
            told,
            chance["before"],
            quality,
            method,
            found.evaluation,
            evidence,
        ),
        of=of,
        groups=(
            None
            if groups is None
            else by_group(
                _gaps(table, shown, [(groups.index, len(groups))], asked.level), groups.texts
            )
        ),
        features=(
            None
            if features is None
            else by_feature(_gaps(table, shown, _sizes(features), asked.level), features)
        ),
        audit=audit,
        drift=over_time,
        scores=scores,
        sections=sections,
    )


def _averaged_change(
    table: ReportTable, found: Compared, asked: Asked, over_time: Drift | None
) -> Changed | None:
    """Return the change of the uncalibrated predictions where the calibrated ones have no alarm: a
    fit over both periods averages them.
    """
    if over_time is None or over_time.of == "before":
        return None
    pairs = {"before": table.said(found.before), "after": None}
    return changed_of(
        drift(asked.times, pairs, "before", found.before.weight, None, table.target), sure=True
    )


def _of_groups(
    audit: dict[str, Any] | None, of: str, rates: bool
) -> tuple[str | None, str, float, bool]:
    """(the worst groups in words, the worst before calibration, by how much the worst is surely
    off, whether the calibration repaired any).
    """
    if audit is None:
        return None, "", 0.0, False
    last = audit[of] or audit["before"]
    gaps = [one[of] or one["before"] for one in audit["worst"]]
    sure = [surely(gap["low"], gap["high"]) for gap in gaps if gap["outcome"] == "off"]
    after = audit["after"]
    repaired = after is not None and after["n_off"] < audit["before"]["n_off"]
    worst = audit["worst"][0]
    predicted, observed = (percent(worst["before"][key]) for key in ("said", "came"))
    words = f"for {worst['group']}, where {predicted} is predicted and {observed} observed"
    words = words if rates and audit["before"]["n_off"] else ""
    return worst_groups(last), words, max(sure, default=0.0), repaired


def _against(
    table: ReportTable, seen: Compared, asked: Asked, evaluation: str, noise: float
) -> dict[str, Miscalibration | None]:
    """Test for miscalibration before and, if the calibration has not seen the rows, after; the
    typical error after it includes the ``noise`` of the calibrator.
    """
    found = {
        when: (
            None
            if one is None
            else table.against(one, asked.groups, asked.margin, when == "after", asked.random_state)
        )
        for when, one in _unseen(seen, evaluation).items()
    }
    after = found["after"]
    if after is not None:
        found["after"] = replace(after, high=float(np.hypot(after.high, NOISE * noise)))
    return found


def _unseen(seen: Compared, evaluation: str) -> dict[str, Any]:
    """The rows before and, if the calibration has not seen them, after it."""
    unseen = evaluation in ("out-of-fold", "held-out")
    return {"before": seen.before, "after": seen.after if unseen else None}


def _sizes(features: list[Any]) -> list[tuple[np.ndarray, int]]:
    return [(one.index, len(one.levels)) for one in features]


def _gaps(table: Any, shown: Any, parted: list[tuple[np.ndarray, int]], level: float) -> list[Any]:
    """The gaps of all parts of the rows by each of several (index (n,), number of parts), with
    intervals that hold together.
    """
    hit = table.said(shown)[1]
    worths = [(count, worth_of(shown, hit, index, count)) for index, count in parted]
    sums = np.concatenate([table.sums(shown, index, count) for index, count in parted])
    return table.gaps(
        sums,
        level,
        lambda level: np.concatenate(
            [np.broadcast_to(worth(level), count) for count, worth in worths]
        ),
    )


def _cautions(parts: list[Part]) -> Any:
    """Those of all outputs, each with the name of its own where there are several."""
    return [
        f"{part.name}: {caution}" if len(parts) > 1 else caution
        for part in parts
        for caution in part.cautions
    ]
