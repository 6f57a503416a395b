"""Tables as text: parse CSV and JSON lines."""

import codecs
import csv
import io
import json
import re
from collections import UserDict
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from calibrant.core.labels import NUMBER, level_of
from calibrant.errors import InputError

__all__ = [
    "NestedColumns",
    "columns_of",
    "decoded",
    "encoding_of",
    "objects_of",
    "rows_in",
    "rows_of",
    "separator_of",
    "typed",
    "with_points",
]

#: Separators of the values of a line.
SEPARATORS = (",", ";", "\t")
#: A number with a decimal comma, a whole number, or nothing; points may group the thousands.
DECIMAL = re.compile(
    r"([+-]?(([0-9]+|[1-9][0-9]{0,2}(\.[0-9]{3})+)(,[0-9]*)?|,[0-9]+)([eE][+-]?[0-9]+)?)?"
)
#: Largest number of characters in one value when rows are read in parts.
LONGEST_VALUE = 2**24
#: Byte order marks, the longer ones first because UTF-32 begins like UTF-16.
MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def decoded(data: bytes, path: Path) -> tuple[str, str]:
    """Return (text, encoding) of a file in UTF-8 or with another byte order mark; refuse others,
    because a guess could misread them.
    """
    encoding = encoding_of(data)
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        where = f"byte {error.object[error.start]:#04x} in line {line}"
        if encoding != "utf-8":
            raise InputError(
                f"{path} begins as {encoding.upper()} text but is damaged at {where}; save it again"
                " as UTF-8."
            ) from None
        seen, name = _seen(data)
        remedy = f"save it as UTF-8, for example with iconv -f {name} -t UTF-8"
        raise InputError(
            f"{path} must be UTF-8 text; it looks like {seen} ({where}); {remedy}."
        ) from None
    if "\0" in text:
        seen, name = _seen(data)
        raise InputError(
            f"{path} must be UTF-8 text; it looks like {seen}; save it as UTF-8, for example with"
            f" iconv -f {name} -t UTF-8."
        )
    return text, encoding


def encoding_of(data: bytes) -> str:
    """Return the encoding of the byte order mark; UTF-8 if there is none."""
    return next((name for mark, name in MARKS if data.startswith(mark)), "utf-8")


def typed(texts: Iterable[str]) -> np.ndarray:
    """Convert each text separately, so that a value means the same in every file: to a number, or
    by ``levels.level_of``.

    Examples
    --------
    >>> typed(["2", "0.5", "", "007", "a"]).tolist()
    [2, 0.5, None, '007', 'a']
    """
    listed = list(texts)
    values = {text: _value(text) for text in set(listed)}
    return np.fromiter((values[text] for text in listed), dtype=object, count=len(listed))


def _value(text: str) -> Any:
    found = NUMBER.fullmatch(text.strip())
    if found is None:
        return level_of(text)
    return int(text) if found[2] is None and found[3] is None else float(text)


def _seen(data):
    """Return (a description of the likely encoding, its name in iconv)."""
    if b"\0" not in data:
        return "Latin-1 or Windows-1252", "WINDOWS-1252"
    little = data[1::2].count(0) >= data[::2].count(0)
    return "UTF-16 without its mark, or no text", f"UTF-16{'LE' if little else 'BE'}"


def rows_of(text: str, path: Path) -> tuple[list[str], list[list[str]], str]:
    """Return (names of the columns, rows, separator) of CSV text; rows must have one value per
    name, and empty lines are skipped.
    """
    lines = io.StringIO(text, newline="")
    separator = separator_of(lines)
    return *next(rows_in(lines, path, separator, None, len(text))), separator


def separator_of(lines: io.TextIOBase) -> str:
    """Return the separator that splits the first line that is not empty into the most names, then
    rewind the lines.
    """
    first = next((line for line in iter(lines.readline, "") if line.strip()), "")
    lines.seek(0)
    return max(SEPARATORS, key=lambda mark: len(next(csv.reader([first], delimiter=mark), [])))


def rows_in(
    lines: Iterable[str],
    path: Path,
    separator: str,
    cells: int | None,
    longest: int = LONGEST_VALUE,
) -> Iterator[tuple[list[str], list[list[str]]]]:
    """Yield the names and the next rows of lines of text, about ``cells`` values at a time (None:
    all).
    """
    limit = csv.field_size_limit(max(longest, csv.field_size_limit()))
    # Strict, because an unclosed quote would otherwise silently swallow all rows after it.
    reader, whole = csv.reader(lines, delimiter=separator, strict=True), 0
    header, rows, given = None, [], False
    try:
        for row in reader:
            whole = reader.line_num
            if header is None:
                header = row or None
            elif row:
                _check_length(row, header, path, whole)
                rows.append(row)
                if cells is not None and len(rows) * len(header) >= cells:
                    yield header, rows
                    rows, given = [], True
    except csv.Error as error:
        raise InputError(
            f"{path} is not valid CSV after line {whole} ({error}); close every quote there, and"
            " double those inside values."
        ) from None
    finally:
        csv.field_size_limit(limit)
    if header is not None and rows:
        yield header, rows
    elif not given:
        raise InputError(
            f"{path} must have a line of column names and at least one row; it has {whole} lines."
        )


