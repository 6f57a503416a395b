"""Spiegelhalter's test of calibration."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from calibrant._kernels.bootstrap import null_generator
from calibrant._kernels.clusters import variance_of_sum
from calibrant.contracts.reading import read_labelled
from calibrant.groups import WeightKind, clustered, rows_apart
from calibrant.metrics.significance.calibration_test import CalibrationTest
from calibrant.predictions import Inputs

__all__ = ["spiegelhalter_test"]

#: Skewness or excess kurtosis from which on outcomes are drawn, how many draws, and how many surprises at most.
FAR, N_DRAWS, MOST_DRAWN = 0.5, 9_999, 20_000_000


def spiegelhalter_test(
    y_true: ArrayLike,
    P: ArrayLike,
    *,
    target: Any = "event",
    cluster: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    weight_kind: WeightKind = "frequency",
    classes: ArrayLike | None = None,
    inputs: Inputs = "probability",
) -> CalibrationTest:
    r"""Test calibration by the Brier score against what it would be if the probabilities were true.

    .. math:: Z = \frac{\sum_i (c_i - s_i)(1 - 2 s_i)}{\sqrt{\sum_i (1 - 2 s_i)^2 s_i (1 - s_i)}}

    which is standard normal for calibrated scores; the p-value is two-sided. Where few rows may surprise the outcomes are drawn instead.

    Parameters
    ----------
    y_true : (n,) labels
    P : (n, K), or (n,) for binary
    target : {"answer", "event"} or a class label
        Whose probability: the predicted label's against its being right, class 1's of two, or the named class's.
    cluster : (n,) labels of any kind, optional
        Which rows hang together: the variance is then theirs (CR2), and the law Student's t.
    sample_weight : (n,), optional
        Weight 2 means the row twice, weight 0 no row.
    weight_kind : {"frequency", "sampling"}
        A weight is so many rows; or it is one row that stands for others ("sampling"), as weights of a design or of importance have it.
    classes : (K,) labels in column order, optional
    inputs : {"probability", "logit"}

    Returns
    -------
    CalibrationTest

    Raises
    ------
    InputError
        When the predictions cannot be read or an option cannot be used.

    See Also
    --------
    hosmer_lemeshow_test, t_cal_test : in bins.
    calibration_slope : in which way it is off.

    Notes
    -----
    Quick and without bins or bandwidths, it sees scores too extreme or too timid, and is blind to errors that balance in the sum.
    Where the variance is 0 (all scores 0, 1/2 or 1) the p-value is 0 if something impossible happened, else 1.

    References
    ----------
    Spiegelhalter, "Probabilistic prediction in patient management and clinical trials", Statistics in Medicine 1986.

    Examples
    --------
    >>> found = spiegelhalter_test([0, 1] * 50, [0.3, 0.7] * 50)
    >>> round(found.statistic, 2), found.p_value < 0.001
    (-6.55, True)
    """
    record = clustered(read_labelled(y_true, P, sample_weight=sample_weight, classes=classes, inputs=inputs), cluster, weight_kind)
    score, hit = record.pair(target)
    weight, tilt = record.weights, 1.0 - 2.0 * score
    terms, n = (hit - score) * tilt, float(weight.sum())
    top, variance, freedom, method = weight @ terms, weight @ (tilt * tilt * score * (1.0 - score)), np.inf, "normal"
    if rows_apart(record):
        # Rows apart from each other whose weights are no repetitions.
        variance = (weight * tilt) ** 2 @ (score * (1.0 - score))
    elif record.cluster is not None:
        variance, freedom = variance_of_sum(weight * (terms - top / n), record.cluster, weight)
        method = f"t, {len(np.unique(record.cluster)):g} clusters"
    if variance <= 0.0:
        return CalibrationTest(0.0 if top == 0.0 else float(np.copysign(np.inf, top)), 1.0 if top == 0.0 else 0.0, method, n)
    z = float(top / np.sqrt(variance))
    if record.cluster is None and record.weight is None and _is_far_from_normal(score, tilt, variance):
        return CalibrationTest(z, _drawn_p_value(score, tilt, float(top)), "drawn", n)
    return CalibrationTest(z, float(2.0 * special.stdtr(freedom, -abs(z))), method, n)


def _is_far_from_normal(score: np.ndarray, tilt: np.ndarray, variance: float) -> bool:
    """Whether the skewness or the excess kurtosis of the sum is that of few surprises, which are few enough to be drawn."""
    each = score * (1.0 - score)
    skew = tilt**4 @ each / variance**1.5
    excess = (tilt**4 * (1.0 - 6.0 * each)) @ each / variance**2
    return max(abs(skew), abs(excess)) > FAR and N_DRAWS * float(np.minimum(score, 1.0 - score).sum()) <= MOST_DRAWN


def _drawn_p_value(score: np.ndarray, tilt: np.ndarray, top: float) -> float:
    """Two-sided, from draws of the outcomes; only the unlikely ones of each draw are made, as the points of a Poisson process."""
    rng, likely = null_generator(0), np.round(score)
    ends = np.cumsum(-np.log1p(-np.minimum(score, 1.0 - score)))
    count = rng.poisson(ends[-1] * N_DRAWS)
    place = np.minimum(np.searchsorted(ends, rng.random(count) * ends[-1], side="right"), len(score) - 1)
    # A row surprises once in a draw, however many points it gets.
    point = np.unique(rng.integers(0, N_DRAWS, count) * len(score) + place)
    draw, row = np.divmod(point, len(score))
    drawn = (likely - score) @ tilt + np.bincount(draw, weights=((1.0 - 2.0 * likely) * tilt)[row], minlength=N_DRAWS)
    return float((1.0 + np.sum(np.abs(drawn) >= abs(top) * (1.0 - 1e-10))) / (1.0 + N_DRAWS))
