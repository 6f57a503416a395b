"""The position of a value among the levels of a column of groups, in SQL: values are read by their text, as Python reads files."""

from itertools import product
from typing import Any

from calibrant.export.sql_columns import number, searched
from calibrant.levels import TIME, said_of

__all__ = ["position"]

#: ``calibrant.levels.NUMBER`` between spaces, for what reads it as a double: larger exponents and longer texts raise an error there.
NUMBER_TEXT, LONGEST = "^ *[+-]?(0|[1-9][0-9]*)([.][0-9]+)?([eE][+-]?[0-9]{1,2})? *$", 200
#: Databases whose truth values are the numbers 0 and 1.
TRUTHS_ARE_NUMBERS = ("sqlite", "mysql")
#: Beyond it, doubles do not tell whole numbers apart.
LARGEST_WHOLE = 2**53


def position(column: str, described: dict[str, Any], dialect: str) -> str:
    """The position of a column's value among the levels of a group, or the number of edges below it; -1 where it is not known.

    NULL, a text of nothing or of spaces alone and, among numbers, NaN are missing. What is no number is NULL where numbers were cut.
    """
    missing, levels = number(described["missing"]), described.get("levels", ())
    text = f"CAST({column} AS TEXT)"
    word = f"TRIM(BOTH ' ' FROM LOWER({text}))"
    numbers = all(isinstance(level, int | float | None) and not isinstance(level, bool) for level in levels)
    # By its text: databases do not agree on how NaN compares, nor on what says whether a value is one.
    nothing = ["", "nan", "-nan"] if numbers else [""]
    empty = f"{column} IS NULL OR {word} IN ({', '.join(map(_literal, nothing))})"
    if "edges" in described:
        edges = described["edges"]
        found = searched(_double(text), edges, [number(k) for k in range(len(edges) + 1)], ">")
        ends = f"WHEN {word} IN ('inf', 'infinity') THEN {number(len(edges))} WHEN {word} IN ('-inf', '-infinity') THEN {number(0)}"
        return f"CASE WHEN {empty} THEN {missing} {ends} WHEN {_is_number(text, dialect)} THEN {found} END"
    cases = [*_by_text(text, levels), *_by_truth(word, levels, dialect), *_by_number(text, levels, dialect)]
    return f"CASE WHEN {empty} THEN {missing} {' '.join(cases)} ELSE {number(-1)} END"


def _by_text(text: str, levels: list[Any]) -> list[str]:
    """Levels that are texts, and whole numbers, letter by letter."""
    written = [
        (_spellings(str(level)), k) for k, level in enumerate(levels) if isinstance(level, str | int) and not isinstance(level, bool)
    ]
    return [f"WHEN {text} IN ({', '.join(map(_literal, spelled))}) THEN {number(k)}" for spelled, k in written]


def _by_truth(word: str, levels: list[Any], dialect: str) -> list[str]:
    """Levels that are truth values, or read as one."""
    out: list[str] = []
    for said, figure in (("true", 1), ("false", 0)):
        place = next((k for k, level in enumerate(levels) if said_of(level) == said), None)
        if place is not None:
            ways = [said] + [str(figure)] * (dialect in TRUTHS_ARE_NUMBERS and isinstance(levels[place], bool))
            out.append(f"WHEN {word} IN ({', '.join(map(_literal, ways))}) THEN {number(place)}")
    return out


def _by_number(text: str, levels: list[Any], dialect: str) -> list[str]:
    """Levels that are numbers, or read as one; of those that read alike the first."""
    said = {level: k for k, level in reversed([*enumerate(map(said_of, levels))]) if isinstance(level, int | float)}
    cases = [f"WHEN {number(level)} THEN {number(k)}" for level, k in said.items() if abs(level) <= LARGEST_WHOLE or level % 1 != 0]
    return [f"WHEN {_is_number(text, dialect)} THEN CASE {_double(text)} {' '.join(cases)} ELSE {number(-1)} END"] if cases else []


def _is_number(text: str, dialect: str) -> str:
    if dialect != "sqlite":
        return f"(LENGTH({text}) <= {LONGEST} AND {text} ~ '{NUMBER_TEXT}')"
    # SQLite has no regular expressions of its own; JSON has the same numbers, without a plus before them.
    bare = f"TRIM(BOTH ' ' FROM {text})"
    unsigned = f"CASE WHEN GLOB('+*', {bare}) THEN SUBSTR({bare}, 2) ELSE {bare} END"
    return f"(NOT GLOB('*[^-+0-9.eE]*', {bare}) AND NOT GLOB('+-*', {bare}) AND JSON_VALID({unsigned}))"


def _double(text: str) -> str:
    return f"TRY_CAST(TRIM(BOTH ' ' FROM {text}) AS DOUBLE PRECISION)"


def _spellings(level: str) -> list[str]:
    """A level as databases may write it: a time in several ways, any other text in its own."""
    found = TIME.fullmatch(f"{level}T00:00" if len(level) == len("2026-03-01") else level)
    if found is None or found[5] is not None:
        return [level]
    day, minute, second, fraction = found[1], found[2], found[3] or ":00", found[4] or ""
    clocks = [f"{minute}{second}", *(f"{minute}{second}.{fraction.ljust(n, '0')}" for n in (1, 3, 6, 9) if n >= len(fraction))]
    clocks = clocks[1:] if fraction else [*clocks, *([minute] if second == ":00" else [])]
    made = [f"{day}{mark}{clock}{zone}" for mark, clock, zone in product(" T", clocks, ("", "Z", "+00", "+00:00"))]
    return list(dict.fromkeys([level, *made]))


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
