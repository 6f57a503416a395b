"""The cumulative test of calibration, which has no bins."""

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from calibrant._numerics.normal_scores import range_tail, reach_tail
from calibrant.core.estimators import require_count, require_option, seeded
from calibrant.core.given import Inputs
from calibrant.core.groups import WeightKind
from calibrant.core.reading import read_clustered
from calibrant.errors import InputError
from calibrant.metrics.tests import CalibrationTest, simulated_p_value

__all__ = ["cumulative_test"]

TAILS: dict[str, Any] = {"kuiper": range_tail, "ks": reach_tail}
#: Up to this many rows the null is drawn from the predictions; beyond, Brownian motion is accurate.
DRAWN_ROWS = 5000


@seeded
def cumulative_test(
    y_true: ArrayLike,
    P: ArrayLike,
    *,
    statistic: Literal["kuiper", "ks"] = "kuiper",
    method: Literal["auto", "simulated", "brownian"] = "auto",
    n_draws: int = 999,
    random_state: int = 0,
    target: Any = "event",
    cluster: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    weight_kind: WeightKind = "frequency",
    classes: ArrayLike | None = None,
    inputs: Inputs = "probability",
) -> CalibrationTest:
    r"""Test calibration by the range of the cumulative differences of hits and scores, in the order
    of the scores.

    .. math:: A_k = \frac{1}{\sigma} \sum_{i \le k} (c_i - s_i), \quad \sigma^2 = \sum_i s_i (1 -
        s_i), \qquad
        \text{Kuiper: } \max_k A_k - \min_k A_k, \quad \text{KS: } \max_k |A_k|

    cut only between distinct scores.

    Parameters
    ----------
    y_true : (n,) labels
    P : (n, K), or (n,) for binary
    statistic : {"kuiper", "ks"}
        Kuiper's statistic detects a gap in any range of scores; that of Kolmogorov and Smirnov is
        best for a gap that starts at the lowest score.
    method : {"auto", "simulated", "brownian"}
        The null distribution: "simulated" draws outcomes from the scores and is exact; "brownian"
        uses Brownian motion with a free end. "auto" simulates for up to 5,000 rows.
    n_draws : int, default 999
        A simulated p-value is a multiple of 1 / (n_draws + 1).
    random_state : int, default 0
    target : {"event", "answer"} or a class label
        The probability to evaluate: class 1's of two, the predicted label's (against whether it is
        correct), or the named class's.
    cluster : (n,) labels of any kind, optional
        Clusters of dependent rows. The p-value is then the larger of two. One null flips the signs
        of the residuals of whole clusters; the other draws outcomes that are as correlated within
        clusters as the observed ones.
    sample_weight : (n,), optional
        Weight 2 counts a row twice; weight 0 drops it.
    weight_kind : {"frequency", "sampling"}
        "frequency": a weight counts identical rows. "sampling": a weighted row is one row that
        stands for others, as with design or importance weights.
    classes : (K,) labels in column order, optional
    inputs : {"probability", "logit"}

    Returns
    -------
    CalibrationTest

    Raises
    ------
    InputError
        When the predictions or an option are invalid.

    See Also
    --------
    ks_calibration_error : the size of the error.
    calibration_error_test : a test of any calibration error, in bins or without.

    Notes
    -----
    Use it where the result must not depend on bins or a bandwidth, and for ranges of scores too
    rare for a bin. The Kuiper statistic of calibrated scores is 1.6 on average and above 2.5 in 5
    of 100 samples. It is no z-value, though some call it "sigmas", and the largest of many groups
    is larger still. Brownian motion has a slightly wider range than sums of few rows, so its
    p-values are slightly too large. With 20, 40 and 100 clusters it rejected 1 to 5 times of 100 at
    5 %, depending on the dependence and on how rare hits are.

    References
    ----------
    Arrieta-Ibarra et al., "Metrics of calibration for probabilistic predictions", JMLR 2022;
    Feller, "The asymptotic distribution of the range of sums of independent random variables",
    Annals of Mathematical Statistics 1951.

    Examples
    --------
    >>> found = cumulative_test([0, 1] * 50, [0.3, 0.7] * 50)
    >>> round(found.statistic, 2), found.p_value <= 0.01
    (3.27, True)
    """
    require_option("statistic", statistic, TAILS)
    require_option("method", method, ("auto", "simulated", "brownian"))
    require_count("n_draws", n_draws, 19, usual=999)
    if cluster is not None and method == "brownian":
        raise InputError(
            'cluster requires method="simulated", because Brownian motion assumes independent'
            " rows; leave method out."
        )
    record = read_clustered(
        y_true, P, cluster, weight_kind, sample_weight=sample_weight, classes=classes, inputs=inputs
    )
    (score, hit), weight = record.pair(target), record.weights
    n = float(weight.sum())
    if cluster is not None or method == "simulated" or (method == "auto" and n <= DRAWN_ROWS):
        found, p_value = simulated_p_value(
            _statistic, (statistic,), score, hit, weight, n_draws, random_state, record.cluster
        )
        return CalibrationTest(
            found,
            p_value,
            f"{statistic}, {'exact' if cluster is None else 'signs and draws of clusters'},"
            f" {n_draws} draws",
            n,
        )
    order = np.argsort(score)
    found = float(_statistic(score[order], weight[order], statistic)(hit[order][None])[0])
    return CalibrationTest(found, TAILS[statistic](found), f"{statistic}, Brownian motion", n)


def _statistic(score, weight, kind):
    """Compute the statistic from hits (draws, n), in ascending order of the score."""
    ends = np.flatnonzero(np.append(np.diff(score) > 0.0, True))
    sigma = np.sqrt(weight @ (score * (1.0 - score)))

    def of_hits(hits):
        gap = np.cumsum(weight * (hits - score), axis=1)[:, ends]
        high, low = np.maximum(gap.max(axis=1), 0.0), np.minimum(gap.min(axis=1), 0.0)
        reach = high - low if kind == "kuiper" else np.maximum(high, -low)
        # All scores are 0 or 1: either an outcome of probability 0 occurred, or none did.
        return reach / sigma if sigma > 0.0 else np.where(reach > 0.0, np.inf, 0.0)

    return of_hits
