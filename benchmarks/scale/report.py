"""CPU seconds and peak memory of a report: of rows in memory, and of files too large for it, read in a stream by an engine.

python -m benchmarks.scale.report --rows 100000 1000000 --streamed 1000000 10000000 --engines polars duckdb

In memory: ``cb.report`` of (n, 10) probabilities with temperature scaling, 5-fold out-of-fold; with ``--automatic`` also with the automatic
choice. Streamed: ``cb.evaluate`` of Parquet files with all 10 probabilities: scores and calibration errors in bounded memory. Beside it is
the time of reading the file alone. Each case runs in a process of its own; a first look is not counted.
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
from benchmarks.scale.one_case import Watch

CHUNK, CLASSES, WARM = 500_000, 10, 2_000
NAMES = [f"p_{k}" for k in range(CLASSES)]


def rows_of(n, seed=0):
    """(labels, probabilities too sure by a factor of 1.4 on the logits)."""
    rng = np.random.default_rng(seed)
    logits = 2.0 * rng.normal(size=(n, CLASSES))
    true, said = (np.exp(logits * factor) for factor in (1.0, 1.4))
    true /= true.sum(axis=1, keepdims=True)
    labels = (true.cumsum(axis=1) > rng.random((n, 1))).argmax(axis=1)
    return labels, said / said.sum(axis=1, keepdims=True)


def generate(folder, n):
    """Files of at most CHUNK rows each."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder.mkdir(parents=True)
    for i, start in enumerate(range(0, n, CHUNK)):
        labels, P = rows_of(min(CHUNK, n - start), i)
        table = pa.table({"label": labels, **dict(zip(NAMES, P.astype(np.float32).T, strict=True))})
        pq.write_table(table, folder / f"{i:05d}.parquet", compression="zstd")


def prepared(case, n, folder):
    """The work of a case, as a function without arguments, warmed up."""
    import calibrant as cb

    if case in ("temperature", "automatic"):
        calibrator = cb.TemperatureScaling() if case == "temperature" else None
        cb.report(*rows_of(WARM), calibrator=calibrator)
        labels, P = rows_of(n)
        return lambda: cb.report(labels, P, calibrator=calibrator)
    files = f"{folder}/*.parquet"
    if case == "read":
        import pyarrow.dataset as ds

        return lambda: sum(batch.num_rows for batch in ds.dataset(folder).to_batches())
    cb.evaluate(str(folder / "00000.parquet"), label="label", probabilities="p_*", engine=case)
    return lambda: cb.evaluate(files, label="label", probabilities="p_*", engine=case)


def measure(case, n, folder):
    """Run one case in this process and print what it took."""
    work, watch = prepared(case, n, Path(folder)), Watch()
    watch.start()
    # A look comes before the clock, as what went before is not counted.
    time.sleep(0.1)
    wall, cpu = time.perf_counter(), sum(watch.cpu.values())
    work()
    wall = time.perf_counter() - wall
    time.sleep(0.1)
    print(json.dumps({"cpu_s": sum(watch.cpu.values()) - cpu, "wall_s": wall, "peak_mib": watch.peak}))


def measured(case, n, folder):
    """One case in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.scale.report", "--one", case, str(n), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    found = json.loads(done.stdout.splitlines()[-1])
    print(f"{case:>12} {n:>12,} {found['cpu_s']:8.2f} {found['wall_s']:8.2f} {found['peak_mib']:9.0f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="*", default=[100_000, 1_000_000], help="in memory")
    parser.add_argument("--streamed", type=int, nargs="*", default=[1_000_000], help="in files")
    parser.add_argument("--engines", nargs="+", default=["polars", "duckdb"])
    parser.add_argument("--automatic", action="store_true", help="the default calibrator too: minutes")
    parser.add_argument("--one", nargs=3, metavar=("CASE", "ROWS", "FOLDER"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        return measure(options.one[0], int(options.one[1]), options.one[2])
    print(f"{'case':>12} {'rows':>12} {'CPU s':>8} {'wall s':>8} {'peak MiB':>9}")
    for n in options.rows:
        for case in ("temperature", *(("automatic",) if options.automatic else ())):
            measured(case, n, "-")
    for n in options.streamed:
        folder = Path(tempfile.mkdtemp()) / "rows"
        try:
            generate(folder, n)
            for case in ("read", *options.engines):
                measured(case, n, folder)
        finally:
            shutil.rmtree(folder.parent, ignore_errors=True)
    return None


if __name__ == "__main__":
    main()