def with_points(texts: list[str]) -> list[str]:
    """Replace decimal commas by points if the whole column holds such numbers, and drop the points
    between thousands; keep any other column.

    Examples
    --------
    >>> with_points(["0,5", "", "1"]), with_points(["0,5", "0.7"]), with_points(["a,b", "c"])
    (['0.5', '', '1'], ['0,5', '0.7'], ['a,b', 'c'])
    >>> with_points(["1.234.567,5", "800"])
    ['1234567.5', '800']
    """
    if not any("," in text for text in texts) or not all(
        DECIMAL.fullmatch(text.strip()) for text in texts
    ):
        return texts
    return [text.replace(".", "").replace(",", ".") for text in texts]


def _check_length(row: list[str], header: list[str], path: Any, line: int) -> None:
    if len(row) != len(header):
        raise InputError(
            f"{path} has {len(header)} column names and {len(row)} values in line {line}; repair"
            " that line."
        )


#: Largest number of digits that a float can hold.
MOST_DIGITS = 300
#: Depth of nested objects up to which values become columns.
DEEPEST = 20
#: Largest depth of nested objects and lists in a line; the limit of Python's own parser differs by
#: version.
MOST_NESTED = 500


def objects_of(text: str, path: Path, done: int = 0) -> tuple[list[dict[str, Any]], list[int]]:
    """(the object of each line after those that are done, without empty ones; their numbers)."""
    out, lines = [], []
    for number, line in enumerate(text.split("\n"), done + 1):
        if not line.strip():
            continue
        try:
            found = json.loads(line, object_pairs_hook=_once, parse_int=_whole)
            if not isinstance(found, dict):
                raise ValueError(f"it holds {line.strip()[:40]}")
            if line.count("{") + line.count("[") > MOST_NESTED:
                _check_nesting(found)
        except (ValueError, RecursionError) as error:
            why = error.msg if isinstance(error, json.JSONDecodeError) else error
            raise InputError(
                f"{path} must hold one JSON object per line; line {number} does not ({why});"
                " repair it."
            ) from None
        out.append(found)
        lines.append(number)
    if not out:
        raise InputError(f"{path} must hold one JSON object per line; it holds none.")
    return out, lines


def _once(pairs):
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"it has {next(name for name in names if names.count(name) > 1)!r} twice")
    return found


def _check_nesting(found):
    layer, depth = [found], 0
    while layer:
        depth += 1
        inner = (
            value
            for outer in layer
            for value in (outer.values() if isinstance(outer, dict) else outer)
        )
        layer = [value for value in inner if isinstance(value, dict | list)]
    if depth > MOST_NESTED:
        raise ValueError(f"objects inside objects, {depth} deep")


def _whole(digits):
    if len(digits) > MOST_DIGITS:
        raise ValueError(f"a number of {len(digits)} digits")
    return int(digits)


def columns_of(
    objects: list[dict[str, Any]], path: Path
) -> tuple[dict[str, list[Any]], dict[str, tuple[str, ...]]]:
    """Return (values by name, one per line, None if a line has none; the path of keys to each).

    Examples
    --------
    >>> columns_of([{"risk": {"new": 0.5}}, {"y": 1}], Path("f"))[0]
    {'risk.new': [0.5, None], 'y': [None, 1]}
    """
    columns: dict[str, list[Any]] = {}
    ways: dict[str, tuple[str, ...]] = {}
    for i, found in enumerate(objects):
        for way, value in _leaves(found):
            name = ".".join(way)
            if ways.setdefault(name, way) != way:
                raise InputError(
                    f"{path} has two values named {name!r}, one of them inside an object; rename"
                    " one."
                )
            columns.setdefault(name, [None] * len(objects))[i] = value
    return columns, ways


class NestedColumns(UserDict[str, list[Any]]):
    """Columns of objects, made at their first use, because rows with options of their own have many
    names.
    """

    def __init__(self, objects: list[dict[str, Any]], path: Path) -> None:
        self.objects: list[dict[str, Any]] = objects
        self.path: Path = path

    @cached_property
    def found(self) -> tuple[dict[str, list[Any]], dict[str, tuple[str, ...]]]:
        """(values by name, paths of keys), as ``columns_of`` returns them."""
        return columns_of(self.objects, self.path)

    data = property(lambda self: self.found[0])  # pyright: ignore[reportAssignmentType]


def _leaves(
    found: dict[str, Any], way: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], Any]]:
    for name, value in found.items():
        if isinstance(value, dict) and value and len(way) < DEEPEST:
            yield from _leaves(value, (*way, name))
        else:
            yield (*way, name), value
