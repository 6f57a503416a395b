"""Where predictions are still wrong: by class, by group, by region, the worst first; from sums that may come from anywhere."""

from typing import Any

import numpy as np

from calibrant._kernels.bins import equal_mass_groups, grouped_sums
from calibrant._kernels.intervals import wilson

__all__ = ["by_group", "by_region", "class_table", "confidence_gaps", "confidence_sums", "worst_first"]

REGIONS = 10


def by_group(rows: Any, texts: Any) -> list[dict[str, Any]]:
    """The rows, one a group, with its name."""
    return worst_first({"group": text, **row} for text, row in zip(texts, rows, strict=True))


def by_region(record: Any, values: Any, sums: Any, gaps: Any, level: float, n_regions: Any = REGIONS) -> list[dict[str, Any]]:
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


def class_table(record: Any, level: float) -> list[dict[str, Any]]:
    """Per predicted class: class, n (rows truly of it), predicted (rows predicted as it), accuracy, confidence, gap, low, high."""
    true = np.bincount(record.labels, weights=record.weight, minlength=record.n_classes).astype(np.float64)
    rows = confidence_gaps(confidence_sums(record, record.predicted, record.n_classes), level)
    return worst_first(
        {"class": str(record.classes[k]), "n": float(true[k]), "predicted": row.pop("rows"), **row} for k, row in enumerate(rows)
    )


def confidence_sums(record: Any, index: np.ndarray, count: Any) -> np.ndarray:
    """(count, 3) sums of weight, right predictions and confidence."""
    return grouped_sums(index, count, [record.correct, record.confidence], record.weight)


def confidence_gaps(sums: np.ndarray, level: float) -> list[dict[str, Any]]:
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


def worst_first(rows: Any) -> list[dict[str, Any]]:
    """Those first whose gap's interval lies farthest from 0, so that a class of three rows does not lead by luck; last those without."""
    return sorted(rows, key=_badness, reverse=True)


def _badness(row):
    if row["gap"] is None:
        return (-1.0, 0.0)
    outside = max(row["low"], -row["high"], 0.0)
    return (outside, abs(row["gap"]))
