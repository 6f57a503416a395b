"""The arithmetic for 10^10 rows: by hand, and as the page shows it."""

import json
import re
from pathlib import Path

import pytest
from benchmarks.scale import costs
from benchmarks.scale.__main__ import FURTHER
from benchmarks.scale.parts import SIZES

from calibrant._numerics.threads import MAX_DEFAULT_THREADS

RUN = pytest.mark.skipif(
    not costs.STORED.exists(), reason="needs a whole run: python -m benchmarks.scale --store"
)
PAGE = Path(__file__).parents[2] / "docs" / "guide" / "ten_billion.rst"


@pytest.fixture
def stored():
    """Round numbers, as a run stores them."""

    def row(what, rows, mib):
        numbers = {"cpu_s": 3.0, "peak_mib": mib, "peer_cpu_s": 2.0, "peer_peak_mib": 50.0}
        return {"what": what, "rows": rows, "peer": "Polars", "ratio": 1.5, **numbers}

    def part(what, cpu, one, two):
        return {"what": what, "cpu_s": cpu, "one_s": one, "two_s": two, "peak_mib": 300.0}

    return {
        "text": [
            row("evaluate, csv, 2 columns", 10, 1.0),
            row("evaluate, csv, 2 columns", 90, 2.0),
        ],
        "slices": [
            row("evaluate by 1,000 slices", 5, 200.0),
            row("evaluate by 100,000 slices", 5, 299.0),
        ],
        "fit": [],
        "apply": [],
        "threads": [
            part("evaluate, csv, 2 columns", 3.6, 3.6, 2.7),
            part("evaluate by 1,000 slices", 0.36, 0.36, 0.18),
        ],
        "pieces": {
            "csv_row_bytes": 10.0,
            "parquet_row_bytes": 8.0,
            "csv_wide_row_bytes": 70.0,
            "parquet_wide_row_bytes": 30.0,
            "slice_bytes": 500.0,
            "slice_add_s": 1e-6,
            "file_s": 1e-3,
        },
    }


def test_the_share_that_a_second_thread_leaves_stays(stored):
    # Half of 3.6 s does not shrink; 10^10 rows are 10,000 times 10^6.
    half, none = stored["threads"]
    assert costs.hours(half, 1) == pytest.approx(10.0)
    assert costs.hours(half, 16) == pytest.approx(10.0 * (0.5 + 0.5 / 16))
    assert costs.hours(none, 16) == pytest.approx(1.0 / 16)
    assert costs.hours({"one_s": 3.6, "two_s": 9.0}, 16) == pytest.approx(10.0)


def test_one_machine_and_a_cluster_by_hand(stored):
    first, second = costs.one_machine(stored)[1:]
    assert first[1:] == ["10.0", "5.31", "100 GB", "0.03"]
    assert second[1:] == ["1.0", "0.06", "80 GB", "0.02"]
    rows = {row[0]: row[1:] for row in costs.cluster(stored)[1:]}
    # 1 core-hour on 64 cores; 1,000 slices of 500 bytes, 1,024 times; 1 µs a slice.
    assert rows["1,000"] == ["0.02", "0.5 MB", "512.0 MB", "1.0 s"]
    assert rows["10,000,000"] == ["0.02", "5.0 GB", "5.1 TB", "2.8 h"]


def test_a_cluster_costs_what_the_dearest_engine_does(stored):
    case = {"rows": 3_000_000, "cpu_s": 1.08}
    stored["engines"] = [
        {**case, "case": "duckdb query", "cpu_s": 99.0},
        {**case, "case": "dask files"},
        {**case, "case": "spark files", "cpu_s": 2 * 69.12},
    ]
    # 46.08 s for 10^6 rows are 128 core-hours for 10^10.
    assert costs.cluster(stored)[1][1] == "2.00"


def test_the_limit_that_is_closest_comes_first(stored):
    heading, *rows = costs.breaks(stored)
    at = {row[0]: row[1:] for row in rows}
    # 99 MiB for 99,000 slices are 1,048.6 bytes; 16 threads; 64 GB.
    assert at["sums in the memory of one machine"] == ["64 GB", "3.8e6 slices", "0.026 %"]
    assert at["sums of 1,024 tasks, added by a driver"][1] == "3.5e6 slices"
    assert at["files, opened by one core"] == [
        "an hour",
        "3.6e6 files",
        "0.56 %",
    ]
    assert at["the temporary Parquet file of a CSV table"] == ["1 TB", "1.2e11 rows", "8 %"]
    assert at["evaluate, csv, 2 columns, 16 cores"] == ["a day", "4.5e10 rows", "22 %"]
    assert rows[0][0] == "evaluate, csv, 2 columns, 16 cores"
    shares = [float(row[-1].removesuffix(" %")) for row in rows]
    assert shares == sorted(shares, reverse=True)
    assert len(heading) == len(rows[0])


def test_peers_are_those_of_the_largest_table(stored):
    rows = costs.peers(stored)[1:]
    assert [row[1] for row in rows if "csv" in row[0]] == ["90"]
    assert rows[0][2:] == ["3.0", "2", "Polars", "2.0", "50", "1.50"]


def test_the_page_shows_every_table_and_says_what_is_assumed():
    """What the page says in words is what the arithmetic assumes."""
    text = PAGE.read_text(encoding="utf-8")
    shown = re.findall(r"^\.\. calibrant-stored:: scale/(\w+)$", text, re.MULTILINE)
    assert sorted(shown) == sorted(costs.TABLES)
    assert "at most four threads" in text
    assert MAX_DEFAULT_THREADS == 4
    for words, number in (
        ("1,001,000 and of 12,000,000 rows", FURTHER[0]),
        ("20,000 files", costs.FILES),
        ("1,000 slices", costs.SLICES),
        ("16 cores", costs.CORES),
        ("1,024 tasks", costs.TASKS),
    ):
        assert words in text
        assert int(words.split()[0].replace(",", "")) == number


def test_a_cluster_has_as_many_tasks_as_the_engines_make():
    tasks = pytest.importorskip("calibrant.tables.engines.file_tasks")
    assert tasks.MOST_TASKS == costs.TASKS


@RUN
def test_stored_numbers_are_of_the_whole_run():
    stored = json.loads(costs.STORED.read_text(encoding="utf-8"))
    assert {*SIZES, "threads", "pieces", "entered", "machine"} <= stored.keys()
    assert {tuple(part["rows"]) for part in stored["threads"]} == {FURTHER}
    for name, sizes in SIZES.items():
        assert {row["rows"] for row in stored[name]} == set(sizes)


@RUN
def test_every_table_of_the_page_is_made_of_the_stored_numbers():
    for name in costs.TABLES:
        heading, *rows = costs.table(name)
        assert rows
        assert {len(row) for row in rows} == {len(heading)}
