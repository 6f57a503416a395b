"""Exported code reads values of groups as Python does, and one odd text never aborts a query
(finding G17).
"""

import importlib.util
import json
import shutil
import sqlite3
import subprocess
from pathlib import Path

import numpy as np
import pytest

import calibrant as cb
from calibrant.export import to_javascript, to_json, to_sql

duckdb = pytest.importorskip("duckdb")
pytest.importorskip("sqlglot")

ODD = [
    "2.0",
    "3 ",
    " 2",
    "+2",
    "2e0",
    "20e-1",
    "007",
    "7",
    "1_000",
    "TRUE",
    "True ",
    "false",
    "\u00a0",
    "2\u00a0",
    "",
    "  ",
    "a",
    " a",
    "A",
    "b",
    "abc",
    "nan",
    "NaN",
    "inf",
    "1e400",
    "9" * 400,
    "2.",
    ".5",
    "0x10",
    "2026-03-01",
    "2026-03-01 12:00",
    "2026-03-01T12:00:00.000",
    "+-2",
    "it's",
    "١",
    "'",
    "--",
    "[]",
    "null",
    '"2"',
    "1",
    "0",
    "-0",
    "3.00",
    None,
]
#: Kind of column -> values of the fit that repeat.
FITTED = {
    "numbers": [1, 2, 3],
    "numbers, some missing": [1, 2, None],
    "truths": [True, False],
    "texts": ["a", "b", " a"],
    "texts that are numbers": ["2", "007", "3.0"],
    "texts that are truths": ["TRUE", "false"],
    "mixed texts": ["a", "2", "true", "2026-03-01", "2026-03-01 12:00:00", "it's"],
}


def fitted(values):
    rng = np.random.default_rng(0)
    n = 1200
    which = rng.integers(0, len(values), n)
    p = rng.uniform(0.2, 0.8, n)
    y = rng.uniform(size=n) < np.clip(p + 0.5 * which / len(values) - 0.2, 0.0, 1.0)
    return cb.GroupCalibrator().fit(
        p, y, groups={"g": np.array([values[k] for k in which], dtype=object)}
    )


def expected(cal):
    return cal.predict_proba([0.3] * len(ODD), groups={"g": np.array(ODD, dtype=object)})[:, 1]


def in_databases(cal, kind):
    """A text that says NaN cannot be told from NaN itself there, which is missing among numbers."""
    wanted = expected(cal)
    if kind.startswith("numbers"):
        wanted[[ODD.index("nan"), ODD.index("NaN")]] = wanted[ODD.index(None)]
    return wanted


def off(found, wanted):
    return [
        (value, a, b)
        for value, a, b in zip(ODD, found, wanted.tolist(), strict=True)
        if not (a is not None and abs(a - b) < 1e-9)
    ]


@pytest.mark.parametrize("kind", FITTED)
def test_duckdb_reads_texts_as_python_does(kind):
    cal = fitted(FITTED[kind])
    connection = duckdb.connect()
    connection.execute("CREATE TABLE log (id INTEGER, q DOUBLE, p DOUBLE, g VARCHAR)")
    connection.executemany("INSERT INTO log VALUES (?, 0.7, 0.3, ?)", list(enumerate(ODD)))
    query = to_sql(cal, columns=["q", "p"], table="log", keep=["id"], groups=["g"])
    try:
        found = [row[2] for row in sorted(connection.execute(query).fetchall())]
    except duckdb.Error as error:
        raise AssertionError("one odd text must not abort the query") from error
    assert not off(found, in_databases(cal, kind))


@pytest.mark.parametrize("kind", FITTED)
def test_sqlite_reads_texts_as_python_does(kind):
    cal = fitted(FITTED[kind])
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE log (id INTEGER, q REAL, p REAL, g TEXT)")
    connection.executemany("INSERT INTO log VALUES (?, 0.7, 0.3, ?)", list(enumerate(ODD)))
    query = to_sql(
        cal, columns=["q", "p"], table="log", keep=["id"], groups=["g"], dialect="sqlite"
    )
    found = [row[2] for row in sorted(connection.execute(query).fetchall())]
    connection.close()
    wanted = in_databases(cal, kind)
    if kind == "truths":
        # SQLite has no truth values: 1 and 0 are its own.
        figures = [ODD.index("1"), ODD.index("0")]
        wanted[figures] = [found[k] for k in figures]
    assert not off(found, wanted)


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
def test_javascript_reads_texts_as_python_does(tmp_path):
    run = [
        'import { readFileSync } from "node:fs";',
        'const odd = JSON.parse(readFileSync("odd.json")), out = [];',
    ]
    for j, values in enumerate(FITTED.values()):
        (tmp_path / f"case{j}.mjs").write_text(to_javascript(fitted(values)), encoding="utf-8")
        run += [
            f'import * as case{j} from "./case{j}.mjs";',
            f"out.push(odd.map((value) => case{j}.position(0, value)));",
        ]
    (tmp_path / "run.mjs").write_text(
        "\n".join([*run, "console.log(JSON.stringify(out));"]), encoding="utf-8"
    )
    (tmp_path / "odd.json").write_text(json.dumps(ODD), encoding="utf-8")
    done = subprocess.run(
        ["node", "run.mjs"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    for values, found in zip(FITTED.values(), json.loads(done.stdout), strict=True):
        wanted = (
            fitted(values).group_levels().codes({"g": np.array(ODD, dtype=object)})[:, 0].tolist()
        )
        assert list(zip(ODD, found, strict=True)) == list(zip(ODD, wanted, strict=True))


@pytest.mark.parametrize("kind", FITTED)
def test_the_reader_of_json_reads_texts_as_python_does(kind):
    folder = Path(__file__).parents[2] / "docs" / "reader"
    path = next(
        path for path in (folder / "read_levels.py", folder / "read_expression.py") if path.exists()
    )
    spec = importlib.util.spec_from_file_location("read_levels", path)
    reader = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(reader)
    cal = fitted(FITTED[kind])
    (column,) = json.loads(to_json(cal))["groups"]
    wanted = cal.group_levels().codes({"g": np.array(ODD, dtype=object)})[:, 0].tolist()
    assert [(value, reader.position(column, value)) for value in ODD] == list(
        zip(ODD, wanted, strict=True)
    )


def test_where_numbers_were_cut_a_text_that_is_none_gives_null():
    rng = np.random.default_rng(0)
    age, p = rng.uniform(20.0, 80.0, 800), rng.uniform(size=800)
    cal = cb.GroupCalibrator().fit(
        p, rng.uniform(size=800) < np.where(age > 50.0, p, p**2), groups={"age": age}
    )
    connection = duckdb.connect()
    connection.execute("CREATE TABLE log (id INTEGER, q DOUBLE, p DOUBLE, age VARCHAR)")
    given = ["30", " 70.5 ", "3e1", "old", "007", "inf"]
    connection.executemany("INSERT INTO log VALUES (?, 0.7, 0.3, ?)", list(enumerate(given)))
    try:
        found = [
            row[2]
            for row in sorted(
                connection.execute(
                    to_sql(cal, columns=["q", "p"], table="log", keep=["id"])
                ).fetchall()
            )
        ]
    except duckdb.Error as error:
        raise AssertionError("one odd text must not abort the query") from error
    wanted = cal.predict_proba([0.3] * 4, groups={"age": [30.0, 70.5, 30.0, np.inf]})[:, 1]
    assert found[3:5] == [None, None]
    np.testing.assert_allclose([*found[:3], found[5]], wanted, atol=1e-9)
