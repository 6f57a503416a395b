"""Inputs of certificates: whole rows, the score of each answer, and the rows that a proof needs."""

import math
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from calibrant._kernels.certificates import rows_for_rate
from calibrant._support.estimators import NotFittedError
from calibrant._support.rounded import percent
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


def too_few(n: float, least: int, risk: float, confidence: float, unit: str = "rows") -> str:
    """Return the message for too few rows, even if none of them were an error."""
    return (
        f"a risk of {risk:g} at a confidence of {confidence:g} needs at least {least:,} {unit}"
        f" without an error; got {n:,.0f}; pass more, or allow more risk."
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
    """Return the message for ``count`` of n rows of highest score with too many errors for a proof
    that fails with probability ``delta``.
    """
    said = f"no threshold can be certified at a risk of {risk:g} and a confidence of {confidence:g}"
    seen = (
        f"of the {count:,.0f} {unit} of highest score {lost:,.4g} are wrong"
        f" ({percent(lost / count)})"
    )
    needed = rows_for_rate(lost / count, risk, delta) * n / count
    if not math.isfinite(needed):
        return (
            f"{said}: {seen}, and more {unit} would not help; allow more risk, or find a more"
            " discriminating score."
        )
    return (
        f"{said}: {seen}; pass about {max(math.ceil(needed), n + 1):,.0f} {unit} like these, or"
        " allow more risk."
    )


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
        if not is_fitted(part):
            raise InputError(
                "signal must be fitted on rows other than those of the certificate; got an"
                f" unfitted {type(part).__name__}; fit it first, or pass a signal such as"
                " Margin()."
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
