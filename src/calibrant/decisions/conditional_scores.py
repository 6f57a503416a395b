"""Calibration scores beside the features that a promise is to hold over, and the limits of new rows by theirs."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant._kernels.conditional_limit import conditional_limits
from calibrant._support.saving import Saved
from calibrant.arrays import column_names, to_array
from calibrant.errors import InputError
from calibrant.predictions import Predictions

__all__ = ["ConditionalScores", "read_features"]


@dataclass(frozen=True, eq=False)
class ConditionalScores(Saved):
    """Distinct pairs of score and features, ascending by score.

    Attributes
    ----------
    names : the columns' names, or their numbers
    points : (m, d + 1) features, and ones for all rows
    scores, mass : (m,) and how many rows each stands for
    """

    names: list[Any]
    points: np.ndarray
    scores: np.ndarray
    mass: np.ndarray

    @classmethod
    def of(cls, names: list[Any], features: np.ndarray, score: np.ndarray, weight: np.ndarray) -> "ConditionalScores":
        """From rows in any order: scores (n,), features (n, d) and whole weights."""
        kept = weight > 0.0
        rows, place = np.unique(np.column_stack([score, features])[kept], axis=0, return_inverse=True)
        points = np.column_stack([rows[:, 1:], np.ones(len(rows))])
        return cls(names, points, rows[:, 0], np.bincount(place.ravel(), weights=weight[kept]))

    def limits(self, features: np.ndarray, level: float, u: np.ndarray | None) -> np.ndarray:
        """(n,) the largest score that a class in the set of a new row may have."""
        return conditional_limits(self.points, self.scores, self.mass, np.column_stack([features, np.ones(len(features))]), level, u)


def read_features(features: Any, record: Predictions, names: list[Any] | None = None) -> tuple[list[Any], np.ndarray]:
    """(names, (n, d) numbers) of the features of a record's rows; ``names`` are those that they were fitted with."""
    if features is None:
        raise InputError("features must be given, (n, d) numbers or indicators of groups; pass features=.")
    found = record.per_row(to_array(features, "features").astype(np.float64))
    found = found[:, None] if found.ndim == 1 else found
    if found.ndim != 2 or len(found) != len(record) or not found.shape[1] or not np.isfinite(found).all():
        raise InputError(
            f"features must be ({len(record)}, d) finite numbers, a group a column of 0 and 1; got shape {found.shape}; fill gaps."
        )
    own = column_names(features, "features") or list(range(found.shape[1]))
    if names is not None and own != names:
        raise InputError(f"features must have the columns that they were fitted with, {names}; got {own}; pass the same.")
    return own, found
