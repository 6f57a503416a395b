"""Equal rows merged, in an order of their own: repetition and row order can then change nothing that follows."""

import numpy as np

__all__ = ["in_pieces", "merge_rows"]

DECIMALS = 8
#: So many columns tell nearly all rows apart; the others are looked at where they do not.
FIRST = 4


def merge_rows(values, labels, weight):
    """(row to keep for each distinct (label, values), its summed weight); sorted by label, then by the values to 8 decimals."""
    keys = np.round(np.column_stack([labels, values[:, :FIRST]]), DECIMALS)
    order = np.lexsort(keys.T[::-1])
    fresh = np.append(True, (np.diff(keys[order], axis=0) != 0.0).any(axis=1))
    if values.shape[1] > FIRST and not fresh.all():
        order, fresh = _by_the_rest(values, order, np.cumsum(fresh) - 1)
    return order[fresh], np.bincount(np.cumsum(fresh) - 1, weights=weight[order])


def _by_the_rest(values, order, group):
    """(order, whether a row differs from the one before) once the other columns have had their say within the groups of equal rows."""
    tied = np.flatnonzero(np.bincount(group)[group] > 1)
    rest = np.round(values[order[tied], FIRST:], DECIMALS)
    _, rank = np.unique(rest, axis=0, return_inverse=True)
    full = np.zeros(len(order), dtype=np.intp)
    full[tied] = rank.ravel()
    again = np.lexsort((order, full, group))
    moved = np.column_stack([group, full])[again]
    return order[again], np.append(True, (np.diff(moved, axis=0) != 0).any(axis=1))


def in_pieces(weight, most):
    """(row that each piece belongs to, its weight): each row in pieces of about one row, ``most`` at most, to be dealt out to folds."""
    pieces = np.clip(np.round(weight), 1, most).astype(int)
    return np.repeat(np.arange(len(weight)), pieces), np.repeat(weight / pieces, pieces)
