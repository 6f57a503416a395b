"""Entries of an expression as SQL columns in layers, so that each is computed once and formulas
stay short.
"""

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np

from calibrant._numerics.isotonic import line_segments
from calibrant.core.expression import Expression
from calibrant.core.labels import TIME, said_of

__all__ = ["Columns", "number", "position", "quoted", "searched"]

#: Databases raise an error where e^x exceeds the range of doubles.
FARTHEST = 700.0


def quoted(name: str) -> str:
    """Return a quoted identifier of any text."""
    return '"' + name.replace('"', '""') + '"'


class Columns:
    """Entries of every node as atoms: numbers, or names of columns that a layer computes.

    Parameters
    ----------
    expression : Expression
    mark : str
        Part of every generated name, which avoids clashes with the user's names.

    Attributes
    ----------
    inputs : names of the columns that the first select casts
    layers : for each depth, (name, SQL text) of its columns
    results : atoms of the last node
    """

    def __init__(self, expression: Expression, mark: str = "") -> None:
        self._mark: str = mark
        self.layers: list[list[tuple[str, str]]] = []
        self.inputs: list[str] = []
        self._depth: dict[str, int] = {}
        self._last_use: dict[str, int] = {}
        self._atoms: dict[int, list[str]] = {}
        nodes = list(expression.nodes())
        for node in nodes:
            self._atoms[id(node)] = self._of(node, [self._atoms[id(x)] for x in node.of])
        self.results: list[str] = self._atoms[id(nodes[-1])]
        for name in [*self.results, *self.inputs]:
            self._last_use[name] = len(self.layers) + 1

    def needed_after(self, depth: int) -> set[str]:
        """Return the names that a layer deeper than ``depth``, or the result, still uses."""
        return {name for name, last in self._last_use.items() if last > depth}

    def define(self, text: str, *used: str) -> str:
        """Define a column with this text, in the first layer after the columns that it uses, and
        return its name.
        """
        names = [name for name in used if name in self._depth]
        depth = 1 + max((self._depth[name] for name in names), default=0)
        for name in names:
            self._last_use[name] = max(self._last_use.get(name, 0), depth)
        while len(self.layers) < depth:
            self.layers.append([])
        own = f"v{self._mark}{len(self._depth)}"
        self._depth[own] = depth
        self.layers[depth - 1].append((own, text))
        return own

    def _of(self, node: Expression, x: list[list[str]]) -> list[str]:
        if node.op == "input":
            self.inputs = [f"p{self._mark}{k}" for k in range(node.width)]
            self._depth.update(dict.fromkeys(self.inputs, 0))
            return self.inputs
        if node.op in ENTRYWISE:
            wide = [each if len(each) == node.width else each * node.width for each in x]
            return [
                self.define(ENTRYWISE[node.op](*entry), *entry) for entry in zip(*wide, strict=True)
            ]
        return WRITERS[node.op](self, node, x)


def number(value: Any) -> str:
    """Return a literal that databases read as a double; the exponent prevents a decimal."""
    text = repr(float(value))
    text = text if "e" in text else f"{text}e0"
    return f"({text})" if text.startswith("-") else text


def _exp(x: str) -> str:
    return f"EXP(GREATEST(LEAST({x}, {number(FARTHEST)}), {number(-FARTHEST)}))"


def _sigmoid(x: str) -> str:
    return f"1e0 / (1e0 + {_exp(f'-({x})')})"


ENTRYWISE: dict[str, Callable[..., str]] = {
    "add": "{} + {}".format,
    "subtract": "{} - {}".format,
    "multiply": "{} * {}".format,
    "divide": "{} / {}".format,
    "log": "LN({})".format,
    "where": "CASE WHEN {} <> 0 THEN {} ELSE {} END".format,
    "exp": _exp,
    "sigmoid": _sigmoid,
}


def _total(atoms: Sequence[str]) -> str:
    return " + ".join(atoms)


def _largest(atoms: Sequence[str]) -> str:
    return f"GREATEST({', '.join(atoms)})" if len(atoms) > 1 else atoms[0]


def _constant(made: Columns, node: Expression, x: list[list[str]]) -> list[str]:
    return [number(v) for v in node.constants["values"].tolist()]


def _powers(made: Columns, x: list[str]) -> tuple[str, list[str]]:
    """Return the row's largest and e^(x - largest)."""
    top = made.define(_largest(x), *x)
    return top, [made.define(_exp(f"{each} - {top}"), each, top) for each in x]


def _softmax(made: Columns, node: Expression, x: list[list[str]]) -> list[str]:
    _, powers = _powers(made, x[0])
    total = made.define(_total(powers), *powers)
    return [made.define(f"{power} / {total}", power, total) for power in powers]


def _log_softmax(made: Columns, node: Expression, x: list[list[str]]) -> list[str]:
    top, powers = _powers(made, x[0])
    total = made.define(f"LN({_total(powers)})", *powers)
    return [made.define(f"{each} - {top} - {total}", each, top, total) for each in x[0]]


