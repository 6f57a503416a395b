"""Engine for Ray Data: the kernel runs in ``map_batches``, each batch returns one state, and the
states are added up in a tree.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from calibrant.core.extras import import_extra
from calibrant.core.stores import in_one_store
from calibrant.tables.engines.file_tasks import added, packed

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
    ray = import_extra("ray", FEATURE, "ray")
    import pyarrow as pa

    def block_of(state):
        return pa.Table.from_batches([packed(state)])

    task = ray.remote(lambda *blocks: block_of(added(kernel, _states(blocks))))
    read = table.select_columns(kernel.layout.needed).map_batches(
        lambda block: block_of(kernel.over(block.combine_chunks().to_batches())),
        batch_format="pyarrow",
        batch_size=None,
    )
    parts = read.to_arrow_refs()
    while len(parts) > FAN:
        parts = [task.remote(*parts[i : i + FAN]) for i in range(0, len(parts), FAN)]
    return added(kernel, _states(ray.get(parts)))


def _states(blocks: Iterable[Any]) -> Iterator[bytes]:
    return (state.as_py() for block in blocks for state in block["state"])


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
