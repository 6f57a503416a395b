"""The score of each answer: the largest probability, a signal's, or a fitted calibrator's confidence."""

from dataclasses import replace

import numpy as np

from calibrant._support.estimators import NotFittedError
from calibrant.contracts.calibrator import Calibrator
from calibrant.contracts.kinds import require_signal
from calibrant.contracts.signal import Signal, fitted_signal
from calibrant.errors import InputError
from calibrant.folds.model_outputs import is_fitted
from calibrant.predictions import Predictions

__all__ = ["confidence_of"]


def confidence_of(part: Signal | Calibrator | None, record: Predictions) -> tuple[Signal | Calibrator | None, np.ndarray]:
    """(the part as it is used, its score of each row); a signal that comes unfitted is fitted on the record without labels."""
    if part is None:
        return None, record.confidence
    if isinstance(part, Calibrator):
        if not is_fitted(part):
            raise InputError(
                f"signal must be fitted on other rows than those that certify; got an unfitted {type(part).__name__}; fit it first, or "
                "pass a signal such as Margin()."
            )
        try:
            return part, part.confidence_record(record)
        except NotFittedError as error:
            raise InputError(str(error)) from None
    signal = require_signal(part)
    fitted = signal if hasattr(signal, "classes_") else fitted_signal(signal, replace(record, labels=None))
    return fitted, fitted.score_record(record)