def _log_probabilities(made: Columns, node: Expression, x: list[list[str]]) -> list[str]:
    positive = [f"CASE WHEN {each} > 0 THEN {each} ELSE 2e0 END" for each in x[0]]
    least = made.define(f"LEAST({', '.join(positive)}, 1e-12)", *x[0])
    return [
        made.define(f"LN(CASE WHEN {each} > 0 THEN {each} ELSE {least} END)", each, least)
        for each in x[0]
    ]


def _matrix(made: Columns, node: Expression, x: list[list[str]]) -> list[str]:
    A, b = node.constants["matrix"].tolist(), node.constants["shift"].tolist()
    return [
        made.define(
            _total(
                [
                    number(shift),
                    *(f"{number(a)} * {each}" for a, each in zip(row, x[0], strict=True)),
                ]
            ),
            *x[0],
        )
        for row, shift in zip(A, b, strict=True)
    ]


def _clip(made: Columns, node: Expression, x: list[list[str]]) -> list[str]:
    low, high = node.constants["low"], node.constants["high"]
    inner = [f"GREATEST({each}, {number(low)})" for each in x[0]]
    if np.isfinite(high):
        inner = [f"LEAST({text}, {number(high)})" for text in inner]
    return [made.define(text, each) for text, each in zip(inner, x[0], strict=True)]


def _sum(made: Columns, node: Expression, x: list[list[str]]) -> list[str]:
    return [made.define(_total(x[0]), *x[0])]


def _max(made: Columns, node: Expression, x: list[list[str]]) -> list[str]:
    return [made.define(_largest(x[0]), *x[0])]


def _argmax(made: Columns, node: Expression, x: list[list[str]]) -> list[str]:
    top = made.define(_largest(x[0]), *x[0])
    cases = " ".join(f"WHEN {each} = {top} THEN {k}" for k, each in enumerate(x[0]))
    return [made.define(f"CASE {cases} END", top, *x[0])]


def _gather(made: Columns, node: Expression, x: list[list[str]]) -> list[str]:
    (place,) = x[0]
    out: list[str] = []
    for values in node.constants["table"].T.tolist():
        cases = " ".join(f"WHEN {k} THEN {number(v)}" for k, v in enumerate(values))
        out.append(made.define(f"CASE {place} {cases} END", place))
    return out


def _column(made: Columns, node: Expression, x: list[list[str]]) -> list[str]:
    return [x[0][node.constants["index"]]]


def _join(made: Columns, node: Expression, x: list[list[str]]) -> list[str]:
    return [atom for part in x for atom in part]


def _step(made: Columns, node: Expression, x: list[list[str]]) -> list[str]:
    c = node.constants
    leaves = [number(v) for v in c["values"].tolist()]
    return [
        made.define(searched(each, c["edges"].tolist(), leaves, ">=" if c["closed"] else ">"), each)
        for each in x[0]
    ]


def _interpolate(made: Columns, node: Expression, x: list[list[str]]) -> list[str]:
    knots = node.constants["knots"].tolist()
    lines = np.column_stack(line_segments(**node.constants)).tolist()
    out: list[str] = []
    for each in x[0]:
        leaves = [
            number(v) if s == 0.0 else f"{number(v)} + {number(s)} * ({each} - {number(k)})"
            for k, v, s in lines
        ]
        out.append(made.define(searched(each, knots, leaves, ">="), each))
    return out


def searched(x: str, edges: list[float], leaves: list[str], compare: str) -> str:
    """Return the leaf by the number of edges passed, as nested CASE with about log2 of them
    comparisons a row.
    """
    if not edges:
        return leaves[0]
    middle = len(edges) // 2
    high = searched(x, edges[middle + 1 :], leaves[middle + 1 :], compare)
    low = searched(x, edges[:middle], leaves[: middle + 1], compare)
    return (
        low
        if low == high
        else f"CASE WHEN {x} {compare} {number(edges[middle])} THEN {high} ELSE {low} END"
    )


WRITERS: dict[str, Callable[[Columns, Expression, list[list[str]]], list[str]]] = {
    "constant": _constant,
    "softmax": _softmax,
    "log_softmax": _log_softmax,
    "log_probabilities": _log_probabilities,
    "matrix": _matrix,
    "clip": _clip,
    "sum": _sum,
    "max": _max,
    "argmax": _argmax,
    "gather": _gather,
    "column": _column,
    "join": _join,
    "step": _step,
    "interpolate": _interpolate,
}


#: ``calibrant.core.labels.NUMBER`` between spaces, restricted to texts that databases read as a
#: double: larger exponents and longer texts raise an error there.
NUMBER_TEXT, LONGEST = "^ *[+-]?(0|[1-9][0-9]*)([.][0-9]+)?([eE][+-]?[0-9]{1,2})? *$", 200
#: Databases in which truth values are the numbers 0 and 1.
TRUTHS_ARE_NUMBERS = ("sqlite", "mysql")
#: Larger doubles cannot distinguish whole numbers.
LARGEST_WHOLE = 2**53


