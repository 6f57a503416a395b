"""CPU seconds of ``cb.evaluate`` by 1,000 slices on each engine, beside hand-written DuckDB and
Polars queries: ``python -m benchmarks.scale.engines``.

The rows (a risk, its outcome, a slice) are in six Parquet files. Each case runs in a process of its
own, whose CPU seconds are counted with those of all processes below it, in a second run: imports
and the start of a cluster are not counted. One thread each; clusters have two workers, and are
given the files or a frame of their own. An engine that is not installed is left out. The last
column is the largest difference of any number of any slice from the DuckDB query, which counts a
risk within float32's precision below the edge of a bin as above it, as calibrant does.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["main", "rows"]

ROWS, FILES, SLICES, WORKERS = 3_000_000, 6, 1_000, 2
CASES = (
    *("duckdb query", "polars query", "polars files", "duckdb files", "pyarrow files"),
    *("dask files", "dask frame", "spark files", "spark frame", "ray files", "ray frame"),
)
#: What the library of a case is called, where its name is another.
LIBRARY = {"spark": "pyspark"}
NUMBERS = ("n", "mean_risk", "event_rate", "log_loss", "event_brier_score", "event_ece")
SQL = """
WITH cells AS (
  SELECT slice, least(floor((p + power(2, -23)) * 15), 14) AS bin,
    count(*) AS n, sum(p) AS s, sum(label) AS h,
    sum(-ln(greatest(CASE WHEN label = 1 THEN p ELSE 1 - p END, 1e-12))) AS l,
    sum(power(p - label, 2)) AS b
  FROM read_parquet({files}) GROUP BY ALL)
SELECT sum(n), sum(s) / sum(n), sum(h) / sum(n), sum(l) / sum(n), sum(b) / sum(n),
  sum(abs(s - h)) / sum(n) FROM cells GROUP BY slice ORDER BY slice
