"""SQL query of a calibrator, in the dialect of the warehouse that holds the predictions, and the
entries of its expression as columns.

Columns come in layers, so that each is computed once and formulas stay short.
"""

import re
from collections.abc import Callable, Sequence
from itertools import count, product
from typing import Any, Literal

import numpy as np

from calibrant._numerics.isotonic import line_segments
from calibrant.core.estimators import require_option
from calibrant.core.expression import Expression
from calibrant.core.extras import import_extra
from calibrant.core.labels import TIME, said_of
from calibrant.errors import InputError
from calibrant.export.subject import QUANTILES, Subject, subject_of

__all__ = ["Columns", "number", "position", "quoted", "searched", "to_sql"]


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
        column = f"v{self._mark}{len(self._depth)}"
        self._depth[column] = depth
        self.layers[depth - 1].append((column, text))
        return column

    def _of(self, node: Expression, x: list[list[str]]) -> list[str]:
        if node.op == "input":
            self.inputs = [f"p{self._mark}{k}" for k in range(node.width)]
            self._depth.update(dict.fromkeys(self.inputs, 0))
            return self.inputs
        if node.op in ENTRYWISE:
            wide = [atoms if len(atoms) == node.width else atoms * node.width for atoms in x]
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


def _constant(columns: Columns, node: Expression, x: list[list[str]]) -> list[str]:
    return [number(v) for v in node.constants["values"].tolist()]


def _powers(columns: Columns, x: list[str]) -> tuple[str, list[str]]:
    """Return the row's largest and e^(x - largest)."""
    top = columns.define(_largest(x), *x)
    return top, [columns.define(_exp(f"{atom} - {top}"), atom, top) for atom in x]


def _softmax(columns: Columns, node: Expression, x: list[list[str]]) -> list[str]:
    _, powers = _powers(columns, x[0])
    total = columns.define(_total(powers), *powers)
    return [columns.define(f"{power} / {total}", power, total) for power in powers]


def _log_softmax(columns: Columns, node: Expression, x: list[list[str]]) -> list[str]:
    top, powers = _powers(columns, x[0])
    total = columns.define(f"LN({_total(powers)})", *powers)
    return [columns.define(f"{atom} - {top} - {total}", atom, top, total) for atom in x[0]]


def _log_probabilities(columns: Columns, node: Expression, x: list[list[str]]) -> list[str]:
    positive = [f"CASE WHEN {atom} > 0 THEN {atom} ELSE 2e0 END" for atom in x[0]]
    least = columns.define(f"LEAST({', '.join(positive)}, 1e-12)", *x[0])
    return [
        columns.define(f"LN(CASE WHEN {atom} > 0 THEN {atom} ELSE {least} END)", atom, least)
        for atom in x[0]
    ]


def _matrix(columns: Columns, node: Expression, x: list[list[str]]) -> list[str]:
    A, b = node.constants["matrix"].tolist(), node.constants["shift"].tolist()
    return [
        columns.define(
            _total(
                [
                    number(shift),
                    *(f"{number(a)} * {atom}" for a, atom in zip(row, x[0], strict=True)),
                ]
            ),
            *x[0],
        )
        for row, shift in zip(A, b, strict=True)
    ]


def _clip(columns: Columns, node: Expression, x: list[list[str]]) -> list[str]:
    low, high = node.constants["low"], node.constants["high"]
    inner = [f"GREATEST({atom}, {number(low)})" for atom in x[0]]
    if np.isfinite(high):
        inner = [f"LEAST({text}, {number(high)})" for text in inner]
    return [columns.define(text, atom) for text, atom in zip(inner, x[0], strict=True)]


def _sum(columns: Columns, node: Expression, x: list[list[str]]) -> list[str]:
    return [columns.define(_total(x[0]), *x[0])]


def _max(columns: Columns, node: Expression, x: list[list[str]]) -> list[str]:
    return [columns.define(_largest(x[0]), *x[0])]


def _argmax(columns: Columns, node: Expression, x: list[list[str]]) -> list[str]:
    top = columns.define(_largest(x[0]), *x[0])
    cases = " ".join(f"WHEN {atom} = {top} THEN {k}" for k, atom in enumerate(x[0]))
    return [columns.define(f"CASE {cases} END", top, *x[0])]


