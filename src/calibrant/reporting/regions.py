"""Where predictions are still wrong: by class, by group, by region, the worst first; from sums
that may come from anywhere.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from calibrant._kernels.bins import Cut, grouped_sums
from calibrant._kernels.clusters import group_worth
from calibrant._kernels.intervals import wilson

if TYPE_CHECKING:
    from calibrant.audits.levels import Column

__all__ = [
    "Gap",
    "Place",
    "Worth",
    "alone",
    "by_class",
    "by_feature",
    "by_group",
    "by_region",
    "confidence_gaps",
    "confidence_sums",
    "together",
    "worst_first",
    "worth_of",
]

REGIONS = 10


@dataclass(frozen=True)
class Gap:
    """Rows, and how far their confidence is above their accuracy, with an interval; None where
    no row is.
    """

    rows: float
    accuracy: float | None = None
    confidence: float | None = None
    gap: float | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Place:
    """Where the rows are (a group, a class, a region by its ends), and their gap: of classes a
    Gap, of other tasks one of their own.
    """

    where: dict[str, Any]
    found: Any

    def to_dict(self) -> dict[str, Any]:
        """In one."""
        return {**self.where, **vars(self.found)}


class PredictedPlace(Place):
    """A class, whose rows are those predicted as it."""

    def to_dict(self) -> dict[str, Any]:
        """With the rows so called."""
        return {
            "predicted" if name == "rows" else name: value
            for name, value in super().to_dict().items()
        }


#: From a level, by what the rows of each group are to be multiplied where they hang together in
#: clusters: (count,), or 1.
Worth = Callable[[float], Any]


def alone(level: float) -> float:
    """Of rows that are independent."""
    return 1.0


def worth_of(record: Any, hit: np.ndarray, index: np.ndarray, count: int) -> Worth:
    """Of the share of hits (n,) among a record's rows, by their group ``index`` (n,)."""
    cluster = record.cluster
    return (
        alone
        if cluster is None
        else lambda level: group_worth(hit, record.weights, cluster, index, count, level)
    )


def together(level: float, rows: np.ndarray) -> float:
    """The level of each interval, where those of all groups that have ``rows`` (count,) are to
    hold together (Bonferroni).
    """
    return 1.0 - (1.0 - level) / max(int((rows > 0).sum()), 1)


def by_group(rows: Any, texts: Any) -> list[Place]:
    """The gaps, one a group, with its name."""
    return worst_first(Place({"group": text}, row) for text, row in zip(texts, rows, strict=True))


def by_feature(rows: Any, columns: Sequence["Column"]) -> list[Place]:
    """The gaps of all parts of several columns, in one table, with the names of the ``feature``
    and of its ``part``.
    """
    where = [{"feature": column.name, "part": text} for column in columns for text in column.levels]
    return worst_first(Place(*one) for one in zip(where, rows, strict=True))


def by_region(cut: Cut, rows: Any) -> list[Place]:
    """The gaps, one a region of equal weight, with its ends ``from`` and ``to``."""
    return worst_first(
        Place({"from": float(a), "to": float(b)}, row)
        for a, b, row in zip(cut.lower, cut.upper, rows, strict=True)
    )


def by_class(rows: Any, classes: np.ndarray, labels: np.ndarray) -> list[Place]:
    """The gaps, one a predicted class, with n (rows truly of it, ``labels``) and predicted (rows
    predicted as it).
    """
    return worst_first(
        PredictedPlace({"class": str(classes[k]), "n": float(labels[k])}, row)
        for k, row in enumerate(rows)
    )


def confidence_sums(record: Any, index: np.ndarray, count: Any) -> np.ndarray:
    """(count, 3) sums of weight, right predictions and confidence."""
    return grouped_sums(index, count, [record.correct, record.confidence], record.weight)


def confidence_gaps(sums: np.ndarray, level: float, worth: Worth = alone) -> list[Gap]:
    """One a row of sums, (count, 3); the intervals hold together."""
    n, right, total = sums.T
    level = together(level, n)
    low, high = wilson(right * worth(level), n * worth(level), level)
    safe = np.where(n > 0, n, 1.0)
    accuracy, confidence = right / safe, total / safe
    columns = np.column_stack(
        [accuracy, confidence, confidence - accuracy, confidence - high, confidence - low]
    )
    return [Gap(float(n[k]), *columns[k].tolist()) if n[k] > 0 else Gap(0.0) for k in range(len(n))]


def worst_first(places: Iterable[Place]) -> list[Place]:
    """Those first whose gap's interval lies farthest from 0, so that a class of three rows does
    not lead by luck; last those without.
    """
    return sorted(places, key=_badness, reverse=True)


def _badness(place):
    row = place.found
    return (-1.0, 0.0) if row.gap is None else (max(row.low, -row.high, 0.0), abs(row.gap))