def position(column: str, described: dict[str, Any], dialect: str) -> str:
    """Return the position of a column's value among the levels of a group, or the number of edges
    below it; -1 if it is unknown.

    NULL, an empty text or spaces alone and, among numbers, NaN are missing. A value that is not a
    number is NULL if the levels are intervals of numbers.
    """
    missing, levels = number(described["missing"]), described.get("levels", ())
    text = f"CAST({column} AS TEXT)"
    word = f"TRIM(BOTH ' ' FROM LOWER({text}))"
    numbers = all(
        isinstance(level, int | float | None) and not isinstance(level, bool) for level in levels
    )
    # Compared as text, because databases disagree on how NaN compares, and on the test for it.
    nothing = ["", "nan", "-nan"] if numbers else [""]
    empty = f"{column} IS NULL OR {word} IN ({', '.join(map(_literal, nothing))})"
    if "edges" in described:
        edges = described["edges"]
        found = searched(_double(text), edges, [number(k) for k in range(len(edges) + 1)], ">")
        ends = (
            f"WHEN {word} IN ('inf', 'infinity') THEN {number(len(edges))} WHEN {word} IN ('-inf',"
            f" '-infinity') THEN {number(0)}"
        )
        return (
            f"CASE WHEN {empty} THEN {missing} {ends} WHEN {_is_number(text, dialect)} THEN"
            f" {found} END"
        )
    cases = [
        *_by_text(text, levels),
        *_by_truth(word, levels, dialect),
        *_by_number(text, levels, dialect),
    ]
    return f"CASE WHEN {empty} THEN {missing} {' '.join(cases)} ELSE {number(-1)} END"


def _by_text(text: str, levels: list[Any]) -> list[str]:
    """Yield levels that are texts, and whole numbers, letter by letter."""
    written = [
        (_spellings(str(level)), k)
        for k, level in enumerate(levels)
        if isinstance(level, str | int) and not isinstance(level, bool)
    ]
    return [
        f"WHEN {text} IN ({', '.join(map(_literal, spelled))}) THEN {number(k)}"
        for spelled, k in written
    ]


def _by_truth(word: str, levels: list[Any], dialect: str) -> list[str]:
    """Yield levels that are truth values, or read as one."""
    out: list[str] = []
    for said, figure in (("true", 1), ("false", 0)):
        place = next((k for k, level in enumerate(levels) if said_of(level) == said), None)
        if place is not None:
            ways = [said] + [str(figure)] * (
                dialect in TRUTHS_ARE_NUMBERS and isinstance(levels[place], bool)
            )
            out.append(f"WHEN {word} IN ({', '.join(map(_literal, ways))}) THEN {number(place)}")
    return out


def _by_number(text: str, levels: list[Any], dialect: str) -> list[str]:
    """Yield levels that are numbers, or read as one; the first of those that read alike."""
    said = {
        level: k
        for k, level in reversed([*enumerate(map(said_of, levels))])
        if isinstance(level, int | float)
    }
    cases = [
        f"WHEN {number(level)} THEN {number(k)}"
        for level, k in said.items()
        if abs(level) <= LARGEST_WHOLE or level % 1 != 0
    ]
    return (
        [
            f"WHEN {_is_number(text, dialect)} THEN CASE {_double(text)} {' '.join(cases)} ELSE"
            f" {number(-1)} END"
        ]
        if cases
        else []
    )


def _is_number(text: str, dialect: str) -> str:
    if dialect != "sqlite":
        return f"(LENGTH({text}) <= {LONGEST} AND {text} ~ '{NUMBER_TEXT}')"
    # SQLite has no regular expressions of its own; JSON has the same numbers, without a leading
    # plus.
    bare = f"TRIM(BOTH ' ' FROM {text})"
    unsigned = f"CASE WHEN GLOB('+*', {bare}) THEN SUBSTR({bare}, 2) ELSE {bare} END"
    return (
        f"(NOT GLOB('*[^-+0-9.eE]*', {bare}) AND NOT GLOB('+-*', {bare}) AND"
        f" JSON_VALID({unsigned}))"
    )


def _double(text: str) -> str:
    return f"TRY_CAST(TRIM(BOTH ' ' FROM {text}) AS DOUBLE PRECISION)"


def _spellings(level: str) -> list[str]:
    """Return the forms of a level in databases: a time has several, any other text only its own."""
    found = TIME.fullmatch(f"{level}T00:00" if len(level) == len("2026-03-01") else level)
    if found is None or found[5] is not None:
        return [level]
    day, minute, second, fraction = found[1], found[2], found[3] or ":00", found[4] or ""
    clocks = [
        f"{minute}{second}",
        *(f"{minute}{second}.{fraction.ljust(n, '0')}" for n in (1, 3, 6, 9) if n >= len(fraction)),
    ]
    clocks = clocks[1:] if fraction else [*clocks, *([minute] if second == ":00" else [])]
    made = [
        f"{day}{mark}{clock}{zone}"
        for mark, clock, zone in product(" T", clocks, ("", "Z", "+00", "+00:00"))
    ]
    return list(dict.fromkeys([level, *made]))


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
