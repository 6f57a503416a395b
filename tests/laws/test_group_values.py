"""The same table of groups, in whatever holds it: fitted in one and applied in any other, each
row is of the same level.
"""

import json
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import partial
from itertools import product
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from calibrant.cli.options import Columns
from calibrant.core.group_levels import GroupLevels
from calibrant.core.groups import group_columns
from calibrant.tables.apply import Transform
from calibrant.tables.columns import layout
from calibrant.tables.engines.choosing import choose, opened
from calibrant.tables.readers import columns_of, read_file

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
pl = pytest.importorskip("polars")
duckdb = pytest.importorskip("duckdb")

N = 24
DAYS = [date(2026, 3, 1), date(2026, 3, 2), date(2026, 12, 31)]
TIMES = [datetime(2026, 3, 1, 12), datetime(2026, 3, 1, 12, 0, 0, 500_000), datetime(2026, 3, 2)]
EAST, WEST = ZoneInfo("Asia/Kolkata"), ZoneInfo("America/New_York")
DURATIONS = [timedelta(seconds=90), timedelta(days=2), timedelta(0), None]
#: Kind -> values that repeat.
VALUES = {
    "bool": [True, False],
    "bool, some missing": [True, False, None],
    "int": [3, 1, 2],
    "int, some missing": [3, None, 2],
    "many ints": list(range(N)),
    "whole floats": [1.0, 2.0, -0.0],
    "floats": [0.1, 2.5, 1e-7, None],
    "texts": ["a", " a", "a ", "ä ☃", "x,y", 'say "so"', "2", "007", "1_000"],
    "texts, some empty": ["a", "", "  ", None],
    "texts that say missing": ["nan", "None", "NA", "null", "NaT"],
    "texts that are numbers": ["1", "2.50", "1e3"],
    "texts that are truths": ["true", "False"],
    "dates": [*DAYS, None],
    "times": [*TIMES, None],
    "times at midnight": [datetime(2026, 3, 1), datetime(2026, 3, 2)],
    "times of a zone": [when.replace(tzinfo=UTC) for when in TIMES],
    "times of the east": [when.replace(tzinfo=EAST) for when in TIMES],
    "times of the west": [datetime(2026, 3, 8, hour, tzinfo=WEST) for hour in (0, 1, 3, 23)],
    "durations in s": DURATIONS,
    "durations in ms": [*DURATIONS, timedelta(milliseconds=1500)],
    "durations in us": [*DURATIONS, timedelta(microseconds=7)],
    "durations in ns": [*DURATIONS, timedelta(days=-1, microseconds=500)],
    "decimals": [Decimal("1.00"), Decimal("2.00"), Decimal("30.00")],
    "decimals that are not whole": [Decimal("1.25"), Decimal("2.50"), Decimal("30.75")],
}


def _text(value):
    return "" if value is None else value if isinstance(value, str) else str(_written(value))


def _written(value):
    """Files of texts have no durations: seconds stand for them."""
    return value.total_seconds() if isinstance(value, timedelta) else str(value)


def _typed(values, kind):
    return pa.array(
        values, pa.duration(kind.rpartition(" ")[2]) if kind.startswith("durations") else None
    )


def _of_files(folder, values, table):
    p = [0.5] * N
    frame = pd.DataFrame({"p": p, "g": [_text(value) for value in values]})
    frame.to_csv(folder / "t.csv", index=False)
    parquet.write_table(table, folder / "t.parquet")
    lines = [json.dumps({"p": 0.5, "g": value}, default=_written) for value in values]
    (folder / "t.jsonl").write_text("\n".join(lines), encoding="utf-8")
    read = {end: partial(_read, folder / f"t.{end}") for end in ("csv", "parquet", "jsonl")}
    engines = ("polars", "duckdb", "pyarrow")
    return read | {
        f"{engine} of a file": partial(_slices, str(folder / "t.parquet"), engine)
        for engine in engines
    }


def _read(path):
    """As the command line hands the columns on."""
    return columns_of(read_file(path, Columns(), labels=False), "g")


def _slices(source, engine="auto"):
    """As ``tables.apply`` hands the columns on."""
    module = choose(source, engine)
    seen = []

    class Seen:
        classes_ = np.array([0, 1])
        predict_proba = predict_confidence = staticmethod(
            lambda values, groups: (seen.append(groups["g"]), np.zeros((len(values), 2)))[1]
        )

    columns = layout(
        module.kinds(opened(source, module)),
        label=None,
        probabilities="p",
        score=None,
        predicted=None,
        by=("g",),
    )
    for batch in module.batches(opened(source, module), ordered=True):
        Transform(Seen(), columns)._calibrated(batch, pa)
    return {"g": np.concatenate(seen[::2])}


def _held(folder, values, kind):
    """Name of what holds the table -> its columns of groups, or how it is read."""
    table = pa.table({"p": [0.5] * N, "g": _typed(values, kind)})
    relation = duckdb.connect().from_arrow(table)
    return {
        "list": lambda: {"g": values},
        "array": lambda: np.array(values, dtype=object)[:, None],
        "arrow": lambda: table.select(["g"]),
        "pandas": lambda: table.select(["g"]).to_pandas(),
        "pandas of Arrow": lambda: table.select(["g"]).to_pandas(types_mapper=pd.ArrowDtype),
        "pandas of categories": lambda: table.select(["g"]).to_pandas().astype({"g": "category"}),
        "polars": lambda: pl.from_arrow(table.select(["g"])),
        "arrow by slice": lambda: _slices(table),
        "polars by slice": lambda: _slices(pl.from_arrow(table)),
        "pandas by slice": lambda: _slices(table.to_pandas()),
        "duckdb by slice": lambda: _slices(relation),
        "categories by slice": lambda: _slices(table.to_pandas().astype({"g": "category"})),
    } | _of_files(folder, values, table)


@pytest.mark.parametrize("kind", VALUES)
def test_levels_are_the_same_whatever_holds_them(kind, tmp_path):
    values = (VALUES[kind] * N)[:N]
    columns = {name: read() for name, read in _held(tmp_path, values, kind).items()}
    fitted = {name: GroupLevels(groups, np.ones(N), n_bins=4) for name, groups in columns.items()}
    wanted = fitted["list"].codes(columns["list"])
    assert len(np.unique(wanted)) > 1
    # Most hold and learn the very same.
    learned = {
        repr((levels.edges, levels.levels)): (name, levels) for name, levels in fitted.items()
    }.values()
    held = {
        repr([(c.dtype, c.tolist()) for _, c in group_columns(groups)]): (name, groups)
        for name, groups in columns.items()
    }.values()
    wrong = []
    for (one, levels), (other, groups) in product(learned, held):
        code = levels.codes(groups)
        # Levels may stand in another order: a number and its text do.
        pairs = set(zip(wanted[:, 0].tolist(), code[:, 0].tolist(), strict=True))
        if not len(pairs) == len(np.unique(wanted)) == len(np.unique(code)) or code.min() < 0:
            wrong.append((one, other, levels.levels, str(groups)[:60]))
    assert not wrong
