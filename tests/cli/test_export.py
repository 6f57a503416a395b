"""``calibrant export``: the ending of the file says the language."""

import numpy as np
import pytest

import calibrant as cb

pytest.importorskip("click")
pytest.importorskip("rich")


@pytest.fixture
def saved(tmp_path):
    cal = cb.TemperatureScaling(classes=["no", "yes"]).fit(
        [[0.9, 0.1], [0.8, 0.2], [0.3, 0.7]], ["no", "yes", "yes"]
    )
    cal.save(tmp_path / "model.calibrant")
    return cal


def test_each_ending_is_a_language(run, saved, tmp_path):
    for ending, word in (
        (".c", b"void score_it"),
        (".mjs", b"export function score_it"),
        (".json", b"calibrant expression"),
    ):
        named = () if ending == ".json" else ("--name", "score_it")
        done = run("export", "model.calibrant", "-o", f"out{ending}", *named).output
        assert "TemperatureScaling written" in done
        assert word in (tmp_path / f"out{ending}").read_bytes()
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    run("export", "model.calibrant", "-o", "out.onnx")
    session = runtime.InferenceSession(tmp_path / "out.onnx")
    (out,) = session.run(None, {"p": np.array([[0.6, 0.4]], dtype=np.float32)})
    assert np.abs(out - saved.predict_proba([[0.6, 0.4]])).max() < 1e-6


def test_sql_needs_a_table_and_knows_the_columns(run, saved, tmp_path):
    duckdb = pytest.importorskip("duckdb")
    pytest.importorskip("sqlglot")
    assert "--table" in run("export", "model.calibrant", "-o", "out.sql", code=2).output
    run("export", "model.calibrant", "-o", "out.sql", "--table", "log", "--keep", "id")
    connection = duckdb.connect()
    connection.execute("CREATE TABLE log AS SELECT 7 AS id, 0.6 AS p_no, 0.4 AS p_yes")
    ((key, *row),) = connection.execute(
        (tmp_path / "out.sql").read_text(encoding="utf-8")
    ).fetchall()
    assert key == 7
    assert np.allclose(row, saved.predict_proba([[0.6, 0.4]])[0])


def test_what_cannot_be_written_is_one_sentence(run, saved, tmp_path):
    assert "must end in" in run("export", "model.calibrant", "-o", "out.exe", code=2).output
    assert (
        "name must be letters"
        in run("export", "model.calibrant", "-o", "out.c", "--name", "a b", code=1).output
    )
    cb.calibrators.HokiCalibrator().fit([[0.9, 0.1], [0.2, 0.8]] * 10, [0, 1] * 10).save(
        tmp_path / "hoki.calibrant"
    )
    assert (
        "cannot be exported as an expression"
        in run("export", "hoki.calibrant", "-o", "out.json", code=1).output
    )


def test_sql_of_groups_and_of_error_bars(run, tmp_path):
    duckdb = pytest.importorskip("duckdb")
    pytest.importorskip("sqlglot")
    rng = np.random.default_rng(0)
    p, language = rng.uniform(0.1, 0.9, 2000), rng.choice(["de", "fr"], 2000)
    y = rng.uniform(size=2000) < np.where(language == "fr", p**3, p)
    by_language = cb.GroupCalibrator().fit(p, y, groups=language)
    by_language.save(tmp_path / "groups.calibrant")
    run(
        "export",
        "groups.calibrant",
        "-o",
        "groups.sql",
        "--table",
        "log",
        "--columns",
        "a,b",
        "--groups",
        "lang",
    )
    connection = duckdb.connect().execute(
        "CREATE TABLE log AS SELECT 0.4 AS a, 0.6 AS b, 'fr' AS lang, 1.5 AS mu, 2.0 AS sd"
    )
    (row,) = connection.execute((tmp_path / "groups.sql").read_text(encoding="utf-8")).fetchall()
    np.testing.assert_allclose(
        row, by_language.predict_proba([[0.4, 0.6]], groups=["fr"])[0], atol=1e-9
    )
    cb.StdScaling().fit([0.0, 0.0], [3.0, -3.0], std=[1.0, 1.0]).save(tmp_path / "bars.calibrant")
    run("export", "bars.calibrant", "-o", "bars.sql", "--table", "log", "--columns", "mu,sd")
    made = connection.execute((tmp_path / "bars.sql").read_text(encoding="utf-8"))
    assert [column[0] for column in made.description] == [
        f"calibrated_{name}" for name in ("mean", "std", "q0.05", "q0.5", "q0.95")
    ]
    np.testing.assert_allclose(made.fetchone()[:2], [1.5, 6.0])


def test_one_column_of_risks_may_be_named(run, saved, tmp_path):
    pytest.importorskip("sqlglot")
    said = run(
        "export",
        "model.calibrant",
        "-o",
        "risk.sql",
        "--table",
        "log",
        "--risk",
        "own risk",
        "--inputs",
        "percent",
    ).output
    assert "takes percent of yes" in said
    assert 'CAST("own risk" AS DOUBLE) AS p0 FROM log' in (tmp_path / "risk.sql").read_text(
        encoding="utf-8"
    )
    run("export", "model.calibrant", "-o", "one.json", "--risk", "own risk")
    assert '"risk": "probability"' in (tmp_path / "one.json").read_text(encoding="utf-8")
    wrong = run(
        "export",
        "model.calibrant",
        "-o",
        "two.sql",
        "--table",
        "log",
        "--risk",
        "a",
        "--columns",
        "a,b",
        code=2,
    ).output
    assert "--columns and --risk (or --inputs) exclude each other" in wrong
    unnamed = run(
        "export", "model.calibrant", "-o", "n.sql", "--table", "log", "--inputs", "percent", code=1
    ).output
    assert "name it with --risk NAME" in unnamed
    assert (
        "for a calibrator fitted on probability inputs"
        in run("export", "model.calibrant", "-o", "z.c", "--inputs", "logit", code=1).output
    )
    three = cb.TemperatureScaling().fit(np.full((6, 3), 1.0 / 3.0), [0, 1, 2] * 2)
    three.save(tmp_path / "three.calibrant")
    assert (
        "risk is for calibrators of two classes"
        in run("export", "three.calibrant", "-o", "t.c", "--risk", "a", code=1).output
    )


@pytest.mark.parametrize(
    "table",
    ["my table", "t; drop table x", "(select * from t", '"t', "t -- x", "t, u", "t limit 3"],
)
def test_a_table_that_is_no_name_is_refused(run, saved, table):
    pytest.importorskip("sqlglot")
    export = ("export", "model.calibrant", "-o")
    assert "in double quotes" in run(*export, "out.sql", "--table", table, code=1).output
    with pytest.raises(cb.errors.InputError, match="in double quotes"):
        cb.export.to_sql(saved, columns=["a", "b"], table=table)
    run(*export, "out.sql", "--table", '"my table"')


def test_a_name_is_of_a_function(run, saved):
    refused = run("export", "model.calibrant", "-o", "out.onnx", "--name", "foo", code=2)
    assert "--name needs C or JavaScript" in refused.output
