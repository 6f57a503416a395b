"""Text of one JSON object a line, as columns."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from calibrant.errors import InputError

__all__ = ["columns_of", "objects_of"]

#: Digits of a number that a float can hold.
MOST_DIGITS = 300
#: Objects inside objects that are looked into.
DEEPEST = 20
#: Objects and lists inside one another that a line may hold: where Python's own reader gives up differs by its version.
MOST_NESTED = 500


def objects_of(text: str, path: Path) -> list[dict[str, Any]]:
    """The object of each line; empty lines are left out."""
    out = []
    for number, line in enumerate(text.split("\n"), 1):
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
            raise InputError(f"{path} must hold one JSON object a line; line {number} does not ({why}); repair it.") from None
        out.append(found)
    if not out:
        raise InputError(f"{path} must hold at least one JSON object a line; it has none.")
    return out


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
        inner = (value for outer in layer for value in (outer.values() if isinstance(outer, dict) else outer))
        layer = [value for value in inner if isinstance(value, dict | list)]
    if depth > MOST_NESTED:
        raise ValueError(f"objects inside objects, {depth} deep")


def _whole(digits):
    if len(digits) > MOST_DIGITS:
        raise ValueError(f"a number of {len(digits)} digits")
    return int(digits)


def columns_of(objects: list[dict[str, Any]], path: Path) -> tuple[dict[str, list[Any]], dict[str, tuple[str, ...]]]:
    """(values by name, one a line, None where a line has none; the keys on the way to each name).

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
                raise InputError(f"{path} has two values named {name!r}, one of them inside an object; rename one.")
            columns.setdefault(name, [None] * len(objects))[i] = value
    return columns, ways


def _leaves(found: dict[str, Any], way: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    for name, value in found.items():
        if isinstance(value, dict) and value and len(way) < DEEPEST:
            yield from _leaves(value, (*way, name))
        else:
            yield (*way, name), value
