"""The predictions after calibration, and how they came about: out of fold, held out, or in sample."""

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from calibrant.errors import InputError
from calibrant.folds.out_of_fold import fit_clone, out_of_fold
from calibrant.reporting.own_label import own_label
from calibrant.scalings.identity import Identity
from calibrant.select.default import default_calibrator
from calibrant.wrap.as_calibrator import as_calibrator

__all__ = ["Compared", "compare", "is_fitted", "resolve"]


@dataclass(frozen=True)
class Compared:
    """Rows measured, before and after (None: nothing was calibrated): records of predictions or of forecasts.

    ``evaluation`` is "none", "out-of-fold", "held-out" or "in-sample"; ``calibration`` holds the rows fitted on, where they are others.
    """

    before: Any
    after: Any
    calibrator: Any
    evaluation: str
    n_fit: float | None = None
    n_splits: int | None = None
    calibration: Any = None


def resolve(calibrator):
    """The calibrator meant: the default for None, an instance of a class, one-vs-rest for a map."""
    return as_calibrator(calibrator, default=default_calibrator, fitted=True)


def is_fitted(calibrator):
    """Whether ``fit`` has been called on it."""
    return hasattr(calibrator, "classes_")


def compare(record, calibrator, *, test=None, n_splits=5, in_sample=None, random_state=0, progress=None) -> Compared:
    """Calibrate the rows of ``record`` (or of ``test``) in the most honest way that the arguments allow."""
    if isinstance(calibrator, Identity):
        return Compared(record if test is None else test, None, calibrator, "none")
    if test is not None:
        if is_fitted(calibrator):
            raise InputError("calibrator is fitted already, so test= has nothing to hold out from; pass the test rows as y and P.")
        fitted = fit_clone(calibrator, record)
        return Compared(test, _apply(fitted, test), fitted, "held-out", n_fit=float(record.weights.sum()), calibration=record)
    if not is_fitted(calibrator):
        Q, _ = out_of_fold(calibrator, record, n_splits=n_splits, random_state=random_state, progress=progress)
        return Compared(record, _with(record, Q, calibrator), calibrator, "out-of-fold", n_splits=n_splits)
    after = _apply(calibrator, record)
    seen = _fitted_on(calibrator, record, after) if in_sample is None else in_sample
    return Compared(record, after, calibrator, "in-sample" if seen else "held-out")


def _with(record, Q, calibrator):
    after = replace(record, values=np.asarray(Q, dtype=np.float64), kind="probability", resolution=2.0**-52)
    return own_label(after, record.predicted) if calibrator.tags.output == "confidence" else after


def _apply(fitted, record):
    return _with(record, fitted.predict_record(record if fitted.tags.uses_features else replace(record, X=None)), fitted)


def _fitted_on(calibrator, record, after):
    """Whether a fit on these very rows gives the same calibrator: then they are the rows it was fitted on."""
    if calibrator.tags.needs_reference and record.reference is None:
        return False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        again = _apply(fit_clone(calibrator, record), record)
    return np.abs(again.values - after.values).max() < 1e-12 and np.abs(record.probabilities - after.values).max() > 1e-12
