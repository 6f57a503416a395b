"""The schema of a Spark frame once its predictions have been calibrated."""

from typing import Any

from calibrant._support.extras import import_extra

__all__ = ["schema_after"]


def schema_after(table: Any, transform: Any) -> Any:
    """Other columns as they were, probabilities and confidence as doubles."""
    types = import_extra("pyspark.sql.types", "engine='spark'", "spark")
    fields = []
    for field in table.schema.fields:
        if field.name in transform.replaced:
            kind = types.ArrayType(types.DoubleType()) if field.dataType.typeName() == "array" else types.DoubleType()
            fields.append(types.StructField(field.name, kind))
        else:
            fields.append(field)
    return types.StructType([*fields, types.StructField(transform.added, types.DoubleType())])
