"""Engine for Ray Data: the kernel runs in ``map_batches``, each batch returns one state, and the
states are added up in a tree.
"""

import pickle
from collections.abc import Iterable
from typing import Any

from calibrant.core.extras import import_extra
from calibrant.core.stores import in_one_store

__all__ = ["CLUSTER", "READS", "apply", "fold", "fold_files", "kinds", "open_files"]

CLUSTER, READS = True, ("ray",)
FEATURE = "engine='ray'"
#: This many states are added up at once; more are first added up by tasks.
FAN = 8


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

    def packed(state):
        import pyarrow as pa

        return pa.table({"state": [pickle.dumps(state)]})

    ray = import_extra("ray", FEATURE, "ray")
    task = ray.remote(lambda *blocks: packed(_added(kernel, blocks)))
    states = table.select_columns(kernel.layout.needed).map_batches(
        lambda block: packed(kernel.over(block.combine_chunks().to_batches())),
        batch_format="pyarrow",
        batch_size=None,
    )
    parts = states.to_arrow_refs()
    while len(parts) > FAN:
        parts = [task.remote(*parts[i : i + FAN]) for i in range(0, len(parts), FAN)]
    return _added(kernel, ray.get(parts))


def _added(kernel: Any, blocks: Iterable[Any]) -> Any:
    total = kernel.empty()
    for block in blocks:
        for state in block["state"]:
            total += pickle.loads(state.as_py())
    return total


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
