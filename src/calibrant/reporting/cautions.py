"""What a reader should know before trusting the numbers, in plain words."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from calibrant.reporting.quality import REPEATED, SHARED

if TYPE_CHECKING:
    from calibrant.predictions import Predictions

__all__ = ["cautions", "copied", "evaluation_cautions", "shifted", "small"]

FEW_ROWS = 25
SHIFTS = {"label_shift": "The classes occur at other rates", "confidence_shift": "The confidences are spread otherwise"}
SMALL_SET = 500


def cautions(record: "Predictions", found: dict[str, Any]) -> list[str]:
    """One sentence for each thing that makes the numbers weaker than they look; ``found`` is from ``quality``."""
    return [
        *_leaks(found), *copied(found, "prediction and label"), *shifted(found, SHIFTS),
        *small(record.weights.sum()), *_absent(record), *_sparse(record), *_unpredicted(record), *_majority(record), *_certain(record),
    ]  # fmt: skip


def _leaks(found):
    if found["accuracy"] > 0.999 and found["n"] >= 50:
        yield "Nearly every prediction is right: check that the model was not trained on these rows, as its confidence would mean nothing."


def copied(found: dict[str, Any], row: str) -> Iterator[Any]:
    """Sentences where rows repeat each other; ``row`` says what a row is."""
    if found["repeated"] > REPEATED:
        yield (
            f"{found['repeated']:.1%} of the rows repeat an earlier {row}: if they are copies, they count for more than "
            "they say and may stand on both sides of a split; remove them, or give them weights."
        )
    if found.get("shared", 0.0) > SHARED:
        yield f"{found['shared']:.1%} of the test rows have the very {row} of a calibration row: a leak, if they are copies."


def shifted(found: dict[str, Any], words: dict[str, str]) -> Iterator[Any]:
    """A sentence for each shift of ``words`` (name in ``found`` -> what is other than where the calibrator was fitted)."""
    for key, what in words.items():
        shift = found.get(key)
        if shift is not None and shift["named"]:
            yield (
                f"{what} than where the calibrator was fitted (distance {shift['distance']:.2f}, p = {shift['p_value']:.2g}): "
                "a calibration holds for rows like those it was fitted on."
            )


def evaluation_cautions(evaluation: str) -> Iterator[Any]:
    """A sentence where the numbers after calibration are too good."""
    if evaluation == "in-sample":
        yield (
            "The calibrator was fitted on these very rows, so the numbers after calibration are in-sample and too good; "
            "use rows it has not seen, or pass it unfitted to get out-of-fold numbers."
        )


def small(n: float) -> Iterator[Any]:
    """A sentence where the rows are few."""
    if n < SMALL_SET:
        yield f"There are only {n:,.0f} rows, so all intervals are wide; several hundred more would settle more."


def _counts(record):
    return np.bincount(record.labels, weights=record.weight, minlength=record.n_classes)


def _absent(record):
    missing = np.flatnonzero(_counts(record) == 0)
    if len(missing):
        yield f"{_classes(record, missing)} never occurs among the true labels; nothing here speaks for it."


def _sparse(record):
    counts = _counts(record)
    few = np.flatnonzero((counts > 0) & (counts < FEW_ROWS))
    if len(few):
        few = few[np.argsort(counts[few], kind="stable")]
        named = ", ".join(f"{record.classes[k]} ({counts[k]:,.0f})" for k in few[:5])
        more = f" and {len(few) - 5} more" if len(few) > 5 else ""
        yield (
            f"{len(few)} of {record.n_classes} classes have fewer than {FEW_ROWS} rows: {named}{more}. "
            "Their own numbers may be chance; collect more before acting on them."
        )


def _unpredicted(record):
    counts = _counts(record)
    never = np.flatnonzero((np.bincount(record.predicted, minlength=record.n_classes) == 0) & (counts > 0))
    if len(never):
        yield f"{_classes(record, never)} occurs but is never predicted."


def _majority(record):
    counts = _counts(record)
    share = counts.max() / counts.sum()
    if share > 0.9:
        yield (
            f"{share:.0%} of the rows are of class {record.classes[int(counts.argmax())]}: "
            "accuracy and ECE mostly describe that class; look at the others one by one."
        )


def _certain(record):
    wrong = (record.confidence >= 1.0) & (record.correct == 0.0)
    if wrong.any():
        yield f"{record.weights[wrong].sum():,.0f} predictions were given with probability exactly 1 and are wrong."


def _classes(record, which):
    if len(which) == 1:
        return f"Class {record.classes[which[0]]}"
    named = ", ".join(str(record.classes[k]) for k in which[:5])
    return f"Each of {len(which)} classes ({named}{', ...' if len(which) > 5 else ''})"
