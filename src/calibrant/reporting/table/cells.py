"""Two classes: all rows of a table merged into a record of few, by cell of the risk, outcome and fold, with their weight."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from calibrant._kernels.bins import grouped_sums
from calibrant._kernels.nested_cells import cell_count, cell_index
from calibrant._kernels.softmax import log_odds
from calibrant.predictions import Predictions
from calibrant.reporting.table.sample import FOLDS, fold_of

__all__ = ["RiskCells"]


@dataclass(frozen=True)
class RiskCells:
    """Sums that add up.

    Attributes
    ----------
    like : a record of the table, for what all share
    rows : int
    sums : (FOLDS, cells, 2, 2) weight and risk by fold, cell and whether it happened
    """

    like: Predictions
    rows: int
    sums: np.ndarray

    @classmethod
    def of(cls, record: Predictions, number: np.ndarray, n_bins: int) -> "RiskCells":
        """Of the rows of a batch, each with the number that it has from its place."""
        record = record if record.checked else _checked(record)
        risk, count = record.probabilities[:, 1], cell_count(n_bins)
        labels: Any = record.labels
        place = 2 * (fold_of(number) * count + cell_index(risk, n_bins, record.resolution)) + labels
        sums = grouped_sums(place, 2 * FOLDS * count, [risk], record.weight)
        return cls(record.take(slice(0, 1)), len(record), sums.reshape(FOLDS, count, 2, 2))

    def plus(self, other: "RiskCells") -> "RiskCells":
        """Those of both; the array of the first is added to."""
        self.sums.__iadd__(other.sums)
        like = self.like if self.like.resolution >= other.like.resolution else other.like
        return RiskCells(like, self.rows + other.rows, self.sums)

    def record(self) -> tuple[Predictions, np.ndarray]:
        """(a row for each cell that holds any, at their mean risk; its fold)."""
        fold, cell, label = np.nonzero(self.sums[..., 0] > 0.0)
        weight, total = self.sums[fold, cell, label].T
        risk = np.clip(total / weight, 0.0, 1.0)
        if self.like.kind == "logit":
            values = np.column_stack([np.zeros(len(risk)), log_odds(risk)])
        else:
            values = np.column_stack([1.0 - risk, risk])
        return replace(self.like, values=values, labels=label, weight=weight, kept=None, checked=True), fold


def _checked(record: Predictions) -> Predictions:
    for _ in record.blocks():
        pass
    return replace(record, checked=True)
