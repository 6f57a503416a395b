"""Spark: the kernel inside mapInArrow; each partition sends back one state. Set PYSPARK_PYTHON to this environment's python."""

import pickle
from typing import Any

from calibrant._support.extras import import_extra
from calibrant.frames.engines.hive import hive_root

__all__ = ["CLUSTER", "READS", "apply", "fold", "kinds", "open_files"]

CLUSTER, READS = True, ("pyspark",)
FEATURE = "engine='spark'"
MERGING_TASKS = 4


def open_files(paths: Any) -> Any:
    """The table of these Parquet files, nothing read yet."""
    sql = import_extra("pyspark.sql", FEATURE, "spark")
    reader, root = sql.SparkSession.builder.getOrCreate().read, hive_root(paths)
    return (reader if root is None else reader.option("basePath", root)).parquet(*paths)


def kinds(table: Any) -> Any:
    """Each column's name -> "list" or "other"."""
    return {f.name: "list" if f.dataType.typeName() == "array" else "other" for f in table.schema.fields}


def fold(table: Any, kernel: Any) -> Any:
    """The state of the whole table: what comes back is written by our own code on the workers, as Spark's own tasks are."""

    def partial(batches):
        yield _packed(kernel.over(batches))

    def merged(batches):
        yield _packed(sum((pickle.loads(state.as_py()) for batch in batches for state in batch.column(0)), start=kernel.empty()))

    parts = table.select(*kernel.layout.needed).mapInArrow(partial, "state binary")
    # One state a partition would be too many for the driver; a few tasks add them up first.
    rows = parts.repartition(MERGING_TASKS).mapInArrow(merged, "state binary").toLocalIterator(prefetchPartitions=True)
    return sum((pickle.loads(row.state) for row in rows), start=kernel.empty())


def _packed(state):
    import pyarrow as pa

    return pa.RecordBatch.from_pydict({"state": [pickle.dumps(state)]})


def apply(table: Any, transform: Any, output: Any) -> None:
    """Write the transformed table as a folder of Parquet files."""
    import_extra("pyspark", FEATURE, "spark")
    from calibrant.frames.engines.spark_types import schema_after

    table.mapInArrow(lambda batches: map(transform, batches), schema_after(table, transform)).write.parquet(str(output))
