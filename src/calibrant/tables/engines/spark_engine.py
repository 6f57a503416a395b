"""Engine for Spark: the kernel runs in ``mapInArrow``, and each partition returns one state.

Set PYSPARK_PYTHON to this environment's Python.
"""

import pickle
from typing import Any

from calibrant.core.extras import import_extra
from calibrant.tables.batching import hive_root
from calibrant.tables.engines.file_tasks import added, file_tasks, fold_task, packed

__all__ = ["CLUSTER", "READS", "apply", "fold", "fold_files", "kinds", "open_files", "schema_after"]


def schema_after(table: Any, transform: Any) -> Any:
    """The schema with probabilities and confidence as doubles, and other columns unchanged."""
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
#: The driver adds up this many states alone; more states are first added up by a few tasks.
FEW_TASKS, MERGING_TASKS = 16, 4


def open_files(paths: Any) -> Any:
    """The table of these Parquet files; no rows are read yet."""
    sql = import_extra("pyspark.sql", FEATURE, "spark")
    reader, root = sql.SparkSession.builder.getOrCreate().read, hive_root(paths)
    return (reader if root is None else reader.option("basePath", root)).parquet(*map(str, paths))


def kinds(table: Any) -> Any:
    """Each column's name -> "list" or "other"."""
    return {
        f.name: "list" if f.dataType.typeName() == "array" else "other" for f in table.schema.fields
    }


def fold(table: Any, kernel: Any) -> Any:
    """The state of the whole table.

    The pickles read here were written by this module on the workers, so they can be trusted.
    """

    def partial(batches):
        yield packed(kernel.over(batches))

    return _merged(table.select(*kernel.layout.needed).mapInArrow(partial, "state binary"), kernel)


def fold_files(paths: Any, kernel: Any) -> Any:
    """The state of all rows of these Parquet files.

    Workers read them without a Spark frame, which would convert columns to rows and back.
    """
    sql, (whole, tasks) = import_extra("pyspark.sql", FEATURE, "spark"), file_tasks(paths)

    def partial(batches):
        for batch in batches:
            for task in batch.column("task").to_pylist():
                yield packed(fold_task(pickle.loads(task), whole, kernel))

    # Each worker gets its own tasks; in the function, they would be sent to all.
    rows = [(number, pickle.dumps(task)) for number, task in enumerate(tasks)]
    session = sql.SparkSession.builder.getOrCreate()
    spread = session.createDataFrame(rows, "number long, task binary").repartitionByRange(
        len(tasks), "number"
    )
    parts = spread.mapInArrow(partial, "state binary")
    return (
        _merged(parts, kernel)
        if len(tasks) > FEW_TASKS
        else added(kernel, (row.state for row in parts.collect()))
    )


def _merged(parts, kernel):
    """The sum of a column of states.

    A few tasks add up the states of the partitions first, which are too many for the driver.
    """

    def merged(batches):
        yield packed(
            added(kernel, (state.as_py() for batch in batches for state in batch.column(0)))
        )

    rows = (
        parts.repartition(MERGING_TASKS)
        .mapInArrow(merged, "state binary")
        .toLocalIterator(prefetchPartitions=True)
    )
    return added(kernel, (row.state for row in rows))


def apply(table: Any, transform: Any, output: Any) -> None:
    """Write the transformed table as a folder of Parquet files."""
    import_extra("pyspark", FEATURE, "spark")

    table.mapInArrow(
        lambda batches: map(transform, batches), schema_after(table, transform)
    ).write.parquet(str(output))
