"""The same table, in whatever holds it, has the same slices: those that Python's reading of each
value gives.
"""

from collections import Counter
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

import calibrant as cb
from calibrant.core.labels import level_of

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
pl = pytest.importorskip("polars")
duckdb = pytest.importorskip("duckdb")

N = 60
HOURS = [datetime(2026, 3, 7, 20, 30) + timedelta(hours=hour) for hour in range(N)]
#: Kind -> times, and the type in Arrow.
TIMES = {
    "no zone": (HOURS, pa.timestamp("us")),
    "seconds of no zone": (HOURS, pa.timestamp("s")),
    "UTC": ([when.replace(tzinfo=UTC) for when in HOURS], pa.timestamp("ns", "UTC")),
    "east": (
        [when.replace(tzinfo=ZoneInfo("Asia/Kolkata")) for when in HOURS],
        pa.timestamp("us", "Asia/Kolkata"),
    ),
    # The clocks go forward within them.
    "west": (
        [when.replace(tzinfo=ZoneInfo("America/New_York")) for when in HOURS],
        pa.timestamp("ms", "America/New_York"),
    ),
    "dates": ([when.date() for when in HOURS], pa.date32()),
}
UNITS = ["s", "ms", "us", "ns"]
DURATIONS = [timedelta(seconds=90), timedelta(days=2), timedelta(0), None, timedelta(seconds=-5)]


def cut(when, every):
    """The start of the hour, day, ... that a time is in; in UTC where it has a zone."""
    if isinstance(when, datetime) and when.tzinfo is not None:
        when = when.astimezone(UTC).replace(tzinfo=None)
    day = when.date() if isinstance(when, datetime) else when
    starts = {
        "hour": when.replace(minute=0) if isinstance(when, datetime) else when,
        "day": day,
        "week": day - timedelta(days=day.weekday()),
        "month": day.replace(day=1),
        "quarter": date(day.year, 1 + 3 * ((day.month - 1) // 3), 1),
        "year": date(day.year, 1, 1),
    }
    return level_of(starts[every])


def holders(folder, table):
    """Name of what holds the table -> (source, engine)."""
    path = str(folder / "t.parquet")
    parquet.write_table(table, path)
    dask = pytest.importorskip("dask.dataframe")
    return {
        "arrow": (table, "auto"),
        "pandas": (table.to_pandas(), "auto"),
        "pandas of Arrow": (table.to_pandas(types_mapper=pd.ArrowDtype), "auto"),
        "polars": (pl.from_arrow(table), "auto"),
        "lazy polars": (pl.from_arrow(table).lazy(), "auto"),
        "duckdb": (duckdb.connect().from_arrow(table), "auto"),
        "dask": (dask.from_pandas(table.to_pandas(), npartitions=2), "auto"),
    } | {
        f"{engine} of a file": (path, engine) for engine in ("polars", "duckdb", "pyarrow", "dask")
    }


def slices(source, engine, name, **options):
    found = cb.evaluate(source, probabilities="p", label="y", engine=engine, **options).columns()
    return dict(zip(found[name], found["n"], strict=True))


def table_of(**columns):
    return pa.table({"p": [0.3] * N, "y": [0, 1] * (N // 2), **columns})


@pytest.mark.parametrize("kind", TIMES)
def test_slices_of_time(kind, tmp_path):
    times, of_type = TIMES[kind]
    held = holders(tmp_path, table_of(t=pa.array(times, of_type)))
    for every in ("hour", "day", "week", "month", "quarter", "year"):
        if every == "hour" and kind == "dates":
            continue
        wanted = Counter(cut(when, every) for when in times)
        for name, (source, engine) in held.items():
            if name == "dask" and kind == "dates":
                # Frames of Dask make texts of dates.
                continue
            assert slices(source, engine, every, time="t", every=every) == wanted, (name, every)


@pytest.mark.parametrize("unit", UNITS)
def test_slices_of_durations(unit, tmp_path):
    durations = DURATIONS * (N // len(DURATIONS))
    held = holders(tmp_path, table_of(g=pa.array(durations, pa.duration(unit))))
    wanted = Counter(map(level_of, durations))
    for name, (source, engine) in held.items():
        assert slices(source, engine, "g", by="g") == wanted, name


def test_intervals_of_months_are_refused():
    relation = duckdb.connect().sql("SELECT 0.3 AS p, 1 AS y, INTERVAL 1 MONTH AS g")
    with pytest.raises(
        cb.errors.InputError, match="column 'g' must hold durations in days or smaller units"
    ):
        cb.evaluate(relation, probabilities="p", label="y", by="g")
