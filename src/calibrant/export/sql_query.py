"""Export to an SQL query, in the dialect of the warehouse that holds the predictions."""

import re
from collections.abc import Sequence
from itertools import count
from typing import Any, Literal

from calibrant.core.estimators import require_option
from calibrant.core.extras import import_extra
from calibrant.errors import InputError
from calibrant.export.sql_columns import Columns, position, quoted
from calibrant.export.subject import QUANTILES, Subject, subject_of

__all__ = ["to_sql"]

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
    known = sorted(sqlglot.Dialect.classes) if hasattr(sqlglot.Dialect, "classes") else []
    if known and dialect not in known:
        raise InputError(f"dialect must be one of sqlglot's, {known}; got {dialect!r}.")
    kept, labels = [keep] if isinstance(keep, str) else list(keep), _labels(subject, prefix, output)
    _refuse_clashes(kept, labels)
    _require_table(table, sqlglot)
    mark = _own_mark([*names, *cells, *kept, *labels, table])
    made = Columns(subject.expression, mark)
    carried = [quoted(name) for name in kept]
    read = [f"CAST({quoted(name)} AS DOUBLE PRECISION)" for name in names]
    grouped = zip(cells, subject.groups, strict=True)
    read += [position(quoted(name), column, dialect) for name, column in grouped]
    steps = _steps(made, read, carried, table, f"t{mark}")
    some_null = " OR ".join(f"{name} IS NULL" for name in made.inputs)
    results = [f"CASE WHEN {some_null} THEN NULL ELSE {value} END" for value in made.results]
    results = [f"ARRAY[{', '.join(results)}]"] if output == "list" else results
    shown = [f"{value} AS {quoted(label)}" for value, label in zip(results, labels, strict=True)]
    kind = "MATERIALIZED " if dialect in INLINING else ""
    tables = ", ".join(f"t{mark}{j} AS {kind}({step})" for j, step in enumerate(steps))
    query = f"WITH {tables} SELECT {', '.join([*carried, *shown])} FROM t{mark}{len(steps) - 1}"
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
    twice = [name for j, name in enumerate(keep) if lower[j] in lower[:j]]
    if twice:
        raise InputError(
            f"keep must name each column once, in whatever case; got {twice[0]!r} again; remove"
            " one."
        )
    results = {label.lower() for label in labels}
    clash = [name for name in keep if name.lower() in results]
    if clash:
        raise InputError(
            f"keep must not name a column of the result; got {clash[0]!r}; pass another prefix=."
        )


def _own_mark(texts: Sequence[str]) -> str:
    """Return the shortest run of underscores that makes generated names, such as v_2, absent from
    these texts.
    """
    said = "\n".join(texts).lower()
    return next("_" * n for n in count() if not re.search(rf"[ptv]_{{{n}}}[0-9]", said))


def _steps(
    made: Columns, read: Sequence[str], keep: Sequence[str], table: str, own: str
) -> list[str]:
    """Return the selects, named by ``own`` and their number, each from the previous one; each
    computes the columns of one layer.
    """
    given = [f"{text} AS {name}" for text, name in zip(read, made.inputs, strict=True)]
    steps, alive = [f"SELECT {', '.join([*keep, *given])} FROM {table}"], list(made.inputs)
    for depth, layer in enumerate(made.layers, start=1):
        later = made.needed_after(depth)
        computed = [f"{text} AS {name}" for name, text in layer]
        carried = [name for name in alive if name in later]
        steps.append(f"SELECT {', '.join([*keep, *carried, *computed])} FROM {own}{depth - 1}")
        alive = [*carried, *(name for name, _ in layer if name in later)]
    return steps
