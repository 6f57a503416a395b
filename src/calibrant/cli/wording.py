"""Text, tables and progress bars for the terminal: no control codes, errors in one sentence,
options instead of arguments.
"""

import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, redirect_stderr
from shutil import get_terminal_size
from threading import Timer
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from calibrant.core.text_table import MOST_SHOWN, cut_note, rounded, text_table, wrapped
from calibrant.reporting.markdown import class_rows, in_full

__all__ = [
    "few",
    "first_of",
    "own_words",
    "print_summary",
    "print_table",
    "progress",
    "said",
    "say",
    "shown",
    "width",
    "with_interval",
    "working",
]


#: Control characters, line separators, marks of text direction, and bytes of file names that are
#: not text.
UNSHOWN = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")

#: Largest number of characters of an error.
LONGEST = 1000

#: Patterns for arguments in the library's errors -> words of the command line.
OPTIONS = tuple(
    (re.compile(pattern), words)
    for pattern, words in {
        # This pattern comes before the one that makes std= an option.
        r"; the order of the arguments is [^;.]* in fit and [^;.]* in metrics": "",
        r'inputs="logit"': "--logits NAMES",
        r'inputs="probability"': "--probabilities NAMES",
        r"pass classes=\[\.\.\.\] with the label of the event last": (
            "name it with --positive LABEL, or measure the predicted label with --target answer"
        ),
        r"classes=\[\.\.\.\]": "--classes A,B,C",
        r"\[Errno -?\d+\] ": "",
        r"\btarget=(\S+) takes": r"--target takes",
        r"\btarget=": "--target ",
        r"^target must": "--target must",
        r"\bclasses(=| must)": r"--classes\1",
        r"\bsample_weight\b": "--weight",
        r"overwrite=True": "--force",
        r"pass any_model=True": "pass --allow-other-version",
        r'pass model="v1"': "name it with --model-version",
        r'missing="skip"': "--skip-missing",
        r"\bn_bins\b": "--bins",
        r"probabilities='p'": "--probabilities p",
        r"\bcheckpoint=": "--resume",
        r'(?<!--)\bengine="auto"': "--engine auto",
        r"(?<!--)\b(probabilities|score|predicted|mean|std|reference)=": r"--\1",
        r"^(every|engine|alpha|tolerance|mean|std|baseline|cluster) must": r"--\1 must",
        r"^path must": "--output must",
        r"^times and cluster exclude": "--time and --cluster exclude",
        r"^times\b": "--time",
        r"^time must": "--time must",
        r"^(groups|features)\b": r"--\1",
        r"^X\b": "the features (--features)",
        r"^reference\[0\]": "the features of --reference",
        r"(?<=--classes)=": "",
        r", P\[:, k\] with": ", each with",
        r"or swap the arguments if y and P are exchanged": (
            "or exchange the two if they are swapped"
        ),
        r"divide P by its row sums": "divide each row by its sum",
        r"pass P\[:, 0\] for binary predictions": (
            "name one column of probabilities of the second class"
        ),
        r"pass (np\.ravel\(y\)|y\.\w+\([^)]*\))": "keep one label per row",
        r"^P has\b": "the predictions have",
        r"^n_splits must be a whole number from 2 to the number of rows, (\d+); got (\d+)\.": (
            r"calibration out of fold in \2 parts needs \2 rows or more; there are \1; pass more"
            r" rows, or evaluate on those of --test."
        ),
        r"(^|; |rows of |columns of |and |row of )P\b(?! =)": r"\1the predictions",
        r"^(y|y_true)\b": "the labels (--label)",
    }.items()
)


def shown(text: str) -> str:
    """Return a text on one line, with codes for characters that a terminal would act on or cannot
    write.

    Examples
    --------
    >>> shown("a\\x1b[31mred")
    'a\\\\x1b[31mred'
    """
    return UNSHOWN.sub(_code, str(text))


def _code(match):
    number = ord(match[0])
    # A byte that is not UTF-8 appears as a lone surrogate.
    number -= 0xDC00 if 0xDC80 <= number <= 0xDCFF else 0
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}"


def say(text: str, err: bool = False) -> None:
    """Print lines of text, with codes for control characters; on a terminal, sentences continue
    below at a blank, and tables and JSON are left as they are.
    """
    stream = sys.stderr if err else sys.stdout
    room = get_terminal_size().columns if stream.isatty() else None
    lines = map(shown, str(text).split("\n"))
    click.echo("\n".join(part for line in lines for part in _broken(line, room)), err=err)


def _broken(line: str, room: int | None) -> list[str]:
    data = line[:1] in ("", " ", "{", "[", "}", "]")
    return [line] if room is None or data or len(line) <= room else wrapped(line, room)


def said(error: Any) -> str:
    """Return an error or warning in one sentence, with options in place of arguments.

    Examples
    --------
    >>> said(ValueError("P must be probabilities; pass inputs=\\"logit\\" if these are logits."))
    'the predictions must be probabilities; pass --logits NAMES if these are logits.'
    """
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        return shown(f"{error.filename}: {error.strerror.lower()}.")
    text = " ".join(str(error).split()) or type(error).__name__
    for pattern, words in OPTIONS:
        text = pattern.sub(words, text)
    # A user's value can be of any length, so the middle is cut: the remedy comes last.
    return shown(
        text if len(text) <= LONGEST else f"{text[: LONGEST // 2]} ... {text[-LONGEST // 2 :]}"
    )


def few(names: Any) -> str:
    """Return a user's names for an error; of many only the first are listed."""
    listed = [shown(name)[:60] for name in names]
    return ", ".join(listed[:6]) + (f" and {len(listed) - 6} more" if len(listed) > 6 else "")


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
