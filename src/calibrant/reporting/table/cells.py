"""A sample of a large table, its cells, and fits on it."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from calibrant._numerics.bins import cell_count, cell_index, grouped_sums
from calibrant._numerics.logistic import log_odds
from calibrant.core.folds import fit_clone
from calibrant.core.model_outputs import is_fitted
from calibrant.core.predictions import Predictions
from calibrant.tables.table_rows import drawn

__all__ = [
    "FOLDS",
    "SAMPLE_ENTRIES",
    "SAMPLE_ROWS",
    "RiskCells",
    "RiskPairs",
    "TableFits",
    "TableSample",
    "fold_of",
    "rate_of",
]

FOLDS = 5
#: Rows drawn at most, and rows times classes.
SAMPLE_ROWS, SAMPLE_ENTRIES = 100_000, 5_000_000


def fold_of(number: np.ndarray) -> np.ndarray:
    """The fold of each row by the number that it has from its place, (n,)."""
    return (number % np.uint64(FOLDS)).astype(np.intp)


def rate_of(rows: int, n_classes: int) -> float:
    """The share of the rows to draw."""
    return min(1.0, min(SAMPLE_ROWS, SAMPLE_ENTRIES // n_classes) / max(rows, 1))


@dataclass(frozen=True)
class TableSample:
    """Records drawn and the folds of their rows, in parts that add up."""

    parts: Sequence[Predictions]
    folds: Sequence[np.ndarray]

    @classmethod
    def of(cls, record: Predictions, number: np.ndarray, rate: float) -> "TableSample":
        """Draw the rows of a batch whose hash is small enough."""
        # Folds are the number's rest, and parts those of a quotient of it: what is drawn falls to
        # all of them alike.
        own = drawn(number, rate)
        return cls([record.take(own)], [fold_of(number[own])]) if len(own) else cls([], [])

    def plus(self, other: "TableSample") -> "TableSample":
        """Those of both."""
        return TableSample([*self.parts, *other.parts], [*self.folds, *other.folds])

    def named(self, classes: np.ndarray) -> "TableSample":
        """Return the sample with the labels of the classes."""
        return TableSample([replace(part, classes=classes) for part in self.parts], self.folds)

    @cached_property
    def record(self) -> Predictions:
        """All rows drawn."""
        values, labels = (
            np.concatenate([getattr(part, name) for part in self.parts])
            for name in ("values", "labels")
        )
        weighted = self.parts[0].weight is not None
        weight = np.concatenate([part.weights for part in self.parts]) if weighted else None
        first = replace(self.parts[0], resolution=max(part.resolution for part in self.parts))
        return replace(first, values=values, labels=labels, weight=weight, kept=None, checked=True)

    @cached_property
    def fold(self) -> np.ndarray:
        """The fold of each row drawn."""
        return np.concatenate(self.folds)


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
        """Sum the rows of a batch; ``number`` is a hash of each row's position."""
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
    """Sums of rows before and after calibration, by both of their cells, so that a step of a map
    within a cell parts its rows.

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
        """Sum the rows of a batch before and after calibration."""
        before = before if before.checked else _checked(before)
        risks, count, labels = (
            [record.probabilities[:, 1] for record in (before, after)],
            cell_count(n_bins),
            before.labels,
        )
        cells = [
            cell_index(risk, n_bins, record.resolution)
            for risk, record in zip(risks, (before, after), strict=True)
        ]
        keys, place = np.unique(
            (2 * cells[0] + labels) * np.int64(count) + cells[1], return_inverse=True
        )
        return cls(
            before.take(slice(0, 1)),
            count,
            keys,
            grouped_sums(place, len(keys), risks, before.weight),
        )

    def plus(self, other: "RiskPairs") -> "RiskPairs":
        """Those of both."""
        keys, place = np.unique(np.concatenate([self.keys, other.keys]), return_inverse=True)
        sums = np.zeros((len(keys), 3))
        np.add.at(sums, place, np.concatenate([self.sums, other.sums]))
        like = self.like if self.like.resolution >= other.like.resolution else other.like
        return RiskPairs(like, self.count, keys, sums)

    def records(self, output: str) -> tuple[Predictions, Predictions]:
        """(before, after): a row for each pair of cells that holds weight, at its mean risks;
        ``output`` as of the calibrator.
        """
        held = self.sums[:, 0] > 0.0
        weight, total, calibrated = self.sums[held].T
        before = _merged(self.like, self.keys[held] // self.count % 2, weight, total)
        risk = np.clip(calibrated / weight, 0.0, 1.0)
        return before, before.recalibrated(np.column_stack([1.0 - risk, risk]), output)


def _merged(
    like: Predictions, label: np.ndarray, weight: np.ndarray, total: np.ndarray
) -> Predictions:
    """A record of merged rows at their mean risks."""
    risk = np.clip(total / weight, 0.0, 1.0)
    values = [np.zeros(len(risk)), log_odds(risk)] if like.kind == "logit" else [1.0 - risk, risk]
    return replace(
        like, values=np.column_stack(values), labels=label, weight=weight, kept=None, checked=True
    )


def _checked(record: Predictions) -> Predictions:
    for _ in record.blocks():
        pass
    return replace(record, checked=True)


@dataclass(frozen=True)
class TableFits:
    """The calibrator as given, those by fold (all the same one where it was fitted before), the
    one to use, and how rows are measured.
    """

    calibrator: Any
    by_fold: list[Any]
    final: Any
    evaluation: str

    @classmethod
    def of(
        cls,
        calibrator: Any,
        record: Predictions,
        fold: np.ndarray,
        progress: Callable[..., Any] | None = None,
    ) -> "TableFits":
        """Fit on rows of a record, or on cells that stand for several rows, by fold."""
        if is_fitted(calibrator):
            return cls(calibrator, [calibrator] * FOLDS, calibrator, "held-out")
        made: list[Any] = []
        for k in range(FOLDS):
            made.append(fit_clone(calibrator, record.take(fold != k)))
            if progress is not None:
                progress(k)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the same was said of the folds
            return cls(calibrator, made, cls.last(calibrator, record), "out-of-fold")

    @staticmethod
    def last(calibrator: Any, record: Predictions) -> Any:
        """The calibrator fitted on all of the rows."""
        return fit_clone(calibrator, record)

    @property
    def n_splits(self) -> int | None:
        """Number of folds, for rows measured out of fold."""
        return FOLDS if self.evaluation == "out-of-fold" else None

    def after(self, record: Predictions, fold: np.ndarray) -> Predictions:
        """The same rows calibrated, each by the fit that has not seen its fold."""
        if self.evaluation == "held-out":
            return record.recalibrated(self.final.predict_record(record), self.final.tags.output)
        result = np.empty(record.values.shape)
        for k, one in enumerate(self.by_fold):
            own = np.flatnonzero(fold == k)
            if len(own):
                result[own] = one.predict_record(record.take(own))
        return record.recalibrated(result, self.calibrator.tags.output)
