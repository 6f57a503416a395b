"""Selection of rows from containers of features, labels or fit arguments, and their order by
content, in which folds and draws are made.
"""

import hashlib
from dataclasses import fields
from typing import Any

import numpy as np
from scipy import sparse

from calibrant._numerics.bootstrap import (
    entry_codes,
    level_codes,
    mixed_codes,
    numbered_by_content,
    row_codes,
    table_codes,
)
from calibrant.core.groups import NamedColumns, group_columns

__all__ = [
    "codes_of",
    "feature_codes",
    "in_order",
    "labelled_codes",
    "n_rows",
    "order_of",
    "take_optional",
    "take_rows",
]

#: Fields of a record that are no content of its rows, or whose numbers depend on names.
NO_CONTENT = ("weight", "labels", "own", "kept", "cluster", "start", "decimals")
#: Decimals of the first key of the order, which is free of rounding.
DECIMALS = 9
#: Normal scores of the levels at which forecasts are compared.
LEVELS: np.ndarray = np.array([-3.0, -1.5, -0.5, 0.0, 0.5, 1.5, 3.0])


def n_rows(X: Any) -> int:
    """Number of rows of an array, sparse matrix, data frame or list."""
    return X.shape[0] if hasattr(X, "shape") and len(X.shape) else len(X)


def take_rows(X: Any, rows: np.ndarray) -> Any:
    """Some rows, by position, of an array, sparse matrix, pandas or polars object, pyarrow
    table, or list; the same kind of object.
    """
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if sparse.issparse(X):
        return X.tocsr()[rows]
    if hasattr(X, "schema") and hasattr(X, "take"):
        return X.take(rows)
    if hasattr(X, "shape"):
        return X[rows]
    return [X[i] for i in np.asarray(rows).tolist()]


def take_optional(values: dict[str, Any], rows: np.ndarray, total: int) -> dict[str, Any]:
    """Fit arguments for some rows: those with one entry per row are subset, the others are passed
    unchanged.
    """
    out = {}
    for name, value in values.items():
        sized = hasattr(value, "__len__") or hasattr(value, "shape")
        per_row = (
            sized
            and not isinstance(value, str | bytes | dict)
            and getattr(value, "shape", None) != ()
        )
        out[name] = take_rows(value, rows) if per_row and n_rows(value) == total else value
    return out


def feature_codes(X: Any, weight: np.ndarray | None = None) -> np.ndarray:
    """(n,) uint64 from the content of each row of features in any container; equal rows have equal
    codes. The order and the names of the columns do not count; a row of weight 2 counts as two.
    """
    if sparse.issparse(X):
        return _sparse_codes(X.tocsr(), weight)
    if isinstance(X, NamedColumns | dict) or hasattr(X, "columns"):
        columns = [column for _, column in group_columns(X, "X")]
        return table_codes(np.column_stack([_numbers(c) for c in columns]), weight)
    numbers = _numbers(X)
    return table_codes(numbers.reshape(len(numbers), -1), weight)


def _numbers(X: Any) -> np.ndarray:
    """X as numbers; where it is not, a number for each row's text."""
    try:
        values = np.asarray(X)
    except ValueError:
        values = np.array([repr(row) for row in X], dtype=object)
    if values.dtype.kind in "biuf":
        return _single(values)
    rows = list(map(repr, values.tolist()))
    known = {text: _text_code(text) >> 11 for text in set(rows)}
    return np.array([known[row] for row in rows], dtype=np.float64)


def _sparse_codes(X: Any, weight: np.ndarray | None) -> np.ndarray:
    """The codes of ``table_codes`` for a sparse matrix, from its entries."""
    rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    return entry_codes(X.shape, rows, X.indices, _single(X.data), weight)


def _single(values: np.ndarray) -> np.ndarray:
    """Numbers in single precision: last bits, which differ between processors, do not count."""
    with np.errstate(over="ignore"):
        return values.astype(np.float32)


def labelled_codes(X: Any, y: np.ndarray, stratify: bool) -> np.ndarray:
    """(n,) uint64 from features and, where rows of equal features are to be told apart, outcomes.
    Classes count by their rows, not by their names.
    """
    codes = feature_codes(X)
    if not stratify:
        _, index, count = np.unique(codes, return_inverse=True, return_counts=True)
        return np.where(count[index] > 1, mixed_codes(codes, feature_codes(y)), codes)
    number = numbered_by_content(np.unique(y, return_inverse=True)[1], codes, np.ones(len(y)))
    return mixed_codes(codes, number.astype(np.uint64))


def _text_code(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


def codes_of(record: Any) -> np.ndarray:
    """(n,) uint64 from the content of each row of a record: predictions, outcome, features and
    groups. The names and the order of its classes do not count.
    """
    if hasattr(record, "code"):
        return record.code
    out = row_codes(np.round(record.mark[:, None], DECIMALS))
    for field in fields(record):
        value = getattr(record, field.name)
        value = value.at(LEVELS) if field.name == "forecast" else value
        of_rows = isinstance(value, np.ndarray) and len(value) == len(out)
        if value is None or field.name in NO_CONTENT:
            continue
        if field.name == "groups":
            columns = [named_rows(column) for _, column in group_columns(value, "groups")]
            levels = [level_codes(column, out, record.weights) for column in columns]
            out = mixed_codes(out, np.add.reduce(levels))
        elif of_rows or field.name == "X":
            out = mixed_codes(out, feature_codes(value))
    return out


def named_rows(values: Any) -> np.ndarray:
    """(n,) number of each row's distinct value."""
    return np.unique([repr(value) for value in values.tolist()], return_inverse=True)[1]


def order_of(record: Any, *beside: np.ndarray) -> np.ndarray:
    """(n,) positions of a record's rows in the order of their content, and of numbers ``beside``
    them (n,); only equal rows keep theirs.

    Folds and draws are made in this order, so that no result depends on that of the rows passed.
    """
    cluster = () if record.cluster is None else np.atleast_2d(record.cluster.T)
    return np.lexsort(
        (*beside, *cluster, record.weights, codes_of(record), np.round(record.mark, DECIMALS))
    )


def in_order(record: Any) -> Any:
    """The record with its rows in the order of their content."""
    held = record.derived
    if held.ordered is None:
        order = order_of(record)
        held.ordered = record if (np.diff(order) > 0).all() else record.take(order)
        held.ordered.derived.ordered = held.ordered
    return held.ordered
