"""The calibration scores of each cell (all rows, a class, a group), ready for limits and p-values at any level."""

from dataclasses import dataclass

import numpy as np

from calibrant._kernels.order_statistic import order_statistic
from calibrant._support.saving import Saved

__all__ = ["CellScores"]


@dataclass(frozen=True, eq=False)
class CellScores(Saved):
    """Distinct scores of each cell, ascending, with their cumulated masses.

    Attributes
    ----------
    scores, mass : (m,) one cell after the other.
    start : (C + 1,) where each cell begins, and the end of the last.
    shares : bool
        Whether masses are parts of clusters, each of which counts as one, and not whole rows.
    """

    scores: np.ndarray
    mass: np.ndarray
    start: np.ndarray
    shares: bool

    @classmethod
    def of(cls, score: np.ndarray, mass: np.ndarray, cell: np.ndarray, n_cells: int, *, shares: bool = False) -> "CellScores":
        """From scores in any order, the mass and the cell of each, (m,) each."""
        order = np.argsort(score, kind="stable")
        if n_cells > 1:
            order = order[np.argsort(cell[order], kind="stable")]
        score, cell = score[order], cell[order]
        first = np.flatnonzero(np.append(True, (np.diff(score) != 0.0) | (np.diff(cell) != 0))) if len(score) else np.zeros(0, np.intp)
        total = np.cumsum(mass[order])
        start = np.searchsorted(cell[first], np.arange(n_cells + 1))
        until = np.append(first[1:], len(score)) - 1
        before = np.append(0.0, total)[np.append(first, len(score))[start[:-1]]]
        return cls(score[first], total[until] - np.repeat(before, np.diff(start)), start, shares)

    def part(self, cell: int) -> tuple[np.ndarray, np.ndarray]:
        """(distinct scores, cumulated masses) of one cell."""
        own = slice(int(self.start[cell]), int(self.start[cell + 1]))
        return self.scores[own], self.mass[own]

    @property
    def n(self) -> np.ndarray:
        """(C,) rows, or clusters, of each cell."""
        return np.append(0.0, self.mass)[self.start[1:]] * (np.diff(self.start) > 0)

    def limits(self, level: float) -> np.ndarray:
        """(C,) the largest score that a class in the set may have; infinite where a cell has too few rows for the level."""
        found = [order_statistic(*self.part(cell), level, shares=self.shares) for cell in range(len(self.start) - 1)]
        return np.array(found, dtype=np.float64)

    def p_values(self, score: np.ndarray, cell: int, u: np.ndarray | None = None) -> np.ndarray:
        """Share of the cell's scores, and of one more, that are at least these; with ``u`` a drawn part of those that are equal."""
        own, mass = self.part(cell)
        mass = np.append(0.0, mass)
        below, upto = mass[np.searchsorted(own, score, side="left")], mass[np.searchsorted(own, score, side="right")]
        equal = (upto - below + 1.0) if u is None else u * (upto - below + 1.0)
        return (mass[-1] - upto + equal) / (mass[-1] + 1.0)
