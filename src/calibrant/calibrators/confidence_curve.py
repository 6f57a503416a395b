"""Confidence of one predicted class: the curve, a histogram to check it, and the densities behind
it.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant._numerics import bins, intervals, kernel_sums
from calibrant.calibrators.confidence import ConfidenceCalibrator
from calibrant.core.arrays import ArrayLike
from calibrant.core.calibrator import Calibrator, require_fitted
from calibrant.core.guarantee import Record
from calibrant.core.kinds import require_calibrator
from calibrant.core.metric_kinds import on_record
from calibrant.core.predictions import Predictions
from calibrant.core.reading import read_labelled
from calibrant.errors import InputError

__all__ = [
    "ConfidenceBars",
    "ConfidenceCurve",
    "ConfidencePoints",
    "confidence_curve",
    "densities",
]

POINTS = 201


@dataclass(frozen=True)
class ConfidencePoints(Record):
    """Calibrated confidence over the score, its band (nan if the method has none), and the
    densities of right and wrong scores.
    """

    score: np.ndarray
    confidence: np.ndarray
    low: np.ndarray
    high: np.ndarray
    right_density: np.ndarray
    wrong_density: np.ndarray


@dataclass(frozen=True)
class ConfidenceBars(Record):
    """Share of right predictions in each non-empty bin of the score, with Wilson's interval, as a
    visual check.
    """

    lower: np.ndarray
    upper: np.ndarray
    n: np.ndarray
    rate: np.ndarray
    low: np.ndarray
    high: np.ndarray


@dataclass(frozen=True)
class ConfidenceCurve:
    """Confidence of one predicted class (None: all of them): points, bars, whether the points are a
    curve or a cloud, and n, right, wrong.
    """

    name: object
    points: ConfidencePoints
    bars: ConfidenceBars
    cloud: bool
    n: float
    right: float
    wrong: float


def _of(
    record: Predictions,
    calibrator: Calibrator,
    target: Any = None,
    *,
    n_bins: int = 10,
    level: float = 0.95,
) -> ConfidenceCurve | None:
    k = None
    if target is not None:
        match = np.flatnonzero(record.classes == target)
        if not len(match):
            raise InputError(
                f"target must be one of the classes {record.classes.tolist()}; got {target!r}."
            )
        k = int(match[0])
        if not (record.predicted == k).any():
            return None
        record = record.take(record.predicted == k)
    signal = getattr(calibrator, "signal_", None)
    score = record.confidence if signal is None else signal.score_record(record)
    weight, correct = record.weights, record.correct
    cloud = not (
        isinstance(calibrator, ConfidenceCalibrator)
        and (k is not None or calibrator.map_ is not None)
    )
    points = (
        _cloud(calibrator, record, score) if cloud else _curve(calibrator, k, record, score, level)
    )
    right = float(weight @ correct)
    return ConfidenceCurve(
        target,
        points,
        _bars(score, correct, weight, n_bins, level),
        cloud,
        float(weight.sum()),
        right,
        float(weight.sum()) - right,
    )


@on_record(_of)
def confidence_curve(
    y_true: ArrayLike,
    P: ArrayLike,
    calibrator: Calibrator,
    target: Any = None,
    *,
    n_bins: int = 10,
    level: float = 0.95,
    sample_weight: ArrayLike | None = None,
    inputs: str | None = None,
    X: Any = None,
) -> ConfidenceCurve | None:
    """Compute the confidence of one predicted class under a fitted calibrator, beside the observed
    accuracy.

    Parameters
    ----------
    y_true : (n,) labels
    P : (n, K), or (n,) for binary
    calibrator : fitted Calibrator
        If one map over a score serves these rows, the result is its curve at 201 scores between the
        smallest and the largest. Otherwise (scalings, or all rows where each class has its own map)
        it is a cloud: the confidence of every row over its score, or its top probability.
    target : a class label, optional
        The predicted class; default all rows together.
    n_bins : int, default 10
        Number of bins of equal width: on [0, 1], or over the range of a score beyond it.
    level : float, default 0.95
    sample_weight : (n,), optional
    inputs : {"probability", "logit"}, optional
        Default: the calibrator's own.
    X : features, for calibrators that read them.

    Returns
    -------
    ConfidenceCurve, or None if no row is predicted as that class.

    See Also
    --------
    ConfidenceCurveDisplay : draws it.
    class_report : all classes, with one row each.

    Notes
    -----
    "We would not recommend using any calibration without a visual check" (the paper, section 12).
    The densities use the map's own bandwidth, or Silverman's rule if it has none, and each
    integrates to its share of the rows.

    References
    ----------
    Salamon et al., "Classification confidence in exploratory learning: a user's guide", MAKE 2023,
    figures 5, 11, 12 and 14.

    Examples
    --------
    >>> from calibrant.calibrators.confidence import ConfidenceCalibrator
    >>> y, P = [1, 1, 0, 1], [0.9, 0.8, 0.7, 0.6]
    >>> curve = confidence_curve(y, P, ConfidenceCalibrator(per_class=False).fit(P, y), 1, n_bins=2)
    >>> curve.bars.n.tolist(), curve.bars.rate.tolist()
    ([4.0], [0.75])
    """
    require_fitted(require_calibrator(calibrator), "classes_")
    options = {"inputs": inputs or calibrator.inputs, "classes": calibrator.classes_, "X": X}
    record = read_labelled(y_true, P, sample_weight=sample_weight, **options)
    return confidence_curve.of(record, calibrator, target, n_bins=n_bins, level=level)


def _cloud(calibrator: Any, record: Predictions, score: np.ndarray) -> ConfidencePoints:
    order = np.argsort(score, kind="stable")
    at, none = score[order], np.full(len(score), np.nan)
    either = densities(at, score, record.correct, record.weights)
    return ConfidencePoints(at, calibrator.confidence_record(record)[order], none, none, *either)


def _curve(calibrator: Any, k: Any, record: Any, score: Any, level: Any) -> Any:
    fitted, at = calibrator.map_of(k), np.linspace(score.min(), score.max(), POINTS)
    confidence = np.full(POINTS, calibrator.rate_[k]) if fitted is None else fitted.predict(at)
    low, high = (
        fitted.interval(at, level) if hasattr(fitted, "interval") else np.full((2, POINTS), np.nan)
    )
    right, wrong = densities(
        at, score, record.correct, record.weights, getattr(fitted, "bandwidth_", np.nan)
    )
    return ConfidencePoints(at, confidence, low, high, right, wrong)


def densities(
    at: np.ndarray,
    score: np.ndarray,
    correct: np.ndarray,
    weight: np.ndarray,
    bandwidth: float = np.nan,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the densities of right and wrong scores at ``at`` (m,), each integrating to its share
    of the weight; Silverman's rule sets the bandwidth if it is nan.
    """
    if score.min() == score.max():
        return np.zeros(len(at)), np.zeros(len(at))
    low, step, mass = kernel_sums.deposit(
        score, correct, weight, np.zeros(len(score), dtype=np.intp), 1, 1024
    )
    width = (
        kernel_sums.silverman_width(mass)
        if not np.isfinite(bandwidth)
        else np.array([bandwidth]) / step
    )
    width = np.maximum(width, kernel_sums.SMALLEST_WIDTH)
    sums = kernel_sums.gaussian_sums(kernel_sums.spectrum(mass), width, 1024)[0]
    scale = 1.0 / (weight.sum() * np.sqrt(2.0 * np.pi) * width[0] * step[0])
    grid = low[0] + step[0] * np.arange(1024)
    wrong, right = (np.interp(at, grid, s * scale) for s in sums)
    return right, wrong


def _bars(
    score: np.ndarray, correct: np.ndarray, weight: np.ndarray, n_bins: int, level: float
) -> ConfidenceBars:
    low, span = (
        (0.0, 1.0)
        if score.min() >= 0.0 and score.max() <= 1.0
        else (score.min(), max(np.ptp(score), 1e-300))
    )
    index = bins.equal_width_index(np.clip((score - low) / span, 0.0, 1.0), n_bins)
    edges = low + span * bins.equal_width_edges(n_bins)
    sums = bins.grouped_sums(index, n_bins, [correct], weight)
    filled = sums[:, 0] > 0
    n, right = sums[filled].T
    return ConfidenceBars(
        edges[:-1][filled], edges[1:][filled], n, right / n, *intervals.wilson(right, n, level)
    )
