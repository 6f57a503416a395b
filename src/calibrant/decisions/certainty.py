"""Inputs of certificates: whole rows, and the score of each answer."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from calibrant.core.arrays import weights, whole_rows
from calibrant.core.calibrator import Calibrator, DomainCalibrator
from calibrant.core.estimators import NotFittedError
from calibrant.core.kinds import require_calibrator, require_signal
from calibrant.core.map import Signal, fitted_signal
from calibrant.core.model_outputs import is_fitted
from calibrant.core.predictions import Predictions
from calibrant.errors import InputError

__all__ = [
    "confidence_of",
    "counted_rows",
    "probabilities_of",
    "repetitions",
    "require_share",
]


def repetitions(weight: np.ndarray) -> np.ndarray:
    """Return the weights, which must be whole numbers of rows."""
    odd = np.flatnonzero(~whole_rows(weight))
    if len(odd):
        raise InputError(
            "sample_weight must be whole numbers, how often each row was observed, because a"
            f" certificate counts rows; row {odd[0]} has {weight[odd[0]]:.6g} ({len(odd)} such"
            " rows); leave it out. Weights of a sampling design or of importance need weighted"
            " conformal prediction, with weights learned from other rows."
        )
    return np.rint(weight)


def require_share(name: str, value: object) -> None:
    """Raise InputError unless ``value`` is above 0 and below 1."""
    if isinstance(value, bool) or not (isinstance(value, float | int) and 0.0 < value < 1.0):
        raise InputError(f"{name} must be above 0 and below 1; got {value!r}; 0.05 means 5 %.")


def counted_rows(n: int, sample_weight: ArrayLike | None) -> Predictions:
    """Return a record of n rows alone: which of them have weight (``kept``), and how much."""
    weight, kept = weights(sample_weight, n)
    held = n if kept is None else int(np.count_nonzero(kept))
    return Predictions(np.zeros((held, 1)), "probability", np.arange(1), weight=weight, kept=kept)


def confidence_of(
    part: Signal | Calibrator | None, record: Predictions
) -> tuple[Signal | Calibrator | None, np.ndarray]:
    """Return (the fitted part, its score of each row); an unfitted signal is fitted on the record
    without labels.
    """
    if part is None:
        return None, record.confidence
    if isinstance(part, DomainCalibrator):
        part = require_calibrator(part, "signal")
        return part, _by_fitted(part, record, "confidence_record")
    signal = require_signal(part)
    fitted = (
        signal
        if hasattr(signal, "classes_")
        else fitted_signal(signal, replace(record, labels=None))
    )
    return fitted, fitted.score_record(record)


def probabilities_of(part: Signal | Calibrator | None, record: Predictions) -> np.ndarray:
    """Return (n, K) probabilities, calibrated by the fitted part if there is one."""
    if part is None:
        return record.probabilities
    return _by_fitted(require_calibrator(part, "signal"), record, "predict_record")


def _by_fitted(part: Any, record: Predictions, method: str) -> np.ndarray:
    """Return the result of a method of a fitted calibrator."""
    if not is_fitted(part):
        raise InputError(
            "signal must be fitted on rows other than those of the certificate; got an unfitted"
            f" {type(part).__name__}; fit it first, or pass a signal such as Margin()."
        )
    try:
        return getattr(part, method)(record)
    except NotFittedError as error:
        raise InputError(str(error)) from None
