"""Rows summed by distinct value, which add up over parts, and bins of equal weight cut from them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from calibrant._kernels.bins import equal_mass_parts, grouped_sums
from calibrant._kernels.ties import distinct_scores

__all__ = ["Cut", "Distinct"]


@dataclass(frozen=True)
class Cut:
    """Bins of equal weight, which keep equal values together: the bin of each distinct value, (m,), and the ends of the bins."""

    values: np.ndarray
    part: np.ndarray
    lower: np.ndarray
    upper: np.ndarray

    def __len__(self) -> int:
        return len(self.lower)

    def index(self, values: np.ndarray) -> np.ndarray:
        """The bin of each row, (n,)."""
        return self.part[np.searchsorted(self.values, values)]


@dataclass(frozen=True)
class Distinct:
    """Rows by distinct value, ascending, (m,), with (m, 1 + c) sums of the weight and of c columns."""

    values: np.ndarray
    sums: np.ndarray

    @classmethod
    def of(cls, values: np.ndarray, columns: Sequence[np.ndarray] = (), weight: np.ndarray | None = None) -> "Distinct":
        """Of rows, (n,) each."""
        unique, inverse = np.unique(values, return_inverse=True)
        return cls(unique, grouped_sums(inverse, len(unique), columns, weight))

    def __add__(self, other: "Distinct") -> "Distinct":
        unique, inverse = np.unique(np.concatenate([self.values, other.values]), return_inverse=True)
        sums = np.zeros((len(unique), self.sums.shape[1]))
        np.add.at(sums, inverse, np.concatenate([self.sums, other.sums]))
        return Distinct(unique, sums)

    def cut(self, n_bins: int) -> Cut:
        """At most ``n_bins`` bins of equal weight, that part no values which differ by rounding."""
        run = distinct_scores(self.values)[1]
        part = equal_mass_parts(np.bincount(run, weights=self.sums[:, 0]), n_bins)[run]
        first = np.flatnonzero(np.diff(part, prepend=-1))
        return Cut(self.values, part, self.values[first], self.values[np.append(first[1:], len(part)) - 1])
