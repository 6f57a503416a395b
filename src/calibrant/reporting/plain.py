"""What both kinds of summary need: groups of rows read, and the result made plain."""

import math
from typing import Any

import numpy as np

from calibrant.arrays import rows_named
from calibrant.errors import InputError

__all__ = ["plain", "read_groups"]


def read_groups(groups, record):
    """One label a row of the record, (n,); None for None. Rows that the record left out are left out here."""
    if groups is None:
        return None
    groups = groups.to_numpy() if hasattr(groups, "to_numpy") else np.asarray(groups)
    rows_named(groups, "groups", len(record) if record.kept is None else len(record.kept))
    if groups.ndim != 1:
        raise InputError(f"groups must be one label a row, (n,); got shape {groups.shape}; join several columns into one first.")
    return groups if record.kept is None else groups[record.kept]


def plain(value) -> Any:
    """NumPy's numbers as Python's, and nan as None, so that any JSON writer takes it."""
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    value = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(value, float) and not math.isfinite(value) else value
