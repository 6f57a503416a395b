"""Where the confidences are still wrong: by class, by group, by region of confidence, the worst first."""

import numpy as np

from calibrant._kernels.bins import equal_mass_groups, grouped_sums
from calibrant._kernels.intervals import wilson

__all__ = ["badness", "class_table", "group_table", "region_table"]

REGIONS = 10


def class_table(record, *, level=0.95) -> list[dict]:
    """Per predicted class: rows, accuracy, mean confidence and their gap, with an interval.

    The worst come first: those whose gap's interval lies farthest from 0, so that a class of three rows does not lead by luck.

    Returns
    -------
    list of dict
        class, n (rows truly of it), predicted (rows predicted as it), accuracy, confidence, gap = confidence - accuracy, low, high of the
        gap; None where the class is never predicted.
    """
    true = np.bincount(record.labels, weights=record.weight, minlength=record.n_classes).astype(np.float64)
    rows = _gaps(record, record.predicted, record.n_classes, level)
    named = [
        {"class": str(record.classes[k]), "n": float(true[k]), "predicted": row.pop("rows"), **row} for k, row in enumerate(rows)
    ]  # fmt: skip
    return sorted(named, key=badness, reverse=True)


def group_table(record, groups, *, level=0.95) -> list[dict]:
    """The same for groups of rows: group, rows, accuracy, confidence, gap, low, high."""
    rows = _gaps(record, groups.index, len(groups), level)
    return sorted(({"group": text, **row} for text, row in zip(groups.texts, rows, strict=True)), key=badness, reverse=True)


def region_table(record, *, level=0.95) -> list[dict]:
    """The same for ten regions of confidence of equal weight: from, to, rows, accuracy, confidence, gap, low, high."""
    index = equal_mass_groups(record.confidence, REGIONS, record.weight)
    count = int(index.max()) + 1
    first, last = np.full(count, np.inf), np.full(count, -np.inf)
    np.minimum.at(first, index, record.confidence)
    np.maximum.at(last, index, record.confidence)
    rows = _gaps(record, index, count, level)
    named = ({"from": float(a), "to": float(b), **row} for a, b, row in zip(first, last, rows, strict=True))
    return sorted(named, key=badness, reverse=True)


def _gaps(record, index, count, level):
    sums = grouped_sums(index, count, [record.correct, record.confidence], record.weight)
    n, right, total = sums.T
    low, high = wilson(right, n, level)
    safe = np.where(n > 0, n, 1.0)
    accuracy, confidence = right / safe, total / safe
    names = ("accuracy", "confidence", "gap", "low", "high")
    columns = np.column_stack([accuracy, confidence, confidence - accuracy, confidence - high, confidence - low])
    return [
        {"rows": float(n[k]), **(dict(zip(names, columns[k].tolist(), strict=True)) if n[k] > 0 else dict.fromkeys(names))}
        for k in range(count)
    ]


def badness(row):
    """The key to sort by: how far the interval of the gap lies from 0, and the gap itself; rows without one come last."""
    if row["gap"] is None:
        return (-1.0, 0.0)
    outside = max(row["low"], -row["high"], 0.0)
    return (outside, abs(row["gap"]))
