"""Spark: the kernel inside mapInArrow; each partition sends back one state. Set PYSPARK_PYTHON
to this environment's python.
"""

import pickle
from typing import Any

from calibrant._support.extras import import_extra
from calibrant.frames.batching import hive_root
from calibrant.frames.engines.file_tasks import file_tasks, fold_task

__all__ = ["CLUSTER", "READS", "apply", "fold", "fold_files", "kinds", "open_files", "schema_after"]


def schema_after(table: Any, transform: Any) -> Any:
    """Other columns as they were, probabilities and confidence as doubles."""
    types = import_extra("pyspark.sql.types", "engine='spark'", "spark")
    fields = []
    for field in table.schema.fields:
        if field.name in transform.replaced:
            kind = (
                types.ArrayType(types.DoubleType())
                if field.dataType.typeName() == "array"
                else types.DoubleType()
            )
            fields.append(types.StructField(field.name, kind))
        else:
            fields.append(field)
    return types.StructType([*fields, types.StructField(transform.added, types.DoubleType())])


CLUSTER, READS = True, ("pyspark",)
FEATURE = "engine='spark'"
#: So many states the driver adds up by itself; more are added up by a few tasks first.
FEW_TASKS, MERGING_TASKS = 16, 4


def open_files(paths: Any) -> Any:
    """The table of these Parquet files, nothing read yet."""
    sql = import_extra("pyspark.sql", FEATURE, "spark")
    reader, root = sql.SparkSession.builder.getOrCreate().read, hive_root(paths)
    return (reader if root is None else reader.option("basePath", root)).parquet(*paths)


def kinds(table: Any) -> Any:
    """Each column's name -> "list" or "other"."""
    return {
        f.name: "list" if f.dataType.typeName() == "array" else "other" for f in table.schema.fields
    }


def fold(table: Any, kernel: Any) -> Any:
    """The state of the whole table: what comes back is written by our own code on the workers,
    as Spark's own tasks are.
    """

    def partial(batches):
        yield _packed(kernel.over(batches))

    return _merged(table.select(*kernel.layout.needed).mapInArrow(partial, "state binary"), kernel)


def fold_files(paths: Any, kernel: Any) -> Any:
    """The state of all rows of these Parquet files, which each worker reads without a frame of
    Spark: it would turn columns into rows
    and back."""
    sql, tasks = import_extra("pyspark.sql", FEATURE, "spark"), file_tasks(paths)

    def partial(batches):
        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield _packed(fold_task(tasks[number], kernel))

    numbers = sql.SparkSession.builder.getOrCreate().range(0, len(tasks), 1, max(len(tasks), 1))
    parts = numbers.mapInArrow(partial, "state binary")
    return (
        _merged(parts, kernel)
        if len(tasks) > FEW_TASKS
        else _added(kernel.empty(), (row.state for row in parts.collect()))
    )


def _merged(parts, kernel):
    """The sum of a column of states: one a partition would be too many for the driver; a few
    tasks add them up first.
    """

    def merged(batches):
        yield _packed(
            _added(
                kernel.empty(), (state.as_py() for batch in batches for state in batch.column(0))
            )
        )

    rows = (
        parts.repartition(MERGING_TASKS)
        .mapInArrow(merged, "state binary")
        .toLocalIterator(prefetchPartitions=True)
    )
    return _added(kernel.empty(), (row.state for row in rows))


def _added(total, packed):
    for state in packed:
        total += pickle.loads(state)
    return total


def _packed(state):
    import pyarrow as pa

    return pa.RecordBatch.from_pydict({"state": [pickle.dumps(state)]})


def apply(table: Any, transform: Any, output: Any) -> None:
    """Write the transformed table as a folder of Parquet files."""
    import_extra("pyspark", FEATURE, "spark")

    table.mapInArrow(
        lambda batches: map(transform, batches), schema_after(table, transform)
    ).write.parquet(str(output))
