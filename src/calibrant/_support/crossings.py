"""Columns of groups crossed: which crossings say something that their columns do not, and a number for each of their cells."""

from itertools import combinations

import numpy as np

from calibrant._support.group_levels import GroupLevels

__all__ = ["cell_codes", "crossings"]

#: Codes of crossings are numbers up to this.
MOST_CODES = 2.0**62


def crossings(levels: GroupLevels, codes: np.ndarray, depth: int) -> list[tuple[int, ...]]:
    """The columns crossed, up to ``depth`` and all, of codes (n, c) as ``levels`` gives them.

    A crossing that only repeats one of its parents (city x country) is left out.
    """
    n_columns, found, cells = codes.shape[1], [], dict[tuple[int, ...], int]()
    for size in sorted({*range(1, min(depth, n_columns) + 1), n_columns}):
        for columns in combinations(range(n_columns), size):
            if np.prod([float(len(levels.levels[j])) for j in columns]) > MOST_CODES:
                continue
            cells[columns] = len(np.unique(cell_codes(levels, codes, columns)))
            if size == 1 or all(cells[columns] > cells.get(parent, 0) for parent in combinations(columns, size - 1)):
                found.append(columns)
    return found


def cell_codes(levels: GroupLevels, codes: np.ndarray, columns: tuple[int, ...]) -> np.ndarray:
    """(n,) number of each row's cell, -1 where a level is unknown."""
    out = np.zeros(len(codes), dtype=np.int64)
    for j in columns:
        out = out * len(levels.levels[j]) + codes[:, j]
    return np.where((codes[:, list(columns)] < 0).any(axis=1), -1, out)
