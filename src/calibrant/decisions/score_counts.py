"""Scores counted in fine bins: counts of days, files and machines add up, and sets are fitted from the sum."""

from typing import Any

import numpy as np

from calibrant._kernels.fine_scores import upper_edges
from calibrant._support.saving import Saved
from calibrant.decisions.cell_scores import CellScores
from calibrant.errors import InputError

__all__ = ["ScoreCounts"]


class ScoreCounts(Saved):
    """How much mass of calibration scores fell in each bin of each cell; only bins that are not empty are kept.

    Attributes
    ----------
    settings : dict of what the scores are of; only counts with the same settings add up.
    cells : list of the cells' names.
    span : (low, high) of the score.
    n : float, rows, or clusters, that were counted.
    keys, counts : (m,) cell times bins plus bin, ascending; and the masses.
    """

    def __init__(self, settings: dict[str, Any], cells: list[Any], span: tuple[float, float], n: float) -> None:
        self.settings: dict[str, Any] = settings
        self.cells: list[Any] = cells
        self.span: tuple[float, float] = span
        self.n: float = n
        self.keys: np.ndarray = np.zeros(0, dtype=np.int64)
        self.counts: np.ndarray = np.zeros(0)

    @property
    def edges(self) -> np.ndarray:
        """(B,) upper edges of the bins, on the scale of the score."""
        low, high = self.span
        edges = low + upper_edges(int(self.settings["n_bins"])) * (high - low)
        # What rounding puts above the highest score is still in the last bin.
        return np.append(edges[:-1], high + 1e-9 * (high - low))

    def add(self, score: np.ndarray, mass: np.ndarray, cell: np.ndarray) -> None:
        """Count scores, (m,), with their masses and the numbers of their cells."""
        edges = self.edges
        keys = cell.astype(np.int64) * len(edges) + np.searchsorted(edges, score, side="left")
        self.add_keys(keys, mass)

    def add_keys(self, keys: np.ndarray, counts: np.ndarray) -> None:
        """Add masses of bins, (m,), by cell times bins plus bin."""
        self.keys, place = np.unique(np.concatenate([self.keys, keys]), return_inverse=True)
        self.counts = np.bincount(place, weights=np.concatenate([self.counts, counts]))

    def __add__(self, other: Any) -> Any:
        if not isinstance(other, ScoreCounts):
            return NotImplemented
        if (self.settings, self.span) != (other.settings, other.span):
            odd = sorted(k for k in self.settings.keys() | other.settings.keys() if self.settings.get(k) != other.settings.get(k))
            raise InputError(f"only counts made with the same settings add up; these differ in {', '.join(odd) or 'the span'}.")
        new = [name for name in other.cells if name not in self.cells]
        out = ScoreCounts(self.settings, [*self.cells, *new], self.span, self.n + other.n)
        for part in (self, other):
            cell, bins = np.divmod(part.keys, len(self.edges))
            place = np.array([out.cells.index(name) for name in part.cells], dtype=np.int64)
            out.add_keys(place[cell] * len(self.edges) + bins, part.counts)
        return out

    def __radd__(self, other: Any) -> Any:
        return self if other == 0 else NotImplemented

    def cell_scores(self, settings: dict[str, Any]) -> CellScores:
        """The scores, each rounded up to the upper edge of its bin: what is promised of the exact ones holds of these.

        ``settings`` are what they must have been made with.
        """
        odd = {name: self.settings.get(name) for name, value in settings.items() if self.settings.get(name) != value}
        if odd:
            raise InputError(f"state must be made with the options of these sets; it was made with {odd}; make it by their own state().")
        cell, bins = np.divmod(self.keys, len(self.edges))
        return CellScores.of(self.edges[bins], self.counts, cell.astype(np.intp), len(self.cells), shares=bool(self.settings["shares"]))
