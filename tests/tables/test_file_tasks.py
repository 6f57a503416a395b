"""The tasks of a cluster are all rows of the files, once each, whatever the files' sizes and
folders.
"""

import pickle

import numpy as np
import pytest

from calibrant.tables.engines import arrow_engine, file_tasks

pq = pytest.importorskip("pyarrow.parquet")


def rows_of(tasks, columns):
    """Their rows, after the way to a worker."""
    batches = [
        b for task in tasks for b in arrow_engine.batches(pickle.loads(pickle.dumps(task)), columns)
    ]
    return [row for batch in batches for row in zip(*batch.to_pydict().values(), strict=True)]


def test_small_files_are_read_together_and_large_ones_apart(tmp_path, monkeypatch):
    import pyarrow as pa

    monkeypatch.setattr(file_tasks, "TASK_BYTES", 20_000)
    sizes = [10, 10, 10, 20_000, 10]
    for j, n in enumerate(sizes):
        pq.write_table(
            pa.table({"file": np.full(n, j), "row": np.random.default_rng(j).random(n)}),
            tmp_path / f"{j}.parquet",
            row_group_size=2_000,
        )
    tasks = file_tasks.file_tasks([str(tmp_path / f"{j}.parquet") for j in range(len(sizes))])
    assert 4 <= len(tasks) <= 12
    found = rows_of(tasks, ["file", "row"])
    expected = [
        (j, x) for j, n in enumerate(sizes) for x in np.random.default_rng(j).random(n).tolist()
    ]
    assert found == expected


def test_folders_are_columns_of_the_same_kind_in_every_task(tmp_path, monkeypatch):
    import pyarrow as pa

    monkeypatch.setattr(file_tasks, "TASK_BYTES", 1)
    for model in ("1", "b"):
        (tmp_path / f"model={model}").mkdir()
        pq.write_table(pa.table({"x": [1.0, 2.0]}), tmp_path / f"model={model}" / "0.parquet")
    tasks = file_tasks.file_tasks(
        [str(tmp_path / f"model={model}" / "0.parquet") for model in ("1", "b")]
    )
    assert len(tasks) == 2
    assert rows_of(tasks, ["model", "x"]) == [("1", 1.0), ("1", 2.0), ("b", 1.0), ("b", 2.0)]
