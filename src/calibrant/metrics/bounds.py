"""Upper bound of the binned calibration error that holds with a given probability, and the
equivalence test: are the probabilities calibrated within a margin?
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from calibrant._numerics import bins
from calibrant._numerics.bins import equal_mass_groups
from calibrant._numerics.clusters import mean_worth
from calibrant._numerics.intervals import mean_tail, powers
from calibrant.core.arrays import ArrayLike
from calibrant.core.estimators import require_count, require_option
from calibrant.core.given import Inputs
from calibrant.core.groups import WeightKind
from calibrant.core.metric import require_level
from calibrant.core.metric_kinds import on_record
from calibrant.core.predictions import Predictions
from calibrant.core.reading import read_clustered, read_labelled
from calibrant.errors import InputError
from calibrant.metrics.tests import CalibrationTest

__all__ = [
    "CalibrationErrorBound",
    "bound_of_sums",
    "calibration_equivalence_test",
    "calibration_error_bound",
    "equivalence",
]


@dataclass(frozen=True)
class CalibrationErrorBound:
    """Error on the data, slack and their sum: the true binned error exceeds ``bound`` with
    probability at most ``alpha``.

    Attributes
    ----------
    error : float
        The expected calibration error on these rows, equal-width bins.
    slack : float
    bound : float
        error + slack, at most 1.
    alpha : float
    method : str
    n : float
        Sum of the weights.
    """

    error: float
    slack: float
    bound: float
    alpha: float
    method: str
    n: float


def _of(
    record: Predictions,
    *,
    alpha: float = 0.05,
    n_bins: int = 15,
    target: Any = "answer",
    method: Literal["hoeffding", "paper"] = "hoeffding",
) -> CalibrationErrorBound:
    require_level(alpha, "alpha", usual=0.05)
    require_count("n_bins", n_bins)
    require_option("method", method, ("hoeffding", "paper"))
    score, hit = record.pair(target)
    sums = bins.grouped_sums(
        bins.equal_width_index(score, n_bins, record.resolution),
        n_bins,
        [score, hit],
        record.weight,
    )
    return bound_of_sums(sums, alpha, method)


def bound_of_sums(
    sums: np.ndarray, alpha: float = 0.05, method: str = "hoeffding"
) -> CalibrationErrorBound:
    """Compute the bound from (B, 3) sums of weight, score and hits in bins of equal width; sums of
    parts add up.
    """
    n_bins, n = len(sums), float(sums[:, 0].sum())
    error = float(np.abs(sums[:, 1] - sums[:, 2]).sum() / n)
    if method == "hoeffding":
        slack = np.sqrt(2.0 * (n_bins * np.log(2.0) - np.log(alpha)) / n)
    else:
        slack = n_bins * np.sqrt(2.0 / n) * np.sqrt(2.0 * np.log(2.0) - np.log(alpha))
    return CalibrationErrorBound(
        error, float(slack), float(min(error + slack, 1.0)), alpha, method, n
    )


@on_record(_of)
def calibration_error_bound(
    y_true: ArrayLike,
    P: ArrayLike,
    *,
    alpha: float = 0.05,
    n_bins: int = 15,
    target: Any = "answer",
    method: Literal["hoeffding", "paper"] = "hoeffding",
    sample_weight: ArrayLike | None = None,
    classes: ArrayLike | None = None,
    inputs: Inputs = "probability",
) -> CalibrationErrorBound:
    r"""Bound the binned calibration error of the population by that of a sample (probably
    approximately correct).

    .. math:: \mathrm{CE} \le \mathrm{ECE} + \sqrt{\frac{2 (J \ln 2 + \ln(1/\alpha))}{N}}

    by Hoeffding's inequality over the :math:`2^J` sign patterns of J bins. ``method="paper"`` is
    Theorem 2 of the paper, :math:`\mathrm{ECE} + J \sqrt{2/N} \sqrt{2 \ln 2 - \ln\alpha}`: at J =
    15, N = 5,000 and alpha = 0.05 it adds 0.628 where 0.073 is enough.

    Parameters
    ----------
    y_true : (n,) labels
    P : (n, K), or (n,) for binary
    alpha : float, default 0.05
        Probability with which the bound may fail; the paper's delta.
    n_bins : int, default 15
        Equal-width bins, fixed in advance.
    target : {"answer", "event"} or a class label
    method : {"hoeffding", "paper"}
    sample_weight : (n,), optional
        Weight 2 counts a row twice; weight 0 drops it.
    classes : (K,) labels in column order, optional
    inputs : {"probability", "logit"}

    Returns
    -------
    CalibrationErrorBound

    Raises
    ------
    InputError
        When the predictions, alpha, n_bins or method are invalid.

    See Also
    --------
    expected_calibration_error : the error of the sample.
    debiased_calibration_error : an estimate for the population.

    Notes
    -----
    It holds for independent rows that were not used to fit the calibrator, and for these bins only.
    For an estimate with a calibrated interval, which is much tighter, use
    ``expected_calibration_error.interval``.

    The paper's proof is invalid, but its conclusion is true. The proof assumes
    :math:`P[\sum_j a_j \ge \epsilon]` to be at most :math:`\max_j P[a_j \ge \epsilon / J]`; two
    independent Bernoulli(0.3) with :math:`\epsilon = 1` have 0.51 and 0.30. (The sum over j instead
    of the maximum is correct, and would put :math:`\ln(4J)` where the theorem has :math:`2 \ln 2`.)
    The theorem follows from the bound above, which is never larger:
    :math:`J \ln 2 + \ln(1/\alpha) \le J^2 (2 \ln 2 + \ln(1/\alpha))`.

    References
    ----------
    Jang, Ivanov, Lee and Weimer, "Confidence calibration using logits transformations", 2021,
    theorem 2 of appendix B. Weissman et al., "Inequalities for the L1 deviation of the empirical
    distribution", 2003.

    Examples
    --------
    >>> bound = calibration_error_bound([0, 1] * 2500, [0.25, 0.75] * 2500)
    >>> round(bound.error, 3), round(bound.slack, 3), round(bound.bound, 3)
    (0.25, 0.073, 0.323)
    """
    record = read_labelled(y_true, P, sample_weight=sample_weight, classes=classes, inputs=inputs)
    return calibration_error_bound.of(
        record, alpha=alpha, n_bins=n_bins, target=target, method=method
    )


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
