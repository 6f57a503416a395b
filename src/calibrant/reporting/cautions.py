"""Cautions: sentences on why the numbers of a report may be misleading."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from calibrant.core.text_table import percent
from calibrant.reporting.quality import REPEATED, SHARED, ClassQuality

if TYPE_CHECKING:
    from calibrant.reporting.states import Seen

__all__ = [
    "cautions",
    "copied",
    "doubtful",
    "evaluation_cautions",
    "of_answers",
    "shifted",
    "small",
    "vetoes",
    "vetoes_of_answers",
]

FEW_ROWS = 25
#: Largest share of copies, and largest shift, with which a report gives advice.
TOO_FAR = 0.2
#: Number of rows that has no exception with probability 1 in 1,000 if one row in 100 is one.
SURE_ROWS = 700
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
    leaks = _leaks(found) if found.n >= SURE_ROWS else ()
    return [*leaks, *_exchanged(seen.counts), *doubtful(found, "prediction and label", SHIFTS)]


def of_answers(seen: "Seen", found: ClassQuality) -> list[str]:
    """Return the cautions for answers of any kind that are right or wrong at a confidence."""
    return [*_of_rows(seen, found, "answer", ANSWER_SHIFTS), *_certain(seen.counts)]


def vetoes_of_answers(found: ClassQuality) -> list[str]:
    """Return the cautions for answers that rule out any advice."""
    leaks = _leaks(found) if found.n >= SURE_ROWS else ()
    return [*leaks, *doubtful(found, "answer", ANSWER_SHIFTS)]


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
    if found.accuracy > 0.999 and found.n >= 50:
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
                f"{what} than where the calibrator was fitted (distance {shift.distance:.2f}, p ="
                f" {shift.p_value:.2g}): a calibration holds for rows like those it was fitted on."
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
            "Random folds of dated rows fit on later rows too; rolling_evaluation fits on the past"
            " alone."
        )


def small(n: float) -> Iterator[Any]:
    """Yield a sentence if there are few rows."""
    if n < SMALL_SET:
        yield (
            f"There are only {n:,.0f} rows, so all intervals are wide; several hundred more would"
            " settle more."
        )


def _exchanged(counts: Any) -> Iterator[Any]:
    # Shares of each true class, so that a class predicted for all rows gains nothing by another
    # order.
    true = np.flatnonzero(counts.labels >= FEW_ROWS)
    share = counts.confusion[true] / counts.labels[true, None]
    row, column = linear_sum_assignment(share, maximize=True)
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
        yield f"{wrong:,.0f} predictions were given with probability exactly 1 and are wrong."


def _classes(counts: Any, which: np.ndarray) -> str:
    if len(which) == 1:
        return f"Class {counts.classes[which[0]]}"
    named = ", ".join(str(counts.classes[k]) for k in which[:5])
    return f"Each of {len(which)} classes ({named}{', ...' if len(which) > 5 else ''})"
