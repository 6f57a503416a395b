"""What certificates rest on: whole rows, the score of each answer, and how many rows a proof
would take.
"""

import math
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from calibrant._kernels.certificates import rows_for_rate
from calibrant._support.estimators import NotFittedError
from calibrant.arrays import weights, whole_rows
from calibrant.contracts.calibrator import Calibrator
from calibrant.contracts.domain_calibrator import DomainCalibrator
from calibrant.contracts.kinds import require_calibrator, require_signal
from calibrant.contracts.signal import Signal, fitted_signal
from calibrant.errors import InputError
from calibrant.folds.model_outputs import is_fitted
from calibrant.predictions import Predictions

__all__ = [
    "confidence_of",
    "counted_rows",
    "repetitions",
    "require_share",
    "too_few",
    "uncertified",
]


def repetitions(weight: np.ndarray) -> np.ndarray:
    """The weights, once each is a whole number of rows."""
    odd = np.flatnonzero(~whole_rows(weight))
    if len(odd):
        raise InputError(
            "sample_weight must be whole numbers, how often each row was seen, for a certificate"
            f" counts rows; row {odd[0]} has {weight[odd[0]]:.6g} ({len(odd)} such rows); leave it"
            " out, for weights of a sampling design or of importance need a method of their own"
            " (weighted conformal prediction, with weights learned from other rows)."
        )
    return np.rint(weight)


def require_share(name: str, value: object) -> None:
    """Raise InputError unless ``value`` is above 0 and below 1."""
    if isinstance(value, bool) or not (isinstance(value, float | int) and 0.0 < value < 1.0):
        raise InputError(
            f"{name} must be above 0 and below 1; got {value!r}; 0.05 is five in a hundred."
        )


def counted_rows(n: int, sample_weight: ArrayLike | None) -> Predictions:
    """A record of nothing but n rows: which of them count (``kept``) and how often."""
    weight, kept = weights(sample_weight, n)
    held = n if kept is None else int(np.count_nonzero(kept))
    return Predictions(np.zeros((held, 1)), "probability", np.arange(1), weight=weight, kept=kept)


def too_few(n: float, least: int, risk: float, confidence: float, unit: str = "rows") -> str:
    """Where not even rows without an error would do."""
    return (
        f"a risk of {risk:g} at a confidence of {confidence:g} takes {least:,} {unit} without an"
        f" error at the least; got {n:,.0f}; give it more, or allow more risk."
    )


def uncertified(
    lost: float,
    count: float,
    n: float,
    risk: float,
    confidence: float,
    delta: float,
    unit: str = "rows",
) -> str:
    """Where the ``count`` of n rows of highest score lose too much for a proof that fails with
    probability ``delta``.
    """
    said = f"no threshold can be certified at a risk of {risk:g} and a confidence of {confidence:g}"
    seen = (
        f"of the {count:,.0f} {unit} of highest score {lost:,.4g} are wrong"
        f" ({100.0 * lost / count:.2g} %)"
    )
    needed = rows_for_rate(lost / count, risk, delta) * n / count
    if not math.isfinite(needed):
        return (
            f"{said}: {seen}, which more {unit} do not change; allow more risk, or find a score"
            " that tells better."
        )
    return (
        f"{said}: {seen}; about {max(math.ceil(needed), n + 1):,.0f} {unit} like these would be"
        " needed; or allow more risk."
    )


def confidence_of(
    part: Signal | Calibrator | None, record: Predictions
) -> tuple[Signal | Calibrator | None, np.ndarray]:
    """(the part as it is used, its score of each row); a signal that comes unfitted is fitted on
    the record without labels.
    """
    if part is None:
        return None, record.confidence
    if isinstance(part, DomainCalibrator):
        part = require_calibrator(part, "signal")
        if not is_fitted(part):
            raise InputError(
                "signal must be fitted on other rows than those that certify; got an unfitted"
                f" {type(part).__name__}; fit it first, or pass a signal such as Margin()."
            )
        try:
            return part, part.confidence_record(record)
        except NotFittedError as error:
            raise InputError(str(error)) from None
    signal = require_signal(part)
    fitted = (
        signal
        if hasattr(signal, "classes_")
        else fitted_signal(signal, replace(record, labels=None))
    )
    return fitted, fitted.score_record(record)
