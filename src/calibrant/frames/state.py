"""Sums by group and bin that add up over batches, files, days and machines."""

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np

from calibrant._support.saving import Saved
from calibrant.errors import InputError

__all__ = ["GroupState"]


class GroupState(Saved):
    """One row of sums for each group seen; a group is (slice values..., predicted class). Its size is groups times bins, never rows.

    Attributes
    ----------
    settings : dict of what the sums are of; only states with the same settings add up.
    rows : dict from the group to its row.
    bins : (G, B, 3) weight, summed score and summed hits of each bin.
    sums : (G, S) weight, hits, then the other sums.
    """

    def __init__(self, settings: dict[str, Any], n_bins: int, n_sums: int) -> None:
        self.settings: dict[str, Any] = settings
        self.rows: dict[tuple[Any, ...], int] = {}
        self.bins: np.ndarray = np.zeros((0, n_bins, 3))
        self.sums: np.ndarray = np.zeros((0, n_sums))

    @property
    def groups(self) -> list[tuple[Any, ...]]:
        """The groups, in the order of their rows."""
        return list(self.rows)

    def add(self, groups: Sequence[tuple[Any, ...]], bins: np.ndarray, sums: np.ndarray | None = None) -> None:
        """Add the sums of some groups, which must differ: ``bins`` (g, B, 3), ``sums`` (g, S) where the state has any."""
        at = self._rows_of(groups)
        self.bins[at] += bins
        if sums is not None:
            self.sums[at] += sums

    def _rows_of(self, groups):
        """Rows of the groups; new ones are added."""
        new = [group for group in groups if group not in self.rows]
        self.rows.update(zip(new, range(len(self.rows), len(self.rows) + len(new)), strict=True))
        at = np.fromiter(map(self.rows.__getitem__, groups), np.intp, len(groups))
        if len(self.rows) > len(self.bins):
            # Room for twice as many at least, so that growing costs what the groups do.
            more = max(len(self.rows), 2 * len(self.bins)) - len(self.bins)
            self.bins = np.concatenate([self.bins, np.zeros((more, *self.bins.shape[1:]))])
            self.sums = np.concatenate([self.sums, np.zeros((more, *self.sums.shape[1:]))])
        return at

    def __iadd__(self, other: Any) -> Self:
        if not isinstance(other, GroupState):
            return NotImplemented
        if self.settings != other.settings:
            odd = sorted(k for k in {*self.settings, *other.settings} if self.settings.get(k) != other.settings.get(k))
            raise InputError(
                f"only sums made with the same settings add up; {', '.join(odd)} differ: "
                f"{[self.settings.get(k) for k in odd]} and {[other.settings.get(k) for k in odd]}."
            )
        if other.rows:
            n = len(other.rows)
            self.add(other.groups, other.bins[:n], other.sums[:n])
        return self

    def __add__(self, other: Any) -> Any:
        if not isinstance(other, GroupState):
            return NotImplemented
        out = self._empty()
        out += self
        out += other
        return out

    def __radd__(self, other: Any) -> Any:
        return self if other == 0 else NotImplemented

    def _empty(self):
        out = object.__new__(type(self))
        GroupState.__init__(out, self.settings, self.bins.shape[1], self.sums.shape[1])
        return out

    def by(self, part: Callable[..., Any]) -> tuple[list[tuple[Any, ...]], np.ndarray, np.ndarray]:
        """Sums joined over the groups with the same ``part(group)``: (parts in order, bins (P, B, 3), sums (P, S))."""
        seen: dict = {}
        to = np.array([seen.setdefault(part(g), len(seen)) for g in self.rows], dtype=np.intp)
        bins, sums = np.zeros((len(seen), *self.bins.shape[1:])), np.zeros((len(seen), self.sums.shape[1]))
        np.add.at(bins, to, self.bins[: len(to)])
        np.add.at(sums, to, self.sums[: len(to)])
        parts = list(seen)
        order = sorted(range(len(parts)), key=lambda i: _sortable(parts[i]))
        return [parts[i] for i in order], bins[order], sums[order]


def _sortable(group):
    return [(value is None, not isinstance(value, int | float), value if isinstance(value, int | float) else str(value)) for value in group]
