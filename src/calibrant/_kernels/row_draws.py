"""A uniform number for each row, drawn by what the row holds: the same wherever and whenever the row is met."""

import numpy as np

__all__ = ["placed_codes", "row_codes", "uniform_of_rows"]

#: Odd constants of the splitmix64 generator.
GOLDEN, FIRST, SECOND = (np.uint64(c) for c in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))
#: Entries of the values looked at together: what is derived from them stays in the cache.
BLOCK_ENTRIES = 131_072


def row_codes(values: np.ndarray) -> np.ndarray:
    """(n,) uint64 of the numbers in each row of (n, K), whatever their order and dtype; 0 and -0 are one number."""
    size = max(1, BLOCK_ENTRIES // max(values.shape[1], 1))
    return np.concatenate([_codes(values[start : start + size]) for start in range(0, max(len(values), 1), size)])


def placed_codes(values: np.ndarray) -> np.ndarray:
    """(n,) uint64 that equal rows do not share: of what each holds, and of its place."""
    return row_codes(values) + np.arange(1, len(values) + 1, dtype=np.uint64) * SECOND


def _codes(block):
    bits = (block.astype(np.float64) + 0.0).view(np.uint64)
    bits ^= bits >> np.uint64(32)
    bits *= GOLDEN
    bits ^= bits >> np.uint64(29)
    # Sums wrap around, and so do not depend on the order of the columns.
    return bits.sum(axis=1, dtype=np.uint64)


def uniform_of_rows(codes: np.ndarray, seed: int) -> np.ndarray:
    """(n,) float64 in (0, 1) from the codes of rows; another seed gives draws that have nothing to do with these."""
    key = _mixed(np.array([seed], dtype=np.int64).view(np.uint64) + GOLDEN)
    return ((_mixed(codes + key) >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52


def _mixed(code):
    code = (code ^ (code >> np.uint64(30))) * FIRST
    code = (code ^ (code >> np.uint64(27))) * SECOND
    return code ^ (code >> np.uint64(31))
