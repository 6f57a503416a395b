"""The template of measures that cut the rows in two at a score: exact over all cuts, or on a grid, whose sums add up."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from calibrant._kernels import bins
from calibrant._support.options import require_count
from calibrant.contracts.tags import Promises
from calibrant.metrics.pair import PairMetric

__all__ = ["CutMetric"]


@dataclass(frozen=True, repr=False)
class CutMetric(PairMetric):
    """A function of the sums on either side of each cut. A metric writes ``_of_cuts(sums, low, high)``.

    Parameters
    ----------
    target : {"event", "answer"} or a class label, default "event"
    cells : int, default 0
        0 sorts all rows and cuts between any two distinct scores. A number of cells (1,024 is plenty) cuts at k / cells only, and then the
        metric has a state of fixed size.
    """

    target: Any = "event"
    cells: int = 0

    direction: ClassVar[str] = "minimize"
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    promises: ClassVar[Promises]

    @classmethod
    def _examples(cls):
        return [cls(), cls(target="answer"), cls(cells=1024)]

    @property
    def mergeable(self) -> bool:
        """Whether ``state`` works with these options: with ``cells``."""
        return self.cells > 0

    def _check(self):
        require_count("cells", self.cells, 0, most=65_536)

    @abstractmethod
    def _of_cuts(self, sums: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """The value from sums of (weight, score, hits) between cuts, (..., m, 3), and the ends of where each of m + 1 cuts may lie."""

    def _ends(self):
        """On a grid, a cut is at one place alone; the first, at 0, stands for none."""
        edges = bins.equal_width_edges(self.cells)
        return edges, edges

    def _prepared(self, score: np.ndarray, weight: np.ndarray) -> Callable[[np.ndarray], float]:
        if self.cells:
            index, count, ends = bins.equal_width_index(score, self.cells), self.cells, self._ends()
        else:
            unique, index = np.unique(score, return_inverse=True)
            count, ends = len(unique), (np.append(0.0, unique), np.append(unique, 1.0))
        given = bins.grouped_sums(index, count, [score], weight)

        def value(hit):
            hits = np.bincount(index, weights=weight * hit, minlength=count)
            return float(self._of_cuts(np.column_stack([given, hits]), *ends))

        return value

    def _pair_value(self, score, hit, weight):
        return self._prepared(score, weight)(hit)

    def _value(self, record):
        return float(self._finalise(self._all_totals(record))) if self.cells else super()._value(record)

    def _totals(self, record):
        return self._group_totals(record, 0, 1)[0]

    def _group_totals(self, record, group, n_groups):
        if not self.cells:
            return super()._totals(record)
        score, hit = record.pair(self.target)
        cell = bins.equal_width_index(score, self.cells) + group * self.cells
        return bins.grouped_sums(cell, n_groups * self.cells, [score, hit], record.weight).reshape(n_groups, self.cells, 3)

    def _finalise(self, totals):
        return self._of_cuts(totals, *self._ends())
