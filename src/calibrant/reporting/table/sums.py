"""Sums of a large table, the scores that they give, and what was seen of it; and a sample of the
table, its cells, and fits on it.
"""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import lcm
from typing import Any

import numpy as np

from calibrant._numerics.bins import (
    Cut,
    Distinct,
    cell_count,
    cell_index,
    equal_width_index,
    grouped_sums,
)
from calibrant._numerics.logistic import log_odds
from calibrant.core.folds import fit_clone
from calibrant.core.metric_kinds import MeanMetric
from calibrant.core.model_outputs import is_fitted
from calibrant.core.predictions import Predictions
from calibrant.metrics.binned import classwise_calibration_error
from calibrant.metrics.comparison import PairedDifference, meaning
from calibrant.reporting.compared_scores import (
    Change,
    Estimate,
    Measure,
    Score,
    apart,
    ranking,
    reading,
)
from calibrant.reporting.states import (
    BIN_COUNTS,
    CLASS_BINS,
    DRAWN_CLASSES,
    REGIONS,
    Counts,
    Seen,
    by_class,
    confidence_gaps,
)
from calibrant.tables.apply import drawn

__all__ = [
    "FOLDS",
    "PARTS",
    "SAMPLE_ENTRIES",
    "SAMPLE_ROWS",
    "RiskCells",
    "RiskPairs",
    "TableFits",
    "TableSample",
    "TableSums",
    "class_bins",
    "fold_of",
    "rate_of",
    "seen_of",
    "table_scores",
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
        A name of each pair of cells of a fold that holds any row, and whether it happened.
    sums : (m, 3) weight, and risk before and after
    """

    like: Predictions
    count: int
    keys: np.ndarray
    sums: np.ndarray

    @classmethod
    def of(
        cls, before: Predictions, after: Predictions, n_bins: int, fold: np.ndarray | int = 0
    ) -> "RiskPairs":
        """Sum the rows of a batch before and after calibration, by a map for each ``fold`` (n,)."""
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
            (2 * (fold * count + cells[0]) + labels) * np.int64(count) + cells[1],
            return_inverse=True,
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

    @property
    def fold(self) -> np.ndarray:
        """The fold of each row of the records."""
        return self.keys[self.sums[:, 0] > 0.0] // (2 * self.count**2)

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


#: Random parts that the rows are dealt to: how much errors of classes differ among them says how
#: sure that of the whole is.
PARTS = 100


def class_bins(n_bins: int) -> int:
    """Bins of each class's probability, of which those of its curve and those of the calibration
    error are made.
    """
    return lcm(CLASS_BINS, n_bins)


@dataclass(frozen=True)
class TableSums:
    """Sums over rows, before or after calibration.

    Attributes
    ----------
    classes : (K,)
    n_bins : of the calibration errors
    rows : int
    cells : (C, 2, 2) weight and confidence, of wrong and right rows, by cell of the confidence
    confusion : (K, K) weight by true and predicted class
    said : (K,) confidence by predicted class
    by_class : (PARTS, K, B, 3) weight, probability and hits of each class, by random part of the
        rows and bin of the probability
    losses : {key of a mean: its totals}
    resolution : of the confidences
    """

    classes: np.ndarray
    n_bins: int
    rows: int
    cells: np.ndarray
    confusion: np.ndarray
    said: np.ndarray
    by_class: np.ndarray
    losses: dict[str, np.ndarray]
    resolution: float

    @classmethod
    def of(
        cls, record: Predictions, part: np.ndarray, n_bins: int, means: Sequence[Any]
    ) -> tuple["TableSums", dict[str, np.ndarray]]:
        """(the sums of a record, the losses of its rows by key); ``part`` (n,) is the random
        part of each row.
        """
        found: list[tuple[TableSums, dict[str, np.ndarray]]] = []
        start = 0
        for block in record.blocks():
            found.append(_block(block, part[start : start + len(block)], n_bins, means))
            start += len(block)
        whole = found[0][0]
        for one, _ in found[1:]:
            whole = whole.plus(one)
        return whole, {
            metric.key: np.concatenate([losses[metric.key] for _, losses in found])
            for metric in means
        }

    def plus(self, other: "TableSums") -> "TableSums":
        """Those of both; the arrays of the first are added to."""
        for name in ("cells", "confusion", "said", "by_class"):
            getattr(self, name).__iadd__(getattr(other, name))
        losses = {key: total + other.losses[key] for key, total in self.losses.items()}
        return TableSums(
            self.classes,
            self.n_bins,
            self.rows + other.rows,
            self.cells,
            self.confusion,
            self.said,
            self.by_class,
            losses,
            max(self.resolution, other.resolution),
        )

    def counts(self) -> Counts:
        """Values for a report. They are exact, except that rows of one cell are ordered by their
        mean confidence.
        """
        weight, score = self.cells.sum(axis=1).T
        filled = weight > 0.0
        (weight, score), right = (weight[filled], score[filled]), self.cells[filled, 1, 0]
        mean = np.clip(score / weight, 0.0, 1.0)
        bins = {
            count: grouped_sums(
                equal_width_index(mean, count, self.resolution),
                count,
                [mean, right / weight],
                weight,
            )
            for count in sorted({*BIN_COUNTS, self.n_bins, 10})
        }
        predicted = np.column_stack(
            [self.confusion.sum(axis=0), np.diag(self.confusion), self.said]
        )
        tenths = bins[10][:, 0]
        return Counts(
            self.classes,
            np.array([weight.sum(), right.sum(), score.sum()]),
            bins,
            tenths,
            Distinct(mean, np.column_stack([weight, right, weight - right])),
            self.confusion.sum(axis=1),
            predicted,
            self.confusion,
            self.resolution,
        )

    def of_class(self, k: int, count: int) -> np.ndarray:
        """(count, 3) weight, probability and hits of a class in bins of equal width."""
        return self.by_class[:, k].sum(axis=0).reshape(count, -1, 3).sum(axis=1)

    def in_parts(self) -> np.ndarray:
        """(PARTS, K, bins, 3) the same of all classes, in the bins of the calibration errors, by
        random part.
        """
        parts, n_classes = self.by_class.shape[:2]
        return self.by_class.reshape(parts, n_classes, self.n_bins, -1, 3).sum(axis=3)


def _block(
    block: Predictions, part: np.ndarray, n_bins: int, means: Sequence[Any]
) -> tuple[TableSums, dict[str, np.ndarray]]:
    score, right, weight, K = (
        block.confidence,
        block.correct.astype(np.intp),
        block.weight,
        block.n_classes,
    )
    labels: Any = block.labels
    place = 2 * cell_index(score, n_bins, block.resolution) + right
    cells = grouped_sums(place, 2 * cell_count(n_bins), [score], weight).reshape(-1, 2, 2)
    confusion = (
        np.bincount(labels * K + block.predicted, weight, K * K).reshape(K, K).astype(np.float64)
    )
    said = np.bincount(block.predicted, score if weight is None else weight * score, K)
    columns = {metric.key: metric.columns_of(block) for metric in means}
    n = float(len(block)) if weight is None else weight.sum()
    losses = {
        key: np.array([n, *(c.sum() if weight is None else weight @ c for c in each)])
        for key, each in columns.items()
    }
    sums = TableSums(
        block.classes,
        n_bins,
        len(block),
        cells,
        confusion,
        said,
        _by_class(block, part, class_bins(n_bins)),
        losses,
        block.resolution,
    )
    return sums, {key: each[0] for key, each in columns.items()}


def _by_class(block: Predictions, part: np.ndarray, n_bins: int) -> np.ndarray:
    weight, K, n = block.weight, block.n_classes, PARTS * n_bins
    columns = (
        block.by_class / block.row_sums if block.kind == "probability" else block.probabilities.T
    )
    labels: Any = block.labels
    out, start = np.empty((PARTS, K, n_bins, 3)), part * n_bins
    index = np.empty((K, len(block)), dtype=np.intp)
    for k, column in enumerate(columns):
        index[k] = equal_width_index(column, n_bins, block.resolution)
        place = start + index[k]
        out[:, k, :, 0] = np.bincount(place, weight, n).reshape(PARTS, n_bins)
        out[:, k, :, 1] = np.bincount(
            place, column if weight is None else weight * column, n
        ).reshape(PARTS, n_bins)
    own = (part * K + labels) * n_bins + index[labels, np.arange(len(block))]
    out[..., 2] = np.bincount(own, weight, PARTS * K * n_bins).reshape(PARTS, K, n_bins)
    return out


def table_scores(
    measures: Sequence[Measure],
    before: TableSums,
    after: TableSums | None,
    pairs: tuple[Predictions, Predictions | None],
    paired: dict[str, np.ndarray],
    rows: tuple[Predictions, Predictions | None, np.ndarray | None],
    level: float,
    seed: int,
) -> list[Score]:
    """One score for each measure; ``pairs`` are the merged rows before and after, ``paired`` the
    totals of the means' differences, and ``rows`` those of a sample, and their folds.
    """
    return [_score(one, before, after, pairs, paired, rows, level, seed) for one in measures]


def _score(
    measure: Measure,
    before: TableSums,
    after: TableSums | None,
    pairs: tuple[Predictions, Predictions | None],
    paired: dict[str, np.ndarray],
    rows: tuple[Predictions, Predictions | None, np.ndarray | None],
    level: float,
    seed: int,
) -> Score:
    metric = measure.metric
    facts = metric.key, measure.name or metric.name, metric.direction, metric.proper
    first = _estimate(measure, before, pairs[0], level, seed)
    if after is None:
        return Score(*facts, first, None, None)
    then, key = _estimate(measure, after, pairs[1], level, seed), metric.key
    if key in paired:
        change = _change(metric, paired[key], level)
    elif metric.ranks:
        then, change = ranking(measure, (first, then), rows[:2], rows[2], level)
    else:
        change = apart(first, then, metric.direction)
    return Score(*facts, first, then, change, reading=reading(metric, first, then, change))


def _estimate(measure: Measure, sums: TableSums, pairs: Any, level: float, seed: int) -> Estimate:
    metric: Any = measure.metric
    if isinstance(metric, MeanMetric):
        totals = sums.losses[metric.key]
        low, high = metric.limits(totals, level)
        return Estimate(
            float(metric.finalise(totals)),
            float(low),
            float(high),
            float(metric.finalise(totals)),
            "analytic",
        )
    if metric.key == classwise_calibration_error.key:
        found = metric.interval_of_parts(
            sums.in_parts(), level=level, n_resamples=measure.n_resamples, random_state=seed
        )
    else:
        found = metric.interval_of(
            pairs, level=level, n_resamples=measure.n_resamples, random_state=seed
        )
    return Estimate(
        found.value if found.plain is None else found.plain,
        found.low,
        found.high,
        found.value,
        found.method,
    )


def _change(metric: Any, totals: np.ndarray, level: float) -> Change:
    n, total, squares = totals.tolist()
    mean = total / n
    variance = max(squares / n - mean * mean, 0.0) / max(n - 1.0, 1.0)
    low, high = PairedDifference(mean, "paired, analytic", mean, variance).limits(level)
    return Change(mean, low, high, "paired, analytic", meaning(low, high, metric.direction))


def seen_of(sums: TableSums, sample: Predictions, level: float) -> Seen:
    """Bins of equal weight are cut between cells, so that their sums need no second pass."""
    counts = sums.counts()
    score, (weight, right, _) = counts.confidence.values, counts.confidence.sums.T

    def summed(cut: Cut) -> np.ndarray:
        return grouped_sums(cut.part, len(cut), [score, right / weight], weight)

    table, regions, mass = (
        by_class(confidence_gaps(counts.predicted, level), counts.classes, counts.labels),
        counts.confidence.cut(REGIONS),
        counts.confidence.cut(sums.n_bins),
    )
    text = [str(c) for c in counts.classes]
    drawn = [text.index(place.where["class"]) for place in table[:DRAWN_CLASSES]]
    of_classes = np.array([sums.of_class(k, CLASS_BINS) for k in drawn])
    return Seen(
        sample,
        counts,
        table,
        regions,
        {sums.n_bins: (mass, summed(mass))},
        summed(regions)[:, [0, 2, 1]],
        of_classes,
        True,
    )
