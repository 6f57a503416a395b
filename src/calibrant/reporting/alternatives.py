"""Several calibrators on the same rows, side by side."""

from collections.abc import Mapping

from calibrant import metrics
from calibrant.errors import InputError
from calibrant.reporting.names import shown_name

__all__ = ["alternatives", "best", "several"]

#: Of a metric that the forecasts after calibration do not have.
NOTHING = {"value": None, "low": None, "high": None}


def several(calibrator, resolve) -> dict | None:
    """{name: calibrator} where a list, tuple or dictionary of them was given, each as resolved; None for a single one."""
    if isinstance(calibrator, Mapping):
        named = {str(name): resolve(value) for name, value in calibrator.items()}
    elif isinstance(calibrator, list | tuple):
        named = {}
        for value in calibrator:
            made = resolve(value)
            name = shown_name(made)
            named[name if name not in named else f"{name} ({len(named) + 1})"] = made
    else:
        return None
    if not named:
        raise InputError("calibrator must name at least one calibrator; got none; leave it out for the default.")
    return named


def best(compared) -> str:
    """The name with the lowest log loss after calibration, those measured in-sample last."""
    return min(compared, key=lambda name: (compared[name].evaluation == "in-sample", metrics.log_loss.of(_shown(compared[name]))))


def alternatives(compared, chosen, tables, key="log_loss") -> list[dict]:
    """One dictionary a calibrator, the chosen one first and then by the metric ``key``: name, chosen, evaluation and its rows of metrics.

    Parameters
    ----------
    compared : {name: Compared}
    chosen : str
    tables : {name: list of dict}, from ``score_table``
    key : str
    """
    rows = []
    for name, found in compared.items():
        when = "before" if found.after is None else "after"
        values = {row["key"]: {**(row[when] or NOTHING), "change": row["change"]} for row in tables[name]}
        rows.append({"name": name, "chosen": name == chosen, "evaluation": found.evaluation, "metrics": values})
    return sorted(rows, key=lambda row: (not row["chosen"], _rank(row["metrics"][key]["value"])))


def _shown(found):
    return found.before if found.after is None else found.after


def _rank(value):
    return float("inf") if value is None else value
