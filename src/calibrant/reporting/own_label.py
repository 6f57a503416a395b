"""Predictions whose label stays the model's own: what a calibrator of the confidence alone must be measured on."""

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from calibrant.predictions import Predictions

__all__ = ["OwnLabel", "as_pair", "own_label"]


@dataclass(frozen=True)
class OwnLabel(Predictions):
    """A record that keeps a label and its confidence where the largest entry of the row would say another.

    A calibrator of the confidence says how far the model's own label can be trusted. Once that falls below what the rest of the row
    holds, the largest entry of the whole vector is another class, and a calibration error of that entry scores a label nobody gave.
    """

    own: Any = None
    sure: Any = None

    @property
    def predicted(self) -> np.ndarray:  # pyright: ignore[reportIncompatibleVariableOverride]
        """(n,) position of the model's own label."""
        return self.own

    @property
    def confidence(self) -> np.ndarray:  # pyright: ignore[reportIncompatibleVariableOverride]
        """(n,) calibrated probability that it is right."""
        return self.sure

    def take(self, rows) -> "OwnLabel":
        """The same record for some of the rows."""
        return replace(super().take(rows), own=self.own[rows], sure=self.sure[rows])  # pyright: ignore[reportReturnType]


def own_label(after, label) -> OwnLabel:
    """``after``, the calibrated record, read as the confidence of the labels given, (n,) positions in its classes.

    Examples
    --------
    >>> from calibrant.predictions import read
    >>> record = own_label(read([[0.3, 0.7]], [0]), [0])
    >>> record.predicted.tolist(), record.confidence.round(1).tolist(), record.correct.tolist()
    ([0], [0.3], [1.0])
    """
    label = np.asarray(label, dtype=np.intp)
    sure = after.probabilities[np.arange(len(after)), label]
    return OwnLabel(**{f.name: getattr(after, f.name) for f in fields(Predictions)}, own=label, sure=sure)


def as_pair(record) -> OwnLabel:
    """The record as right or wrong (class 1 or 0) at its confidence: all that metrics of the top label look at, in two columns."""
    sure, hit = record.confidence, record.correct.astype(np.intp)
    pair = Predictions(
        values=np.column_stack([1.0 - sure, sure]), kind="probability", classes=np.arange(2), labels=hit, weight=record.weight,
        resolution=record.resolution,
    )  # fmt: skip
    return own_label(pair, np.ones(len(pair), dtype=np.intp))
