"""Rates by predicted class, and the rows of one class against the others."""

from dataclasses import dataclass

import numpy as np

from calibrant._numerics.bins import in_cells
from calibrant.core.predictions_record import Predictions
from calibrant.errors import SparseDataWarning, warn

__all__ = ["MIN_ROWS", "ClassRates", "event_rows"]

#: Rows, right and wrong, below which a class keeps its own rate instead of a map.
MIN_ROWS = 5


@dataclass(frozen=True)
class ClassRates:
    """Weights of right and wrong rows of each predicted class, (K,) each."""

    right: np.ndarray
    wrong: np.ndarray

    @classmethod
    def count(cls, record: Predictions) -> "ClassRates":
        """Count the rows of a record with labels."""
        right = np.bincount(
            record.predicted, weights=record.weights * record.correct, minlength=record.n_classes
        )
        total = np.bincount(record.predicted, weights=record.weights, minlength=record.n_classes)
        return cls(right, total - right)

    @property
    def enough(self) -> np.ndarray:
        """(K,) bool: at least MIN_ROWS right and as many wrong."""
        return (self.right >= MIN_ROWS) & (self.wrong >= MIN_ROWS)

    @property
    def shrunk(self) -> np.ndarray:
        """(K,) the rate of right rows, (right + 1/2) / (n + 1); that of all rows for a class
        never predicted.
        """
        total = self.right + self.wrong
        overall = (self.right.sum() + 0.5) / (total.sum() + 1.0)
        return np.where(total > 0.0, (self.right + 0.5) / (total + 1.0), overall)

    def warn(self, classes: np.ndarray) -> None:
        """One SparseDataWarning that names the classes without enough rows; none when all have
        them.
        """
        sparse = np.flatnonzero(~self.enough)
        if not len(sparse):
            return
        named = [
            f"{classes[k]} ({self.right[k]:g} right, {self.wrong[k]:g} wrong)" for k in sparse[:6]
        ]
        more = f" and {len(sparse) - 6} more" if len(sparse) > 6 else ""
        warn(
            f"{len(sparse)} of {len(classes)} predicted classes have fewer than {MIN_ROWS} right or"
            f" {MIN_ROWS} wrong rows: {', '.join(named)}{more}; each gets its own rate, (right +"
            " 1/2) / (n + 1), as a constant confidence.",
            SparseDataWarning,
        )


def event_rows(
    record: Predictions, k: int, smooth: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """(scores, outcomes, weights or None) of class k.

    An open selection, which fits many maps, gets them sorted by score, and merged in cells for
    smooth maps.
    """
    if not record.work.open:
        return record.probabilities[:, k], (record.labels == k).astype(np.float64), record.weight
    events, cells = record.derived.events, record.derived.cells
    if k not in events:
        order = record.probabilities[:, k].argsort()
        hit = np.asarray(record.labels == k, dtype=np.float64)[order]
        events[k] = record.probabilities[order, k], hit, record.weights[order]
    if smooth and k not in cells:
        cells[k] = in_cells(*events[k])
    return cells[k] if smooth else events[k]
