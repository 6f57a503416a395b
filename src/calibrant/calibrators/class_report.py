"""Table of each predicted class, with its count, its accuracy and the method behind its
confidence.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from calibrant._numerics.intervals import beta_interval
from calibrant.calibrators.confidence_calibrator import ConfidenceCalibrator
from calibrant.core.calibrator import Calibrator, require_fitted
from calibrant.core.given import Inputs
from calibrant.core.guarantee import Record
from calibrant.core.kinds import require_calibrator
from calibrant.core.metric import require_level
from calibrant.core.reading import read_labelled
from calibrant.core.solving import ClassRates
from calibrant.errors import InputError

__all__ = ["ClassReport", "class_report"]


@dataclass(frozen=True)
class ClassReport(Record):
    r"""Table with one row for each predicted class.

    Attributes
    ----------
    name : (K,) the class.
    n, right, wrong : (K,) rows predicted as the class (sums of weights), and the right and wrong
        ones.
    rate, low, high : (K,) Conf\ :sub:`1` = (right + 1/2) / (n + 1) and its credible interval.
    method : (K,) the calibrator's method for the class; "" without a calibrator.
    bandwidth : (K,) of its kernel density, nan where there is none.
    """

    name: np.ndarray
    n: np.ndarray
    right: np.ndarray
    wrong: np.ndarray
    rate: np.ndarray
    low: np.ndarray
    high: np.ndarray
    method: np.ndarray
    bandwidth: np.ndarray


def class_report(
    y_true: ArrayLike,
    P: ArrayLike,
    *,
    calibrator: Calibrator | None = None,
    level: float = 0.95,
    sample_weight: ArrayLike | None = None,
    classes: ArrayLike | None = None,
    inputs: Inputs = "probability",
) -> ClassReport:
    r"""Tabulate counts, Conf\ :sub:`1` with its interval, and the method, for each predicted class.

    Parameters
    ----------
    y_true : (n,) labels
    P : (n, K), or (n,) for binary
    calibrator : fitted Calibrator, optional
        Its method and bandwidth are listed for each class.
    level : float, default 0.95
        Level of the equal-tailed interval of the Beta(right + 1/2, wrong + 1/2) posterior.
    sample_weight : (n,), optional
        Weight 2 means the row twice, weight 0 no row.
    classes : (K,) labels in column order, optional
    inputs : {"probability", "logit"}

    Returns
    -------
    ClassReport
        ``.frame()`` returns it as a data frame.

    See Also
    --------
    confidence_curve : shows one of these classes over its scores.
    worst_slices : finds miscalibrated slices of a table.

    Notes
    -----
    Read it before any overall number: an accuracy of 0.9 can hide a class with confidence 0.07. A
    class that is never predicted has rate 1/2 and an uninformative interval.

    References
    ----------
    Salamon et al., "Classification confidence in exploratory learning: a user's guide", MAKE 2023,
    equation 1.

    Examples
    --------
    >>> report = class_report([0, 0, 1, 1], [0.2, 0.4, 0.7, 0.3])
    >>> report.n.tolist(), report.wrong.tolist(), report.rate.round(3).tolist()
    ([3.0, 1.0], [1.0, 0.0], [0.625, 0.75])
    """
    require_level(level)
    record = read_labelled(y_true, P, sample_weight=sample_weight, classes=classes, inputs=inputs)
    counts = ClassRates.count(record)
    right, wrong = counts.right, np.maximum(counts.wrong, 0.0)
    low, high = beta_interval(right + 0.5, wrong + 0.5, level)
    method, bandwidth = _methods(calibrator, record.n_classes)
    rate = (right + 0.5) / (right + wrong + 1.0)
    return ClassReport(
        record.classes, right + wrong, right, wrong, rate, low, high, method, bandwidth
    )


def _methods(calibrator: Any, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the method for each class: the map of a ConfidenceCalibrator, its fallback, or the
    calibrator's own name.
    """
    method, bandwidth = np.full(n_classes, "", dtype=object), np.full(n_classes, np.nan)
    if calibrator is None:
        return method, bandwidth
    require_fitted(require_calibrator(calibrator), "classes_")
    if len(calibrator.classes_) != n_classes:
        raise InputError(
            f"calibrator was fitted on {len(calibrator.classes_)} classes but P has {n_classes};"
            " pass the P that it was fitted for."
        )
    if not isinstance(calibrator, ConfidenceCalibrator):
        method[:] = calibrator.tags.label or type(calibrator).__name__
        return method, bandwidth
    for k in range(n_classes):
        fitted = calibrator.map_of(k)
        method[k] = (
            "class rate" if fitted is None else getattr(fitted, "method_", fitted.tags.label)
        )
        bandwidth[k] = getattr(fitted, "bandwidth_", np.nan)
    return method, bandwidth
