"""Two classes: all rows of a table merged into a record of few, by cell of the risk, outcome and fold, with their weight."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from calibrant._kernels.bins import cell_count, cell_index, grouped_sums
from calibrant._kernels.softmax import log_odds
from calibrant.predictions import Predictions
from calibrant.reporting.table.sample import FOLDS, fold_of

__all__ = ["RiskCells", "RiskPairs"]


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
        return _merged(self.like, label, weight, total), fold


@dataclass(frozen=True)
class RiskPairs:
    """Sums of rows before and after calibration, by both of their cells, so that a step of a map within a cell parts its rows.

    Attributes
    ----------
    like : a record of the table, for what all share
    count : int
        Cells of one risk.
    keys : (m,) int64, ascending
        A name of each pair of cells that holds any row, and whether it happened.
    sums : (m, 3) weight, and risk before and after
    """

    like: Predictions
    count: int
    keys: np.ndarray
    sums: np.ndarray

    @classmethod
    def of(cls, before: Predictions, after: Predictions, n_bins: int) -> "RiskPairs":
        """Of the rows of a batch, as they are and calibrated."""
        before = before if before.checked else _checked(before)
        risks, count, labels = [record.probabilities[:, 1] for record in (before, after)], cell_count(n_bins), before.labels
        cells = [cell_index(risk, n_bins, record.resolution) for risk, record in zip(risks, (before, after), strict=True)]
        keys, place = np.unique((2 * cells[0] + labels) * np.int64(count) + cells[1], return_inverse=True)
        return cls(before.take(slice(0, 1)), count, keys, grouped_sums(place, len(keys), risks, before.weight))

    def plus(self, other: "RiskPairs") -> "RiskPairs":
        """Those of both."""
        keys, place = np.unique(np.concatenate([self.keys, other.keys]), return_inverse=True)
        sums = np.zeros((len(keys), 3))
        np.add.at(sums, place, np.concatenate([self.sums, other.sums]))
        like = self.like if self.like.resolution >= other.like.resolution else other.like
        return RiskPairs(like, self.count, keys, sums)

    def records(self, output: str) -> tuple[Predictions, Predictions]:
        """(before, after): a row for each pair of cells that holds weight, at its mean risks; ``output`` as of the calibrator."""
        held = self.sums[:, 0] > 0.0
        weight, total, calibrated = self.sums[held].T
        before = _merged(self.like, self.keys[held] // self.count % 2, weight, total)
        risk = np.clip(calibrated / weight, 0.0, 1.0)
        return before, before.recalibrated(np.column_stack([1.0 - risk, risk]), output)


def _merged(like: Predictions, label: np.ndarray, weight: np.ndarray, total: np.ndarray) -> Predictions:
    """A record of merged rows at their mean risks."""
    risk = np.clip(total / weight, 0.0, 1.0)
    values = [np.zeros(len(risk)), log_odds(risk)] if like.kind == "logit" else [1.0 - risk, risk]
    return replace(like, values=np.column_stack(values), labels=label, weight=weight, kept=None, checked=True)


def _checked(record: Predictions) -> Predictions:
    for _ in record.blocks():
        pass
    return replace(record, checked=True)
