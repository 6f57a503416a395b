"""Out-of-fold predictions of any calibrator on arrays, with any splitter."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from calibrant.calibrators.auto import default_calibrator
from calibrant.calibrators.one_vs_rest import as_calibrator
from calibrant.core.arrays import weights
from calibrant.core.calibrator import Calibrator
from calibrant.core.estimators import seeded
from calibrant.core.folds import make_splits, out_of_fold
from calibrant.core.given import Inputs
from calibrant.core.groups import codes_of, order_of
from calibrant.core.predictions import read

__all__ = ["cross_fitted"]


@seeded
def cross_fitted(
    calibrator: Calibrator,
    P: ArrayLike,
    y: ArrayLike,
    *,
    cv: int = 5,
    groups: Any = None,
    sample_weight: ArrayLike | None = None,
    X: Any = None,
    reference: Any = None,
    inputs: Inputs | None = None,
    classes: ArrayLike | None = None,
    random_state: int = 0,
) -> np.ndarray:
    """Compute calibrated probabilities of each row, out of fold.

    Parameters
    ----------
    calibrator : Calibrator or Map
        Cloned for each fold, and not changed. A map is applied one-vs-rest.
    P : (n, K), or (n,) for binary
    y : (n,) labels
    cv : int, splitter, or iterable of (rows to fit, rows held out), default 5
        A number means folds stratified by class, which keep groups whole if ``groups`` is passed.
    groups : (n,), optional
        Rows of one group (a patient, a track, a day) are never both fitted and held out.
    sample_weight : (n,), optional
        Weight 2 means the row twice in every fit; a row of weight 0 is in no fit but is still
        predicted.
    X : (n, ...) features, optional
    reference : (X_train, y_train), optional
    inputs : {"probability", "logit"}, optional
        Default: the calibrator's own.
    classes : (K,) labels in column order, optional
        Default: the calibrator's own.
    random_state : int, default 0
        Seed of the folds when ``cv`` is a number.

    Returns
    -------
    (n, K) float64, rows summing to 1
        NaN in rows that no split holds out, such as the first part of a time-series split.

    Raises
    ------
    InputError
        When the data cannot be read, or the splitter holds a row out twice.

    See Also
    --------
    CalibratedClassifier : fits the model and its calibrator together.
    report : shows the effect of calibration.

    Notes
    -----
    Use it to evaluate a calibrator with one labelled set only: metrics on these rows are unbiased,
    metrics on the rows of the fit are not. A class absent from a fold's fit keeps its column.

    Examples
    --------
    >>> from calibrant.calibrators.temperature import TemperatureScaling
    >>> P = [[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.4, 0.6]] * 5
    >>> Q = cross_fitted(TemperatureScaling(), P, [0, 1, 1, 0] * 5)
    >>> Q.shape
    (20, 2)
    """
    calibrator = as_calibrator(calibrator, default=default_calibrator)
    inputs = calibrator.inputs if inputs is None else inputs
    classes = calibrator.classes if classes is None else classes
    record = read(P, y, inputs=inputs, classes=classes, X=X, reference=reference)
    weight, kept = weights(sample_weight, len(record))
    # The folds are those of a report on these rows.
    ranks = np.argsort(order_of(record)).astype(np.uint64)
    codes = ranks if groups is None else codes_of(record)
    splits = make_splits(cv, record.values, record.labels, groups, random_state, codes=codes)
    if weight is not None:
        full = np.zeros(len(record))
        full[slice(None) if kept is None else kept] = weight
        record = replace(record, weight=full)
        splits = [(fit_rows[full[fit_rows] > 0.0], held_out) for fit_rows, held_out in splits]
    Q, _ = out_of_fold(calibrator, record, splits=splits)
    return Q
