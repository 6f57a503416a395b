"""The door of measures of prediction sets: true labels and the classes in each set become checked arrays."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from calibrant.arrays import plain_array, weights
from calibrant.errors import InputError
from calibrant.labels import class_array, encode_labels

__all__ = ["SetRows", "read_sets"]


@dataclass(frozen=True)
class SetRows:
    """What measures of sets read.

    Attributes
    ----------
    sets : (n, K) booleans
    labels : (n,) positions of the true classes, or None
    classes : (K,)
    weights : (n,)
    kept : (n_given,) booleans, the rows of weight above 0; or None
    """

    sets: np.ndarray
    labels: np.ndarray | None
    classes: np.ndarray
    weights: np.ndarray
    kept: np.ndarray | None

    def __len__(self) -> int:
        return len(self.sets)

    @property
    def held(self) -> np.ndarray:
        """(n,) 1 where the set holds the true class."""
        return self.sets[np.arange(len(self)), self.labels].astype(np.float64)

    @property
    def sizes(self) -> np.ndarray:
        """(n,) number of classes in each set."""
        return np.count_nonzero(self.sets, axis=1)


def read_sets(y_true: ArrayLike | None, sets: Any, classes: ArrayLike | None, sample_weight: ArrayLike | None) -> SetRows:
    """The rows, once the sets are (n, K) booleans and there is a known label for each; no labels where ``y_true`` is None."""
    member = plain_array(sets, "sets")
    if member.ndim != 2 or len(member) == 0 or not (member.dtype == bool or np.isin(member, (0, 1)).all()):
        raise InputError(
            f"sets must be (n, K) booleans, whether each class is in the set; got shape {member.shape} of {member.dtype}; "
            "pass what predict_set gives."
        )
    known = class_array(classes, member.shape[1])
    labels = None
    if y_true is not None:
        labels, known = encode_labels(y_true, known, len(member), member.shape[1], name="y_true", positions=classes is not None)
    weight, kept = weights(sample_weight, len(member))
    rows = slice(None) if kept is None else kept
    names = np.arange(member.shape[1]) if known is None else known
    weight = np.ones(len(member)) if weight is None else weight
    return SetRows(member.astype(bool)[rows], None if labels is None else labels[rows], names, weight, kept)
