"""Engine for Dask: run the kernel on each partition, and add up the states in a tree.

Dask's own reductions over columns are not used, because they are silently wrong.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from calibrant.core.extras import import_extra
from calibrant.core.stores import in_one_store
from calibrant.tables.engines.file_tasks import file_tasks, fold_task

if TYPE_CHECKING:
    from calibrant.tables.apply import Transform
    from calibrant.tables.state import Drawn, GroupState

__all__ = ["CLUSTER", "READS", "apply", "fold", "fold_files", "kinds", "open_files"]

CLUSTER, READS = True, ("dask", "dask_expr")
FEATURE = "engine='dask'"


def open_files(paths: Sequence[str]) -> Any:
    """The table of these Parquet files; no rows are read yet."""
    names, system = in_one_store(paths)
    options = {} if system is None else {"filesystem": system}
    return import_extra("dask.dataframe", FEATURE, "dask").read_parquet(names, **options)


def kinds(table: Any) -> dict[str, str]:
    """Each column's name -> "list" or "other"."""
    from calibrant.tables.engines import arrow_engine

    # A column of type object may hold lists, so its first rows are inspected.
    unclear = [name for name, dtype in table.dtypes.items() if dtype == "object"]
    kinds = arrow_engine.kinds(_first_rows(table[unclear])) if unclear else {}
    return {name: kinds.get(name, "other") for name in table.columns}


def fold(table: Any, kernel: Any) -> "Drawn | GroupState":
    """The state of the whole table."""
    return _fold(_partial, table[kernel.layout.needed].to_delayed(), kernel)


def fold_files(paths: Sequence[str], kernel: Any) -> "Drawn | GroupState":
    """The state of all rows of these Parquet files, which workers read without a Dask frame."""
    whole, tasks = file_tasks(paths)
    return _fold(fold_task, tasks, whole, kernel)


def _fold(partial: Any, parts: list[Any], *options: Any) -> Any:
    delayed, kernel = import_extra("dask", FEATURE, "dask").delayed, options[-1]
    states = [delayed(partial)(part, *options) for part in parts]
    while len(states) > 1:
        states = [
            delayed(_added)(kernel.empty(), states[i : i + 8]) for i in range(0, len(states), 8)
        ]
    return states[0].compute() if states else kernel.empty()


def _added(total, states):
    for state in states:
        total += state
    return total


def apply(table: Any, transform: "Transform", output: Path) -> None:
    """Write the transformed table as a folder of Parquet files."""
    after = transform(_arrow(_first_rows(table)))
    # The schema is passed because Dask cannot infer that of lists.
    made = table.map_partitions(
        _transformed, transform, meta=after.to_pandas().iloc[:0], enforce_metadata=False
    )
    made.to_parquet(
        str(output),
        write_index=False,
        schema=after.schema.remove_metadata(),
        name_function=_file_name,
    )


def _file_name(number: int) -> str:
    """File names that sort in the order of the rows."""
    return f"part.{number:08d}.parquet"


def _first_rows(table: Any) -> Any:
    """The first two rows of the first partition that has any."""
    heads = table.map_partitions(lambda frame: frame.head(2), meta=table._meta)
    for part in heads.to_delayed():
        rows = part.compute()
        if len(rows):
            break
    return rows


def _partial(frame, kernel):
    from calibrant.tables.engines import arrow_engine

    return kernel.over(arrow_engine.batches(frame))


def _arrow(frame: Any) -> Any:
    import pyarrow as pa

    return pa.Table.from_pandas(frame, preserve_index=False).combine_chunks().to_batches()[0]


def _transformed(frame, transform):
    from calibrant.tables.engines import arrow_engine

    import_extra("pyarrow", FEATURE, "frames")
    import pyarrow as pa

    parts = [transform(batch) for batch in arrow_engine.batches(frame)]
    return pa.Table.from_batches(parts).to_pandas() if parts else frame
