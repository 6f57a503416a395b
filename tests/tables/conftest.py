import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("pyarrow")
pytest.importorskip("pandas")

K, FILES, ROWS = 4, 21, 150


def _table(rng, rows):
    import pyarrow as pa

    P = rng.dirichlet(np.ones(K) * 0.7, rows).astype(np.float32)
    P /= P.sum(axis=1, keepdims=True)
    cut = np.cumsum(P**1.3 / (P**1.3).sum(axis=1, keepdims=True), axis=1)
    label = np.minimum((rng.random(rows)[:, None] > cut).sum(axis=1), K - 1)
    start = np.datetime64("2026-03-30T00:00", "us")
    return pa.table(
        {
            **{f"p_{k}": P[:, k] for k in range(K)},
            "vector": pa.FixedSizeListArray.from_arrays(pa.array(P.ravel()), K),
            "score": P.max(axis=1),
            "predicted": P.argmax(axis=1),
            "label": label,
            "model": np.array(["a", "b", None], dtype=object)[rng.integers(0, 3, rows)],
            "region": rng.integers(0, 5, rows),
            "ts": start + rng.integers(0, 4 * 24 * 3600, rows) * np.timedelta64(1, "s"),
            "w": rng.integers(0, 4, rows).astype(np.float64),
            "note": [f"row {i}" for i in range(rows)],
        }
    )


@pytest.fixture(scope="session")
def logs(tmp_path_factory):
    """Pattern of 21 small files of predictions."""
    import pyarrow.parquet as pq

    folder, rng = tmp_path_factory.mktemp("logs"), np.random.default_rng(12)
    for i in range(FILES):
        pq.write_table(_table(rng, ROWS), folder / f"part_{i:02d}.parquet")
    return f"{folder}/*.parquet"


@pytest.fixture(scope="session")
def whole(logs):
    """All rows of the files, as one pandas frame."""
    import pyarrow.dataset as ds

    return (
        ds.dataset(sorted(str(p) for p in Path(logs).parent.glob("*.parquet")))
        .to_table()
        .to_pandas()
    )


@pytest.fixture(scope="session")
def dask_cluster():
    """Two Dask worker processes."""
    distributed = pytest.importorskip(
        "distributed", reason="Dask is not installed: pip install 'calibrant[dask]'"
    )
    # Any free port: None would take 8787, and fail where another cluster has it.
    options = {
        "n_workers": 2,
        "threads_per_worker": 1,
        "processes": True,
        "dashboard_address": ":0",
    }
    with distributed.LocalCluster(**options) as made, distributed.Client(made):
        yield


@pytest.fixture(scope="session")
def spark_cluster():
    """A local Spark of two tasks, on a Java machine that compiles little, as the tests are
    short.
    """
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java: make system-deps")
    sql = pytest.importorskip(
        "pyspark.sql", reason="Spark is not installed: pip install 'calibrant[spark]'"
    )
    options = {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.codegen.wholeStage": "false",
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        session = sql.SparkSession.builder.master("local[2]").config(map=options).getOrCreate()
        yield
        session.stop()


@pytest.fixture(scope="session")
def ray_cluster():
    """A local Ray of two tasks."""
    ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'calibrant[ray]'")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="error")
    yield
    ray.shutdown()


@pytest.fixture(scope="session")
def folders(tmp_path_factory):
    """The same kind of rows in folders called model=... and day=..., and all of them as one
    pandas frame.
    """
    import pandas as pd
    import pyarrow as pa
    import pyarrow.parquet as pq

    root, rng, parts = tmp_path_factory.mktemp("folders"), np.random.default_rng(13), []
    for model in ("a", "b"):
        for day in ("2026-05-01", "2026-05-02"):
            table = _table(rng, 40).drop(["model", "ts"])
            (root / f"model={model}" / f"day={day}").mkdir(parents=True)
            pq.write_table(table, root / f"model={model}" / f"day={day}" / "0.parquet")
            parts.append(
                table.append_column("model", pa.array([model] * 40)).append_column(
                    "day", pa.array([day] * 40)
                )
            )
    return str(root), pd.concat([part.to_pandas() for part in parts])
