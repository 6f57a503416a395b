"""The query gives in DuckDB and in SQLite what predict gives, and reads as PostgreSQL."""

import sqlite3
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

import calibrant as cb
from calibrant.core.group_levels import GroupLevels
from calibrant.errors import InputError
from calibrant.export import to_json, to_sql
from calibrant.export.sql import position

sqlglot = pytest.importorskip("sqlglot")
duckdb = pytest.importorskip("duckdb")


def columns_of(case):
    return [
        f"p {k}"
        for k in range(case.rows.shape[1] - (0 if case.groups is None else case.groups.shape[1]))
    ]


def stored(case, dialect):
    """A connection to a table with the case's rows, numbered, and one more whose first entry is
    NULL.
    """
    names = columns_of(case)
    table = pd.DataFrame(case.rows[:, : len(names)], columns=names)
    if case.groups is not None:
        table = table.join(case.groups.astype({"site": int}))
    table = pd.concat([table, table[:1].assign(**{"p 0": None})], ignore_index=True)
    table.insert(0, "id", range(len(table)))
    if dialect == "duckdb":
        return (
            duckdb.connect()
            .register("frame", table)
            .execute("CREATE TABLE log AS SELECT * FROM frame")
        )
    connection = sqlite3.connect(":memory:")
    table.to_sql("log", connection, index=False)
    return connection


#: Longer queries take seconds to translate and to plan; what is in them is in shorter ones too.
LONG = 50_000


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite"])
def test_it_gives_what_predict_gives(cases, dialect):
    short = [(case, len(to_json(case.fitted))) for case in cases]
    for case in [case for case, size in short if size < LONG]:
        connection = stored(case, dialect)
        query = to_sql(
            case.fitted, columns=columns_of(case), table="log", keep=["id"], dialect=dialect
        )
        *rows, last = sorted(connection.execute(query).fetchall())
        assert last[1:] == (None,) * case.expected.shape[1], "NULL in, NULL out"
        off = np.abs(np.array(rows)[:, 1:] - case.expected).max()
        assert off < 1e-9, f"{case.name}: {off}"
        connection.close()


def temperature():
    return cb.TemperatureScaling(inputs="logit").fit(
        [[2.0, 0.0], [0.0, 1.0], [1.0, 0.0]], [0, 1, 1]
    )


def test_integers_are_not_divided_as_integers():
    connection = duckdb.connect()
    connection.execute("CREATE TABLE log AS SELECT 3 AS a, 1 AS b")
    (row,) = connection.execute(to_sql(temperature(), columns=["a", "b"], table="log")).fetchall()
    assert np.allclose(row, temperature().predict_proba([[3.0, 1.0]])[0])


def test_a_list_is_one_column():
    connection = duckdb.connect()
    connection.execute("CREATE TABLE log AS SELECT 3.0 AS a, 1.0 AS b")
    ((values,),) = connection.execute(
        to_sql(temperature(), columns=["a", "b"], table="log", output="list", prefix="q")
    ).fetchall()
    assert np.allclose(values, temperature().predict_proba([[3.0, 1.0]])[0])


def test_postgres_reads_it():
    query = to_sql(temperature(), columns=["a", 'b"; drop'], table="schema.log", dialect="postgres")
    assert sqlglot.parse_one(query, read="postgres").sql("postgres") == query


def test_wrong_options_are_refused():
    for options, message in (
        ({"columns": ["a", "b", "c"]}, "columns must name 2 columns"),
        ({"output": "row"}, 'output must be "columns" or "list"'),
        ({"output": "list", "dialect": "sqlite"}, "no lists"),
        ({"dialect": "fortran"}, "dialect must be one of"),
    ):
        with pytest.raises(InputError, match=message):
            to_sql(temperature(), **{"columns": ["a", "b"], "table": "log"} | options)


#: Described columns, and values that each holds in a database beside what Python is given.
READ = {
    "edges": (
        [0.25, 2.5],
        [
            0.25,
            0.3,
            99.0,
            -1.0,
            2.5,
            float("nan"),
            float("-nan"),
            float("inf"),
            float("-inf"),
            None,
        ],
        "DOUBLE",
    ),
    "small floats": ([0.5, 2.5], [0.5, 0.75, float("nan"), None, 3.0], "REAL"),
    "decimals": ([0.25, 2.5], [Decimal("0.25"), Decimal("0.26"), None], "DECIMAL(5, 2)"),
    "numbers": ([1, 2, 30], [1, 2.0, 30.0, 7.0, float("nan"), None], "DOUBLE"),
    "texts": (["a", "b", "nan"], ["a", " ", "", "b", "nan", "A", " a", None], "VARCHAR"),
    "truths": ([True, False], [True, False, None], "BOOLEAN"),
    "times": (
        ["2026-03-01", "2026-03-01T12:00:00"],
        ["2026-03-01 00:00:00", "2026-03-01 12:00:00", "2026-03-02 00:00:00"],
        "TIMESTAMP",
    ),
}


@pytest.mark.parametrize("missing", [True, False])
@pytest.mark.parametrize("kind", READ)
def test_values_of_groups_are_read_as_python_reads_them(kind, missing):
    learned, values, of_type = READ[kind]
    levels = GroupLevels(["a", "b"], np.ones(2))
    tail = [None] if missing else []
    cut = kind in ("edges", "small floats", "decimals")
    levels.edges, levels.levels = (
        [np.array(learned) if cut else None],
        [(["low", "mid", "high"] if cut else learned) + tail],
    )
    described = levels.described()[0]
    wanted = levels.codes({"group": values})[:, 0].tolist()
    connection = duckdb.connect()
    connection.execute(f"CREATE TABLE log (id INTEGER, g {of_type})")
    connection.executemany("INSERT INTO log VALUES (?, ?)", list(enumerate(values)))
    asked = {
        dialect: f"SELECT {position('g', described, dialect)} FROM log ORDER BY id"
        for dialect in ("duckdb", "sqlite")
    }
    query = sqlglot.transpile(asked["duckdb"], read="postgres", write="duckdb")[0]
    assert [found for (found,) in connection.execute(query).fetchall()] == wanted
    if kind in ("decimals", "times"):
        return
    # SQLite has no NaN, and no types of columns that hold.
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE log (id, g)")
    connection.executemany("INSERT INTO log VALUES (?, ?)", [*enumerate(values), (99, "")])
    found = connection.execute(
        sqlglot.transpile(asked["sqlite"], read="postgres", write="sqlite")[0]
    ).fetchall()
    connection.close()
    assert [place for (place,) in found] == [*wanted, described["missing"]]
