"""Errors of regression over bins of predicted standard deviation: one template, sorted or from a sketch of fixed size."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from calibrant._kernels.bins import equal_mass_groups, grouped_sums
from calibrant._kernels.bootstrap import resampled_sums
from calibrant._kernels.mean_interval import powers, unseen_ends
from calibrant._kernels.spread_bins import enough_bins
from calibrant._support.options import require_count
from calibrant.metrics.regression.gap_metric import GapMetric

__all__ = ["SpreadMetric"]

#: The cells of a sketch cover standard deviations from 2^-64 to 2^64; those beyond go to the outermost cell.
OCTAVES = 64


@dataclass(frozen=True, repr=False)
class SpreadMetric(GapMetric):
    """Template of those over bins of equal weight by predicted std; a metric writes ``_gaps`` and ``_columns`` (what is summed).

    Parameters
    ----------
    n_bins : int, default 10
    cells : int, default 0
        0 sorts all rows. A number of cells per doubling of the std keeps only sums by cell, a state of fixed size.
    """

    n_bins: int = 10
    cells: int = 0

    direction: ClassVar[str] = "minimize"
    range: ClassVar[tuple[float, float]] = (0.0, float("inf"))

    @classmethod
    def _examples(cls):
        return [cls(), cls(n_bins=3), cls(cells=256)]

    @property
    def mergeable(self) -> bool:
        """Whether ``state`` works with these options: with ``cells``."""
        return self.cells > 0

    def _check(self):
        require_count("n_bins", self.n_bins)
        require_count("cells", self.cells, 0, most=4096)

    @abstractmethod
    def _columns(self, record) -> list[np.ndarray]:
        """What is summed in each bin, besides the weight; the last rises with the squared error."""

    def _sums(self, record, index, n_groups):
        return grouped_sums(index, n_groups, self._columns(record), record.weight)

    def _draws(self, record, sums, n_resamples, random_state):
        group, columns, weight = self._bin(record), self._columns(record), record.weights
        draws = resampled_sums([(group, columns)], len(sums), weight, n_resamples, random_state)[:, 0]
        # In each bin a row not seen yet is drawn as often as any, as the bin's mean but for as large an error as those seen let expect.
        powered = grouped_sums(group, len(sums), powers(np.square(record.error)), weight)
        row = sums / sums[:, :1]
        row[:, -1] += unseen_ends(powered[:, 0], powered[:, 1:], (0.0, np.inf))[1] - powered[:, 1] / powered[:, 0]
        return draws + np.random.default_rng([random_state, 1]).poisson(1.0, draws.shape[:2])[..., None] * row

    def _cell(self, record):
        cell = np.floor(np.log2(record.std) * self.cells).astype(np.int64) + OCTAVES * self.cells
        return np.clip(cell, 0, 2 * OCTAVES * self.cells - 1)

    def _bin(self, record):
        """Bin of each row: of equal weight by std, tied std (or cells) together."""
        score = self._cell(record) if self.cells else record.std
        return equal_mass_groups(score, enough_bins(self.n_bins, record.weights.sum()), record.weights)

    def _totals(self, record):
        return self._sums(record, self._cell(record), 2 * OCTAVES * self.cells)

    def _all_totals(self, record):
        if self.cells:
            return super()._all_totals(record)
        index = self._bin(record)
        return self._sums(record, index, int(index.max()) + 1)

    def _bins(self, totals):
        if not self.cells:
            return totals
        weight = self._weight(totals)
        used = np.flatnonzero(weight)
        group = equal_mass_groups(used, enough_bins(self.n_bins, weight.sum()), weight[used])
        return np.add.reduceat(totals[used], np.searchsorted(group, np.arange(group[-1] + 1)))

    def _weight(self, totals):
        """Weight of each cell."""
        return totals[:, 0]

    def _finalise(self, totals):
        if self.cells and totals.ndim > 2:
            # Each leading entry has bins of its own.
            return np.array([self._finalise(each) for each in totals])
        return super()._finalise(totals)
