"""Engine for Ray Data: the kernel runs in ``map_batches``, and each batch returns one state."""

import pickle
from typing import Any

from calibrant.core.extras import import_extra
from calibrant.core.stores import in_one_store

__all__ = ["CLUSTER", "READS", "apply", "fold", "fold_files", "kinds", "open_files"]

CLUSTER, READS = True, ("ray",)
FEATURE = "engine='ray'"


def open_files(paths: Any) -> Any:
    """The table of these Parquet files; no rows are read yet."""
    names, system = in_one_store(paths)
    return import_extra("ray.data", FEATURE, "ray").read_parquet(names, filesystem=system)


def kinds(table: Any) -> Any:
    """Each column's name -> "list" or "other"."""
    schema = table.schema()
    return {
        name: "list" if any(word in str(type).lower() for word in ("list", "tensor")) else "other"
        for name, type in zip(schema.names, schema.types, strict=True)
    }


def fold(table: Any, kernel: Any) -> Any:
    """The state of the whole table."""

    def partial(block):
        import pyarrow as pa

        return pa.table({"state": [pickle.dumps(kernel.over(block.combine_chunks().to_batches()))]})

    out = kernel.empty()
    read = table.select_columns(kernel.layout.needed).map_batches(
        partial, batch_format="pyarrow", batch_size=None
    )
    for row in read.iter_rows():
        out += pickle.loads(row["state"])
    return out


def fold_files(paths: Any, kernel: Any) -> Any:
    """The state of all rows of these Parquet files."""
    return fold(open_files(paths), kernel)


def apply(table: Any, transform: Any, output: Any) -> None:
    """Write the transformed table as a folder of Parquet files."""
    import_extra("ray", FEATURE, "ray")

    def calibrated(block):
        import pyarrow as pa

        return pa.Table.from_batches(
            [transform(batch) for batch in block.combine_chunks().to_batches()]
        )

    table.map_batches(calibrated, batch_format="pyarrow", batch_size=None).write_parquet(
        str(output)
    )
