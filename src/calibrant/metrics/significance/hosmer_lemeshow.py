"""The Hosmer-Lemeshow test of calibration."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from calibrant._kernels import bins
from calibrant._support.options import require_count
from calibrant.contracts.reading import read_labelled
from calibrant.errors import InputError
from calibrant.metrics.pair import target_pair
from calibrant.metrics.significance.calibration_test import CalibrationTest
from calibrant.predictions import Inputs

__all__ = ["hosmer_lemeshow_test"]


def hosmer_lemeshow_test(
    y_true: ArrayLike, P: ArrayLike, *, n_bins: int = 10, fitted: bool = False, target: Any = "event",
    sample_weight: ArrayLike | None = None, classes: ArrayLike | None = None, inputs: Inputs = "probability",
) -> CalibrationTest:  # fmt: skip
    r"""Test calibration by observed against expected hits in bins of equal weight.

    .. math:: \sum_b \frac{(O_b - E_b)^2}{E_b (1 - E_b / n_b)}

    against a chi-squared law with as many degrees of freedom as bins.

    .. versionchanged:: 0.1
       ``target``: "answer" was "top", "event" was "positive".

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
    sample_weight : (n,), optional
        Weight 2 means the row twice, weight 0 no row.
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
    Use it where a regulator asks for it. Its answer changes with the bins, and it needs about five expected hits and misses in each;
    ``t_cal_test`` looks at all scales at once with an exact null.

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
    record = read_labelled(y_true, P, sample_weight=sample_weight, classes=classes, inputs=inputs)
    score, hit = target_pair(record, target)
    group = bins.equal_mass_groups(score, n_bins, record.weight)
    n, expected, observed = bins.grouped_sums(group, group.max() + 1, [score, hit], record.weight).T
    variance = expected * np.maximum(1.0 - expected / n, 0.0)
    off = np.abs(observed - expected) > 1e-9
    terms = np.where(variance > 0.0, (observed - expected) ** 2 / np.where(variance > 0.0, variance, 1.0), np.where(off, np.inf, 0.0))
    freedom = len(n) - 2 if fitted else len(n)
    if freedom < 1:
        raise InputError(f"fitted=True needs at least three bins; the scores allow {len(n)}; use another test.")
    statistic = float(terms.sum())
    p_value = float(special.chdtrc(freedom, statistic))
    return CalibrationTest(statistic, p_value, f"chi-squared, {freedom} degrees of freedom", float(n.sum()))
