"""Which rows are in which group, as sparse matrices (SciPy's, whose types are not known)."""

from typing import Any

import numpy as np
from scipy import sparse

__all__ = ["membership", "row_sums", "scaled_columns", "scaled_rows"]


def membership(group: np.ndarray, row: np.ndarray, shape: tuple[int, int], value: np.ndarray | None = None) -> Any:
    """Sparse (groups, rows) with ``value`` (default 1) at each pair of group and row; pairs met again add up."""
    return sparse.csr_array((np.ones(len(row)) if value is None else value, (group, row)), shape=shape)


def scaled_columns(matrix: Any, by: np.ndarray) -> Any:
    """Each column times its number."""
    return sparse.csr_array(matrix @ sparse.diags_array(by))


def scaled_rows(matrix: Any, by: np.ndarray) -> Any:
    """Each row times its number."""
    return sparse.csr_array(sparse.diags_array(by) @ matrix)


def row_sums(matrix: Any) -> np.ndarray:
    """(groups,) sums."""
    return np.asarray(matrix.sum(axis=1)).ravel()
