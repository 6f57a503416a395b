"""Report as data, in five stages: read the options, calibrate, measure, judge, and put together
what the pages show.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from numpy.typing import ArrayLike

from calibrant.core.arrays import require_pairs
from calibrant.core.calibrator import Calibrator
from calibrant.core.domain import domain_of_input
from calibrant.core.estimators import seeded
from calibrant.core.groups import clustered
from calibrant.metrics.several import CHOSEN_BY
from calibrant.reporting.calibrate import (
    Choice,
    Compared,
    against_chosen,
    alternatives,
    choice,
    compare,
    final,
    groups_of,
    resolve,
    several,
)
from calibrant.reporting.drift import methods_by_class
from calibrant.reporting.event.task import EVENT
from calibrant.reporting.judge import CALIBRATED, evidence_of, judged
from calibrant.reporting.measure import TABLES, fold_noise, measure, score_all
from calibrant.reporting.options import ReportOptions, Settings
from calibrant.reporting.quality import evaluation_cautions
from calibrant.reporting.report_table import ReportTable
from calibrant.reporting.summary import (
    About,
    Measured,
    Method,
    Part,
    Summary,
    Verdict,
    call_of,
    period_of,
    since_then,
)
from calibrant.reporting.verdict import calibration_of, of_outputs

#: Rows below which the default calibrator is not tried: one for each fold.
FOLDS = 5
IN_SAMPLE = "The calibrator was fitted on these rows, which cannot say whether it helps."
__all__ = ["part_of", "summarise", "summary_of", "with_code"]


@seeded
def summarise(
    y: ArrayLike,
    P: ArrayLike,
    std: ArrayLike | None = None,
    *,
    calibrator: Sequence[Calibrator] | Calibrator | None = None,
    page: bool = True,
    **keywords: Any,
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
    page : bool
        Whether to compute the sections that only a page shows, beside numbers and verdict.
    **keywords
        Those of :class:`~calibrant.reporting.options.ReportOptions`.

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
    table = TABLES[domain_of_input(P, std, calibrator)]
    options = ReportOptions.of(keywords, table.read)
    named = several(calibrator, table.domain) or {"": resolve(calibrator, table.domain)}
    fit_groups, groups = groups_of(options.groups, options.test, named)
    first = next(iter(named.values()))
    record, names = table.read(y, P, std, first, groups=fit_groups, **options.reading)
    require_pairs(record.weight, "the intervals of a report")
    test = None if options.test is None else table.read_test(options.test, record)
    target = table.question(options.target, record, named.values())
    options.require_event(table.event(target))
    measured = clustered(record if test is None else test, options.cluster, options.weight_kind)
    record, test = (measured, None) if test is None else (record, measured)
    settings = replace(Settings.of(options, groups, measured, table.n_bins), page=page)
    untried = calibrator is None and test is None and options.n_splits is None
    compared = {
        name: Compared(record, None, one, "none")
        if untried and len(record) < FOLDS
        else compare(
            record,
            one,
            test=test,
            n_splits=options.n_splits,
            in_sample=options.in_sample,
            random_state=options.random_state,
            progress=options.progress,
        )
        for name, one in named.items()
    }
    about = _about(options, measured, settings)
    summary = summary_of(table, compared, record, names, target, settings, about=about)
    since = since_then(options, (P if std is None else (P, std), y), summary.target)
    arrays = {"y": y, "questions" if y is None else "P": P, "std": std}
    passed = [name for name, array in arrays.items() if array is not None]
    return replace(
        summary,
        title=str(options.title or options.model or summary.title),
        verdict=summary.verdict if since is None else since.judged(summary.verdict),
        since=since,
        call=call_of(passed, calibrator, keywords),
    )


def _about(options: ReportOptions, measured: Any, settings: Settings) -> About:
    period = period_of(settings.times) if options.period is None else options.period
    names = {"model": options.model, "event": options.event, "version": options.version}
    return About.of(measured, {**names, "period": period})


def summary_of(
    table: ReportTable,
    compared: dict[str, Compared],
    record: Any,
    names: Sequence[Any],
    target: Any,
    settings: Settings,
    used: Any = None,
    about: About | None = None,
) -> Summary:
    """The summary of rows compared before and after; ``used`` is the calibrator to use, where it
    is not to be fitted on the record.
    """
    facts, event = {}, table.event(target)
    if event is not None:
        table, facts = EVENT, {"event": str(record.classes[record.position(event)])}
        compared = {
            name: one.seen_as(lambda whole: whole.as_pair(event)) for name, one in compared.items()
        }
    chosen, tables = score_all(table, compared, settings)
    found = compared[chosen]
    used = final(found, record) if used is None else used
    noise = fold_noise(table, found, used, event)
    parts = [
        part_of(
            table,
            measure(table, one, scores, name, settings, used, noise=noise),
            found,
            _remedy(compared, chosen),
        )
        for one, scores, name in zip(found.outputs(), tables[chosen], names, strict=True)
    ]
    verdict = of_outputs({part.measured.name: part.verdict for part in parts})
    again = found.fitted_by_user and verdict.state != "it has changed"
    chosen_for = choice(used, record, fitted=again)
    return Summary(
        table.domain.name,
        target if event is None else "event",
        "Calibration report",
        settings.level,
        About.of(found.before, {}) if about is None else about,
        {**table.data((found.whole or found).before, names), **facts},
        Method.of(found, chosen),
        with_code(verdict, chosen_for),
        [*evaluation_cautions(found.evaluation, dated=settings.dated), *_cautions(parts)],
        parts,
        chosen_for,
        _alternatives(compared, chosen, tables, names, settings.level),
        methods_by_class(compared, settings.level)
        if "" not in compared and target in ("answer", "classes")
        else None,
    )


def _remedy(compared: dict[str, Compared], chosen: str) -> str:
    """Return what was tried, at the start of a sentence."""
    tried = [one for one in compared.values() if one.evaluation != "none"]
    return f"The best of {len(tried)}, {chosen}," if len(tried) > 1 else "Calibration"


def part_of(
    table: ReportTable, measured: Measured, compared: Compared, remedy: str = "Calibration"
) -> Part:
    """Judge what was measured of one output."""
    evidence = evidence_of(measured, rates=table.rates)
    scores = {score.key: score for score in measured.scores}
    words = table.words(scores, measured.chance, measured.quality, evidence)
    words = replace(words, remedy=remedy)
    if compared.evaluation == "in-sample":
        words = replace(words, untried=IN_SAMPLE)
    loss = scores[CHOSEN_BY[table.domain].score.key]
    return Part(
        measured, judged(evidence, words, calibration_of(loss, evidence, compared.evaluation))
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


def _alternatives(
    compared: dict[str, Compared], chosen: str, tables: Any, names: Sequence[Any], level: float
) -> list[Any]:
    """Return the calibrators compared, where the user gave several."""
    if "" in compared:
        return []
    against = against_chosen(compared, chosen, level)
    return alternatives(compared, chosen, tables, names, against)


def _cautions(parts: list[Part]) -> list[str]:
    """Those of all outputs, each with the name of its own where there are several."""
    return [
        f"{part.name}: {caution}" if len(parts) > 1 else caution
        for part in (one.measured for one in parts)
        for caution in part.cautions
    ]
