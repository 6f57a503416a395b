"""What a test of calibration says."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from calibrant.errors import InputError
from calibrant.predictions import Predictions, read

__all__ = ["CalibrationTest", "read_labelled"]


@dataclass(frozen=True)
class CalibrationTest:
    """The result of a test of the claim that the predictions are calibrated.

    Attributes
    ----------
    statistic : float
    p_value : float
        Probability of a statistic at least as extreme if the claim were true. A small one speaks against calibration; a large one does not
        prove it, with few rows least of all.
    method : str
    n : float
        Sum of the weights.
    """

    statistic: float
    p_value: float
    method: str
    n: float


def read_labelled(
    y_true: ArrayLike, P: ArrayLike, sample_weight: np.ndarray | None, classes: Sequence[int] | None, inputs: str
) -> Predictions:
    """The record of predictions that must have labels."""
    record = read(P, y_true, sample_weight=sample_weight, classes=classes, inputs=inputs)
    if record.labels is None:
        raise InputError("y_true must be the true labels, one a row; got None.")
    return record
