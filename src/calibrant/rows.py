"""Selection of rows from containers of features, labels or fit arguments."""

from typing import Any

import numpy as np
from scipy import sparse

__all__ = ["n_rows", "take_optional", "take_rows"]


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
