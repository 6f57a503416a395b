"""Durations and times with a zone are read alike by every engine (finding G16)."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import pytest

import calibrant as cb
from calibrant.tables import apply

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
pytest.importorskip("polars")
pytest.importorskip("duckdb")

ENGINES = ("polars", "duckdb", "pyarrow")
N = 600


def written(folder, **columns):
    rng = np.random.default_rng(0)
    p = rng.uniform(size=N)
    parquet.write_table(
        pa.table({"p": p, "y": (rng.uniform(size=N) < p).astype(int), **columns}),
        folder / "t.parquet",
    )
    return str(folder / "t.parquet")


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_rows_keep_their_group_of_durations(unit, tmp_path):
    waits = [timedelta(0), timedelta(minutes=5), timedelta(hours=1)] * (N // 3)
    path = written(tmp_path, wait=pa.array(waits, pa.duration(unit)))
    table = parquet.read_table(path)
    longer = np.array([wait > timedelta(minutes=1) for wait in waits])
    cal = cb.GroupCalibrator().fit(
        table["p"].to_numpy(),
        table["y"].to_numpy() & longer,
        groups={"wait": np.array(waits, dtype=object)},
    )
    expected = cal.predict_proba(
        table["p"].to_numpy(), groups={"wait": np.array(waits, dtype=object)}
    )[:, 1]
    assert np.ptp(expected - table["p"].to_numpy()) > 0.1, "groups that say nothing prove nothing"
    for engine in ENGINES:
        output = tmp_path / engine
        output.mkdir()
        apply(cal, path, output / "out.parquet", probabilities="p", engine=engine)
        found = parquet.read_table(output / "out.parquet")
        np.testing.assert_allclose(found["p"].to_numpy(), expected, err_msg=engine)
        assert pa.types.is_duration(found.schema.field("wait").type), engine


@pytest.mark.parametrize("zone", ["UTC", "Asia/Kolkata", "America/New_York"])
def test_days_are_the_same_days(zone, tmp_path):
    times = [
        datetime(2026, 3, 7, tzinfo=ZoneInfo(zone)) + timedelta(minutes=17 * k) for k in range(N)
    ]
    path = written(tmp_path, when=pa.array(times, pa.timestamp("us", zone)))
    for engine in ENGINES:
        found = cb.evaluate(
            path, probabilities="p", label="y", time="when", every="day", engine=engine
        ).columns()["day"]
        assert sorted(found) == sorted(
            {when.astimezone(UTC).date().isoformat() for when in times}
        ), engine
