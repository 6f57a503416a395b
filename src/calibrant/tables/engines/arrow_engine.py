"""Engine for pyarrow: files, datasets, tables, and pandas frames."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from calibrant.core.extras import import_extra
from calibrant.core.stores import in_one_store
from calibrant.tables.batching import batch_rows, hive_root
from calibrant.tables.columns import CODE
from calibrant.tables.paths import folder_values

__all__ = ["CLUSTER", "READS", "batches", "folder_types", "kinds", "open_files"]

CLUSTER, READS = False, ("pyarrow", "pandas")


def open_files(paths: Sequence[Any]) -> Any:
    """The table of these Parquet files, of one store; no rows are read yet."""
    dataset = import_extra("pyarrow.dataset", "engine='pyarrow'", "frames")
    names, system = in_one_store(paths)
    folders = None
    if hive_root(names) is not None:
        import pyarrow as pa

        folders = dataset.partitioning(pa.schema(folder_types(names)), flavor="hive")
    return dataset.dataset(names, partitioning=folders, filesystem=system)


def folder_types(names: Sequence[Any]) -> dict[str, Any]:
    """The Arrow types of the columns of folders ``name=value``, the same for every engine."""
    values: dict[str, set[str]] = {}
    for path in names:
        for name, value in folder_values(path).items():
            values.setdefault(name, set()).update([] if value is None else [value])
    if not values:
        return {}
    import pyarrow as pa

    return {
        name: pa.string()
        if any(map(CODE.fullmatch, texts))
        else _type(pa.array(sorted(texts), pa.string()))
        for name, texts in values.items()
    }


def _type(texts: Any) -> Any:
    import pyarrow as pa

    for kind in (pa.int64(), pa.float64(), pa.bool_(), pa.date32(), pa.timestamp("us")):
        with suppress(pa.ArrowInvalid):
            return texts.cast(kind).type
    return pa.string()


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
