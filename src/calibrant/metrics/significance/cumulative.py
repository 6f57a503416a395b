"""Kuiper's and Kolmogorov-Smirnov's tests of calibration: no bins, no bandwidth."""

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from calibrant._kernels.null_laws import range_tail, reach_tail
from calibrant._support.options import require_count, require_option
from calibrant.contracts.reading import read_labelled
from calibrant.errors import InputError
from calibrant.groups import WeightKind, clustered
from calibrant.metrics.significance.calibration_test import CalibrationTest
from calibrant.metrics.significance.simulated_null import simulated_p_value
from calibrant.predictions import Inputs

__all__ = ["cumulative_test"]

TAILS: dict[str, Any] = {"kuiper": range_tail, "ks": reach_tail}
#: Up to so many rows the null is drawn from the predictions; beyond, Brownian motion is near enough.
DRAWN_ROWS = 5000


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
    r"""Test calibration by how far the cumulative differences of hits and scores go, in the order of the scores.

    .. math:: A_k = \frac{1}{\sigma} \sum_{i \le k} (c_i - s_i), \quad \sigma^2 = \sum_i s_i (1 - s_i), \qquad
        \text{Kuiper: } \max_k A_k - \min_k A_k, \quad \text{KS: } \max_k |A_k|

    cut only between distinct scores.

    Parameters
    ----------
    y_true : (n,) labels
    P : (n, K), or (n,) for binary
    statistic : {"kuiper", "ks"}
        Kuiper's sees a gap in any range of scores, Kolmogorov and Smirnov's is best for one that lasts from the lowest score on.
    method : {"auto", "simulated", "brownian"}
        The null: outcomes drawn from the scores, which is exact, or the law of Brownian motion with its end free, for many rows. "auto"
        draws for up to 5,000 rows.
    n_draws : int, default 999
        A simulated p-value is a multiple of 1 / (n_draws + 1).
    random_state : int, default 0
    target : {"event", "answer"} or a class label
        Whose probability: class 1's of two, the predicted label's against its being right, or the named class's.
    cluster : (n,) labels of any kind, optional
        Which rows hang together: the p-value is then the larger of two. One null turns the signs of what was seen less what was said, of
        whole clusters at once; the other draws outcomes that fall together in a cluster as often as they were seen to.
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
    cutoff_calibration_error, ks_calibration_error : the size of it.
    t_cal_test : over bins of all sizes.

    Notes
    -----
    Use it where neither bins nor a bandwidth should decide, and for runs of rows too rare for a bin. A Kuiper statistic of calibrated
    scores is 1.6 on average and above 2.5 in 5 of 100: it is no z-value, though it is sold as "sigmas" elsewhere, and the largest of many
    groups is larger still. Brownian motion goes a little farther than sums of few rows, so its p-values are a little too large.
    With clusters it alarmed 1 to 5 times of 100 at 5 %, of 20, 40 and 100 clusters, by what hangs together and how rare hits are.

    References
    ----------
    Arrieta-Ibarra et al., "Metrics of calibration for probabilistic predictions", JMLR 2022; Feller, "The asymptotic distribution of the
    range of sums of independent random variables", Annals of Mathematical Statistics 1951.

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
        raise InputError('cluster takes method="simulated": Brownian motion is the law of independent rows; leave method out.')
    record = clustered(read_labelled(y_true, P, sample_weight=sample_weight, classes=classes, inputs=inputs), cluster, weight_kind)
    (score, hit), weight = record.pair(target), record.weights
    n = float(weight.sum())
    if cluster is not None or method == "simulated" or (method == "auto" and n <= DRAWN_ROWS):
        found, p_value = simulated_p_value(_statistic, (statistic,), score, hit, weight, n_draws, random_state, record.cluster)
        return CalibrationTest(
            found, p_value, f"{statistic}, {'exact' if cluster is None else 'signs and draws of clusters'}, {n_draws} draws", n
        )
    order = np.argsort(score)
    found = float(_statistic(score[order], weight[order], statistic)(hit[order][None])[0])
    return CalibrationTest(found, TAILS[statistic](found), f"{statistic}, Brownian motion", n)


def _statistic(score, weight, kind):
    """The statistic as a function of hits (draws, n), in ascending order of the score."""
    ends = np.flatnonzero(np.append(np.diff(score) > 0.0, True))
    sigma = np.sqrt(weight @ (score * (1.0 - score)))

    def of_hits(hits):
        gap = np.cumsum(weight * (hits - score), axis=1)[:, ends]
        high, low = np.maximum(gap.max(axis=1), 0.0), np.minimum(gap.min(axis=1), 0.0)
        reach = high - low if kind == "kuiper" else np.maximum(high, -low)
        # Scores of 0 and 1 alone: what they call impossible happened, or it did not.
        return reach / sigma if sigma > 0.0 else np.where(reach > 0.0, np.inf, 0.0)

    return of_hits