def _gather(columns: Columns, node: Expression, x: list[list[str]]) -> list[str]:
    (place,) = x[0]
    out: list[str] = []
    for values in node.constants["table"].T.tolist():
        cases = " ".join(f"WHEN {k} THEN {number(v)}" for k, v in enumerate(values))
        out.append(columns.define(f"CASE {place} {cases} END", place))
    return out


def _column(columns: Columns, node: Expression, x: list[list[str]]) -> list[str]:
    return [x[0][node.constants["index"]]]


def _join(columns: Columns, node: Expression, x: list[list[str]]) -> list[str]:
    return [atom for part in x for atom in part]


def _step(columns: Columns, node: Expression, x: list[list[str]]) -> list[str]:
    c = node.constants
    leaves = [number(v) for v in c["values"].tolist()]
    return [
        columns.define(
            searched(atom, c["edges"].tolist(), leaves, ">=" if c["closed"] else ">"), atom
        )
        for atom in x[0]
    ]


def _interpolate(columns: Columns, node: Expression, x: list[list[str]]) -> list[str]:
    knots = node.constants["knots"].tolist()
    lines = np.column_stack(line_segments(**node.constants)).tolist()
    out: list[str] = []
    for atom in x[0]:
        leaves = [
            number(v) if s == 0.0 else f"{number(v)} + {number(s)} * ({atom} - {number(k)})"
            for k, v, s in lines
        ]
        out.append(columns.define(searched(atom, knots, leaves, ">="), atom))
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


