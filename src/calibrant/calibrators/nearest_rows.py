"""Evidence for the confidence of each row: its zone and its nearest training rows."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant.core.guarantee import Record

__all__ = ["NearestRows"]


@dataclass(frozen=True)
class NearestRows(Record):
    """Separation of each row, its zone, "safe" or "dangerous", and its nearest training rows: of
    the predicted class (``same``) and of any other (``other``, with its class).

    A row is the position of a training row in ``reference``, or of a point to which a reduction
    (``points``) reduced them. Without such a row the distance is infinite, the row -1 and the
    class None. ``confidence`` is that of the model, or of the calibrator that explains it.
    """

    separation: np.ndarray
    zone: np.ndarray
    same_distance: np.ndarray
    same_row: np.ndarray
    other_distance: np.ndarray
    other_row: np.ndarray
    other_class: np.ndarray
    confidence: np.ndarray

    @classmethod
    def of(cls, separation: np.ndarray, near: Any, signal: Any, record: Any) -> "NearestRows":
        """Make it from the nearest points of the index of a fitted ``signal``."""
        offsets = signal.index_.points_.offsets
        there = near.other_row >= 0
        group = np.searchsorted(offsets, near.other_row, side="right") - 1
        other = signal.classes_[np.where(there, group, 0)]
        return cls(
            separation,
            np.where(separation > 0.0, "safe", "dangerous"),
            near.same,
            np.where(near.same_row >= 0, signal.rows_[near.same_row], -1),
            near.other,
            np.where(there, signal.rows_[near.other_row], -1),
            other if there.all() else np.where(there, other.astype(object), None),
            record.confidence,
        )
