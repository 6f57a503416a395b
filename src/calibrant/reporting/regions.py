"""Where predictions are still wrong: by class, by group, by region, the worst first; from sums that may come from anywhere."""

import numpy as np

from calibrant._kernels.bins import equal_mass_groups, grouped_sums
from calibrant._kernels.intervals import wilson

__all__ = ["by_group", "by_region", "class_table", "confidence_gaps", "confidence_sums", "worst_first"]

REGIONS = 10


def by_group(rows, texts) -> list[dict]:
    """The rows, one a group, with its name."""
    return worst_first({"group": text, **row} for text, row in zip(texts, rows, strict=True))


def by_region(record, values, sums, gaps, level, n_regions=REGIONS) -> list[dict]:
    """One row for each region of equal weight by ``values``, (n,), with its ends ``from`` and ``to``.

    ``sums`` and ``gaps`` are those of a :class:`~calibrant.reporting.task.Task`.
    """
    index = equal_mass_groups(values, n_regions, record.weight)
    count = int(index.max()) + 1
    first, last = np.full(count, np.inf), np.full(count, -np.inf)
    np.minimum.at(first, index, values)
    np.maximum.at(last, index, values)
    rows = gaps(sums(record, index, count), level)
    return worst_first({"from": float(a), "to": float(b), **row} for a, b, row in zip(first, last, rows, strict=True))


def class_table(record, level) -> list[dict]:
    """Per predicted class: class, n (rows truly of it), predicted (rows predicted as it), accuracy, confidence, gap, low, high."""
    true = np.bincount(record.labels, weights=record.weight, minlength=record.n_classes).astype(np.float64)
    rows = confidence_gaps(confidence_sums(record, record.predicted, record.n_classes), level)
    return worst_first(
        {"class": str(record.classes[k]), "n": float(true[k]), "predicted": row.pop("rows"), **row} for k, row in enumerate(rows)
    )


def confidence_sums(record, index, count) -> np.ndarray:
    """(count, 3) sums of weight, right predictions and confidence."""
    return grouped_sums(index, count, [record.correct, record.confidence], record.weight)


def confidence_gaps(sums, level) -> list[dict]:
    """rows, accuracy, confidence, gap = confidence - accuracy, and low, high of the gap; None where no row is."""
    n, right, total = sums.T
    low, high = wilson(right, n, level)
    safe = np.where(n > 0, n, 1.0)
    accuracy, confidence = right / safe, total / safe
    names = ("accuracy", "confidence", "gap", "low", "high")
    columns = np.column_stack([accuracy, confidence, confidence - accuracy, confidence - high, confidence - low])
    return [
        {"rows": float(n[k]), **(dict(zip(names, columns[k].tolist(), strict=True)) if n[k] > 0 else dict.fromkeys(names))}
        for k in range(len(n))
    ]


def worst_first(rows) -> list[dict]:
    """Those first whose gap's interval lies farthest from 0, so that a class of three rows does not lead by luck; last those without."""
    return sorted(rows, key=_badness, reverse=True)


def _badness(row):
    if row["gap"] is None:
        return (-1.0, 0.0)
    outside = max(row["low"], -row["high"], 0.0)
    return (outside, abs(row["gap"]))
