"""Find the position of a value among the levels of a column of groups, as exported by
``calibrant.export.to_json``: a reference
reader in plain Python, to translate from."""

import re
from bisect import bisect_left
from datetime import UTC, datetime

NUMBER = re.compile(r"[+-]?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
TIME = re.compile(r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(:\d\d)?(?:\.(\d+))?(Z|[+-]\d\d(?::?\d\d)?)?")


def position(column, value):
    """What follows the predictions in a row, for one of "groups" and a value of it; -1 where it
    is not known.
    """
    if value is None or value != value or (isinstance(value, str) and not value.strip(" ")):
        return column["missing"]
    if "edges" in column:
        number = said(value)
        if isinstance(number, str):
            raise ValueError(f"the column {column['name']} held numbers in the fit; got {value}")
        return bisect_left(column["edges"], number)
    for reading in (itself, read, said):
        keys = [None if level is None else reading(level) for level in column["levels"]]
        if reading(value) in keys:
            return keys.index(reading(value))
    return -1


def itself(value):
    """Truth values and numbers are not the same."""
    return (isinstance(value, bool), value)


def read(value):
    """A time in its one form, in UTC and without ending zeros; any other value as it is."""
    found = TIME.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        return itself(value)
    day, minute, second, fraction, zone = found.groups()
    if zone not in (None, "Z"):
        moved = datetime.fromisoformat(f"{day}T{minute}{zone}").astimezone(UTC)
        day, minute = f"{moved:%Y-%m-%d}", f"{moved:%H:%M}"
    fraction = (fraction or "").rstrip("0")
    clock = f"{minute}{second or ':00'}{'.' if fraction else ''}{fraction}"
    return itself(day if clock == "00:00:00" else f"{day}T{clock}")


def said(value):
    """A number or a truth value by its text, where it reads as one."""
    level = str(value).lower() if isinstance(value, bool) else read(value)[1]
    text = level.strip(" ") if isinstance(level, str) else ""
    if NUMBER.fullmatch(text):
        return float(text) if any(mark in text for mark in ".eE") else int(text)
    return text.lower() if text.lower() in ("true", "false") else level
