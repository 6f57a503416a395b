"""Engine for pyarrow: files, datasets, tables, and pandas frames."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any
from urllib.parse import unquote

from calibrant.core.extras import import_extra
from calibrant.core.stores import in_one_store
from calibrant.tables.batching import batch_rows, hive_root

__all__ = ["CLUSTER", "READS", "batches", "kinds", "open_files"]

#: The folder of missing values.
NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
CLUSTER, READS = False, ("pyarrow", "pandas")


def open_files(paths: Sequence[Any]) -> Any:
    """The table of these Parquet files, of one store; no rows are read yet."""
    dataset = import_extra("pyarrow.dataset", "engine='pyarrow'", "frames").dataset
    names, system = in_one_store(paths)
    partitioning = None if hive_root(names) is None else _folders(names)
    return dataset(names, partitioning=partitioning, filesystem=system)


def _folders(names: Sequence[str]) -> Any:
    """The columns of folders ``name=value``, of the types that the other engines give them."""
    import pyarrow as pa
    from pyarrow import dataset

    values: dict[str, set[str]] = {}
    for name in names:
        for folder in name.replace("\\", "/").split("/")[:-1]:
            key, mark, value = folder.partition("=")
            if key and mark:
                values.setdefault(key, set()).update({unquote(value)} - {NO_VALUE})
    fields = [(name, _type(pa.array(sorted(texts)))) for name, texts in values.items()]
    return dataset.partitioning(pa.schema(fields), flavor="hive")


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
