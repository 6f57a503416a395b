"""Engine for pyarrow: files, datasets, tables, and pandas frames."""

from collections.abc import Iterator, Sequence
from typing import Any

from calibrant.core.extras import import_extra
from calibrant.tables.batching import batch_rows, hive_root

__all__ = ["CLUSTER", "READS", "batches", "kinds", "open_files"]

CLUSTER, READS = False, ("pyarrow", "pandas")


def open_files(paths: Sequence[str]) -> Any:
    """The table of these Parquet files; no rows are read yet."""
    dataset = import_extra("pyarrow.dataset", "engine='pyarrow'", "frames").dataset
    return dataset(list(paths), partitioning=None if hive_root(paths) is None else "hive")


def kinds(table: Any) -> dict[str, str]:
    """Each column's name -> "list" or "other"."""
    import pyarrow as pa

    schema = (
        pa.Schema.from_pandas(table, preserve_index=False)
        if hasattr(table, "iloc")
        else table.schema
    )
    return {f.name: "list" if "list" in str(f.type).split("<")[0] else "other" for f in schema}


def batches(table: Any, columns: Any = None, ordered: bool = True) -> Iterator[Any]:
    """Arrow record batches of the columns (None: all), in order."""
    import pyarrow as pa

    rows = batch_rows(kinds(table), columns)
    if hasattr(table, "iloc"):
        table = pa.Table.from_pandas(
            table if columns is None else table[columns], preserve_index=False
        )
    if isinstance(table, pa.Table):
        yield from (table if columns is None else table.select(columns)).to_batches(
            max_chunksize=rows
        )
    elif isinstance(table, pa.RecordBatch):
        yield table
    else:
        # Reading far ahead would keep many batches in memory.
        yield from table.to_batches(
            columns=columns, batch_size=rows, batch_readahead=2, fragment_readahead=1
        )
