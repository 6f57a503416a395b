"""The forecasts after calibration, and how they came about: out of fold, held out, or in sample."""

import warnings
from dataclasses import replace
from numbers import Real

import numpy as np
from sklearn.base import BaseEstimator, clone

from calibrant.contracts.kinds import require_regression_calibrator
from calibrant.contracts.regression_calibrator import RegressionCalibrator
from calibrant.errors import InputError
from calibrant.folds.out_of_fold import stratified_folds
from calibrant.forecasts.parts import gather
from calibrant.regression.identity import ForecastIdentity
from calibrant.reporting.after import Compared
from calibrant.scalings.identity import Identity
from calibrant.select.default import default_regression_calibrator

__all__ = ["compare", "fit_copy", "is_fitted", "of_forecasts", "resolve"]


def resolve(calibrator):
    """The calibrator meant: the default for None, an instance of a class; ``Identity()`` stands for none."""
    calibrator = default_regression_calibrator() if calibrator is None else calibrator
    calibrator = calibrator() if isinstance(calibrator, type) else calibrator
    return calibrator if isinstance(calibrator, Identity) else require_regression_calibrator(calibrator)


def of_forecasts(calibrator):
    """Whether a calibrator, its class, or the first of several is one of forecasts."""
    if isinstance(calibrator, list | tuple | dict) and calibrator:
        calibrator = next(iter(calibrator.values() if isinstance(calibrator, dict) else calibrator))
    return isinstance(calibrator, RegressionCalibrator) or (isinstance(calibrator, type) and issubclass(calibrator, RegressionCalibrator))


def is_fitted(calibrator):
    """Whether ``fit`` has been called on it."""
    return hasattr(calibrator, "n_outputs_")


def fit_copy(calibrator, record):
    """An unfitted copy, fitted on the record."""
    return clone(calibrator).fit(record.forecast, record.y, sample_weight=record.weight)


def compare(record, calibrator, *, test=None, n_splits=5, in_sample=None, random_state=0, progress=None) -> Compared:
    """Calibrate the rows of ``record`` (or of ``test``) in the most honest way that the arguments allow."""
    if isinstance(calibrator, Identity | ForecastIdentity):
        return Compared(record if test is None else test, None, calibrator, "none")
    if test is not None:
        if is_fitted(calibrator):
            raise InputError("calibrator is fitted already, so test= has nothing to hold out from; pass the test rows themselves.")
        fitted = fit_copy(calibrator, record)
        return Compared(test, _applied(fitted, test), fitted, "held-out", n_fit=float(record.weights.sum()), calibration=record)
    if not is_fitted(calibrator):
        after = _out_of_fold(calibrator, record, n_splits, random_state, progress)
        return Compared(record, after, calibrator, "out-of-fold", n_splits=n_splits)
    seen = _fitted_on(calibrator, record) if in_sample is None else in_sample
    return Compared(record, _applied(calibrator, record), calibrator, "in-sample" if seen else "held-out")


def _applied(fitted, record):
    return replace(record, forecast=fitted.predict(record.forecast))


def _out_of_fold(calibrator, record, n_splits, random_state, progress):
    folds = stratified_folds(np.zeros(len(record)), n_splits, random_state)
    parts, rows = [], [np.flatnonzero(folds == k) for k in range(n_splits)]
    for k in range(n_splits):
        parts.append(fit_copy(calibrator, record.take(np.flatnonzero(folds != k))).predict(record.forecast.take(rows[k])))
        if progress is not None:
            progress(k)
    return replace(record, forecast=gather(parts, rows))


def _fitted_on(calibrator, record):
    """Whether a fit on these very rows learns the same: then they are the rows it was fitted on."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        again = fit_copy(calibrator, record)
    return _same(calibrator, again)


def _same(a, b):
    """Equal up to rounding: numbers, arrays, lists of them, and estimators by what they learned."""
    if isinstance(a, BaseEstimator):
        learned = [name for name in vars(a) if name.endswith("_")]
        return type(a) is type(b) and all(_same(getattr(a, name), getattr(b, name, None)) for name in learned)
    if isinstance(a, list | tuple):
        return isinstance(b, list | tuple) and len(a) == len(b) and all(map(_same, a, b))
    if isinstance(a, dict):
        return isinstance(b, dict) and a.keys() == b.keys() and all(_same(a[key], b[key]) for key in a)
    if isinstance(a, np.ndarray | Real) and isinstance(b, np.ndarray | Real):
        a, b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
        return a.shape == b.shape and bool(np.allclose(a, b, rtol=1e-9, atol=0.0, equal_nan=True))
    return a == b
