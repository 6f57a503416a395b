"""The rows of each group, of each of many overlapping groups, and of nested regions."""

from typing import Any

import numpy as np
from scipy import sparse

__all__ = [
    "grow_regions",
    "membership",
    "region_paths",
    "row_sums",
    "rows_by_group",
    "scaled_columns",
    "scaled_rows",
]


def rows_by_group(group: np.ndarray, n_groups: int) -> list[np.ndarray]:
    """Row numbers of each of the groups 0..n_groups-1, ascending: a list of n_groups integer
    arrays.
    """
    # NumPy sorts 16-bit integers by radix, in linear time.
    narrow = group.astype(np.uint16) if n_groups <= 65_536 else group
    order = np.argsort(narrow, kind="stable")
    return np.split(order, np.cumsum(np.bincount(group, minlength=n_groups))[:-1])


def membership(
    group: np.ndarray, row: np.ndarray, shape: tuple[int, int], value: np.ndarray | None = None
) -> Any:
    """Sparse (groups, rows) with ``value`` (default 1) at each pair of group and row; repeated
    pairs add up.
    """
    return sparse.csr_array(
        (np.ones(len(row)) if value is None else value, (group, row)), shape=shape
    )


def scaled_columns(matrix: Any, by: np.ndarray) -> Any:
    """Each column times its number."""
    return sparse.csr_array(matrix @ sparse.diags_array(by))


def scaled_rows(matrix: Any, by: np.ndarray) -> Any:
    """Each row times its number."""
    return sparse.csr_array(sparse.diags_array(by) @ matrix)


def row_sums(matrix: Any) -> np.ndarray:
    """(groups,) sums."""
    return np.asarray(matrix.sum(axis=1)).ravel()


#: A feature that varies less than this, its spread over all rows being 1, cannot be halved.
LEAST_SPREAD = 1e-9


def grow_regions(points: np.ndarray, weight: np.ndarray, depth: int, least: float) -> np.ndarray:
    """(2^depth - 1, 2) feature and threshold of the nodes 0, 1, 2, ... whose halves are 2k + 1 and
    2k + 2; feature -1 where one is whole.

    A node is halved where both halves have at least ``least`` of the weight. Points, (n, d), have
    spreads of about 1.
    """
    nodes = np.full((2**depth - 1, 2), -1.0)
    node = np.zeros(len(points), dtype=np.intp)
    for k in range(len(nodes)):
        rows = node == k
        if not weight[rows].sum() >= 2.0 * least:
            continue
        feature, threshold = _halved(points[rows], weight[rows], least)
        if feature >= 0:
            nodes[k] = feature, threshold
            node[rows] = 2 * k + 1 + (points[rows, feature] > threshold)
    return nodes


def _halved(points: np.ndarray, weight: np.ndarray, least: float) -> tuple[int, float]:
    """(feature, threshold) of the halves, -1 for none."""
    mean = weight @ points / weight.sum()
    spread = weight @ (points - mean) ** 2 / weight.sum()
    # Ties between spreads are broken by position, not by rounding.
    for feature in np.argsort(-np.round(spread, 9), kind="stable").tolist():
        if spread[feature] <= LEAST_SPREAD:
            break
        values, place = np.unique(points[:, feature], return_inverse=True)
        mass = np.cumsum(np.bincount(place, weight))
        cut = int(np.argmin(np.abs(np.round(mass[:-1] / mass[-1] - 0.5, 9))))
        if min(mass[cut], mass[-1] - mass[cut]) >= least:
            return feature, 0.5 * (values[cut] + values[cut + 1])
    return -1, 0.0


def region_paths(nodes: np.ndarray, points: np.ndarray) -> np.ndarray:
    """(n, depth) the node that each row is in at each depth from 1 on, -1 below a whole one."""
    depth = (len(nodes) + 1).bit_length() - 1
    node, out = (
        np.zeros(len(points), dtype=np.intp),
        np.full((len(points), depth), -1, dtype=np.intp),
    )
    for level in range(depth):
        feature = np.where(node >= 0, nodes[np.maximum(node, 0), 0], -1.0).astype(np.intp)
        going = feature >= 0
        right = (
            points[np.arange(len(points)), np.maximum(feature, 0)] > nodes[np.maximum(node, 0), 1]
        )
        node = np.where(going, 2 * node + 1 + right, -1)
        out[:, level] = node
    return out
