"""Numbers of a report before and after calibration, nothing judged: the scores of every calibrator
tried, and all that is measured of one output.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from calibrant.core.domain import Facet
from calibrant.core.reading import CLASSIFICATION, REGRESSION
from calibrant.reporting.calibrate import Compared, applied, best
from calibrant.reporting.compared_scores import Score, score_table
from calibrant.reporting.drift import drift
from calibrant.reporting.groups import audited
from calibrant.reporting.miscalibration import Miscalibration
from calibrant.reporting.options import Settings
from calibrant.reporting.report_table import ReportTable
from calibrant.reporting.states import Place, by_feature, by_group, worth_of
from calibrant.reporting.summary import Measured

__all__ = ["TABLES", "fold_noise", "measure", "score_all"]

#: Factor of the calibrator's own noise in the limit of the error after it.
NOISE = 1.5


def _of_classes() -> ReportTable:
    from calibrant.reporting.classification import CLASSIFICATION as table

    return table


def _of_numbers() -> ReportTable:
    from calibrant.reporting.regression.task import REGRESSION as table

    return table


TABLES: Facet[ReportTable] = Facet("report")
TABLES.register(CLASSIFICATION, _of_classes)
TABLES.register(REGRESSION, _of_numbers)


def score_all(
    table: ReportTable, compared: dict[str, Compared], settings: Settings
) -> tuple[str, dict[str, list[list[Score]]]]:
    """Return (the name of the best calibrator, {name: for each output its scores})."""

    def scored(calibrated: Compared, n_resamples: int) -> list[list[Score]]:
        return [
            score_table(
                one.before,
                one.after,
                table.measures(one.before, settings.n_bins, n_resamples),
                level=settings.level,
                folds=one.folds,
                random_state=settings.random_state,
            )
            for one in calibrated.outputs()
        ]

    count = settings.n_resamples
    enough = table.resamples_all or len(compared) == 1
    tables = {name: scored(one, count if enough else 0) for name, one in compared.items()}
    chosen = best(compared, tables)
    return chosen, tables if enough else {**tables, chosen: scored(compared[chosen], count)}


def fold_noise(table: ReportTable, compared: Compared, used: Any, event: Any) -> float:
    """Standard deviation of the calibrator's probabilities, by the jackknife of the folds: from the
    distance of those out of fold to those of the calibrator of all rows; 0 where it is not known.
    """
    if compared.evaluation != "out-of-fold" or compared.n_splits is None or not table.rates:
        return 0.0
    again = applied(used, (compared.whole or compared).before)
    again = again if event is None else again.as_pair(event)
    moved = table.said(compared.after)[0] - table.said(again)[0]
    mean = np.average(moved * moved, weights=compared.before.weights)
    return float(np.sqrt((compared.n_splits - 1) * mean))


def measure(
    table: ReportTable,
    compared: Compared,
    scores: list[Score],
    name: str | None,
    settings: Settings,
    used: Any,
    states: Compared | None = None,
    noise: float = 0.0,
) -> Measured:
    """Measure one output.

    Parameters
    ----------
    table : the report of the kind
    compared : the rows before and after
    scores : of the output
    name : of the output; None of classes
    settings : Settings
    used : the calibrator to use, or None
    states : of the rows, where they do not come from the records
    noise : standard deviation of the calibrator's probabilities
    """
    if states is None:
        states = compared.seen_as(lambda record: table.seen(record, settings))
    before, shown = compared.before, compared.shown
    quality = table.quality(states.before, states.calibration)
    unseen = _unseen(states, compared.evaluation)
    chance = {
        when: None if one is None else table.chance(one, settings, when == "after")
        for when, one in unseen.items()
    }
    tested, groups = _tested(table, unseen, settings, noise), settings.groups
    of, pairs = "before" if shown is before else "after", compared.both(table.said)
    gain, sections, cautions = None, None, table.cautions(states.before, quality)
    # Sections that may warn are computed even where no page shows them.
    if settings.page or type(table).section_cautions is not ReportTable.section_cautions:
        sections = table.sections(states, settings, used, chance)
        cautions = [*cautions, *table.section_cautions(sections)]
    if tested["after"] is not None:
        gain = table.gain({one.key: one for one in scores}, tested["after"].n, compared.fitted)
    return Measured(
        name=name,
        quality=quality,
        cautions=cautions,
        vetoes=table.vetoes(states.before, quality),
        few=table.few(quality),
        example=table.example(states.before, settings.level),
        gain=gain,
        by_group=groups is not None and compared.calibrator.tags.takes_groups,
        chance=chance["before"],
        chance_after=chance["after"],
        miscalibration=tested,
        of=of,
        groups=_by_group(table, shown, settings),
        features=_by_feature(table, shown, settings),
        audit=None if groups is None else audited(table, compared, settings),
        drift=drift(settings.times, pairs, of, before.weight, groups, table.target),
        scores=scores,
        sections=sections,
    )


def _unseen(states: Compared, evaluation: str) -> dict[str, Any]:
    """The rows before and, if the calibration has not seen them, after it."""
    unseen = evaluation in ("out-of-fold", "held-out")
    return {"before": states.before, "after": states.after if unseen else None}


def _tested(
    table: ReportTable, unseen: dict[str, Any], settings: Settings, noise: float
) -> dict[str, Miscalibration | None]:
    """Test for miscalibration before and, if the calibration has not seen the rows, after; the
    typical error after it includes the ``noise`` of the calibrator.
    """
    tested = {
        when: (
            None
            if one is None
            else table.against(
                one, settings.groups, settings.margin, when == "after", settings.random_state
            )
        )
        for when, one in unseen.items()
    }
    after = tested["after"]
    if after is not None:
        tested["after"] = replace(after, high=float(np.hypot(after.high, NOISE * noise)))
    return tested


def _by_group(table: ReportTable, shown: Any, settings: Settings) -> list[Place] | None:
    groups = settings.groups
    if groups is None:
        return None
    gaps = _gaps(table, shown, [(groups.index, len(groups))], settings.level)
    return by_group(gaps, groups.texts)


def _by_feature(table: ReportTable, shown: Any, settings: Settings) -> list[Place] | None:
    features = settings.features
    if features is None:
        return None
    sizes = [(one.index, len(one.levels)) for one in features]
    return by_feature(_gaps(table, shown, sizes, settings.level), features)


def _gaps(
    table: ReportTable, shown: Any, parted: list[tuple[np.ndarray, int]], level: float
) -> Sequence[Any]:
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
