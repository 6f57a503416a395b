"""Engine for DuckDB: files and DuckDB relations."""

from collections.abc import Iterator, Sequence
from glob import escape
from typing import Any

import numpy as np

from calibrant.core.extras import import_extra
from calibrant.errors import InputError
from calibrant.tables.batching import batch_rows, hive_root
from calibrant.tables.engines.arrow_engine import folder_types

__all__ = ["CLUSTER", "READS", "batches", "kinds", "open_files"]

CLUSTER, READS = False, ("duckdb", "_duckdb")
#: Arrow duration type -> DuckDB expression that turns the stored number into an interval, which has
#: a resolution of microseconds.
TO_INTERVAL = {
    "duration[s]": "to_seconds({})",
    "duration[ms]": "to_milliseconds({})",
    "duration[us]": "to_microseconds({})",
    "duration[ns]": "to_microseconds({} // 1000)",
}
#: Arrow types of columns of folders that DuckDB reads as text -> the types to give them.
IN_FOLDERS = {"int64": "BIGINT", "double": "DOUBLE", "bool": "BOOLEAN"}
#: The memory layout of an Arrow interval, and the number of microseconds in a day.
PARTS = np.dtype([("months", np.int32), ("days", np.int32), ("nanoseconds", np.int64)])
DAY = 86_400_000_000


def open_files(paths: Sequence[str]) -> Any:
    """The table of these Parquet files; no rows are read yet."""
    duckdb = import_extra("duckdb", "engine='duckdb'", "frames")
    table = duckdb.connect().read_parquet(
        [escape(path) for path in paths], hive_partitioning=hive_root(paths) is not None
    )
    changed = [*_durations(paths[0]), *_of_folders(paths, table)]
    return table.project(f"* REPLACE ({', '.join(changed)})") if changed else table


def kinds(table: Any) -> dict[str, str]:
    """Each column's name -> "list" or "other"."""
    return {
        name: "list" if str(type).endswith("]") else "other"
        for name, type in zip(table.columns, table.types, strict=True)
    }


def batches(table: Any, columns: Any = None, ordered: bool = True) -> Iterator[Any]:
    """Arrow record batches of the columns (None: all), always in order."""
    rows = batch_rows(kinds(table), columns)
    if columns is not None:
        table = table.project(", ".join(map(_quoted, columns)))
    reader = (
        table.to_arrow_reader if hasattr(table, "to_arrow_reader") else table.fetch_record_batch
    )
    yield from map(_with_durations, reader(rows))


def _durations(path: str) -> list[str]:
    """Expressions that restore the durations written by Arrow, which DuckDB reads as numbers."""
    parquet = import_extra("pyarrow.parquet", "engine='duckdb'", "frames")
    fields = {f.name: str(f.type) for f in parquet.read_schema(path) if str(f.type) in TO_INTERVAL}
    return [
        f"{TO_INTERVAL[unit].format(_quoted(name))} AS {_quoted(name)}"
        for name, unit in fields.items()
    ]


def _of_folders(paths: Sequence[str], table: Any) -> list[str]:
    """Expressions that give columns of folders, which DuckDB reads as text, their types."""
    text = [
        name for name, type in zip(table.columns, table.types, strict=True) if type == "VARCHAR"
    ]
    types = {} if hive_root(paths) is None else folder_types(paths)
    return [
        f"CAST({_quoted(name)} AS {IN_FOLDERS[str(type)]}) AS {_quoted(name)}"
        for name, type in types.items()
        if name in text and str(type) in IN_FOLDERS
    ]


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _with_durations(batch: Any) -> Any:
    """The batch with intervals converted to durations, as the other engines return them."""
    import pyarrow as pa

    for j, field in enumerate(batch.schema):
        if field.type == pa.month_day_nano_interval():
            batch = batch.set_column(j, field.name, _duration(batch.column(j), field.name))
    return batch


def _duration(column: Any, name: str) -> Any:
    import pyarrow as pa

    parts = np.frombuffer(column.buffers()[1], dtype=PARTS, count=column.offset + len(column))[
        column.offset :
    ]
    missing = column.is_null().to_numpy(zero_copy_only=False)
    if parts["months"][~missing].any():
        raise InputError(
            f"column {name!r} must hold durations in days or smaller units; it holds months, whose"
            " length varies; pass them as text."
        )
    micros = parts["days"].astype(np.int64) * DAY + parts["nanoseconds"] // 1_000
    return pa.array(micros.view("timedelta64[us]"), mask=missing)
