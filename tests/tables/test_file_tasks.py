"""The tasks of a cluster are all rows of the files, once each, whatever the files' sizes and
folders.
"""

import pickle
from pathlib import Path

import numpy as np
import pytest

from calibrant.tables.engines import arrow_engine, file_tasks

pq = pytest.importorskip("pyarrow.parquet")


def rows_of(whole, tasks, columns):
    """Their rows, after the way to a worker."""
    tables = [file_tasks.task_table(*pickle.loads(pickle.dumps((whole, task)))) for task in tasks]
    batches = [batch for table in tables for batch in arrow_engine.batches(table, columns)]
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
    whole, tasks = file_tasks.file_tasks(
        [str(tmp_path / f"{j}.parquet") for j in range(len(sizes))]
    )
    assert 4 <= len(tasks) <= 12
    found = rows_of(whole, tasks, ["file", "row"])
    expected = [
        (j, x) for j, n in enumerate(sizes) for x in np.random.default_rng(j).random(n).tolist()
    ]
    assert found == expected


@pytest.mark.parametrize(("size", "n_tasks"), [(400, 2), (200, 4)])
def test_folders_are_columns_of_the_same_kind_in_every_task(size, n_tasks, tmp_path, monkeypatch):
    import pyarrow as pa

    monkeypatch.setattr(file_tasks, "TASK_BYTES", size)
    for model in ("1", "b"):
        (tmp_path / f"model={model}").mkdir()
        pq.write_table(pa.table({"x": [1.0, 2.0]}), tmp_path / f"model={model}" / "0.parquet")
    whole, tasks = file_tasks.file_tasks(
        [str(tmp_path / f"model={model}" / "0.parquet") for model in ("1", "b")]
    )
    assert len(tasks) == n_tasks
    assert rows_of(whole, tasks, ["model", "x"]) == [("1", 1.0), ("1", 2.0), ("b", 1.0), ("b", 2.0)]


def test_footers_of_other_files_than_the_first_are_left_to_the_workers(tmp_path, monkeypatch):
    import pyarrow as pa

    monkeypatch.setattr(file_tasks, "TASK_BYTES", 1_000)
    paths = [str(tmp_path / f"{j}.parquet") for j in range(2)]
    pq.write_table(pa.table({"x": [1.0]}), paths[0])
    Path(paths[1]).write_bytes(b"no Parquet " * 1_000)
    whole, tasks = file_tasks.file_tasks(paths)
    assert [part for task in tasks for path, _, *part in task if path == paths[1]] == [
        [j, 11] for j in range(11)
    ]
    assert rows_of(whole, [[tasks[0][0]]], ["x"]) == [(1.0,)]
    with pytest.raises(pa.ArrowInvalid, match="Parquet"):
        rows_of(whole, tasks[-1:], ["x"])
