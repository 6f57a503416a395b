"""The rows of each group, by one sort."""

import numpy as np

__all__ = ["rows_by_group"]


def rows_by_group(group: np.ndarray, n_groups: int) -> list[np.ndarray]:
    """Row numbers of each of the groups 0..n_groups-1, ascending: a list of n_groups integer arrays."""
    # NumPy sorts 16-bit integers by radix, in linear time.
    narrow = group.astype(np.uint16) if n_groups <= 65_536 else group
    order = np.argsort(narrow, kind="stable")
    return np.split(order, np.cumsum(np.bincount(group, minlength=n_groups))[:-1])
