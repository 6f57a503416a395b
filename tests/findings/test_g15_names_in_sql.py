"""The columns of an exported query never clash with columns of the user (finding G15)."""

import pytest

import calibrant as cb
from calibrant.errors import InputError
from calibrant.export import to_sql

duckdb = pytest.importorskip("duckdb")
pytest.importorskip("sqlglot")

P = [[0.9, 0.1], [0.6, 0.4], [0.3, 0.7], [0.2, 0.8], [0.4, 0.6], [0.7, 0.3]]
Y = [0, 1, 0, 1, 1, 0]


def fitted():
    return cb.TemperatureScaling().fit(P, Y)


@pytest.mark.parametrize(
    "names",
    [
        ("p0", "p1", "v2", "t0"),
        ("P0", "V1", "V2", "T1"),
        ("p_0", "v__3", "t_1", "v0"),
        ("t0", "v4", "v5", "v6"),
    ],
)
@pytest.mark.parametrize("table", ["log", "t0", "(SELECT * FROM log) AS t_0"])
def test_a_kept_column_may_have_any_name(names, table):
    connection = duckdb.connect()
    others = ", ".join(f'7.5 AS "{name}"' for name in names)
    connection.execute(f"CREATE TABLE log AS SELECT 0.7 AS a, 0.3 AS b, {others}")
    connection.execute("CREATE TABLE t0 AS SELECT * FROM log")
    query = to_sql(fitted(), columns=["a", "b"], table=table, keep=names)
    try:
        found = connection.execute(query)
    except duckdb.Error as error:
        raise AssertionError("the query must run") from error
    assert [column[0] for column in found.description] == [*names, "calibrated_0", "calibrated_1"]
    row = found.fetchone()
    assert row[:4] == (7.5,) * 4
    assert row[4:] == pytest.approx(fitted().predict_proba([[0.7, 0.3]])[0], abs=1e-12)


def test_the_columns_that_are_read_may_have_the_names_of_the_query():
    connection = duckdb.connect()
    connection.execute("CREATE TABLE log AS SELECT 0.3 AS p0, 0.7 AS V1")
    found = connection.execute(
        to_sql(fitted(), columns=["V1", "p0"], table="log", keep=["p0", "V1"])
    ).fetchone()
    assert found[2:] == pytest.approx(fitted().predict_proba([[0.7, 0.3]])[0], abs=1e-12)


@pytest.mark.parametrize("keep", [["calibrated_0"], ["id", "Calibrated_1"]])
def test_a_kept_column_called_like_a_result_is_refused(keep):
    with pytest.raises(
        InputError,
        match=(
            r"keep must not name a column of the result; got 'calibrated_\d'; pass another prefix="
        ),
    ) as error:
        to_sql(fitted(), columns=["a", "b"], table="log", keep=[name.lower() for name in keep])
    assert str(error.value).count(".") == 1
    with pytest.raises(InputError):
        to_sql(fitted(), columns=["a", "b"], table="log", keep=keep)
    assert 'AS "q_0"' in to_sql(fitted(), columns=["a", "b"], table="log", keep=keep, prefix="q")


def test_a_column_kept_twice_is_refused():
    with pytest.raises(
        InputError, match="keep must name each column once, in whatever case; got 'ID' again"
    ):
        to_sql(fitted(), columns=["a", "b"], table="log", keep=["id", "ID"])
