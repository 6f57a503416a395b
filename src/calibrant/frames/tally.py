"""The sums of many batches, before they are named and go to a state."""

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from calibrant.frames.coding import combinations, mixed, present

if TYPE_CHECKING:
    from calibrant.frames.state import GroupState

__all__ = ["Tally"]

#: Sums for every combination of values are kept while they are at most this many times the rows of a batch.
SPARSEST = 4


class Tally:
    """Sums by group and bin of a run of batches with the same values of slices and classes, emptied into a state where they change.

    Naming the groups costs more than adding up a batch, so it is done once a run.
    """

    n_bins: int
    n_columns: int
    values: list[Any] | None
    seen: np.ndarray | None
    bins: np.ndarray
    sums: np.ndarray

    def __init__(self, state: "GroupState") -> None:
        self.state: GroupState = state
        self.n_bins, self.n_columns = state.bins.shape[1], max(state.sums.shape[1] - 2, 0)
        self.values, self.seen = None, None

    def add(
        self, parts: Sequence[Any], bin_: np.ndarray, score: np.ndarray, hit: np.ndarray, columns: Sequence[np.ndarray],
        weight: np.ndarray | None = None,
    ) -> None:  # fmt: skip
        """Add rows: ``parts`` encoded slices and classes; ``bin_``, ``score``, ``hit`` and each of ``columns`` (n,)."""
        values, group = [named for named, _ in parts], mixed(parts)
        n_groups, seen = prod(len(named) for named in values), None
        if n_groups * self.n_bins > SPARSEST * len(group):
            seen, group = present(group, n_groups)
            n_groups = len(seen)
        if seen is not None or self.seen is not None or values != self.values:
            self.empty()
            self.values, self.seen = values, seen
            self.bins, self.sums = np.zeros((3, n_groups * self.n_bins)), np.zeros((self.n_columns, n_groups))
        _add_at(self.bins, group * self.n_bins + bin_, [None, score, hit], weight)
        _add_at(self.sums, group, columns, weight)

    def empty(self) -> "GroupState":
        """The state, with all that was added."""
        if self.values is not None:
            bins = self.bins.reshape(3, -1, self.n_bins)
            used = np.flatnonzero(bins[0].any(axis=1))
            bins = np.moveaxis(bins[:, used], 0, -1)
            groups = combinations(self.values, used if self.seen is None else self.seen[used])
            whole = bins.sum(axis=1)[:, [0, 2]]
            self.state.add(groups, bins, np.concatenate([whole, self.sums[:, used].T], axis=1) if self.n_columns else None)
            self.values, self.seen = None, None
        return self.state


def _add_at(totals, index, columns, weight):
    """Add each column (None: ones), weighted, to its row of the totals."""
    for total, column in zip(totals, columns, strict=True):
        if weight is not None:
            column = weight if column is None else column * weight
        total += np.bincount(index, column, minlength=len(total))
