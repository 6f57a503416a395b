"""A number for each row of a table from its place alone: folds, parts and samples that no engine, thread or size of batch changes."""

import numpy as np

__all__ = ["drawn", "row_hash"]


def row_hash(start: int, count: int, seed: int = 0) -> np.ndarray:
    """(count,) uint64, as if drawn at random, of rows ``start``, ``start`` + 1, ... (splitmix64).

    Examples
    --------
    >>> bool((row_hash(3, 2) == row_hash(0, 5)[3:]).all())
    True
    """
    with np.errstate(over="ignore"):
        key = np.arange(start + 1, start + count + 1, dtype=np.uint64) + np.uint64(seed) * np.uint64(0x632BE59BD9B4E019)
        key *= np.uint64(0x9E3779B97F4A7C15)
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            key ^= key >> np.uint64(shift)
            key *= np.uint64(factor)
        return key ^ (key >> np.uint64(31))


def drawn(number: np.ndarray, share: float) -> np.ndarray:
    """Places of the rows that are drawn for a sample of this share, by their numbers."""
    return np.flatnonzero(number < np.uint64(min(int(share * 2.0**64), 2**64 - 1)))
