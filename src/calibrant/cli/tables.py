"""Tables and progress bars for a terminal."""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, redirect_stderr
from threading import Timer
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Column, Table
from rich.text import Text

from calibrant._support.rounded import rounded
from calibrant._support.text_table import MOST_SHOWN, cut_note
from calibrant.cli.wording import shown
from calibrant.reporting.markdown import class_rows, in_full

__all__ = [
    "as_text",
    "console",
    "first_of",
    "own_words",
    "print_summary",
    "progress",
    "with_interval",
    "working",
]

#: Seconds of work before a progress bar appears.
SHORT = 2.0


def console() -> Any:
    """Return a console on standard output, 124 columns wide if it is no terminal so that tables fit
    into a log.
    """
    made = Console(highlight=False)
    return made if made.is_terminal else Console(highlight=False, width=124)


def as_text(value: str, style: str = "") -> Any:
    """Return a user's text without markup or control codes: Rich would read [red] as a colour, and
    a terminal ESC as a command.
    """
    return Text(shown(value), style)


def first_of(listed: Sequence[Any], whole: bool) -> tuple[Sequence[Any], str]:
    """Return (the part of a list to show, a note on how much was cut); ``whole`` shows all."""
    first = listed if whole else listed[:MOST_SHOWN]
    return first, "".join(cut_note(len(first), len(listed), "--all"))


def print_summary(summary: dict[str, Any]) -> None:
    """Print the metrics of a summary as one table per output, then its cautions and verdict."""
    out, data = console(), summary["data"]
    classes = f", {data['n_classes']} classes" if "n_classes" in data else ""
    for name in data.get("outputs", [None]):
        title = _rows(data) + (f", {name}" if len(data.get("outputs", ())) > 1 else classes)
        rows = [row for row in summary["metrics"] if row.get("output") == name]
        out.print(_metrics_table(as_text(title), rows, summary))
    if any(row["before"]["method"] == "debiased" for row in summary["metrics"]):
        said = (
            "Intervals of calibration errors are for the true error, because noise in the bins"
            " inflates the measured one."
        )
        out.print(said, style="dim", soft_wrap=True)
    for caution in summary["cautions"]:
        out.print(as_text(f"! {caution}", "yellow"), soft_wrap=True)
    if summary["by_class"] is not None:
        head, *lines = class_rows(summary["by_class"])
        table = Table(
            *(Column(as_text(name)) for name in head), title="Log loss by predicted class"
        )
        for line in lines:
            table.add_row(*map(as_text, line))
        out.print(table)
        out.print(as_text(summary["by_class"]["sentence"]), soft_wrap=True)
    out.print(as_text(in_full(summary["verdict"])), soft_wrap=True)


def _rows(data):
    clusters = data["clusters"]
    return f"{data['n']:,.0f} rows" + ("" if clusters is None else f" in {clusters:,} clusters")


def _metrics_table(title, rows, summary):
    method = summary["calibrator"]
    after = method["evaluation"] != "none"
    table = Table(title=title, title_justify="left")
    table.add_column("metric")
    table.add_column("before" if after else "value", justify="right")
    if after:
        table.add_column(
            as_text(f"after {method['name']} ({method['evaluation']})"), justify="right"
        )
        table.add_column("change", justify="right")
        table.add_column("")
    # Forecasts may be in any unit, so their numbers get four significant digits.
    written = _four_digits if "outputs" in summary["data"] else rounded
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
        table.add_row(*cells)
    return table


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
    return f"{written(found['value'], sign)} \\[{low}, {high}]"


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
