"""Tables and progress bars for a terminal."""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, redirect_stderr
from threading import Timer
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from calibrant.cli.wording import say
from calibrant.core.text_table import MOST_SHOWN, cut_note, rounded, shown, text_table

__all__ = [
    "first_of",
    "own_words",
    "print_summary",
    "print_table",
    "progress",
    "width",
    "with_interval",
    "working",
]

#: Seconds of work before a progress bar appears.
SHORT = 2.0
LOG_WIDTH = 124


def width() -> int:
    """Return the width of the terminal, or 124 if there is none, so that tables fit into a log."""
    made = Console()
    return made.width if made.is_terminal else LOG_WIDTH


def first_of(listed: Sequence[Any], whole: bool) -> tuple[Sequence[Any], str]:
    """Return (the part of a list to show, a note on how much was cut); ``whole`` shows all."""
    first = listed if whole else listed[:MOST_SHOWN]
    return first, "".join(cut_note(len(first), len(listed), "--all"))


def print_table(
    title: str, head: Sequence[str], rows: Sequence[Sequence[str]], whole: bool = True
) -> None:
    """Print a title and a table that fits the terminal; the first rows only unless ``whole``."""
    most = None if whole else MOST_SHOWN
    lines = text_table(
        head, [list(map(shown, row)) for row in rows], most, width=width(), where="--all"
    )
    say("\n".join([title, *lines] if title else lines))


def print_summary(summary: dict[str, Any]) -> None:
    """Print the metrics of a summary as one table per output, then its cautions and verdict."""
    from calibrant.reporting.markdown import class_rows, in_full

    data, method = summary["data"], summary["calibrator"]
    after = f"; after: {method['name']}, {method['evaluation']}"
    after = "" if method["evaluation"] == "none" else after
    classes = f", {data['n_classes']} classes" if "n_classes" in data else ""
    for name in data.get("outputs", [None]):
        title = _rows(data) + (f", {name}" if len(data.get("outputs", ())) > 1 else classes)
        rows = [row for row in summary["metrics"] if row.get("output") == name]
        print_table(title + after, *_metrics_table(rows, summary))
    if any(row["before"]["method"] == "debiased" for row in summary["metrics"]):
        say(
            "Intervals of calibration errors are for the true error, because noise in the bins"
            " inflates the measured one."
        )
    for caution in summary["cautions"]:
        say(f"! {caution}")
    if summary["by_class"] is not None:
        head, *lines = class_rows(summary["by_class"])
        print_table("Log loss by predicted class", head, lines)
        say(summary["by_class"]["sentence"])
    say(in_full(summary["verdict"]))


def _rows(data):
    clusters = data["clusters"]
    return f"{data['n']:,.0f} rows" + ("" if clusters is None else f" in {clusters:,} clusters")


def _metrics_table(rows, summary):
    """Return (head, rows) of the metrics."""
    method = summary["calibrator"]
    after = method["evaluation"] != "none"
    head = ["metric", "before" if after else "value"]
    if after:
        head += ["after", "change", "reading"]
    # Forecasts may be in any unit, so their numbers get four significant digits.
    written = _four_digits if "outputs" in summary["data"] else rounded
    table = []
    for row in rows:
        cells = [row["name"], with_interval(row["before"], written=written)]
        if after and row["after"] is None:
            cells += ["–", "–", ""]
        elif after:
            cells += [
                with_interval(row["after"], written=written),
                with_interval(row["change"], "+", written),
                _meaning(row, method),
            ]
        table.append(cells)
    return head, table


def with_interval(
    found: dict[str, Any], sign: str = "", written: Callable[[float, str], str] = rounded
) -> str:
    """Format a value and its interval on one line."""
    if found["value"] is None:
        return "–"
    if found["low"] is None and found["high"] is None:
        return written(found["value"], sign)
    # The summary has no value for an end that is not finite.
    low, high = (
        "–" if found[end] is None else written(found[end], sign) for end in ("low", "high")
    )
    return f"{written(found['value'], sign)} [{low},\xa0{high}]"


def _four_digits(value, sign):
    return f"{value:{sign}.4g}"


def _meaning(row, method):
    return "" if method["evaluation"] == "in-sample" else row["reading"]


@contextmanager
def progress(words: str, total: int, amounts: bool = False) -> Iterator[Any]:
    """Show a bar on standard error while work of more than two seconds runs; yield a function to
    call after each step.

    With ``amounts`` that function takes the amount of work done.
    """
    error = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=error, transient=True, disable=not error.is_terminal) as bar:
        task = bar.add_task(words, total=total, visible=False)
        shows = Timer(SHORT, lambda: bar.update(task, visible=True))
        shows.daemon = True
        shows.start()
        try:
            yield lambda done=1, *_: bar.advance(task, done if amounts else 1)
        finally:
            shows.cancel()


def working(words: str) -> Any:
    """Show a spinner on standard error while work of unknown length runs, if that is a terminal."""
    error = Console(stderr=True)
    return error.status(words) if error.is_terminal else nullcontext()


@contextmanager
def own_words() -> Iterator[Any]:
    """Reserve standard error for Python: messages of a library's threads on a damaged file repeat
    its exception.
    """
    try:
        real = sys.stderr.fileno() == 2
    except (AttributeError, OSError):  # not a file of the operating system, as in tests
        real = False
    if not real or os.environ.get("CALIBRANT_DEBUG"):
        yield
        return
    ours = os.fdopen(
        os.dup(2), "w", encoding=sys.stderr.encoding, errors="backslashreplace", buffering=1
    )
    with ours, open(os.devnull, "w", encoding="utf-8") as nowhere, redirect_stderr(ours):
        os.dup2(nowhere.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(ours.fileno(), 2)
