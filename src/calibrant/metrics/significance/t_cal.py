"""T-Cal: a test of calibration over bins of all sizes at once."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from calibrant._kernels.bootstrap import draw_hits, null_generator
from calibrant._support.options import require_count
from calibrant.contracts.reading import read_labelled
from calibrant.groups import WeightKind, clustered
from calibrant.metrics.significance.calibration_test import CalibrationTest
from calibrant.metrics.significance.simulated_null import signs_of_clusters
from calibrant.predictions import Inputs

__all__ = ["t_cal_test"]

#: Halvings of [0, 1] down to the finest bins, at most.
FINEST = 18


def t_cal_test(
    y_true: ArrayLike,
    P: ArrayLike,
    *,
    target: Any = "answer",
    n_draws: int = 500,
    random_state: int = 0,
    cluster: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    weight_kind: WeightKind = "frequency",
    classes: ArrayLike | None = None,
    inputs: Inputs = "probability",
) -> CalibrationTest:
    r"""Test calibration by the debiased squared error in 1, 2, 4, ... bins, whichever stands out most.

    .. math:: T_m = \sum_{b=1}^m \frac{(\sum_{i \in b} r_i)^2 - \sum_{i \in b} r_i^2}{n_b}, \quad r = c - s,
        \quad T = \max_m \frac{T_m - \mathrm{mean}}{\mathrm{sd}}

    with the null of T from outcomes drawn from the scores themselves, so that the test is exact for any n.

    Parameters
    ----------
    y_true : (n,) labels
    P : (n, K), or (n,) for binary
    target : {"answer", "event"} or a class label
        Whose probability: the predicted label's against its being right, class 1's of two, or the named class's.
    n_draws : int, default 500
        The p-value is a multiple of 1 / (n_draws + 1).
    random_state : int, default 0
    cluster : (n,) labels of any kind, optional
        Which rows hang together: the null then turns the signs of what was seen less what was said, of whole clusters at once.
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
    debiased_calibration_error : the size of it.
    spiegelhalter_test : without bins.

    Notes
    -----
    Use it to ask whether one probability is calibrated, without choosing bins; ``kernel_calibration_test`` asks it of whole vectors.
    The finest scale has about n / 2 bins, and no more than 2^18. A row of weight w stands for w rows, whose outcomes are drawn apart.

    References
    ----------
    Lee, Huang, Hassani and Dobriban, "T-Cal: an optimal test for the calibration of predictive models", JMLR 2023.

    Examples
    --------
    >>> t_cal_test([0, 1] * 50, [0.3, 0.7] * 50, target="event").p_value < 0.01
    True
    """
    require_count("n_draws", n_draws, 19, usual=500)
    record = clustered(read_labelled(y_true, P, sample_weight=sample_weight, classes=classes, inputs=inputs), cluster, weight_kind)
    score, hit = record.pair(target)
    weight, rng = record.weights, null_generator(random_state)
    levels = min(int(np.log2(max(float(weight.sum()) / 2.0, 1.0))), FINEST)
    index = np.minimum((score * 2**levels).astype(np.intp), 2**levels - 1)
    mass = np.bincount(index, weights=weight, minlength=2**levels)
    if record.cluster is None:
        drawn, method = ((one, _squares(one, score)) for one in (draw_hits(score, weight, rng) for _ in range(n_draws))), "exact"
    else:
        turned = (sign for signs in signs_of_clusters(record.cluster, n_draws, random_state) for sign in signs)
        drawn, method = ((score + sign * (hit - score), _squares(hit, score)) for sign in turned), "signs of clusters"
    scales = np.array([_statistics(*one, score, weight, index, mass) for one in ((hit, _squares(hit, score)), *drawn)])
    # Centred and scaled by all draws with the data among them: exchangeable under the null, so the ranks are exact.
    spread = scales.std(axis=0)
    heights = ((scales - scales.mean(axis=0)) / np.where(spread > 0.0, spread, 1.0)).max(axis=1)
    p_value = float(np.mean(heights >= heights[0] - 1e-12))
    return CalibrationTest(float(heights[0]), p_value, f"{method}, {n_draws} draws", float(weight.sum()))


def _squares(hit, score):
    """Mean squared residual of the rows a row stands for; ``hit`` is the share of hits among them."""
    return hit * (1.0 - score) ** 2 + (1.0 - hit) * score**2


def _statistics(hit, squares, score, weight, index, mass):
    """T_m for m = 1, 2, 4, ... bins, from sums over the finest bins."""
    sums = np.bincount(index, weights=weight * (hit - score), minlength=len(mass))
    squares = np.bincount(index, weights=weight * squares, minlength=len(mass))
    out = []
    while True:
        out.append(((sums * sums - squares) / np.where(mass > 0.0, mass, 1.0)).sum())
        if len(mass) == 1:
            return out
        sums, squares, mass = (a.reshape(-1, 2).sum(axis=1) for a in (sums, squares, mass))
