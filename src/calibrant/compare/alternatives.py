"""Several calibrators on the same rows, side by side."""

from dataclasses import dataclass
from typing import Any

from calibrant.compare.scores import Estimate

__all__ = ["CHOSEN_BY", "Alternative", "alternatives", "best"]

#: By task: the key of the proper score that calibrators are chosen by, and of the one that they must not surely worsen, or None.
CHOSEN_BY: dict[Any, Any] = {"classification": ("log_loss", None), "regression": ("crps", "nll")}
#: Of a metric that the forecasts after calibration do not have.
NOTHING = Estimate(None)


@dataclass(frozen=True)
class Alternative:
    """One of the calibrators compared: by key of the metric, value, low, high and the change; of several outputs, the one it is about."""

    name: str
    chosen: bool
    evaluation: str
    metrics: dict[str, dict[str, Any]]
    output: str | None = None


def best(compared: Any, tables: Any) -> str:
    """The name with the lowest score after calibration relative to that before, on average over the outputs.

    Those that surely worsen the second score come after the others, and those measured in-sample last.

    Parameters
    ----------
    compared : {name: Compared}
    tables : {name: for each output a list of its ``Score``}
    """
    score, guard = CHOSEN_BY[next(iter(compared.values())).before.task]

    def rank(name):
        return compared[name].evaluation == "in-sample", _harms(tables[name], guard), _relative(tables[name], score)

    return min(compared, key=rank)


def _harms(outputs, key):
    changes = [row.change for rows in outputs for row in rows if row.key == key]
    return any(change is not None and change.meaning == "worse" for change in changes)


def _relative(outputs, key):
    rows = [next(row for row in rows if row.key == key) for rows in outputs]
    if any(row.note is not None for row in rows):
        return float("inf")
    ratios = [1.0 if row.after is None else row.after.value / (row.before.value or 1.0) for row in rows]
    return sum(ratios) / len(ratios)


def alternatives(compared: Any, chosen: Any, tables: Any, names: Any = (None,)) -> list[Alternative]:
    """One a calibrator and output, the chosen calibrator first and then by score.

    Parameters
    ----------
    compared, tables : as for ``best``
    chosen : str
    names : names of the outputs
    """
    key, _ = CHOSEN_BY[compared[chosen].before.task]
    found = []
    for j, output in enumerate(names):
        of = output if len(names) > 1 else None
        rows = [Alternative(name, name == chosen, one.evaluation, _values(one, tables[name][j]), of) for name, one in compared.items()]
        found += sorted(rows, key=lambda row: (not row.chosen, _rank(row.metrics[key]["value"])))
    return found


def _values(found, table):
    when = "before" if found.after is None else "after"
    return {row.key: {**vars(row.when(when) or NOTHING), "change": row.change} for row in table}


def _rank(value):
    return float("inf") if value is None else value
