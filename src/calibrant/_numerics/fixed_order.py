"""Sums and products of rows whose bits depend neither on the other rows nor on the memory order."""

import numpy as np

__all__ = ["in_pieces", "merge_rows", "multiply_rows", "number_rows", "sum_in_sequence", "sum_rows"]

#: Up to so many columns a row is summed from the first to the last, beyond in pairs.
FEW_COLUMNS = 32
#: Rows in one product, and entries of the matrix up to which blocks of so many rows lose no time.
BLOCK_ROWS = 32
SMALL_MATRIX = 65_536
#: Larger matrices take all rows at once; whole tiles of rows are summed in one order by BLAS,
#: remainders are not.
TILE_ROWS = 8


def sum_rows(values: np.ndarray) -> np.ndarray:
    """Return the sums over the last axis, (n, K) -> (n,).

    NumPy adds in sequence along a strided axis and in pairs along a contiguous one, so its order
    follows the memory order, and that of one row differs from that of several.
    """
    if values.shape[-1] > FEW_COLUMNS:
        return np.ascontiguousarray(values).sum(axis=-1)
    if values.shape[-1] == 0:
        return np.zeros(values.shape[:-1])
    if values.ndim == 2 and len(values) > 1 and values.flags.f_contiguous:
        return values.sum(axis=1)
    return values.cumsum(axis=-1)[..., -1]


def sum_in_sequence(columns: np.ndarray) -> np.ndarray:
    """Return the sums over the first axis from the first column to the last, (K, n) -> (n,), as
    loops of other languages add.
    """
    return columns.sum(axis=0) if columns.shape[1] > 1 else columns.cumsum(axis=0)[-1]


def multiply_rows(rows: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """Return rows @ matrix, (n, p) and (p, m) or (p,) -> (n, m) or (n,), in blocks of a fixed
    number of rows.

    BLAS chooses its order of summation by the shape of the whole product, so that one row alone
    would differ in its last bits.
    """
    if matrix.ndim == 1:
        return sum_rows(rows * matrix)
    n, width = rows.shape
    block = BLOCK_ROWS if matrix.size <= SMALL_MATRIX else max(n - n % TILE_ROWS, TILE_ROWS)
    rows = np.ascontiguousarray(rows)
    out = np.empty((n, matrix.shape[1]), dtype=np.result_type(rows, matrix))
    whole = n - n % block
    if whole:
        np.matmul(
            rows[:whole].reshape(-1, block, width),
            matrix,
            out=out[:whole].reshape(-1, block, out.shape[1]),
        )
    if whole < n:
        padded = np.zeros(
            (block if matrix.size <= SMALL_MATRIX else TILE_ROWS, width), dtype=rows.dtype
        )
        padded[: n - whole] = rows[whole:]
        out[whole:] = (padded @ matrix)[: n - whole]
    return out


DECIMALS = 8
#: So many columns tell nearly all rows apart; the others are looked at where they do not.
FIRST = 4


def merge_rows(
    values: np.ndarray, labels: np.ndarray, weight: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(row to keep for each distinct (label, values), its summed weight); sorted by label, then
    by the values to 8 decimals.
    """
    order, number = number_rows(values, labels)
    return order[np.diff(number, prepend=-1) > 0], np.bincount(number, weights=weight[order])


def number_rows(values: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(the rows in order of label and values to 8 decimals, the number of the distinct row that
    each of these equals), (n,) both.
    """
    keys = np.round(np.column_stack([labels, values[:, :FIRST]]), DECIMALS)
    order = np.lexsort(keys.T[::-1])
    fresh = np.append(True, (np.diff(keys[order], axis=0) != 0.0).any(axis=1))
    if values.shape[1] > FIRST and not fresh.all():
        order, fresh = _order_ties(values, order, np.cumsum(fresh) - 1)
    return order, np.cumsum(fresh) - 1


def _order_ties(
    values: np.ndarray, order: np.ndarray, group: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(order, whether a row differs from the one before) once the other columns have had their
    say within the groups of equal rows.
    """
    tied = np.flatnonzero(np.bincount(group)[group] > 1)
    rest = np.round(values[order[tied], FIRST:], DECIMALS)
    _, rank = np.unique(rest, axis=0, return_inverse=True)
    full = np.zeros(len(order), dtype=np.intp)
    full[tied] = rank.ravel()
    again = np.lexsort((order, full, group))
    moved = np.column_stack([group, full])[again]
    return order[again], np.append(True, (np.diff(moved, axis=0) != 0).any(axis=1))


def in_pieces(weight: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    """(row that each piece belongs to, its weight): each row in pieces of about one row,
    ``most`` at most, to be dealt out to folds.
    """
    pieces = np.clip(np.round(weight), 1, most).astype(int)
    return np.repeat(np.arange(len(weight)), pieces), np.repeat(weight / pieces, pieces)
