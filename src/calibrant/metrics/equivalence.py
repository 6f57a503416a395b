"""Equivalence test: are the probabilities calibrated within a margin?"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from calibrant._numerics.bins import equal_mass_groups
from calibrant._numerics.clusters import mean_worth
from calibrant._numerics.intervals import mean_tail, powers
from calibrant.core.estimators import require_count
from calibrant.core.given import Inputs
from calibrant.core.groups import WeightKind
from calibrant.core.reading import read_clustered
from calibrant.errors import InputError
from calibrant.metrics.tests import CalibrationTest

__all__ = ["calibration_equivalence_test", "equivalence"]

#: Level at which t over z gives the widening of a bin's interval with few clusters.
LEVEL = 0.9


def calibration_equivalence_test(
    y_true: ArrayLike,
    P: ArrayLike,
    *,
    margin: float = 0.02,
    n_bins: int = 5,
    target: Any = "event",
    cluster: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    weight_kind: WeightKind = "frequency",
    classes: ArrayLike | None = None,
    inputs: Inputs = "probability",
) -> CalibrationTest:
    r"""Test whether the mean error of the probabilities is within a margin everywhere.

    .. math:: H_0: \max_b |\bar s_b - \bar c_b| \ge m, \qquad p = \max_b \max(p_b^-, p_b^+)

    over bins b of equal weight, :math:`p_b^\pm` the one-sided p-values of a gap of :math:`\pm m` or
    beyond, by the distribution behind the interval of a mean with one unseen row. All p-values must
    be small, so no correction for their number is needed (an intersection-union test).

    Parameters
    ----------
    y_true : (n,) labels
    P : (n, K), or (n,) for binary
    margin : float, default 0.02
        The largest error that would not matter, in probability: .02 is 2 points.
    n_bins : int, default 5
        Number of bins of equal weight, by the probability.
    target : {"answer", "event"} or a class label
    cluster : (n,) labels of any kind, optional
        Clusters of dependent rows. A bin then counts its effective number of rows.
    sample_weight : (n,), optional
    weight_kind : {"frequency", "sampling"}
        "frequency": a weight counts identical rows. "sampling": a weighted row is one row that
        stands for others, as with design or importance weights.
    classes : (K,) labels in column order, optional
    inputs : {"probability", "logit"}

    Returns
    -------
    CalibrationTest
        ``statistic`` is the largest gap of a bin. A small ``p_value`` means "calibrated within the
        margin"; a large one is inconclusive.

    Raises
    ------
    InputError
        When the predictions are invalid, or the margin is not between 0 and 1.

    See Also
    --------
    calibration_error_test, spiegelhalter_test : tests for evidence against calibration, which is
        another question.

    Notes
    -----
    Use it to show that a model is good enough; a test that finds no error does not show that. It
    needs many rows: about 7,000 in every bin for a margin of .02 and risks near .5. Errors that
    cancel within a bin are missed; more bins detect more and need more rows.

    References
    ----------
    Berger and Hsu, "Bioequivalence trials, intersection-union tests and equivalence confidence
    sets", Statistical Science 1996.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> p = rng.uniform(0.0, 0.2, 20_000)
    >>> y = (rng.random(20_000) < p).astype(int)
    >>> found = calibration_equivalence_test(y, p, margin=0.03)
    >>> found.p_value < 0.01, calibration_equivalence_test(y, p + 0.05, margin=0.03).p_value > 0.5
    (True, True)
    """
    if not 0.0 < margin < 1.0:
        raise InputError(f"margin must be between 0 and 1, as .02 for 2 points; got {margin!r}.")
    require_count("n_bins", n_bins)
    record = read_clustered(
        y_true, P, cluster, weight_kind, sample_weight=sample_weight, classes=classes, inputs=inputs
    )
    (score, hit), weight = record.pair(target), record.weights
    if len(score) < n_bins:
        raise InputError(
            f"n_bins must be at most the number of rows, {len(score)}; got {n_bins}; pass fewer"
            " bins."
        )
    group = equal_mass_groups(score, n_bins, weight)
    found = equivalence(score, hit, weight, record.cluster, margin, group)
    return CalibrationTest(
        *found, f"{int(group.max()) + 1} bins of equal weight", float(weight.sum())
    )


def equivalence(
    score: np.ndarray,
    hit: np.ndarray,
    weight: np.ndarray,
    cluster: np.ndarray | None,
    margin: float,
    group: np.ndarray,
) -> tuple[float, float]:
    """(the largest gap of a group (n,) of rows, the p-value of a gap of the margin or more)."""
    found = [
        _of_bin(
            score[rows],
            hit[rows],
            weight[rows],
            None if cluster is None else cluster[rows],
            margin,
        )
        for rows in (np.flatnonzero(group == b) for b in range(int(group.max()) + 1))
    ]
    gap, p_value = np.array(found).max(axis=0).tolist()
    return gap, p_value


def _of_bin(
    score: np.ndarray,
    hit: np.ndarray,
    weight: np.ndarray,
    cluster: np.ndarray | None,
    margin: float,
) -> tuple[float, float]:
    """(the size of the gap, the larger of the two one-sided p-values)."""
    loss, n = score - hit, float(weight.sum())
    gap, worth = float(weight @ loss / n), 1.0
    if cluster is not None:
        worth = mean_worth(loss, weight, np.unique(cluster, return_inverse=True)[1], LEVEL)
    return abs(gap), max(
        _beyond(side * loss, weight, worth, float(score.min()), float(score.max()), side, margin)
        for side in (-1.0, 1.0)
    )


def _beyond(
    loss: np.ndarray,
    weight: np.ndarray,
    worth: float,
    least: float,
    most: float,
    side: float,
    margin: float,
) -> float:
    """One-sided p-value of a mean loss of the margin or more; the row not seen has the other
    outcome.
    """
    off = loss - margin
    if weight @ off >= 0.0 or not worth > 0.0:
        return 1.0
    sums = np.array([weight @ power for power in powers(off)]) * worth
    unseen = (most if side > 0.0 else 1.0 - least) - margin
    return float(mean_tail(float(weight.sum()) * worth, sums, -np.inf, unseen))
