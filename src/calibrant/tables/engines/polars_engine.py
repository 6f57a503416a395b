"""Engine for Polars, the default for files, which it streams at any size."""

from collections.abc import Iterator, Sequence
from typing import Any

from calibrant.core.extras import import_extra
from calibrant.tables.batching import batch_rows, hive_root
from calibrant.tables.engines.arrow_engine import folder_types

__all__ = ["CLUSTER", "READS", "batches", "kinds", "open_files"]

CLUSTER, READS = False, ("polars",)


def open_files(paths: Sequence[str]) -> Any:
    """The table of these Parquet files; no rows are read yet."""
    polars = import_extra("polars", "engine='polars'", "frames")
    folders = None
    if hive_root(paths) is not None:
        import pyarrow as pa

        folders = polars.from_arrow(pa.schema(folder_types(paths)).empty_table()).schema
    return polars.scan_parquet(
        paths,
        glob=False,
        hive_partitioning=folders is not None,
        hive_schema=folders,
        # The columns are those of the first file, as in other engines.
        extra_columns="ignore",
    )


def kinds(table: Any) -> dict[str, str]:
    """Each column's name -> "list" or "other"."""
    return {
        name: "list" if type.is_nested() else "other"
        for name, type in table.lazy().collect_schema().items()
    }


def batches(table: Any, columns: Any = None, ordered: bool = False) -> Iterator[Any]:
    """Arrow record batches of the columns (None: all)."""
    import polars as pl

    lazy = table.lazy() if columns is None else table.lazy().select(columns)
    # The oldest compatibility level avoids string views, which many Arrow functions do not support.
    for part in lazy.collect_batches(
        chunk_size=batch_rows(kinds(table), columns), maintain_order=ordered, engine="streaming"
    ):
        yield from part.to_arrow(compat_level=pl.CompatLevel.oldest()).combine_chunks().to_batches()
