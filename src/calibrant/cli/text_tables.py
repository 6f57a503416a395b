"""CSV files and JSON lines as one Arrow table, so that they are counted by slice as Parquet files are."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from calibrant._support.extras import import_extra
from calibrant.cli.options import STDIN
from calibrant.cli.sources import open_source
from calibrant.cli.wording import abridged
from calibrant.errors import InputError

__all__ = ["table_of"]

WHOLE = re.compile(r"0|-?[1-9]\d{0,17}")
#: A code such as 007 is no number.
CODE = re.compile(r"[+-]?0\d+")
#: Files that are opened whole, where Parquet is read in parts.
READ_WHOLE = (".csv", ".jsonl", ".ndjson", ".gz", ".npz", ".npy")
KINDS = ("csv", "jsonl", "parquet")


def table_of(paths: Sequence[str], time: str | None = None) -> Any:
    """The table that these files are; Parquet files stay paths, which an engine reads in parts, and standard input never does."""
    if all(Path(path).suffix.lower() not in READ_WHOLE and path != str(STDIN) for path in paths):
        return paths
    sources = [open_source(path) for path in paths]
    odd = next((one for one in sources if one.kind not in KINDS or one.kind != sources[0].kind), None)
    if odd is not None:
        raise InputError(
            f"slices are counted from files all of Parquet, CSV or JSON lines; {odd.path} is not as the others; convert it first."
        )
    if sources[0].kind == "parquet":
        return sources[0].table
    names = list(sources[0].content)
    differs = next((one for one in sources if set(one.content) != set(names)), None)
    if differs is not None:
        raise InputError(f"{differs.path} must have the columns of {paths[0]}, which are {', '.join(names[:12])}; name files of one kind.")
    columns = {name: [value for one in sources for value in one.content[name]] for name in names}
    typed = _typed if sources[0].kind == "csv" else _as_they_are
    return _arrow().table({name: _times(values, name) if name == time else typed(values) for name, values in columns.items()})


def _arrow():
    return import_extra("pyarrow", "counting files by slice", "cli")


def _as_they_are(values):
    """Values of one kind as they are, of several as text; None is missing."""
    arrow = _arrow()
    try:
        return arrow.array(values, from_pandas=True)
    except (arrow.ArrowException, OverflowError):
        return arrow.array([None if value is None else str(value) for value in values], arrow.string())


def _typed(values):
    """Whole numbers, numbers, or text; an empty value is missing."""
    arrow = _arrow()
    present = {value for value in values if value.strip()}
    kind = next((kind for kind, fits in ((int, WHOLE.fullmatch), (float, _is_number)) if all(map(fits, present))), str)
    kinds = {int: arrow.int64(), float: arrow.float64(), str: arrow.string()}
    return arrow.array([kind(value) if value in present else None for value in values], kinds[kind])


def _is_number(text):
    try:
        number = float(text)
    except ValueError:
        return False
    return number == number and "_" not in text and not CODE.fullmatch(text.strip())


def _times(values, name):
    arrow = _arrow()
    values = ["" if value is None else str(value).strip() for value in values]
    texts = arrow.array([value or None for value in values], arrow.string())
    for zone in (None, "UTC"):
        try:
            return texts.cast(arrow.timestamp("us", zone))
        except arrow.lib.ArrowInvalid:
            continue
    bad = next((i for i, value in enumerate(values) if not re.match(r"\d{4}-\d\d-\d\d", value)), 0)
    raise InputError(f"--time must name a column of times such as 2026-03-01 12:00:00; row {bad} of {name!r} is {abridged(values[bad])}.")
