"""The kernel-smoothed reliability curve, with a pointwise band."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from calibrant._kernels import intervals
from calibrant._kernels.smoothing import deposit, gaussian_smoother
from calibrant.contracts.columns import Record
from calibrant.contracts.on_record import on_record
from calibrant.contracts.reading import read_labelled
from calibrant.errors import InputError
from calibrant.predictions import Inputs, Predictions

__all__ = ["SmoothCurve", "smooth_curve"]

CELLS = 2000


@dataclass(frozen=True)
class SmoothCurve(Record):
    """One row a point: the score, the density of scores there, the smoothed accuracy, and its pointwise interval."""

    score: np.ndarray
    density: np.ndarray
    accuracy: np.ndarray
    low: np.ndarray
    high: np.ndarray


def _of(
    record: Predictions, *, target: Any = "answer", bandwidth: float | None = None, level: float = 0.95, n_points: int = 200
) -> SmoothCurve:
    if bandwidth is not None and not bandwidth > 0.0:
        raise InputError(f"bandwidth must be positive; got {bandwidth!r}; leave it out for Silverman's rule.")
    score, hit = record.pair(target)
    weight = record.weights
    n = weight.sum()
    if bandwidth is None:
        spread = np.sqrt(max(weight @ (score - weight @ score / n) ** 2 / n, 0.0))
        bandwidth = max(1.06 * spread * n**-0.2, 0.005)
    mass = deposit(score, weight, CELLS)
    held = np.maximum(gaussian_smoother(mass)(bandwidth), 0.0)
    right = np.clip(gaussian_smoother(deposit(score, weight * hit, CELLS))(bandwidth), 0.0, held)
    # A Gaussian kernel of width h squared is one of width h / sqrt(2) over 2 h sqrt(pi): the rows that it holds in effect.
    squared = np.maximum(gaussian_smoother(mass)(bandwidth / np.sqrt(2.0)), 1e-300) / (2.0 * bandwidth * np.sqrt(np.pi) * CELLS)
    near = held * CELLS * bandwidth * np.sqrt(2.0 * np.pi)
    rows = np.clip(held * held / squared, 1e-9, n)
    points = np.linspace(0, CELLS - 1, n_points).round().astype(np.intp)
    points = points[near[points] >= 0.5]
    accuracy = right[points] / held[points]
    low, high = intervals.wilson(accuracy * rows[points], rows[points], level)
    return SmoothCurve((points + 0.5) / CELLS, held[points] * CELLS / n, accuracy, low, high)


@on_record(_of)
def smooth_curve(
    y_true: ArrayLike, P: ArrayLike, *, target: Any = "answer", bandwidth: float | None = None, level: float = 0.95, n_points: int = 200,
    sample_weight: ArrayLike | None = None, classes: ArrayLike | None = None, inputs: Inputs = "probability",
) -> SmoothCurve:  # fmt: skip
    r"""Accuracy as a smooth function of the score: a kernel mean with a Gaussian kernel reflected at 0 and 1.

    .. math:: \hat g(t) = \frac{\sum_i K_h(t, s_i) c_i}{\sum_i K_h(t, s_i)}

    Parameters
    ----------
    y_true : (n,) labels
    P : (n, K), or (n,) for binary
    target : {"answer", "event"} or a class label
    bandwidth : float, optional
        Standard deviation h of the kernel; by default Silverman's rule on the scores, at least 0.005.
    level : float, default 0.95
        Of the pointwise Wilson interval, at the number of rows that the kernel holds there.
    n_points : int, default 200
        Points, at equal steps of [0, 1]; those with no row within about a bandwidth are left out.
    sample_weight : (n,), optional
        Weight 2 means the row twice, weight 0 no row.
    classes : (K,) labels in column order, optional
    inputs : {"probability", "logit"}

    Returns
    -------
    SmoothCurve
        ``.frame()`` gives it as a data frame.

    Raises
    ------
    InputError
        When the predictions cannot be read, the target is unknown or the bandwidth is not positive.

    See Also
    --------
    reliability_curve, isotonic_curve, loess_curve : in bins, only rising, or by local lines.
    kde_calibration_error : the gap as one number.

    Notes
    -----
    The interval is for the smoothed accuracy: where the curve bends within a bandwidth it does not hold the accuracy itself.

    Examples
    --------
    >>> curve = smooth_curve([0, 1] * 50, [0.25, 0.75] * 50, target="event", bandwidth=0.05)
    >>> float(curve.accuracy[0].round(2)), float(curve.accuracy[-1].round(2))
    (0.0, 1.0)
    """
    record = read_labelled(y_true, P, sample_weight=sample_weight, classes=classes, inputs=inputs)
    return _of(record, target=target, bandwidth=bandwidth, level=level, n_points=n_points)
