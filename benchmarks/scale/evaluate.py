"""Rows a second, CPU and peak memory of ``cb.evaluate`` by 1,000 slices on each engine, beside
hand-written DuckDB SQL.

python benchmarks/scale/evaluate.py --rows 1000000 10000000 100000000 --results /tmp/scale.jsonl

Rows are written to Parquet in chunks (score, predicted of 10 classes, label, slice) and removed at
the end. Each case runs in a process of its own, so that its peak memory is its own, and in rounds,
so that what else the machine does falls on all. Workers are cores (Dask: worker processes, Spark:
tasks at once); the others are not used. Clusters are given the files, or with ``_table`` their own
tables of them. Results are appended, and what is there is not run again.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

CHUNK, SLICES, CLASSES = 500_000, 1000, 10
EMBEDDED = ("sql", "polars", "duckdb", "pyarrow")


def generate(folder, rows):
    """Files of at most CHUNK rows each."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder.mkdir(parents=True)
    for i, start in enumerate(range(0, rows, CHUNK)):
        rng, n = np.random.default_rng(i), min(CHUNK, rows - start)
        logit = rng.normal(2.0, 2.0, n)
        score = (1.0 / (1.0 + np.exp(-logit))).astype(np.float32)
        predicted = rng.integers(0, CLASSES, n)
        right = rng.random(n) < 1.0 / (1.0 + np.exp(-0.7 * logit))
        label = np.where(right, predicted, (predicted + 1) % CLASSES)
        table = {
            "score": score,
            "predicted": predicted,
            "label": label,
            "slice": rng.integers(0, SLICES, n),
        }
        pq.write_table(pa.table(table), folder / f"{i:05d}.parquet", compression="zstd")


def measured(case, workers, folder):
    """One case in a process of its own."""
    command = [
        sys.executable,
        str(Path(__file__).parent / "one_case.py"),
        case,
        str(workers),
        f"{folder}/*.parquet",
    ]
    environment = {k: v for k, v in os.environ.items() if k != "OMP_NUM_THREADS"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    return json.loads(done.stdout.splitlines()[-1])


def show(results):
    """The best round of each case, and the ratio of its time to the SQL of the same round
    (median).
    """
    heads = (
        f"{'rows':>12} {'workers':>7} {'case':>8} {'wall s':>8} {'Mrows/s':>8} {'CPU ns/row':>10}"
        f" {'peak MiB':>9} {'to SQL':>7}"
    )
    print(heads, " n, ECE, log loss, Brier")
    seen = {(r["rows"], r["workers"], r["case"], r["round"]): r for r in results}
    for rows, workers, case in dict.fromkeys(key[:3] for key in sorted(seen, key=lambda k: k[:2])):
        own = [r for key, r in seen.items() if key[:3] == (rows, workers, case)]
        best = min(own, key=lambda r: r["wall_s"])
        beside = [
            r["wall_s"] / seen[rows, workers, "sql", r["round"]]["wall_s"]
            for r in own
            if (rows, workers, "sql", r["round"]) in seen
        ]
        cpu, peak = min(r["cpu_s"] for r in own) / rows * 1e9, max(r["peak_mib"] for r in own)
        ratio = f"{np.median(beside):7.2f}" if beside else " " * 7
        wall, mean = best["wall_s"], " ".join(f"{v:.8g}" for v in best["mean"])
        print(
            f"{rows:>12,} {workers:>7} {case:>8} {wall:8.2f} {rows / wall / 1e6:8.1f} {cpu:10.0f}"
            f" {peak:9.0f} {ratio}  {mean}"
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000])
    parser.add_argument(
        "--cases",
        nargs="+",
        default=EMBEDDED,
        help="of sql, polars, duckdb, pyarrow, dask, spark, dask_table, spark_table",
    )
    parser.add_argument("--workers", type=int, nargs="+", default=[2])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(
        "--folder", type=Path, default=Path(tempfile.gettempdir()) / "calibrant_scale"
    )
    parser.add_argument("--results", type=Path)
    args = parser.parse_args()
    kept = args.results is not None and args.results.exists()
    results = (
        [json.loads(line) for line in args.results.read_text(encoding="utf-8").splitlines()]
        if kept
        else []
    )
    done = {(r["rows"], r["workers"], r["case"], r["round"]) for r in results}
    for rows in args.rows:
        wanted = [
            (rows, w, c, i) for i in range(args.rounds) for w in args.workers for c in args.cases
        ]
        wanted = [key for key in wanted if key not in done]
        folder = args.folder / str(rows)
        try:
            if wanted:
                shutil.rmtree(folder, ignore_errors=True)
                generate(folder, rows)
            for key in wanted:
                results.append(
                    dict(zip(("rows", "workers", "case", "round"), key, strict=True))
                    | measured(key[2], key[1], folder)
                )
                if args.results is not None:
                    with args.results.open("a") as file:
                        file.write(json.dumps(results[-1]) + "\n")
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    show(results)


if __name__ == "__main__":
    main()
