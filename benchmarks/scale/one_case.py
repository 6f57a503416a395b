"""One case of ``evaluate.py``: seconds, CPU seconds and peak memory of all its processes, and
checksums, as a line of JSON.

python benchmarks/scale/one_case.py polars 2 "/tmp/scale/*.parquet"
"""

import contextlib
import json
import os
import sys
import time
from glob import glob
from threading import Event, Thread

import numpy as np

BINS = 15
#: Seconds that a cluster is watched while it waits.
IDLE = 5.0
SQL = """
WITH cells AS (
  SELECT slice, least(floor((score + 1.2e-7) * 15), 14) AS bin, count(*) AS n, sum(score) AS s, sum((label = predicted)::DOUBLE) AS h,
    sum(-ln(greatest(CASE WHEN label = predicted THEN score ELSE 1 - score END, 1e-12))) AS ll,
    sum(power(score - (label = predicted)::DOUBLE, 2)) AS b
  FROM (SELECT slice, label, predicted, score::DOUBLE AS score FROM read_parquet('{files}')) GROUP BY ALL)
SELECT slice, sum(n) AS n, sum(abs(s - h)) / sum(n) AS ece, sum(ll) / sum(n) AS ll, sum(b) / sum(n) AS b
FROM cells GROUP BY slice ORDER BY slice
"""


class Watch(Thread):
    """CPU seconds and the peak of the resident memory of this process and all below it, looked
    at every 20 ms.
    """

    def __init__(self):
        super().__init__(daemon=True)
        self.over, self.cpu, self.peak = Event(), {}, 0.0

    def run(self):
        """Look until told to stop."""
        import psutil

        own = psutil.Process()
        while not self.over.wait(0.02):
            memory = 0
            for process in [own, *own.children(recursive=True)]:
                with contextlib.suppress(psutil.Error):
                    times = process.cpu_times()
                    # The looks themselves are not counted.
                    self.cpu[process.pid] = (
                        times.user + times.system - (time.thread_time() if process == own else 0.0)
                    )
                    memory += process.memory_info().rss
            self.peak = max(self.peak, memory / 2**20)


@contextlib.contextmanager
def cluster(case, workers, first):
    """The engine, with its cluster where it has one, each worker of it warmed up on one file:
    imports are not counted.
    """
    with contextlib.ExitStack() as stack:
        if case.startswith("dask"):
            from distributed import Client, LocalCluster

            made = LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None)
            stack.enter_context(made)
            stack.enter_context(Client(made)).run(answer, "pyarrow", first)
        elif case.startswith("spark"):
            from pyspark.sql import SparkSession

            os.environ["PYSPARK_PYTHON"] = sys.executable
            options = {"spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1"}
            session = (
                SparkSession.builder.master(f"local[{workers}]").config(map=options).getOrCreate()
            )
            stack.callback(session.stop)
            warmed = session.range(0, 8 * workers, 1, 8 * workers).mapInArrow(
                lambda rows: rows if len(answer("pyarrow", first)) else (), "id long"
            )
            warmed.collect()
        answer(case, first)
        yield


def table(engine, files):
    """The files as the cluster's own table."""
    if engine == "dask":
        import dask.dataframe

        return dask.dataframe.read_parquet(files)
    from pyspark.sql import SparkSession

    return SparkSession.builder.getOrCreate().read.parquet(*glob(files))


def answer(case, files):
    """n, ECE, log loss and Brier score of each slice, (slices, 4)."""
    if case == "sql":
        import duckdb

        return np.array(duckdb.sql(SQL.format(files=files)).fetchall(), dtype=float)[:, 1:]
    import calibrant as cb

    engine, _, made = case.partition("_")
    source = table(engine, files) if made else files
    columns = cb.evaluate(
        source, score="score", predicted="predicted", by="slice", n_bins=BINS, engine=engine
    ).columns()
    return np.stack(
        [columns[name] for name in ("n", "ece", "confidence_log_loss", "confidence_brier_score")],
        axis=1,
    )


def main(case, workers, files):
    """Measure and print."""
    os.sched_setaffinity(0, set(sorted(os.sched_getaffinity(0))[: int(workers)]))
    with cluster(case, int(workers), sorted(glob(files))[0]):
        watch = Watch()
        watch.start()
        # Looks come before the clock: what went before is not counted, nor what the processes of a
        # cluster use while they wait.
        clustered = case.startswith(("dask", "spark"))
        time.sleep(IDLE if clustered else 0.1)
        before = sum(watch.cpu.values())
        time.sleep(IDLE if clustered else 0.1)
        wall, cpu = time.perf_counter(), sum(watch.cpu.values())
        idle = (cpu - before) / IDLE if clustered else 0.0
        found = answer(case, files)
        wall = time.perf_counter() - wall
        watch.over.set()
        watch.join()
    cpu = sum(watch.cpu.values()) - cpu - idle * wall
    print(
        json.dumps(
            {
                "wall_s": wall,
                "cpu_s": cpu,
                "idle_cpu": idle,
                "peak_mib": watch.peak,
                "mean": found.mean(axis=0).tolist(),
            }
        )
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