def position(column: str, encoding: dict[str, Any], dialect: str) -> str:
    """Return the position of a column's value among the levels of a group, or the number of edges
    below it; -1 if it is unknown.

    NULL, an empty text or spaces alone and, among numbers, NaN are missing. A value that is not a
    number is NULL if the levels are intervals of numbers.
    """
    missing, levels = number(encoding["missing"]), encoding.get("levels", ())
    text = f"CAST({column} AS TEXT)"
    word = f"TRIM(BOTH ' ' FROM LOWER({text}))"
    numbers = all(
        isinstance(level, int | float | None) and not isinstance(level, bool) for level in levels
    )
    # Compared as text, because databases disagree on how NaN compares, and on the test for it.
    nothing = ["", "nan", "-nan"] if numbers else [""]
    empty = f"{column} IS NULL OR {word} IN ({', '.join(map(_literal, nothing))})"
    if "edges" in encoding:
        edges = encoding["edges"]
        index = searched(_double(text), edges, [number(k) for k in range(len(edges) + 1)], ">")
        ends = (
            f"WHEN {word} IN ('inf', 'infinity') THEN {number(len(edges))} WHEN {word} IN ('-inf',"
            f" '-infinity') THEN {number(0)}"
        )
        return (
            f"CASE WHEN {empty} THEN {missing} {ends} WHEN {_is_number(text, dialect)} THEN"
            f" {index} END"
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
    for truth, figure in (("true", 1), ("false", 0)):
        place = next((k for k, level in enumerate(levels) if said_of(level) == truth), None)
        if place is not None:
            spellings = [truth] + [str(figure)] * (
                dialect in TRUTHS_ARE_NUMBERS and isinstance(levels[place], bool)
            )
            out.append(
                f"WHEN {word} IN ({', '.join(map(_literal, spellings))}) THEN {number(place)}"
            )
    return out


def _by_number(text: str, levels: list[Any], dialect: str) -> list[str]:
    """Yield levels that are numbers, or read as one; the first of those that read alike."""
    places = {
        level: k
        for k, level in reversed([*enumerate(map(said_of, levels))])
        if isinstance(level, int | float)
    }
    cases = [
        f"WHEN {number(level)} THEN {number(k)}"
        for level, k in places.items()
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
    match = TIME.fullmatch(f"{level}T00:00" if len(level) == len("2026-03-01") else level)
    if match is None or match[5] is not None:
        return [level]
    day, minute, second, fraction = match[1], match[2], match[3] or ":00", match[4] or ""
    clocks = [
        f"{minute}{second}",
        *(f"{minute}{second}.{fraction.ljust(n, '0')}" for n in (1, 3, 6, 9) if n >= len(fraction)),
    ]
    clocks = clocks[1:] if fraction else [*clocks, *([minute] if second == ":00" else [])]
    times = [
        f"{day}{mark}{clock}{zone}"
        for mark, clock, zone in product(" T", clocks, ("", "Z", "+00", "+00:00"))
    ]
    return list(dict.fromkeys([level, *times]))


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


#: Dialects whose planner inlines each step into the next, so that formulas grow without limit.
INLINING = ("postgres", "sqlite")


def to_sql(
    fitted: Any,
    *,
    columns: Sequence[str],
    table: str,
    keep: Sequence[str] = (),
    groups: Sequence[str] | None = None,
    dialect: str = "duckdb",
    output: Literal["columns", "list"] = "columns",
    prefix: str = "calibrated",
    quantiles: Sequence[float] = QUANTILES,
    risk: str | None = None,
) -> str:
    """Return a SELECT of the calibrated rows of a table.

    Parameters
    ----------
    fitted : Calibrator, RegressionCalibrator (of normal forecasts of one output), or Map
    columns : names of the K columns with probabilities or logits, in the order of the classes (a
        map: one name; error bars: those of mean and std). With two classes one name is enough, the
        second class's column, and the result is one column ``PREFIX``.
    table : str
        Its name, in double quotes if it has spaces or marks, and with its schema if it has one; or
        a query in parentheses with an alias.
    keep : names of columns of the table to keep, such as a key
    groups : names of the columns of groups, in the order of the fit; default the column names in
        the fit's frame
    dialect : str, default "duckdb"
        Any dialect of sqlglot; the tests run DuckDB and SQLite, and parse PostgreSQL.
    output : {"columns", "list"}, default "columns"
        One column a class, ``PREFIX_0`` to ``PREFIX_(K-1)`` (a map: ``PREFIX``; error bars:
        ``PREFIX_mean``, ``PREFIX_std``, ``PREFIX_q0.05``), or one column ``PREFIX`` with a list.
    prefix : str, default "calibrated"
    quantiles : levels of the quantiles of error bars, default 5, 50 and 95 %
    risk : {"probability", "percent", "log_probability", "logit"}, optional
        Unit of a single input, the risk of the second of two classes. It replaces the K inputs, and
        there is one output risk.

    Returns
    -------
    str
        One query, without a semicolon.

    Raises
    ------
    InputError
        When the calibrator has no expression, the number of columns differs from that of the
        classes, or ``keep`` names a column twice or one of the result.
    MissingDependencyError
        Without sqlglot: ``pip install 'calibrant[export]'``.

    See Also
    --------
    to_onnx, to_c : export to other languages.

    Notes
    -----
    Arithmetic is in double precision; results agree with ``predict_proba`` to 1e-9. A NULL among
    the inputs results in NULL. Among the groups NULL, NaN and an empty text or spaces are the
    missing level, or an unknown one. Groups are read by their text, as Python reads files: " 2.0"
    is the number 2, "TRUE" a truth value, "007" a name. For groups cut from numbers, a row without
    a number (or with a text of a number from 1e100 on) results in NULL. Times with a zone must be
    in UTC, durations in seconds. Exponents are limited to 700, because databases raise errors where
    other languages return 0. Tables of steps become nested CASE, so maps of thousands of steps make
    long queries.

    Examples
    --------
    >>> from calibrant import Platt
    >>> map = Platt(scale="probability").fit([0.1, 0.4, 0.6, 0.9], [0, 1, 0, 1])
    >>> to_sql(map, columns=["score"], table="log", keep=["id"])[:11]
    'WITH t0 AS '
    """
    names = [columns] if isinstance(columns, str) else list(columns)
    if risk is None and len(names) == 1 and len(getattr(fitted, "classes_", ())) == 2:
        risk = fitted.inputs
    subject = subject_of(fitted, quantiles, risk)
    sqlglot = import_extra("sqlglot", "the SQL export", "export")
    if len(names) != subject.n_predictions:
        raise InputError(
            f"columns must name {subject.n_predictions} columns, one a class in their order; got"
            f" {names}."
        )
    cells = [column["name"] for column in subject.groups] if groups is None else list(groups)
    if len(cells) != len(subject.groups):
        raise InputError(
            f"groups must name {len(subject.groups)} columns, as in the fit; got {cells}."
        )
    require_option("output", output, ("columns", "list"))
    if output == "list" and dialect == "sqlite":
        raise InputError('output must be "columns" in SQLite, which has no lists; got "list".')
    dialects = sorted(sqlglot.Dialect.classes) if hasattr(sqlglot.Dialect, "classes") else []
    if dialects and dialect not in dialects:
        raise InputError(f"dialect must be one of sqlglot's, {dialects}; got {dialect!r}.")
    keep, labels = [keep] if isinstance(keep, str) else list(keep), _labels(subject, prefix, output)
    _refuse_clashes(keep, labels)
    _require_table(table, sqlglot)
    mark = _unused_mark([*names, *cells, *keep, *labels, table])
    sql_columns = Columns(subject.expression, mark)
    carried = [quoted(name) for name in keep]
    inputs = [f"CAST({quoted(name)} AS DOUBLE PRECISION)" for name in names]
    grouped = zip(cells, subject.groups, strict=True)
    inputs += [position(quoted(name), column, dialect) for name, column in grouped]
    steps = _steps(sql_columns, inputs, carried, table, f"t{mark}")
    any_null = " OR ".join(f"{name} IS NULL" for name in sql_columns.inputs)
    results = [f"CASE WHEN {any_null} THEN NULL ELSE {value} END" for value in sql_columns.results]
    results = [f"ARRAY[{', '.join(results)}]"] if output == "list" else results
    outputs = [f"{value} AS {quoted(label)}" for value, label in zip(results, labels, strict=True)]
    kind = "MATERIALIZED " if dialect in INLINING else ""
    tables = ", ".join(f"t{mark}{j} AS {kind}({step})" for j, step in enumerate(steps))
    query = f"WITH {tables} SELECT {', '.join([*carried, *outputs])} FROM t{mark}{len(steps) - 1}"
    return sqlglot.transpile(query, read="postgres", write=dialect)[0]


def _require_table(table: str, sqlglot: Any) -> None:
    """Refuse a text that is not one table or query to select from."""
    source: Any = None
    try:
        # A comment would hide the condition.
        (tree,) = sqlglot.parse(f"SELECT * FROM {table} WHERE TRUE", read="postgres")
        parts = {name.rstrip("_") for name, value in tree.args.items() if value}
        source = (tree.args.get("from_") or tree.args["from"]).this
    except (sqlglot.errors.SqlglotError, ValueError, KeyError, AttributeError):
        parts = set[str]()
    if parts != {"expressions", "from", "where"} or (
        isinstance(source, sqlglot.exp.Table)
        and source.alias
        and not re.search(r"\bas\b", table, re.IGNORECASE)
    ):
        raise InputError(
            "table must be the name of a table, or a query in parentheses with an alias; got"
            f" {table!r}; write a name with spaces or marks in double quotes, such as"
            ' "my table" or schema."my table".'
        )


def _labels(subject: Subject, prefix: str, output: str) -> list[str]:
    """Return names of the columns with results."""
    if output == "list" or subject.inputs == "score" or subject.risk is not None:
        return [prefix]
    parts = range(subject.expression.width) if subject.outputs is None else subject.outputs
    return [f"{prefix}_{part}" for part in parts]


def _refuse_clashes(keep: list[str], labels: list[str]) -> None:
    """Raise InputError for names that differ only in case, which databases treat as equal without a
    warning.
    """
    lower = [name.lower() for name in keep]
    repeats = [name for j, name in enumerate(keep) if lower[j] in lower[:j]]
    if repeats:
        raise InputError(
            f"keep must name each column once, in whatever case; got {repeats[0]!r} again; remove"
            " one."
        )
    results = {label.lower() for label in labels}
    clash = [name for name in keep if name.lower() in results]
    if clash:
        raise InputError(
            f"keep must not name a column of the result; got {clash[0]!r}; pass another prefix=."
        )


def _unused_mark(texts: Sequence[str]) -> str:
    """Return the shortest run of underscores that makes generated names, such as v_2, absent from
    these texts.
    """
    text = "\n".join(texts).lower()
    return next("_" * n for n in count() if not re.search(rf"[ptv]_{{{n}}}[0-9]", text))


def _steps(
    columns: Columns, inputs: Sequence[str], keep: Sequence[str], table: str, prefix: str
) -> list[str]:
    """Return the selects, named by ``prefix`` and their number, each from the previous one; each
    computes the columns of one layer.
    """
    aliases = [f"{text} AS {name}" for text, name in zip(inputs, columns.inputs, strict=True)]
    steps, alive = [f"SELECT {', '.join([*keep, *aliases])} FROM {table}"], list(columns.inputs)
    for depth, layer in enumerate(columns.layers, start=1):
        needed = columns.needed_after(depth)
        computed = [f"{text} AS {name}" for name, text in layer]
        carried = [name for name in alive if name in needed]
        steps.append(f"SELECT {', '.join([*keep, *carried, *computed])} FROM {prefix}{depth - 1}")
        alive = [*carried, *(name for name, _ in layer if name in needed)]
    return steps
