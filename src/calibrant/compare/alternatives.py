"""Several calibrators on the same rows, side by side."""

__all__ = ["CHOSEN_BY", "alternatives", "best"]

#: By task: the key of the proper score that calibrators are chosen by, and of the one that they must not surely worsen, or None.
CHOSEN_BY = {"classification": ("log_loss", None), "regression": ("crps", "nll")}
#: Of a metric that the forecasts after calibration do not have.
NOTHING = {"value": None, "low": None, "high": None}


def best(compared, tables) -> str:
    """The name with the lowest score after calibration relative to that before, on average over the outputs.

    Those that surely worsen the second score come after the others, and those measured in-sample last.

    Parameters
    ----------
    compared : {name: Compared}
    tables : {name: list of its rows of metrics, a list for each output}
    """
    score, guard = CHOSEN_BY[next(iter(compared.values())).before.task]

    def rank(name):
        return compared[name].evaluation == "in-sample", _harms(tables[name], guard), _relative(tables[name], score)

    return min(compared, key=rank)


def _harms(outputs, key):
    changes = [row["change"] for rows in outputs for row in rows if row["key"] == key]
    return any(change is not None and change["meaning"] == "worse" for change in changes)


def _relative(outputs, key):
    rows = [next(row for row in rows if row["key"] == key) for rows in outputs]
    if any(row.get("note") is not None for row in rows):
        return float("inf")
    ratios = [1.0 if row["after"] is None else row["after"]["value"] / (row["before"]["value"] or 1.0) for row in rows]
    return sum(ratios) / len(ratios)


def alternatives(compared, chosen, tables, names=("",)) -> list[dict]:
    """One dictionary a calibrator and output, the chosen one first and then by score: name, chosen, evaluation and its rows of metrics.

    Parameters
    ----------
    compared, tables : as for ``best``
    chosen : str
    names : names of the outputs; with several, each dictionary says its ``output``
    """
    key, _ = CHOSEN_BY[compared[chosen].before.task]
    found = []
    for j, output in enumerate(names):
        rows = [_row(name, one, tables[name][j], chosen) for name, one in compared.items()]
        rows.sort(key=lambda row: (not row["chosen"], _rank(row["metrics"][key]["value"])))
        found += [{**row, "output": output} for row in rows] if len(names) > 1 else rows
    return found


def _row(name, found, table, chosen):
    when = "before" if found.after is None else "after"
    values = {row["key"]: {**(row[when] or NOTHING), "change": row["change"]} for row in table}
    return {"name": name, "chosen": name == chosen, "evaluation": found.evaluation, "metrics": values}


def _rank(value):
    return float("inf") if value is None else value
