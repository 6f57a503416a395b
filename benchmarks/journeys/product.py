"""The product as a person meets it: its command, its files, and its words at any revision."""

import contextlib
import csv
import inspect
import io
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.journeys.worlds import Rows

import calibrant as cb

__all__ = ["ADVICE", "calibrant", "columns_of", "of_design", "option", "read_csv", "write_csv"]

#: What each option was called, newest name first: the first that the command's help knows is used.
OPTIONS = {
    ("decide", "error"): ("--max-error", "--risk"),
    ("decide", "certainty"): ("--certainty", "--confidence"),
}
#: What a report's verdict advises, by the words of every revision.
ADVICE = {
    "use": "use it",
    "mixed": "unsure",
    "do not use": "keep",
    "no clear gain": "keep",
    "use as they are": "keep",
    "calibrate": "use it",
    "calibrate by group": "use it",
    "too few rows": "unsure",
    "it has changed": "unsure",
    "off, and nothing tried helps": "unsure",
    "off, and no calibrator was tried": "unsure",
    "fine as it is": "keep",
    "calibrate before use": "use it",
    "better, but still off": "use it",
    "too few rows to say": "unsure",
    "off, no remedy shown": "unsure",
    "check the data first": "check",
}


def of_design(weights: Any) -> dict[str, Any]:
    """Weights as the design has them, said as such where the product asks."""
    if weights is None:
        return {}
    asks = "weight_kind" in inspect.signature(cb.metrics.compare).parameters
    return {"sample_weight": weights} | ({"weight_kind": "sampling"} if asks else {})


class CommandError(RuntimeError):
    """The command ended with an error, as its text says."""


def calibrant(*arguments: Any) -> str:
    """What ``calibrant ARGUMENTS`` prints.

    Raises
    ------
    CommandError
        When it exits with another code than 0.
    """
    from calibrant.cli.main import main

    out, err = io.StringIO(), io.StringIO()
    code: Any = 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main([str(one) for one in arguments])
        except SystemExit as stop:
            code = stop.code
    if code:
        raise CommandError(f"calibrant {arguments[0]}: {err.getvalue().strip()[:300]}")
    return out.getvalue()


@cache
def option(command: str, meaning: str) -> str:
    """The option of ``command`` for ``meaning`` at this revision."""
    said = calibrant(command, "--help")
    return next(name for name in OPTIONS[command, meaning] if f"{name} " in said)


def columns_of(rows: Rows, **more: np.ndarray) -> dict[str, np.ndarray]:
    """The columns of a log with these rows, and further ones."""
    if rows.said.ndim == 1:
        columns = {"risk": rows.said}
    elif rows.said.shape[1] == 2:
        columns = {"mean": rows.said[:, 0], "std": rows.said[:, 1]}
    else:
        columns = {f"p_{k}": column for k, column in enumerate(rows.said.T)}
    label = "y" if "mean" in columns else "label"
    return columns | {label: rows.outcome} | more


def write_csv(path: Path, columns: dict[str, np.ndarray]) -> Path:
    """Write columns to a CSV file; floats are written in full."""
    with open(path, "w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(columns)
        out.writerows(zip(*(column.tolist() for column in columns.values()), strict=True))
    return path


def read_csv(path: Path) -> dict[str, list[str]]:
    """The columns of a CSV file, as text."""
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return {name: [row[name] for row in rows] for name in rows[0]}
