"""Quality of the rows of a report, and cautions: sentences on why the numbers of a report may be
misleading.

Quality is the rows' number, sparsity, copies, leaks, and shift from the rows calibrated on.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy

from calibrant._numerics.clusters import mean_worth
from calibrant.calibrators.look_alike import copies_in
from calibrant.core.guarantee import Known
from calibrant.core.text_table import counted, p_text, percent

if TYPE_CHECKING:
    from calibrant._numerics.bins import Distinct
    from calibrant.core.predictions import Predictions
    from calibrant.reporting.states import Seen

__all__ = [
    "ClassQuality",
    "Shift",
    "cautions",
    "copied",
    "copied_share",
    "distribution_shift",
    "doubtful",
    "evaluation_cautions",
    "of_answers",
    "quality",
    "shifted",
    "small",
    "vetoes",
    "vetoes_of_answers",
]


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
    p_value = float(scipy.stats.chi2_contingency(tables).pvalue) if tables.shape[1] > 1 else 1.0
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
    return _shift(distance, float(scipy.stats.kstwobign.sf(distance * np.sqrt(n * m / (n + m)))))


def _distribution(sample: "Distinct", at: np.ndarray) -> np.ndarray:
    mass = np.bincount(
        np.searchsorted(at, sample.values), weights=sample.sums[:, 0], minlength=len(at)
    )
    return mass.cumsum() / mass.sum()


def _shift(distance: float, p_value: float) -> Shift:
    return Shift(distance, p_value, bool(p_value < SURE and distance > LARGE))


FEW_ROWS = 25
#: Largest share of copies, and largest shift, with which a report gives advice.
TOO_FAR = 0.2
#: Number of rows that has no exception in one sample of 20 if one row in 100 is one.
SURE_ROWS = 300
SHIFTS = {
    "label_shift": "The classes occur at other rates",
    "confidence_shift": "The confidences are spread otherwise",
}
ANSWER_SHIFTS = {**SHIFTS, "label_shift": "Answers are right at another rate"}
SMALL_SET = 500
#: Columns look exchanged if another order improves the accuracy of each class by this share, and by
#: this many standard errors.
GAIN, SURELY = 0.2, 4.0


def cautions(seen: "Seen", found: ClassQuality) -> list[str]:
    """Return a sentence for each reason why the numbers may mislead; ``found`` is the quality."""
    looks = (_exchanged, _absent, _sparse, _unpredicted, _majority, _certain)
    return [
        *_of_rows(seen, found, "prediction and label", SHIFTS),
        *(word for look in looks for word in look(seen.counts)),
    ]


def vetoes(seen: "Seen", found: ClassQuality) -> list[str]:
    """Return the cautions that rule out any advice."""
    return [
        *_leaks(found),
        *_exchanged(seen.counts),
        *doubtful(found, "prediction and label", SHIFTS),
    ]


def of_answers(seen: "Seen", found: ClassQuality) -> list[str]:
    """Return the cautions for answers of any kind that are right or wrong at a confidence."""
    return [*_of_rows(seen, found, "answer", ANSWER_SHIFTS), *_certain(seen.counts)]


def vetoes_of_answers(seen: "Seen", found: ClassQuality) -> list[str]:
    """Return the cautions for answers that rule out any advice."""
    return [*_leaks(found), *doubtful(found, "answer", ANSWER_SHIFTS)]


def _of_rows(seen: "Seen", found: ClassQuality, row: str, shifts: dict[str, str]) -> Iterator[str]:
    yield from _leaks(found)
    yield from copied(found, row)
    yield from shifted(found, shifts)
    yield from small(seen.counts.total[0])


def doubtful(found: Any, row: str, shifts: dict[str, str]) -> Iterator[str]:
    """Yield the cautions of ``copied`` and ``shifted`` if copies or shifts are too large for any
    advice.
    """
    if max(found.repeated, found.shared or 0.0) > TOO_FAR:
        yield from copied(found, row)
    known = {key: getattr(found, key) for key in shifts}
    far = [key for key, shift in known.items() if shift is not None and shift.distance > TOO_FAR]
    yield from shifted(found, {key: shifts[key] for key in far})


def _leaks(found: Any) -> Iterator[Any]:
    if found.accuracy > 0.999 and found.n >= SURE_ROWS:
        yield (
            "Nearly every prediction is right: check that the model was not trained on these rows,"
            " as its confidence would mean nothing."
        )


def copied(found: Any, row: str) -> Iterator[Any]:
    """Yield sentences on rows that repeat each other; ``row`` names a row."""
    if found.repeated > REPEATED:
        yield (
            f"{percent(found.repeated)} of the rows repeat an earlier {row}: if they are copies,"
            " they"
            " count for more than they say and may stand on both sides of a split; remove them, or"
            " give them weights."
        )
    if (found.shared or 0.0) > SHARED:
        yield (
            f"{percent(found.shared)} of the test rows have the very {row} of a calibration row: a"
            " leak, if they are copies."
        )


def shifted(found: Any, words: dict[str, str]) -> Iterator[Any]:
    """Yield a sentence for each shift in ``words`` (name in ``found`` -> the quantity that differs
    from the fit rows).
    """
    for key, what in words.items():
        shift = getattr(found, key)
        if shift is not None and shift.named:
            yield (
                f"{what} than where the calibrator was fitted (distance {shift.distance:.2f}, p"
                f" {p_text(shift.p_value, '= ')}): a calibration holds for rows like those it was"
                " fitted on."
            )


def evaluation_cautions(evaluation: str, *, dated: bool = False) -> Iterator[Any]:
    """Yield a sentence if the numbers after calibration are optimistic; ``dated``: the rows have
    several times.
    """
    if evaluation == "in-sample":
        yield (
            "The calibrator was fitted on these very rows, so the numbers after calibration are"
            " in-sample and too good; use rows it has not seen, or pass it unfitted to get"
            " out-of-fold numbers."
        )
    if evaluation == "out-of-fold" and dated:
        yield (
            "Each row was calibrated by rows before and after it; rolling_evaluation fits on those"
            " before it alone."
        )


def small(n: float) -> Iterator[Any]:
    """Yield a sentence if there are few rows."""
    if n < SMALL_SET:
        is_ = "is" if round(n) == 1 else "are"
        yield f"There {is_} only {counted(n, 'row')}, so all intervals are wide."


def _exchanged(counts: Any) -> Iterator[Any]:
    # Shares of each true class, so that a class predicted for all rows gains nothing by another
    # order.
    true = np.flatnonzero(counts.labels >= FEW_ROWS)
    share = counts.confusion[true] / counts.labels[true, None]
    row, column = scipy.optimize.linear_sum_assignment(share, maximize=True)
    gains = share[row, column] - share[row, true[row]]
    moved = np.flatnonzero(column != true[row])
    if len(moved) < 2:
        return
    gain, error = (
        gains[moved].mean(),
        np.sqrt((1.0 / counts.labels[true[row[moved]]]).sum()) / len(moved),
    )
    if gain > max(GAIN, SURELY * error):
        most = moved[gains[moved].argmax()]
        said, meant = counts.classes[column[most]], counts.classes[true[row[most]]]
        yield (
            f"{len(moved)} columns look exchanged: where class {meant} is true, the column of class"
            f" {said} is the highest in {percent(share[row[most], column[most]], 0)} of the rows;"
            " check that the columns stand in the order of the classes."
        )


def _absent(counts: Any) -> Iterator[Any]:
    missing = np.flatnonzero(counts.labels == 0)
    if len(missing):
        yield (
            f"{_classes(counts, missing)} never occurs among the true labels; nothing here speaks"
            " for it."
        )


def _sparse(counts: Any) -> Iterator[Any]:
    n = counts.labels
    few = np.flatnonzero((n > 0) & (n < FEW_ROWS))
    if len(few):
        few = few[np.argsort(n[few], kind="stable")]
        named = ", ".join(f"{counts.classes[k]} ({n[k]:,.0f})" for k in few[:5])
        more = f" and {len(few) - 5} more" if len(few) > 5 else ""
        yield (
            f"{len(few)} of {len(n)} classes have fewer than {FEW_ROWS} rows: {named}{more}. "
            "Their own numbers may be chance; collect more before acting on them."
        )


def _unpredicted(counts: Any) -> Iterator[Any]:
    never = np.flatnonzero((counts.predicted[:, 0] == 0) & (counts.labels > 0))
    if len(never):
        yield f"{_classes(counts, never)} occurs but is never predicted."


def _majority(counts: Any) -> Iterator[Any]:
    share = counts.labels.max() / counts.labels.sum()
    if share > 0.9:
        yield (
            f"{percent(share, 0)} of the rows are of class"
            f" {counts.classes[int(counts.labels.argmax())]}: "
            "accuracy and ECE mostly describe that class; look at the others one by one."
        )


def _certain(counts: Any) -> Iterator[Any]:
    wrong = counts.confidence.sums[counts.confidence.values >= 1.0, 2].sum()
    if wrong > 0.0:
        yield f"{wrong:,.0f} predictions have a probability of exactly 1 and are wrong."


def _classes(counts: Any, which: np.ndarray) -> str:
    if len(which) == 1:
        return f"Class {counts.classes[which[0]]}"
    named = ", ".join(str(counts.classes[k]) for k in which[:5])
    return f"Each of {len(which)} classes ({named}{', ...' if len(which) > 5 else ''})"
