"""Tables as text: parse CSV and JSON lines."""

import codecs
import json
from collections import UserDict
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

from calibrant.errors import InputError

__all__ = [
    "NestedColumns",
    "columns_of",
    "decoded",
    "distinct",
    "encoding_of",
    "objects_of",
]

#: Share of zero bytes that UTF-16 without its mark has at least.
FEW_ZEROS = 0.1
#: Byte order marks, the longer ones first because UTF-32 begins like UTF-16.
MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def decoded(data: bytes, path: Path, done: int = 0) -> tuple[str, str]:
    """Return (text, encoding) of a file in UTF-8 or with another byte order mark, after the lines
    that are done; refuse others, because a guess could misread them.
    """
    encoding = encoding_of(data) if done == 0 else "utf-8"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        line = done + data.count(b"\n", 0, error.start) + 1
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
        if data.count(b"\0") < FEW_ZEROS * len(data):
            line = done + data.count(b"\n", 0, data.index(b"\0")) + 1
            raise InputError(
                f"{path} must be text; line {line} holds a zero byte; remove it from that line."
            )
        seen, name = _seen(data)
        raise InputError(
            f"{path} must be UTF-8 text; it looks like {seen}; save it as UTF-8, for example with"
            f" iconv -f {name} -t UTF-8."
        )
    return text, encoding


def encoding_of(data: bytes) -> str:
    """Return the encoding of the byte order mark; UTF-8 if there is none."""
    return next((name for mark, name in MARKS if data.startswith(mark)), "utf-8")


def _seen(data):
    """Return (a description of the likely encoding, its name in iconv)."""
    if b"\0" not in data:
        return "Latin-1 or Windows-1252", "WINDOWS-1252"
    little = data[1::2].count(0) >= data[::2].count(0)
    return "UTF-16 without its mark, or no text", f"UTF-16{'LE' if little else 'BE'}"


def distinct(names: list[str], path: Path) -> list[str]:
    """Return the names, or refuse them if two are the same."""
    twice = (
        next((name for i, name in enumerate(names) if name in names[:i]), None)
        if len(set(names)) < len(names)
        else None
    )
    if twice is not None:
        raise InputError(
            f"{path} has {names.count(twice)} columns or arrays named {twice!r}; give each a"
            " different name."
        )
    return names


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
