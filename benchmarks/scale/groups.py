"""CPU seconds and peak memory of a calibrator by group, and of its audit, fitted from sums of
tables of any size by 1,000 cells.

python benchmarks/scale/groups.py --rows 1000000 10000000

Rows (the probability of an event, its label, three columns of ten levels) are written to Parquet in
chunks and removed at the end. Each engine runs in a process of its own: one pass to a sketch of 512
bins a cell, ``fit_groups`` on it, ``audit`` of it with 100 draws. At the first size the fit of all
rows in memory stands beside them, with the largest difference of their probabilities at 100,000 new
rows. "gained" is the share of the log loss that knowing the true probabilities would gain, on those
rows.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

CHUNK, LEVELS, BINS = 500_000, 10, 512
COLUMNS = ("region", "product", "channel")


def made(seed, rows):
    """(columns, true probability): the log-odds differ by each level and by cell."""
    rng, fixed = np.random.default_rng([1, seed]), np.random.default_rng(0)
    groups = rng.integers(0, LEVELS, (len(COLUMNS), rows))
    shift = fixed.normal(0.0, 0.3, (LEVELS,) * 3) + sum(
        fixed.normal(0.0, 0.3, LEVELS).reshape([-1 if j == k else 1 for k in range(3)])
        for j in range(3)
    )
    z = rng.normal(-1.0, 1.2, rows)
    p, truth = (1.0 / (1.0 + np.exp(-each)) for each in (z, z + shift[tuple(groups)]))
    return {
        "p": p,
        "label": (rng.random(rows) < truth).astype(np.int8),
        **dict(zip(COLUMNS, groups, strict=True)),
    }, truth


def generate(folder, rows):
    """Files of at most CHUNK rows each."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder.mkdir(parents=True)
    for i, start in enumerate(range(0, rows, CHUNK)):
        columns, _ = made(i, min(CHUNK, rows - start))
        pq.write_table(
            pa.table(columns | {"p": columns["p"].astype(np.float32)}),
            folder / f"{i:05d}.parquet",
            compression="zstd",
        )


def one(case, files):
    """CPU seconds of each step, peak memory and what came of it, as a line of JSON."""
    from one_case import Watch

    import calibrant as cb
    from calibrant import tables

    columns, truth = made(10**6, 100_000)
    new = {name: columns[name] for name in COLUMNS}
    watch, seconds = Watch(), {}
    watch.start()

    def timed(name, work):
        start = time.process_time()
        out = work()
        seconds[name] = time.process_time() - start
        return out

    if case == "rows":
        import pandas as pd

        table = timed("pass", lambda: pd.read_parquet(Path(files).parent))
        fitted = timed(
            "fit",
            lambda: cb.GroupCalibrator().fit(
                table["p"], table["label"], groups=table[list(COLUMNS)]
            ),
        )
        audited = timed(
            "audit",
            lambda: cb.audit(
                table["label"], table["p"], table[list(COLUMNS)], depth=3, n_draws=100
            ),
        )
    else:
        options = {
            "probabilities": "p",
            "target": "event",
            "by": list(COLUMNS),
            "n_bins": BINS,
            "engine": case,
        }
        sums = timed("pass", lambda: tables.sketch(files, **options))
        fitted = timed("fit", sums.fit_groups)
        audited = timed("audit", lambda: cb.audit(sums, depth=3, n_draws=100))
    q = fitted.predict_proba(columns["p"], groups=new)[:, 1]
    watch.over.set()
    watch.join()

    def loss(p):
        return -np.mean(np.where(columns["label"] == 1, np.log(p), np.log1p(-p)))

    base = fitted.calibrator_.predict_proba(columns["p"])[:, 1]
    gained = (loss(base) - loss(q)) / (loss(base) - loss(truth))
    print(
        json.dumps(
            {
                "cpu_s": seconds,
                "peak_mib": watch.peak,
                "gained": gained,
                "off": len(audited.off),
                "q": q.tolist(),
            }
        )
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000])
    parser.add_argument("--engines", nargs="+", default=["polars", "duckdb"])
    parser.add_argument(
        "--folder", type=Path, default=Path(tempfile.gettempdir()) / "calibrant_groups"
    )
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        one(*args.one)
        return
    print(
        f"{'rows':>12} {'case':>8} {'pass, CPU s':>12} {'fit':>8} {'audit':>8} {'peak MiB':>9}"
        f" {'gained':>7} {'off':>6} {'to the rows':>12}"
    )
    for rows in args.rows:
        folder = args.folder / str(rows)
        shutil.rmtree(folder, ignore_errors=True)
        try:
            generate(folder, rows)
            exact = None
            for case in [*(["rows"] if rows == args.rows[0] else []), *args.engines]:
                command = [sys.executable, __file__, "--one", case, f"{folder}/*.parquet"]
                done = subprocess.run(command, capture_output=True, text=True, check=False)
                if done.returncode:
                    raise RuntimeError(done.stderr[-2000:])
                found = json.loads(done.stdout.splitlines()[-1])
                exact = np.array(found["q"]) if case == "rows" else exact
                far = (
                    ""
                    if exact is None or case == "rows"
                    else f"{np.abs(np.array(found['q']) - exact).max():12.1e}"
                )
                steps = "{pass:12.2f} {fit:8.2f} {audit:8.2f}".format(**found["cpu_s"])
                print(
                    f"{rows:>12,} {case:>8} {steps} {found['peak_mib']:9.0f} {found['gained']:7.1%}"
                    f" {found['off']:6} {far}",
                    flush=True,
                )
        finally:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
