"""DuckDB: files, or a relation of its own."""

from collections.abc import Iterator, Sequence
from glob import escape
from typing import Any

from calibrant._support.extras import import_extra
from calibrant.frames.batching import batch_rows
from calibrant.frames.engines.hive import hive_root

__all__ = ["CLUSTER", "READS", "batches", "kinds", "open_files"]

CLUSTER, READS = False, ("duckdb", "_duckdb")


def open_files(paths: Sequence[str]) -> Any:
    """The table of these Parquet files, nothing read yet."""
    duckdb = import_extra("duckdb", "engine='duckdb'", "frames")
    return duckdb.connect().read_parquet([escape(path) for path in paths], hive_partitioning=hive_root(paths) is not None)


def kinds(table: Any) -> dict[str, str]:
    """Each column's name -> "list" or "other"."""
    return {name: "list" if str(type).endswith("]") else "other" for name, type in zip(table.columns, table.types, strict=True)}


def batches(table: Any, columns: Any = None, ordered: bool = True) -> Iterator[Any]:
    """Arrow record batches of the columns (None: all), always in order."""
    rows = batch_rows(kinds(table), columns)
    if columns is not None:
        table = table.project(", ".join('"' + name.replace('"', '""') + '"' for name in columns))
    reader = table.to_arrow_reader if hasattr(table, "to_arrow_reader") else table.fetch_record_batch
    yield from reader(rows)
