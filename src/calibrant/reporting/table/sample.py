"""Rows of a table drawn at random, each with its fold, for what cannot be had from sums."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from calibrant.frames.table_rows import drawn
from calibrant.predictions import Predictions

__all__ = ["FOLDS", "SAMPLE_ENTRIES", "SAMPLE_ROWS", "TableSample", "fold_of", "rate_of"]

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
        """The rows of a batch whose number is small enough."""
        # Folds are the number's rest, and parts those of a quotient of it: what is drawn falls to all of them alike.
        own = drawn(number, rate)
        return cls([record.take(own)], [fold_of(number[own])]) if len(own) else cls([], [])

    def plus(self, other: "TableSample") -> "TableSample":
        """Those of both."""
        return TableSample([*self.parts, *other.parts], [*self.folds, *other.folds])

    def named(self, classes: np.ndarray) -> "TableSample":
        """With the labels of the classes."""
        return TableSample([replace(part, classes=classes) for part in self.parts], self.folds)

    @cached_property
    def record(self) -> Predictions:
        """All rows drawn."""
        values, labels = (np.concatenate([getattr(part, name) for part in self.parts]) for name in ("values", "labels"))
        weighted = self.parts[0].weight is not None
        weight = np.concatenate([part.weights for part in self.parts]) if weighted else None
        first = replace(self.parts[0], resolution=max(part.resolution for part in self.parts))
        return replace(first, values=values, labels=labels, weight=weight, kept=None, checked=True)

    @cached_property
    def fold(self) -> np.ndarray:
        """The fold of each row drawn."""
        return np.concatenate(self.folds)
