"""The Hosmer-Lemeshow test of calibration."""

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from calibrant._kernels import bins
from calibrant._support.options import require_count
from calibrant.contracts.reading import read_labelled
from calibrant.errors import InputError, SparseDataWarning, warn
from calibrant.groups import WeightKind, clustered
from calibrant.metrics.significance.calibration_test import CalibrationTest
from calibrant.metrics.significance.simulated_null import simulated_p_value
from calibrant.predictions import Inputs

__all__ = ["hosmer_lemeshow_test"]

#: Expected hits and misses that every bin must have for the chi-squared law.
ENOUGH = 5.0


def hosmer_lemeshow_test(
    y_true: ArrayLike, P: ArrayLike, *, n_bins: int = 10, fitted: bool = False, target: Any = "event",
    method: Literal["auto", "chi-squared", "simulated"] = "auto", n_draws: int = 999, random_state: int = 0,
    cluster: ArrayLike | None = None, sample_weight: ArrayLike | None = None, weight_kind: WeightKind = "frequency",
    classes: ArrayLike | None = None, inputs: Inputs = "probability",
) -> CalibrationTest:  # fmt: skip
    r"""Test calibration by observed against expected hits in bins of equal weight.

    .. math:: \sum_b \frac{(O_b - E_b)^2}{E_b (1 - E_b / n_b)}

    against a chi-squared law with as many degrees of freedom as bins, or, where a bin expects few, against outcomes drawn from the scores.

    Parameters
    ----------
    y_true : (n,) labels
    P : (n, K), or (n,) for binary
    n_bins : int, default 10
        Ties are never split, so there may be fewer.
    fitted : bool, default False
        The model was fitted on these very rows: two degrees of freedom fewer.
    target : {"answer", "event"} or a class label
        Whose probability: the predicted label's against its being right, class 1's of two, or the named class's.
    method : {"auto", "chi-squared", "simulated"}
        "auto" simulates where a bin expects fewer than five hits or misses, and otherwise takes the chi-squared law.
    n_draws : int, default 999
        A simulated p-value is a multiple of 1 / (n_draws + 1).
    random_state : int, default 0
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
    spiegelhalter_test : without bins.
    t_cal_test : many numbers of bins at once.

    Notes
    -----
    Use it where a regulator asks for it. Its answer changes with the bins; ``t_cal_test`` looks at all scales at once, ``cumulative_test``
    at none. The chi-squared law needs about five expected hits and misses in each bin; with fewer it alarms too often (12 times of
    100 at 5 %, for 1,000 rows of an event of 0.5 %), hence the simulation, which is exact. A model fitted on these very rows would have
    to be fitted anew in each draw: then it warns.

    References
    ----------
    Hosmer and Lemeshow, "Goodness of fit tests for the multiple logistic regression model", Communications in Statistics 1980.

    Examples
    --------
    >>> found = hosmer_lemeshow_test([0, 1] * 50, [0.3, 0.7] * 50)
    >>> round(found.statistic, 1), found.p_value < 0.001
    (42.9, True)
    """
    require_count("n_bins", n_bins)
    if method not in ("auto", "chi-squared", "simulated") or (fitted and method == "simulated"):
        raise InputError(f'method must be "auto", "chi-squared" or, for fitted=False, "simulated"; got {method!r}.')
    require_count("n_draws", n_draws, 19, usual=999)
    if cluster is not None and (fitted or method == "chi-squared"):
        raise InputError('cluster takes method="simulated" and fitted=False: the chi-squared law is of independent rows; leave both out.')
    record = clustered(read_labelled(y_true, P, sample_weight=sample_weight, classes=classes, inputs=inputs), cluster, weight_kind)
    (score, hit), weight = record.pair(target), record.weights
    _, mass, expected = _bins(score, weight, n_bins)
    least, total = float(np.minimum(expected, mass - expected).min()), float(weight.sum())
    if cluster is not None or method == "simulated" or (method == "auto" and least < ENOUGH and not fitted):
        statistic, p_value = simulated_p_value(_statistic, (n_bins,), score, hit, weight, n_draws, random_state, record.cluster)
        drawn = "exact" if cluster is None else "signs and draws of clusters"
        return CalibrationTest(statistic, p_value, f"{drawn}, {n_draws} draws, {len(mass)} bins", total)
    freedom = len(mass) - 2 if fitted else len(mass)
    if freedom < 1:
        raise InputError(f"fitted=True needs at least three bins; the scores allow {len(mass)}; use another test.")
    if least < ENOUGH:
        warn(
            f"a bin of hosmer_lemeshow_test expects {least:.2g} hits or misses, and the chi-squared law needs about 5; "
            'take fewer bins, or rows that the model was not fitted on and method="simulated".',
            SparseDataWarning,
        )
    statistic = float(_statistic(score, weight, n_bins)(hit[None])[0])
    return CalibrationTest(statistic, float(special.chdtrc(freedom, statistic)), f"chi-squared, {freedom} degrees of freedom", total)


def _bins(score, weight, n_bins):
    """(bin of each row, its weight, its expected hits)."""
    group = bins.equal_mass_groups(score, n_bins, weight)
    return group, *bins.grouped_sums(group, group.max() + 1, [score], weight).T


def _statistic(score, weight, n_bins):
    """The statistic as a function of hits (draws, n)."""
    group, mass, expected = _bins(score, weight, n_bins)
    variance = expected * np.maximum(1.0 - expected / mass, 0.0)
    member = weight[:, None] * (group[:, None] == np.arange(len(mass)))

    def of_hits(hits):
        gap = hits @ member - expected
        impossible = np.where(np.abs(gap) > 1e-9, np.inf, 0.0)
        return np.where(variance > 0.0, gap**2 / np.where(variance > 0.0, variance, 1.0), impossible).sum(axis=1)

    return of_hits
