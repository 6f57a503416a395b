"""Reading of values in group columns: one rule for every container, file and engine, and for
cutting numbers.
"""

import re
from collections.abc import Collection, Hashable, Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from itertools import takewhile
from typing import Any

import numpy as np

from calibrant.core.labels import is_missing, label_key

__all__ = [
    "MOST_VALUES",
    "NUMBER",
    "is_unlabelled",
    "level_of",
    "levels_of",
    "numbers_of",
    "numbers_said",
    "numbers_to_cut",
    "positions",
    "said_of",
]

#: Integers with more distinct values than this are cut at quantiles, like all columns with
#: fractions.
MOST_VALUES = 20
#: The usual form of a number; 007 and 1_000 are names.
NUMBER = re.compile(r"[+-]?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
#: A date with a time of day, as ISO 8601, pandas, SQL and Arrow write it.
TIME = re.compile(r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(:\d\d)?(?:\.(\d+))?(Z|[+-]\d\d(?::?\d\d)?)?")
#: Texts that programs write for a missing value.
NO_VALUE = frozenset(
    ["nan", "NaN", "Nan", "NAN", "NaT", "NA", "<NA>", "N/A", "n/a", "null", "NULL", "None"]
)
#: Types of pandas that are texts in every file.
TEXTS_IN_FILES = ("Interval", "Period")


def level_of(value: Any) -> Hashable:
    """Read a value as a level.

    Missing values (None, NaN, NaT, NA, and empty or blank texts) become None. A number, including
    decimals, whole floats and durations (in seconds), becomes a Python number. A time, or its text,
    becomes its ISO text without trailing zeros, in UTC if it has a zone, and only the date at
    midnight. Other texts are unchanged. Levels are read as themselves.

    Examples
    --------
    >>> (
    ...     level_of(""),
    ...     level_of(2.0),
    ...     level_of(datetime(2026, 3, 1, 12)),
    ...     level_of("2026-03-01 12:00:00+00:00"),
    ... )
    (None, 2, '2026-03-01T12:00:00', '2026-03-01T12:00:00')
    """
    if isinstance(value, str):
        return _text_level(str(value))
    if isinstance(value, tuple):
        return tuple(map(level_of, value))
    if is_missing(value):
        return None
    if isinstance(value, np.datetime64 | np.timedelta64):
        return levels_of(np.array([value]))[0]
    if isinstance(value, date | time):
        return _time_level(value)
    if isinstance(value, timedelta):
        return label_key(value.total_seconds())
    if isinstance(value, Decimal):
        return None if value.is_nan() else label_key(float(value))
    return str(value) if type(value).__name__ in TEXTS_IN_FILES else label_key(value)


def is_unlabelled(value: Any, classes: Collection[Any] = ()) -> bool:
    """Whether a value in a column of labels is none: missing, blank, or a text that programs write
    for a missing value, unless it is the name of one of the ``classes``.

    Examples
    --------
    >>> is_unlabelled(" nan"), is_unlabelled("None", ["None", "some"]), is_unlabelled("none")
    (True, False, False)
    """
    if not isinstance(value, str):
        return is_missing(value)
    text = value.strip()
    return not text or (text in NO_VALUE and text not in classes)


def levels_of(values: np.ndarray) -> list[Any]:
    """``level_of`` of each value of an array (n,)."""
    if values.dtype.kind == "M":
        return [
            None if text == "NaT" else _text_level(text)
            for text in np.datetime_as_string(values).tolist()
        ]
    if values.dtype.kind == "m":
        return [None if value != value else label_key(value) for value in _seconds(values).tolist()]
    return [level_of(value) for value in values.tolist()]


def positions(known: Sequence[Any], given: Sequence[Any]) -> list[int]:
    """Index of each value among known levels, or -1: by value, by its level, or by its text.

    The first keeps levels of files from an older rule. The last is for files, where a number or a
    boolean may be a text.

    Examples
    --------
    >>> positions([1, "1", None], [1.0, "1", ""]), positions(["2", True], [2, "2.0", "TRUE", "007"])
    ([0, 1, 2], [0, 0, 1, -1])
    """
    readings = (label_key, level_of, said_of)
    # Among levels with equal readings the first counts.
    tables = [
        {reading(level): k for k, level in reversed(list(enumerate(known)))} for reading in readings
    ]
    each = list(zip(readings, tables, strict=True))
    return [
        next((table[key] for reading, table in each if (key := reading(value)) in table), -1)
        for value in given
    ]


def numbers_of(column: np.ndarray) -> np.ndarray | None:
    """(n,) float64 of a numeric column, NaN where missing; None for others, also booleans."""
    if column.dtype.kind in "iuf":
        return column.astype(np.float64)
    if column.dtype.kind == "m":
        return _seconds(column)
    if column.dtype.kind != "O":
        return None
    # The first entry of a column of texts decides.
    numbers = list(takewhile(lambda number: number is not None, map(_number, column.tolist())))
    return None if len(numbers) < len(column) else np.array(numbers, dtype=np.float64)


def numbers_said(column: np.ndarray) -> np.ndarray | None:
    """``numbers_of`` a column that may hold numbers as texts, as in files."""
    said = [said_of(value) for value in column.tolist()]
    return numbers_of(np.fromiter(said, dtype=object, count=len(said)))


def numbers_to_cut(column: np.ndarray, *, named: bool = True) -> np.ndarray | None:
    """(n,) float64 of a column to be cut at quantiles, NaN where missing; None for a column of
    levels.

    Numbers are cut if one of them is not an integer, or if more than ``MOST_VALUES`` differ: they
    are then amounts, such as ages. In a column without a name (``named``) integers are labels,
    however many.
    """
    values = numbers_of(column)
    if values is None:
        return None
    known = np.unique(values[~np.isnan(values)])
    whole = bool((known == np.floor(known)).all())
    return None if whole and (len(known) <= MOST_VALUES or not named) else values


def _number(value: float) -> Any:
    """The value as a float, NaN if it is missing; None if it is not a number."""
    number = isinstance(value, int | float | np.number | Decimal | timedelta) and not isinstance(
        value, bool
    )
    level = level_of(value)
    return float("nan") if level is None else float(level) if number else None


def _seconds(durations):
    out = durations / np.timedelta64(1, "s")
    return np.where(np.isnat(durations), np.nan, out)


def _time_level(value):
    if isinstance(value, datetime) and value.utcoffset() is not None:
        value = value.astimezone(UTC).replace(tzinfo=None)
    return _text_level(value.isoformat())


def _text_level(text: str) -> Any:
    found = TIME.fullmatch(text)
    if found is None:
        return text if text.strip(" ") else None
    day, minute, second, fraction, zone = found.groups()
    if zone not in (None, "Z"):
        try:
            shifted = datetime.fromisoformat(f"{day}T{minute}{zone}").astimezone(UTC)
        except (ValueError, OverflowError):
            return text
        day, minute = shifted.date().isoformat(), shifted.time().isoformat("minutes")
    fraction = (fraction or "").rstrip("0")
    clock = f"{minute}{second or ':00'}{'.' if fraction else ''}{fraction}"
    return day if clock == "00:00:00" else f"{day}T{clock}"


def said_of(level: Any) -> Any:
    """Read a level from its text: a number or a boolean where possible.

    Examples
    --------
    >>> said_of(" 2.0 "), said_of("TRUE"), said_of(True), said_of("007")
    (2, 'true', 'true', '007')
    """
    if isinstance(level, tuple):
        return tuple(map(said_of, level))
    level = level_of(level)
    if isinstance(level, bool):
        return str(level).lower()
    if not isinstance(level, str):
        return level
    text = level.strip(" ")
    if NUMBER.fullmatch(text):
        return label_key(float(text)) if any(mark in text for mark in ".eE") else int(text)
    return text.lower() if text.lower() in ("true", "false") else level
