"""Copies among rows, told from scores that are few and so come again by themselves."""

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from calibrant.predictions import Predictions

__all__ = ["copied_share"]

#: Different labels that chance must lead to expect before their absence says anything, and the share of them above which it says nothing.
EXPECTED, FEW = 5.0, 0.25
REGIONS = 10


def copied_share(record: "Predictions", source: "Predictions | None" = None) -> float:
    """Share of rows that look like copies of earlier rows, or of rows of ``source``.

    A copy has the prediction and the label of another row. So have rows of a score with few values (a tree's, or confidences given in
    words), by chance: of two such rows with one prediction, one is right and the other wrong in a share 2 a (1 - a) of cases, for an
    accuracy a. Rows with one prediction are copies where their labels differ in far fewer cases than that. Where few differences are to
    be expected, as among rows that are all right, nothing tells and the share is 0.
    """
    rows, mates = _pairs(_keys(record)) if source is None else _matches(_keys(record), _keys(source))
    if not len(rows):
        return 0.0
    differ = (record.labels[rows] != (record if source is None else source).labels[mates]).sum()
    region = np.minimum((record.confidence[rows] * REGIONS).astype(int), REGIONS - 1)
    count, right = np.bincount(region), np.bincount(region, weights=record.correct[rows])
    expected = float((2.0 * right * (1.0 - right / np.maximum(count, 1))).sum())
    if expected < EXPECTED or differ > FEW * expected:
        return 0.0
    return float((len(rows) - differ) / len(record))


def _pairs(keys):
    """(later row, the row before it with the same key)."""
    order = np.argsort(keys, kind="stable")
    same = keys[order][1:] == keys[order][:-1]
    return order[1:][same], order[:-1][same]


def _matches(keys, others):
    """(row, a row of the others with the same key)."""
    unique, first = np.unique(others, return_index=True)
    at = np.minimum(np.searchsorted(unique, keys), len(unique) - 1)
    found = np.flatnonzero(unique[at] == keys)
    return found, first[at[found]]


def _keys(record):
    """One number a row, equal for rows of equal predictions, (n,); block by block, as wide rows are large."""
    parts = []
    for block in record.blocks(4096):
        rows = np.asarray(block.values, dtype=np.float64) + 0.0
        parts.append(np.fromiter((hash(row.tobytes()) for row in rows), dtype=np.int64, count=len(rows)))
    return np.concatenate(parts)
