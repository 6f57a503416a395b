"""Comparison of several calibrators on the same rows."""

from dataclasses import dataclass
from typing import Any

from calibrant.core.domain import domain_of
from calibrant.metrics.comparison import PairRow
from calibrant.metrics.comparison import compare as in_pairs
from calibrant.metrics.several import CHOSEN_BY
from calibrant.reporting.compared_scores import Estimate

__all__ = ["Alternative", "against_chosen", "alternatives", "best"]

#: Message for a metric that the calibrated forecasts lack.
NOTHING = Estimate(None)


@dataclass(frozen=True)
class Alternative:
    """One of the compared calibrators, with value, low, high and change by metric key; and its
    output, if there are several.

    ``against`` is its proper score minus that of the chosen one on the same rows, with interval and
    test corrected for all pairs, because the choice used these rows; None for the chosen one, and
    if either is in-sample.
    """

    name: str
    chosen: bool
    evaluation: str
    metrics: dict[str, dict[str, Any]]
    output: str | None = None
    against: PairRow | None = None


def best(compared: Any, tables: Any) -> str:
    """Return the name with the lowest ratio of the score after calibration to that before, on
    average over the outputs.

    Those that significantly worsen the second score come after the others, and in-sample ones last.

    Parameters
    ----------
    compared : {name: Compared}
    tables : {name: for each output a list of its ``Score``}
    """
    by = CHOSEN_BY[domain_of(next(iter(compared.values())).before)]

    def rank(name: str) -> tuple[bool, bool, float]:
        return (
            compared[name].evaluation == "in-sample",
            _harms(tables[name], by.guard),
            _relative(tables[name], by.score.key),
        )

    return min(compared, key=rank)


def _harms(outputs: list[list[Any]], key: str | None) -> bool:
    changes = [row.change for rows in outputs for row in rows if row.key == key]
    return any(change is not None and change.meaning == "worse" for change in changes)


def _relative(outputs: list[list[Any]], key: str) -> float:
    rows = [next(row for row in rows if row.key == key) for rows in outputs]
    if any(row.note is not None for row in rows):
        return float("inf")
    ratios = [
        1.0 if row.after is None else row.after.value / (row.before.value or 1.0) for row in rows
    ]
    return sum(ratios) / len(ratios)


def against_chosen(compared: Any, chosen: str, level: float = 0.95) -> list[dict[str, PairRow]]:
    """Return for each output {name: the proper score of each other calibrator against that of the
    chosen one}.
    """
    honest = {
        name: compared[name].outputs()
        for name in (chosen, *compared)
        if compared[name].evaluation != "in-sample"
    }
    if chosen not in honest:
        return [{} for _ in compared[chosen].outputs()]
    score = CHOSEN_BY[domain_of(compared[chosen].before)].score
    found = [
        in_pairs.of(
            {
                name: parts[j].before if parts[j].after is None else parts[j].after
                for name, parts in honest.items()
            },
            [score],
            level=level,
        )
        for j in range(len(honest[chosen]))
    ]
    return [{row.second: row for row in one.rows if row.first == chosen} for one in found]


def alternatives(
    compared: Any, chosen: Any, tables: Any, names: Any = (None,), against: Any = None
) -> list[Alternative]:
    """Return one for each calibrator and output, the chosen calibrator first and then by score.

    Parameters
    ----------
    compared, tables : as for ``best``
    chosen : str
    names : names of the outputs
    against : result of ``against_chosen``, optional
    """
    score = CHOSEN_BY[domain_of(compared[chosen].before)].score
    found = []
    for j, output in enumerate(names):
        of = output if len(names) > 1 else None
        pairs = against[j] if against else {}
        rows = [
            Alternative(
                name,
                name == chosen,
                one.evaluation,
                _values(one, tables[name][j]),
                of,
                pairs.get(name),
            )
            for name, one in compared.items()
        ]
        found += sorted(
            rows, key=lambda row: (not row.chosen, _rank(row.metrics[score.key]["value"]))
        )
    return found


def _values(found: Any, table: list[Any]) -> Any:
    when = "before" if found.after is None else "after"
    return {row.key: {**vars(row.when(when) or NOTHING), "change": row.change} for row in table}


def _rank(value: float) -> float:
    return float("inf") if value is None else value
