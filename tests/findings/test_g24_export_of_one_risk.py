"""A calibrator of one column of risks is exported as it is used: one risk in, one risk out
(finding G24).
"""

import ctypes
import json
import shutil
import subprocess

import numpy as np
import pytest

import calibrant as cb
from calibrant import export
from calibrant.errors import InputError

pd = pytest.importorskip("pandas")
duckdb = pytest.importorskip("duckdb")
pytest.importorskip("sqlglot")
pytest.importorskip("click")
from click.testing import CliRunner  # noqa: E402

from calibrant.cli.group import group  # noqa: E402

RISKS = [0.0, 1e-9, 0.2, 0.5, 0.97, 1.0]


def run(*words):
    done = CliRunner().invoke(group, list(map(str, words)))
    assert done.exit_code == 0, f"{done.output}{done.exception!r}"
    return done.output


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a log, a calibrator fitted on its one column of risks, and new rows with the
    calibrated risk.
    """
    place = tmp_path_factory.mktemp("one")
    rng = np.random.default_rng(0)
    score = rng.uniform(0.01, 0.99, 400)
    outcome = np.where(rng.uniform(size=400) < score**2, "bad", "good")
    pd.DataFrame({"score": score, "outcome": outcome, "percent": 100.0 * score}).to_csv(
        place / "log.csv", index=False
    )
    pd.DataFrame({"id": range(6), "score": RISKS, "percent": 100.0 * np.array(RISKS)}).to_csv(
        place / "new.csv", index=False
    )
    asked = ["--risk", "score", "--label", "outcome", "--positive", "bad"]
    run("fit", place / "log.csv", *asked, "--method", "beta", "-o", place / "m.calibrant")
    run(
        "apply",
        place / "m.calibrant",
        place / "new.csv",
        "--risk",
        "score",
        "-o",
        place / "done.csv",
    )
    return place


def applied(folder):
    return pd.read_csv(folder / "done.csv")["score"].to_numpy()


def test_sql_takes_the_one_column(folder):
    run(
        "export",
        folder / "m.calibrant",
        "-o",
        folder / "m.sql",
        "--table",
        "log",
        "--keep",
        "id",
        "--force",
    )
    connection = duckdb.connect().execute(
        f"CREATE TABLE log AS SELECT * FROM read_csv('{folder / 'new.csv'}')"
    )
    try:
        found = connection.execute((folder / "m.sql").read_text(encoding="utf-8"))
    except duckdb.Error as error:
        raise AssertionError("the query must read the column that there is") from error
    assert [column[0] for column in found.description] == ["id", "calibrated"]
    np.testing.assert_allclose(
        [row[1] for row in sorted(found.fetchall())], applied(folder), atol=1e-9
    )


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
def test_c_takes_the_one_number(folder):
    run("export", folder / "m.calibrant", "-o", folder / "m.c", "--force")
    subprocess.run(
        ["gcc", "-shared", "-fPIC", "-o", folder / "m.so", folder / "m.c", "-lm"], check=True
    )
    function = ctypes.CDLL(str(folder / "m.so")).calibrate
    found = []
    for risk in RISKS:
        # What is behind the risk must not be read.
        p, q = np.array([risk, np.nan]), np.full(2, np.nan)
        function(*[array.ctypes.data_as(ctypes.c_void_p) for array in (p, q)])
        assert np.isnan(q[1])
        found.append(q[0])
    np.testing.assert_allclose(found, applied(folder), atol=1e-12)


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
def test_javascript_takes_the_one_number(folder):
    run("export", folder / "m.calibrant", "-o", folder / "m.mjs", "--force")
    script = (
        f'import {{ calibrate }} from "./m.mjs"; console.log(JSON.stringify({RISKS}.map((p) =>'
        " Array.from(calibrate([p])))));"
    )
    (folder / "run.mjs").write_text(script, encoding="utf-8")
    done = subprocess.run(
        ["node", "run.mjs"], cwd=folder, capture_output=True, text=True, check=True
    )
    assert {len(row) for row in json.loads(done.stdout)} == {1}
    np.testing.assert_allclose(np.ravel(json.loads(done.stdout)), applied(folder), atol=1e-12)


def test_json_says_what_goes_in(folder):
    run("export", folder / "m.calibrant", "-o", folder / "m.json", "--force")
    made = json.loads((folder / "m.json").read_text(encoding="utf-8"))
    assert (made["nodes"][0]["width"], made["nodes"][-1]["width"], made["classes"][1]) == (
        1,
        1,
        "bad",
    )
    assert made["risk"] == "probability"


def test_percent_stay_percent(folder):
    asked = [
        "--risk",
        "percent",
        "--inputs",
        "percent",
        "--label",
        "outcome",
        "--positive",
        "bad",
        "--method",
        "beta",
    ]
    run("fit", folder / "log.csv", *asked, "-o", folder / "percent.calibrant")
    said = run(
        "export",
        folder / "percent.calibrant",
        "-o",
        folder / "percent.sql",
        "--table",
        "log",
        "--keep",
        "id",
    )
    assert "percent" in said
    connection = duckdb.connect().execute(
        f"CREATE TABLE log AS SELECT * FROM read_csv('{folder / 'new.csv'}')"
    )
    found = sorted(
        connection.execute((folder / "percent.sql").read_text(encoding="utf-8")).fetchall()
    )
    np.testing.assert_allclose([row[1] for row in found], applied(folder), atol=1e-8)


def test_a_score_knows_its_column(folder):
    asked = ["--risk", "score", "--inputs", "score", "--label", "outcome", "--positive", "bad"]
    run("fit", folder / "log.csv", *asked, "-o", folder / "map.calibrant")
    run("export", folder / "map.calibrant", "-o", folder / "map.sql", "--table", "log")
    assert '"score"' in (folder / "map.sql").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "cal",
    [
        cb.OneVsRest(cb.calibrators.VennAbers()),
        cb.TemperatureScaling(),
        cb.calibrators.Identity(),
        cb.calibrators.PerClass(cb.TemperatureScaling()),
    ],
    ids=repr,
)
def test_in_python_one_column_is_the_second_class(cal):
    rng = np.random.default_rng(1)
    p = rng.uniform(size=300)
    cal.fit(p, rng.uniform(size=300) < p**2)
    rows = np.concatenate([RISKS, p])
    connection = duckdb.connect()
    connection.execute("CREATE TABLE log (id INTEGER, score DOUBLE)")
    connection.executemany("INSERT INTO log VALUES (?, ?)", list(enumerate(rows.tolist())))
    try:
        query = export.to_sql(cal, columns="score", table="log", keep=["id"])
    except InputError as error:
        raise AssertionError("one column must do") from error
    found = [row[1] for row in sorted(connection.execute(query).fetchall())]
    np.testing.assert_allclose(found, cal.predict_proba(rows)[:, 1], atol=1e-9)


def test_a_risk_is_of_two_classes():
    three = cb.TemperatureScaling().fit(np.full((6, 3), 1.0 / 3.0), [0, 1, 2] * 2)
    with pytest.raises(InputError, match="columns must name 3 columns"):
        export.to_sql(three, columns="score", table="log")
