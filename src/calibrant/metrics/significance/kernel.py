"""The kernel test of calibration, of whole probability vectors."""

import numpy as np
from numpy.typing import ArrayLike

from calibrant._kernels.bootstrap import null_generator
from calibrant._kernels.calibration_kernel import distances, median_distance, null_statistics
from calibrant._support.options import require_count
from calibrant.contracts.reading import read_labelled
from calibrant.errors import InputError
from calibrant.groups import WeightKind, clustered
from calibrant.metrics.significance.calibration_test import CalibrationTest
from calibrant.metrics.significance.simulated_null import signs_of_clusters
from calibrant.predictions import Inputs

__all__ = ["kernel_calibration_test"]


def kernel_calibration_test(
    y_true: ArrayLike,
    P: ArrayLike,
    *,
    bandwidth: float | str = "median",
    n_draws: int = 200,
    max_rows: int = 2000,
    random_state: int = 0,
    cluster: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    weight_kind: WeightKind = "frequency",
    classes: ArrayLike | None = None,
    inputs: Inputs = "probability",
) -> CalibrationTest:
    r"""Test whether the whole probability vectors are calibrated, by the kernel calibration error (SKCE).

    The statistic is that of ``kernel_calibration_error``; its null is had by drawing every label from its own row, so that the test is
    exact for any n and any kernel.

    Parameters
    ----------
    y_true : (n,) labels
    P : (n, K), or (n,) for binary
    bandwidth : float or "median", default "median"
        The kernel's width; "median" is the median distance between probability vectors.
    n_draws : int, default 200
        The p-value is a multiple of 1 / (n_draws + 1).
    max_rows : int, default 2000
        With more rows, a random sample of so many is tested: the cost grows with their square.
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
    kernel_calibration_error : the size of it.
    spiegelhalter_test, t_cal_test : of one probability a row.

    Notes
    -----
    Use it for several classes, where no single confidence tells whether the other probabilities are right. For one probability
    ``t_cal_test`` takes all rows. A row of weight w stands for w rows with labels of their own (rounded).

    References
    ----------
    Widmann, Lindsten and Zachariah, "Calibration tests in multi-class classification", NeurIPS 2019.

    Examples
    --------
    >>> kernel_calibration_test([0, 1, 2] * 20, [[0.1, 0.45, 0.45], [0.45, 0.1, 0.45], [0.45, 0.45, 0.1]] * 20).p_value < 0.01
    True
    """
    require_count("n_draws", n_draws, 19, usual=200)
    if bandwidth != "median" and not (isinstance(bandwidth, int | float) and bandwidth > 0):
        raise InputError(f'bandwidth must be positive or "median"; got {bandwidth!r}.')
    record = clustered(read_labelled(y_true, P, sample_weight=sample_weight, classes=classes, inputs=inputs), cluster, weight_kind)
    rng, n = null_generator(random_state), float(record.weights.sum())
    record = record.take(np.repeat(np.arange(len(record)), np.rint(record.weights).astype(np.intp).clip(1)))
    if len(record) > max_rows:
        record = record.take(rng.permutation(len(record))[:max_rows])
    P = record.probabilities
    width = median_distance(P, np.ones(len(P))) if bandwidth == "median" else float(bandwidth)
    kernel = np.exp(distances(P, P) / -width)
    np.fill_diagonal(kernel, 0.0)
    pairs, gaps = max(len(P) * (len(P) - 1.0), 1.0), record.one_hot - P
    observed = _statistic(kernel, gaps)
    if record.cluster is None:
        null, method = null_statistics(kernel, P, n_draws, rng), "exact"
    else:
        signs = np.concatenate(list(signs_of_clusters(record.cluster, n_draws, random_state)))
        null, method = np.einsum("dn,dn->d", signs @ (kernel * (gaps @ gaps.T)), signs), "signs of clusters"
    p_value = (1.0 + np.sum(null >= observed - 1e-12)) / (n_draws + 1.0)
    return CalibrationTest(float(observed / pairs), float(p_value), f"{method}, {n_draws} draws of {len(P)} rows", n)


def _statistic(kernel, gaps):
    return float(np.einsum("nk,nk->", kernel @ gaps, gaps))