"""


def main() -> None:
    """Print the table, or one case of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--cases", nargs="+", choices=CASES, default=CASES)
    parser.add_argument("--one", nargs=2, metavar=("CASE", "FOLDER"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(_measured(options.one[0], Path(options.one[1]))))
        return
    for row in rows(options.rows, options.cases):
        print("  ".join(f"{value:>{WIDTHS[name]}}" for name, value in row.items()), flush=True)


WIDTHS = {"case": 14, "rows": 11, "cpu_s": 8, "wall_s": 8, "to_query": 8, "difference": 10}


def rows(rows: int = ROWS, cases: Sequence[str] = CASES) -> list[dict[str, Any]]:
    """One dictionary for each case whose library is installed."""
    table, queried, numbers = [], None, None
    with tempfile.TemporaryDirectory() as folder:
        _write(Path(folder), rows)
        for case in dict.fromkeys(["duckdb query", *cases]):
            library = case.partition(" ")[0]
            if find_spec(LIBRARY.get(library, library)) is None:
                continue
            command = [sys.executable, "-m", "benchmarks.scale.engines", "--one", case, folder]
            done = subprocess.run(command, capture_output=True, text=True, env=_environment())
            if done.returncode:
                raise RuntimeError(done.stderr[-2000:])
            found = json.loads(done.stdout.splitlines()[-1])
            numbers = np.array(found.pop("numbers")) if numbers is None else numbers
            queried = found["cpu_s"] if queried is None else queried
            difference = np.abs(np.array(found.pop("numbers", numbers)) - numbers).max()
            table.append(
                {
                    "case": case,
                    "rows": rows,
                    "cpu_s": round(found["cpu_s"], 2),
                    "wall_s": round(found["wall_s"], 2),
                    "to_query": round(found["cpu_s"] / queried, 2),
                    "difference": float(f"{difference:.1e}"),
                }
            )
    return table


def _write(folder: Path, rows: int) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    for i in range(FILES):
        rng, n = np.random.default_rng(i), rows // FILES
        p = rng.random(n)
        table = {
            "p": p,
            "label": (rng.random(n) < p).astype(int),
            "slice": rng.integers(0, SLICES, n),
        }
        pq.write_table(pa.table(table), folder / f"{i}.parquet")


def _environment() -> dict[str, str]:
    threads = ("OMP_NUM_THREADS", "POLARS_MAX_THREADS", "CALIBRANT_THREADS")
    return {**os.environ, **dict.fromkeys(threads, "1"), "PYSPARK_PYTHON": sys.executable}


def _measured(case: str, folder: Path) -> dict[str, Any]:
    """CPU and wall seconds of one case, and its numbers (slices, 6)."""
    files = sorted(map(str, folder.glob("*.parquet")))
    engine, _, source = case.partition(" ")
    with ExitStack() as stack:
        STARTED.get(engine, lambda _: None)(stack)
        answer = QUERIES[engine] if source == "query" else _evaluated(engine, source)
        answer(files)
        wall, cpu = time.perf_counter(), _cpu()
        numbers = answer(files)
        cpu, wall = _cpu() - cpu, time.perf_counter() - wall
    return {"cpu_s": cpu, "wall_s": wall, "numbers": numbers.tolist()}


def _cpu() -> float:
    """CPU seconds of this process and all below it so far, with those that have ended."""
    import psutil

    own = psutil.Process()
    return sum(sum(process.cpu_times()[:4]) for process in [own, *own.children(recursive=True)])


def _evaluated(engine: str, source: str) -> Callable[[Any], np.ndarray]:
    import calibrant as cb

    def answer(files: Any) -> np.ndarray:
        table = FRAMES[engine](files) if source == "frame" else files
        options = {} if source == "frame" else {"engine": engine}
        columns = cb.evaluate(table, probabilities="p", by="slice", **options).columns()
        return np.stack([columns[name] for name in NUMBERS], axis=1)

    return answer


def _duckdb_query(files: Any) -> np.ndarray:
    import duckdb

    connection = duckdb.connect(config={"threads": 1})
    return np.array(connection.sql(SQL.format(files=files)).fetchall(), dtype=float)


def _polars_query(files: Any) -> np.ndarray:
    import polars as pl

    p, label = pl.col("p"), pl.col("label")
    true = pl.when(label == 1).then(p).otherwise(1.0 - p).clip(1e-12)
    cells = (
        pl.scan_parquet(files)
        .group_by("slice", ((p + 2.0**-23) * 15).floor().clip(0, 14).cast(pl.Int8).alias("bin"))
        .agg(
            pl.len().alias("n"),
            p.sum().alias("s"),
            label.sum().alias("h"),
            (-true.log()).sum().alias("l"),
            ((p - label) ** 2).sum().alias("b"),
        )
        .with_columns((pl.col("s") - pl.col("h")).abs().alias("e"))
    )
    sums = cells.group_by("slice").agg(pl.col("n", "s", "h", "l", "b", "e").sum()).sort("slice")
    means = [pl.col(name) / pl.col("n") for name in "shlbe"]
    return sums.select("n", *means).collect(engine="streaming").to_numpy()


QUERIES = {"duckdb": _duckdb_query, "polars": _polars_query}


def _dask(stack: ExitStack) -> None:
    from distributed import Client, LocalCluster

    made = LocalCluster(n_workers=WORKERS, threads_per_worker=1, dashboard_address=":0")
    stack.enter_context(made)
    stack.enter_context(Client(made))


def _session() -> Any:
    from pyspark.sql import SparkSession

    options = {"spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1"}
    return SparkSession.builder.master(f"local[{WORKERS}]").config(map=options).getOrCreate()


def _ray(stack: ExitStack) -> None:
    ray = import_module("ray")
    ray.init(num_cpus=WORKERS, include_dashboard=False, log_to_driver=False)
    stack.callback(ray.shutdown)


STARTED: dict[str, Callable[[ExitStack], Any]] = {
    "dask": _dask,
    "spark": lambda stack: stack.callback(_session().stop),
    "ray": _ray,
}


def _dask_frame(files: Any) -> Any:
    import dask.dataframe

    return dask.dataframe.read_parquet(files)


FRAMES: dict[str, Callable[[Any], Any]] = {
    "dask": _dask_frame,
    "spark": lambda files: _session().read.parquet(*files),
    "ray": lambda files: import_module("ray.data").read_parquet(files),
}

if __name__ == "__main__":
    main()
