"""Quality of the rows of a report: their number, sparsity, copies, leaks, and shift from the rows
calibrated on.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

from calibrant._numerics.clusters import mean_worth
from calibrant.calibrators.look_alike import copies_in
from calibrant.core.guarantee import Known

if TYPE_CHECKING:
    from calibrant._numerics.bins import Distinct
    from calibrant.core.predictions import Predictions
    from calibrant.reporting.states import Seen

__all__ = ["ClassQuality", "Shift", "copied_share", "distribution_shift", "quality"]

#: Different labels that chance must lead to expect before their absence says anything, and the
#: share of them above which it says nothing.
EXPECTED, FEW = 5.0, 0.25
REGIONS = 10


def copied_share(record: "Predictions", source: "Predictions | None" = None) -> float:
    """Share of rows that are copies of earlier rows, or of rows of ``source``.

    A copy has the prediction and the label of another row. So have rows of a score with few values
    (a tree's, or confidences given in words), by chance: of two such rows with one prediction, one
    is right and the other wrong in a share 2 a (1 - a) of cases, for an accuracy a. Rows with one
    prediction are copies where their labels differ in far fewer cases than that. Where few
    differences are to be expected, as among rows that are all right, nothing tells and the share is
    0.
    """
    if source is None:
        return float(copies_in(record).mean())
    rows, mates = _matches(_keys(record), _keys(source))
    if not len(rows):
        return 0.0
    differ = (record.labels[rows] != source.labels[mates]).sum()
    region = np.minimum((record.confidence[rows] * REGIONS).astype(int), REGIONS - 1)
    count, right = np.bincount(region), np.bincount(region, weights=record.correct[rows])
    expected = float((2.0 * right * (1.0 - right / np.maximum(count, 1))).sum())
    if expected < EXPECTED or differ > FEW * expected:
        return 0.0
    return float((len(rows) - differ) / len(record))


def _matches(keys: np.ndarray, others: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (row, a row of the others with the same key)."""
    unique, first = np.unique(others, return_index=True)
    at = np.minimum(np.searchsorted(unique, keys), len(unique) - 1)
    found = np.flatnonzero(unique[at] == keys)
    return found, first[at[found]]


def _keys(record: "Predictions") -> np.ndarray:
    """Return (n,) keys that are equal for equal predictions, block by block to save memory."""
    parts = []
    for block in record.blocks(4096):
        rows = np.asarray(block.values, dtype=np.float64) + 0.0
        parts.append(
            np.fromiter((hash(row.tobytes()) for row in rows), dtype=np.int64, count=len(rows))
        )
    return np.concatenate(parts)


#: Shares above which repeated rows, and rows common to calibration and test, are worth a word.
REPEATED, SHARED = 0.02, 0.01
#: A shift is named when it is both certain and large enough to matter.
SURE, LARGE = 0.01, 0.05


@dataclass(frozen=True)
class Shift:
    """Distance of the rows from those calibrated on, and whether it deserves a caution."""

    distance: float
    p_value: float
    named: bool


@dataclass(frozen=True)
class Smallest:
    """Smallest class and its number of rows."""

    class_: str
    n: float


@dataclass(frozen=True)
class ClassQuality(Known):
    """Quality of the rows.

    Attributes
    ----------
    sparse, sparse_bins : of the classes, and of ten regions of confidence, those with fewer than 25
        rows
    repeated, shared : share of rows that look like copies of earlier ones, and of rows calibrated
        on
    label_shift, confidence_shift : from the rows calibrated on, by total variation and by
        Kolmogorov-Smirnov
    """

    n: float
    n_classes: int
    present: int
    smallest: Smallest
    sparse: int
    sparse_bins: int
    repeated: float
    accuracy: float
    confidence: float
    shared: float | None = None
    label_shift: Shift | None = None
    confidence_shift: Shift | None = None


def quality(seen: "Seen", calibration: "Seen | None" = None) -> ClassQuality:
    """Describe the rows measured, and how they differ from those that the calibrator was fitted on,
    if these are others.

    Sentences about them are in ``cautions``.
    """
    counts, labels, regions = seen.counts, seen.counts.labels, seen.counts.tenths
    present = np.flatnonzero(labels > 0)
    smallest = present[labels[present].argmin()]
    weight, right, confidence = counts.total.tolist()
    others = (
        ()
        if calibration is None
        else (
            copied_share(seen.rows, calibration.rows),
            _label_shift(labels, calibration.counts.labels, seen.rows),
            distribution_shift(counts.confidence, calibration.counts.confidence, seen.rows),
        )
    )
    return ClassQuality(
        float(labels.sum()),
        len(labels),
        len(present),
        Smallest(str(counts.classes[smallest]), float(labels[smallest])),
        int((labels[present] < 25).sum()),
        int(((regions > 0) & (regions < 25)).sum()),
        copied_share(seen.rows),
        right / float(labels.sum()),
        confidence / weight,
        *others,
    )


def _label_shift(labels: np.ndarray, others: np.ndarray, rows: "Predictions") -> Shift:
    tables = np.array([labels * _alone(rows), others])
    tables = tables[:, tables.sum(axis=0) > 0]
    share = tables / tables.sum(axis=1, keepdims=True)
    p_value = float(stats.chi2_contingency(tables).pvalue) if tables.shape[1] > 1 else 1.0
    return _shift(0.5 * float(np.abs(share[0] - share[1]).sum()), p_value)


def _alone(rows: Any) -> float:
    """Return the effective share of the rows, with one row per cluster; 1 without clusters."""
    return (
        1.0
        if rows.cluster is None
        else mean_worth(np.zeros(len(rows)), rows.weights, rows.cluster, 1.0 - SURE)
    )


def distribution_shift(values: "Distinct", others: "Distinct", rows: Any) -> Shift:
    """Kolmogorov-Smirnov distance of two weighted samples, its p value, and whether it deserves a
    caution.

    ``rows`` is the record of the first sample, whose rows may be clustered.
    """
    at = np.unique(np.concatenate([values.values, others.values]))
    first, second = (_distribution(sample, at) for sample in (values, others))
    distance, n, m = (
        float(np.abs(first - second).max()),
        values.sums[:, 0].sum() * _alone(rows),
        others.sums[:, 0].sum(),
    )
    return _shift(distance, float(stats.kstwobign.sf(distance * np.sqrt(n * m / (n + m)))))


def _distribution(sample: "Distinct", at: np.ndarray) -> np.ndarray:
    mass = np.bincount(
        np.searchsorted(at, sample.values), weights=sample.sums[:, 0], minlength=len(at)
    )
    return mass.cumsum() / mass.sum()


def _shift(distance: float, p_value: float) -> Shift:
    return Shift(distance, p_value, bool(p_value < SURE and distance > LARGE))
