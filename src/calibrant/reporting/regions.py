"""Gaps between confidence and accuracy by class, group and region, worst first, from sums."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from calibrant._numerics.bins import Cut, grouped_sums
from calibrant._numerics.clusters import group_worth
from calibrant._numerics.intervals import wilson

if TYPE_CHECKING:
    from calibrant.audits.sample import Column

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
    """Rows, and their confidence minus their accuracy, with an interval; None without rows."""

    rows: float
    accuracy: float | None = None
    confidence: float | None = None
    gap: float | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Place:
    """Location of some rows (a group, a class, a region by its ends), and their gap: a Gap, or a
    record of another task.
    """

    where: dict[str, Any]
    found: Any

    def to_dict(self) -> dict[str, Any]:
        """Return location and gap in one dictionary."""
        return {**self.where, **vars(self.found)}


class PredictedPlace(Place):
    """Class with the rows that are predicted as it."""

    def to_dict(self) -> dict[str, Any]:
        """Return the dictionary with "predicted" in place of "rows"."""
        return {
            "predicted" if name == "rows" else name: value
            for name, value in super().to_dict().items()
        }


#: Function of a level that returns the factor for the effective number of rows of each group,
#: (count,), or 1 for independent rows.
Worth = Callable[[float], Any]


def alone(level: float) -> float:
    """Return the factor for independent rows, 1."""
    return 1.0


def worth_of(record: Any, hit: np.ndarray, index: np.ndarray, count: int) -> Worth:
    """Return the factors for shares of hits (n,) by group ``index`` (n,) of a record's rows."""
    cluster = record.cluster
    return (
        alone
        if cluster is None
        else lambda level: group_worth(hit, record.weights, cluster, index, count, level)
    )


def together(level: float, rows: np.ndarray) -> float:
    """Return the level of each interval so that all groups with ``rows`` (count,) are covered
    simultaneously (Bonferroni).
    """
    return 1.0 - (1.0 - level) / max(int((rows > 0).sum()), 1)


def by_group(rows: Any, texts: Any) -> list[Place]:
    """Return the gap of each group with its name, worst first."""
    return worst_first(Place({"group": text}, row) for text, row in zip(texts, rows, strict=True))


def by_feature(rows: Any, columns: Sequence["Column"]) -> list[Place]:
    """Return the gaps of all parts of several columns, with names of ``feature`` and ``part``."""
    where = [{"feature": column.name, "part": text} for column in columns for text in column.levels]
    return worst_first(Place(*one) for one in zip(where, rows, strict=True))


def by_region(cut: Cut, rows: Any) -> list[Place]:
    """Return the gap of each region of equal weight, with its ends ``from`` and ``to``."""
    return worst_first(
        Place({"from": float(a), "to": float(b)}, row)
        for a, b, row in zip(cut.lower, cut.upper, rows, strict=True)
    )


def by_class(rows: Any, classes: np.ndarray, labels: np.ndarray) -> list[Place]:
    """Return the gap of each predicted class, with n (rows whose true label it is, ``labels``) and
    predicted (rows predicted as it).
    """
    return worst_first(
        PredictedPlace({"class": str(classes[k]), "n": float(labels[k])}, row)
        for k, row in enumerate(rows)
    )


def confidence_sums(record: Any, index: np.ndarray, count: Any) -> np.ndarray:
    """Return (count, 3) sums of weight, right predictions and confidence."""
    return grouped_sums(index, count, [record.correct, record.confidence], record.weight)


def confidence_gaps(sums: np.ndarray, level: float, worth: Worth = alone) -> list[Gap]:
    """Return the gap of each row of sums, (count, 3); the intervals are simultaneous."""
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
    """Sort by the distance of the gap's interval from 0, so that a class of three rows does not
    lead by chance; places without rows come last.
    """
    return sorted(places, key=_badness, reverse=True)


def _badness(place: Any) -> tuple[float, float]:
    row = place.found
    return (-1.0, 0.0) if row.gap is None else (max(row.low, -row.high, 0.0), abs(row.gap))
