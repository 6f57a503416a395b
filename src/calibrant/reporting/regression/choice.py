"""What to do: the calibrator chosen, what else was tried, and the lines of code that apply it."""

from calibrant.forecasts.normal import NormalForecast
from calibrant.reporting.choice import made_by
from calibrant.reporting.names import shown_name
from calibrant.reporting.regression.scores import CHOSEN_BY

__all__ = ["best", "choice"]


def best(compared, tables) -> str:
    """The name with the lowest CRPS after calibration relative to that before, on average over the outputs.

    Those that surely worsen the NLL come after the others, and those measured in-sample last.
    """
    return min(compared, key=lambda name: (compared[name].evaluation == "in-sample", _harms(tables[name]), _relative(tables[name])))


def _harms(outputs):
    changes = [row["change"] for rows in outputs for row in rows if row["key"] == "nll"]
    return any(change is not None and change["meaning"] == "worse" for change in changes)


def _relative(outputs):
    rows = [next(row for row in rows if row["key"] == CHOSEN_BY) for rows in outputs]
    if any(row["note"] is not None for row in rows):
        return float("inf")
    ratios = [1.0 if row["after"] is None else row["after"]["value"] / (row["before"]["value"] or 1.0) for row in rows]
    return sum(ratios) / len(ratios)


def choice(calibrator, forecast) -> dict | None:
    """The fitted calibrator in words, its candidates where it chose among some, and its code; ``forecast`` tells the form of input.

    Returns
    -------
    dict or None
        name, status, words, candidates (list of dicts) and code (list of lines).
    """
    if calibrator is None:
        return None
    explain = getattr(calibrator, "explain", None)
    normal = isinstance(forecast, NormalForecast)
    fit = "mean_calibration, y_calibration, std=std_calibration" if normal else "forecast_calibration, y_calibration"
    code = [
        "import calibrant as cb",
        f"calibrator = {made_by(calibrator)}.fit({fit})",
        f"forecast = calibrator.predict({'mean_new, std_new' if normal else 'forecast_new'})  # .mean .std .interval(0.9) .quantile(q)",
    ]
    return {
        "name": shown_name(calibrator), "status": calibrator.status_, "words": explain() if callable(explain) else None,
        "candidates": _candidates(getattr(calibrator, "table_", None)), "code": code,
    }  # fmt: skip


def _candidates(table):
    """One list, whether the calibrator chose once or for each output."""
    if not isinstance(table, list) or not table:
        return []
    rows = [(row["name"], row) for row in table] if isinstance(table[0], dict) else [
        (f"output {j + 1}: {row['name']}", row) for j, rows in enumerate(table) for row in rows
    ]  # fmt: skip
    return [{**row, "name": name, "weight": float(row["chosen"])} for name, row in rows]
