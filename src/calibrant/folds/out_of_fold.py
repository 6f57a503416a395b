"""Out-of-fold calibration: every row calibrated by a fit that never saw it."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from calibrant.errors import InputError

if TYPE_CHECKING:
    from calibrant.contracts.calibrator import Calibrator
    from calibrant.predictions import Predictions

__all__ = ["fit_clone", "out_of_fold", "stratified_folds"]


def stratified_folds(labels: np.ndarray, n_splits: int = 5, random_state: int = 0) -> np.ndarray:
    """Fold number of each row, (n,) in 0..n_splits-1: each class is dealt out evenly, its rows in a seeded random order.

    A class with fewer rows than folds is absent from some; the dealing goes on from class to class, so that folds differ by at most
    one row in size.

    Examples
    --------
    >>> folds = stratified_folds(np.array([0, 0, 0, 0, 1, 1, 1, 2]), n_splits=2)
    >>> np.bincount(folds).tolist()
    [4, 4]
    """
    if not (isinstance(n_splits, int | np.integer) and 2 <= n_splits <= len(labels)):
        raise InputError(f"n_splits must be a whole number from 2 to the number of rows, {len(labels)}; got {n_splits!r}.")
    shuffled = np.random.default_rng(random_state).permutation(len(labels))
    order = shuffled[np.argsort(np.asarray(labels)[shuffled], kind="stable")]
    folds = np.empty(len(labels), dtype=np.intp)
    folds[order] = np.arange(len(labels)) % n_splits
    return folds


def fit_clone(calibrator: "Calibrator", record: "Predictions") -> "Calibrator":
    """An unfitted copy of ``calibrator``, told what it must know of the record (kind of input, classes), fitted on the record."""
    return clone(calibrator).set_params(**record.calibrator_params).fit_record(record)


def out_of_fold(
    calibrator: "Calibrator", record: "Predictions", *, n_splits: float = 5, random_state: int = 0,
    splits: Sequence[tuple[np.ndarray, np.ndarray]] | None = None, progress: Callable[..., Any] | None = None,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """Calibrated probabilities, or forecasts, of every row, by fits on the other folds.

    Parameters
    ----------
    calibrator : Calibrator or RegressionCalibrator, fitted or not; it is left as it is
    record : Predictions with labels, or ForecastRecord with outcomes
    n_splits : int, default 5
    random_state : int, default 0
        Seed of the assignment of rows to folds.
    splits : iterable of (rows to fit, rows held out), optional
        Instead of ``n_splits`` stratified folds, as a scikit-learn splitter gives them; no row may be held out twice.
    progress : callable, optional
        Called with each finished fold's number.

    Returns
    -------
    result : (n, K) float64, or Forecast
        NaN in the rows that no split held out; of forecasts each row must be held out.
    folds : (n,) fold of each row, -1 where none.

    Notes
    -----
    Numbers computed on them are honest for a calibrator fitted on all rows, slightly pessimistic as each fit saw fewer. A class absent
    from a fit keeps its column: every fit is told all classes.

    Examples
    --------
    >>> from calibrant.predictions import read
    >>> from calibrant.scalings.constant import Identity
    >>> Q, folds = out_of_fold(Identity(), read([[0.9, 0.1], [0.2, 0.8]], [0, 1]), n_splits=2)
    >>> Q.tolist(), sorted(folds.tolist())
    ([[0.9, 0.1], [0.2, 0.8]], [0, 1])
    """
    if splits is None:
        folds = stratified_folds(record.strata, n_splits, random_state)
        splits = [(np.flatnonzero(folds != k), np.flatnonzero(folds == k)) for k in range(n_splits)]
    folds = np.full(len(record), -1, dtype=np.intp)
    parts, rows = [], []
    for k, (fit_rows, held_out) in enumerate(splits):
        if (folds[held_out] >= 0).any():
            raise InputError("a row may be held out by one split only; the splitter repeats rows; use one such as KFold or GroupKFold.")
        folds[held_out] = k
        parts.append(fit_clone(calibrator, record.take(fit_rows)).predict_record(record.take(held_out)))
        rows.append(held_out)
        if progress is not None:
            progress(k)
    return record.gathered(parts, rows), folds
