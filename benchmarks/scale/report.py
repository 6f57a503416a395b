"""CPU seconds and peak memory of a report: of rows in memory, and of files too large for it, read
in a stream by an engine.

python -m benchmarks.scale.report --rows 100000 1000000 --streamed 1000000 10000000 100000000
--engines polars duckdb python -m benchmarks.scale.report --rows --streamed 5000000 --engines polars
--cases evaluate command

In memory: ``cb.report`` of (n, 10) probabilities with temperature scaling, 5-fold out-of-fold; with
``--automatic`` also with the automatic choice. Streamed, of Parquet files with all 10 probabilities
in float32 (10^8 rows take 4.9 GB of disk): ``evaluate`` is ``cb.evaluate``, scores and calibration
errors in one pass; ``report`` is the whole report, before and after temperature scaling out of
fold, in two passes; ``command`` is ``calibrant evaluate`` of one column of risks, the event of two
classes, with its imports. ``read`` is the time of reading all columns alone, and the last column
the ratio of CPU seconds to that. Each case runs in a process of its own; a first look is not
counted, but for the command. ``--folder`` keeps the files for the next run.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from benchmarks.scale.one_case import Watch

CHUNK, CLASSES, WARM = 500_000, 10, 2_000
CASES = ("evaluate", "report")
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
    if case == "read":
        import pyarrow.dataset as ds

        return lambda: sum(
            batch.num_rows
            for batch in ds.dataset(sorted(map(str, folder.glob("*.parquet")))).to_batches()
        )
    case, engine = case.split("/")
    return STREAMED[case](folder, engine)


def evaluated(folder, engine):
    """``cb.evaluate`` of the files."""
    import calibrant as cb

    cb.evaluate(str(folder / "00000.parquet"), label="label", probabilities="p_*", engine=engine)
    return lambda: cb.evaluate(
        f"{folder}/*.parquet", label="label", probabilities="p_*", engine=engine
    )


def reported(folder, engine):
    """The report of the files, in two passes."""
    import calibrant as cb
    from calibrant.reporting.table.report import TableReport
    from calibrant.tables.apply import TableRows, row_count
    from calibrant.tables.columns import Layout

    def made(paths):
        rows = TableRows(
            paths, Layout("columns", tuple(NAMES), tuple(range(CLASSES)), "label"), engine
        )
        return TableReport(
            rows, row_count(paths), list(range(CLASSES)), cb.TemperatureScaling(), "classes"
        ).made()

    paths = sorted(map(str, folder.glob("*.parquet")))
    made(paths[:1])
    return lambda: made(paths)


def commanded(folder, engine):
    """The command on one file of risks and outcomes, which ``risks`` has written."""
    file = folder / "risks" / "risks.parquet"
    return lambda: subprocess.run(
        [sys.executable, "-m", "calibrant", "evaluate", file], check=True, capture_output=True
    )


def risks(folder):
    """One file of the probability of the first class, and whether it is true."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    (folder / "risks").mkdir()
    schema = pa.schema([("p", pa.float32()), ("label", pa.bool_())])
    with pq.ParquetWriter(folder / "risks" / "risks.parquet", schema, compression="zstd") as writer:
        for path in sorted(folder.glob("*.parquet")):
            own = pq.read_table(path, columns=[NAMES[0], "label"])
            writer.write_table(
                pa.table([own[NAMES[0]], pa.array(own["label"].to_numpy() == 0)], schema=schema)
            )


STREAMED = {"evaluate": evaluated, "report": reported, "command": commanded}


def measure(case, n, folder):
    """Run one case in this process and print what it took."""
    work, watch = prepared(case, n, Path(folder)), Watch()
    watch.start()
    wall, cpu = time.perf_counter(), sum(os.times()[:4])
    work()
    wall, cpu = time.perf_counter() - wall, sum(os.times()[:4]) - cpu
    time.sleep(0.1)
    print(json.dumps({"cpu_s": cpu, "wall_s": wall, "peak_mib": watch.peak}))


def measured(case, n, folder, read=None):
    """One case in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.scale.report", "--one", case, str(n), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    found = json.loads(done.stdout.splitlines()[-1])
    ratio = "" if read is None else f"{found['cpu_s'] / read:8.1f}"
    print(
        f"{case:>16} {n:>12,} {found['cpu_s']:8.2f} {found['wall_s']:8.2f}"
        f" {found['peak_mib']:9.0f}{ratio}",
        flush=True,
    )
    return found["cpu_s"]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--rows", type=int, nargs="*", default=[100_000, 1_000_000], help="in memory"
    )
    parser.add_argument("--streamed", type=int, nargs="*", default=[1_000_000], help="in files")
    parser.add_argument("--engines", nargs="+", default=["polars", "duckdb"])
    parser.add_argument("--cases", nargs="+", default=CASES, choices=[*STREAMED], help="of files")
    parser.add_argument("--folder", type=Path, help="of the files, which are kept")
    parser.add_argument(
        "--automatic", action="store_true", help="the default calibrator too: minutes"
    )
    parser.add_argument(
        "--one", nargs=3, metavar=("CASE", "ROWS", "FOLDER"), help=argparse.SUPPRESS
    )
    options = parser.parse_args()
    if options.one:
        return measure(options.one[0], int(options.one[1]), options.one[2])
    print(f"{'case':>16} {'rows':>12} {'CPU s':>8} {'wall s':>8} {'peak MiB':>9} {'to read':>7}")
    for n in options.rows:
        for case in ("temperature", *(("automatic",) if options.automatic else ())):
            measured(case, n, "-")
    for n in options.streamed:
        kept = options.folder
        folder = Path(tempfile.mkdtemp()) / "rows" if kept is None else kept / str(n)
        try:
            if not folder.exists():
                generate(folder, n)
            if "command" in options.cases and not (folder / "risks").exists():
                risks(folder)
            read = measured("read", n, folder)
            for case in options.cases:
                for engine in options.engines if case != "command" else [""]:
                    measured(f"{case}/{engine}", n, folder, read)
        finally:
            if kept is None:
                shutil.rmtree(folder.parent, ignore_errors=True)
    return None


if __name__ == "__main__":
    main()
